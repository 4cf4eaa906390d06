package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"minibus/config"
)

// output is a writer that several goroutines may use.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// start is Start with settings that disturb no other process by default.
func start(t *testing.T, c Config) (*Server, error) {
	t.Helper()
	if c.Settings.Host == "" {
		c.Settings.Host = "localhost"
	}
	a, err := Start(context.Background(), c)
	if err == nil {
		t.Cleanup(func() { _ = a.Close(context.Background()) })
	}
	return a, err
}

func port(n int) config.Port { return config.Port(n) }

func local(port int, path string) string { return "http://127.0.0.1:" + strconv.Itoa(port) + path }

// await polls for a condition that another goroutine fulfils through the operating system.
func await(t *testing.T, done <-chan error, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	timeout := time.After(30 * time.Second)
	for !condition() {
		select {
		case err := <-done:
			t.Fatalf("the program ended: %v", err)
		case <-timeout:
			t.Fatal("nothing happened for 30 s")
		case <-tick.C:
		}
	}
}
