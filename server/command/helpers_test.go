package command

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"minibus/config"
	"minibus/server"
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

// running is Run on a goroutine.
type running struct {
	stdout, stderr output
	ports          config.Ports
	stop           context.CancelFunc
	done           chan error
}

// freePorts are the arguments for an instance that gets free ports.
var freePorts = []string{"--amqp-port", "0", "--tls-port", "0", "--http-port", "0"}

// run starts the program and waits until it is ready.
func run(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &running{stop: cancel, done: make(chan error, 1)}
	file := filepath.Join(t.TempDir(), "ports.json")
	if i := slices.Index(args, "--ports-file"); i >= 0 {
		file = args[i+1]
	}
	args = append(append(append([]string{}, freePorts...), "--ports-file", file), args...)
	go func() { p.done <- Run(ctx, args, nil, &p.stdout, &p.stderr) }()
	t.Cleanup(cancel)
	await(t, p.done, func() bool { return strings.Contains(p.stdout.String(), readyLine) })
	var err error
	if p.ports, err = config.ReadPorts(file); err != nil {
		t.Fatal(err)
	}
	return p
}

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

// end stops the program as a signal would and returns its error.
func (p *running) end(t *testing.T) error {
	t.Helper()
	p.stop()
	select {
	case err := <-p.done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("the program does not end")
		return nil
	}
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

func local(port int, path string) string { return "http://127.0.0.1:" + strconv.Itoa(port) + path }

// start is [server.Start] with settings that disturb no other process by default.
func start(t *testing.T, c server.Config) *server.Server {
	t.Helper()
	if c.Settings.Host == "" {
		c.Settings.Host = "localhost"
	}
	a, err := server.Start(context.Background(), c)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() { _ = a.Close(context.Background()) })
	return a
}
