package control_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/listen"
	"minibus/internal/sas"
	"minibus/mgmt"
)

// serve serves a handler in memory, as the product does on a port, until the test of a bubble ends.
func serve(t *testing.T, h http.Handler) *listen.Pipe {
	pipe := listen.NewPipe()
	s := mgmt.NewServer(h, slog.New(slog.DiscardHandler))
	var running sync.WaitGroup
	running.Go(func() { _ = s.Serve(mgmt.Listener(pipe)) })
	t.Cleanup(func() {
		_ = s.Close()
		running.Wait()
		time.Sleep(time.Second) // the server gives clients that still write the time to notice
	})
	return pipe
}

// TestControlAPILetsNoUploadHoldMemory wants a large message to be sent while others announce large ones: those that
// send nothing hold no memory, and those that stop in the middle are given up.
func TestControlAPILetsNoUploadHoldMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := controlAPI(t)
		if _, err := a.bus.ns.Entities().CreateQueue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 100 << 10}); err != nil {
			t.Fatal(err)
		}
		pipe := serve(t, a.bus.handler)
		const path = inDefault + "large/messages"
		token := sas.Sign("http://localhost/", "root", "root-key", time.Now().Add(time.Hour))
		// announce announces a large message and sends only its beginning.
		announce := func(sent string) {
			c, err := pipe.Dial(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			go func() {
				_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, token, 50<<20, sent)
			}()
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = answer.Body.Close() }()
			if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(text), "The body of the request ") {
				t.Errorf("%d: %s", answer.StatusCode, text)
			}
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return pipe.Dial(ctx)
		}}}
		send := func() time.Duration {
			t.Helper()
			begin := time.Now()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+path, strings.NewReader(`{"body": "`+strings.Repeat("x", 60<<20)+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set(authorization, token)
			r.Header.Set("Content-Type", "application/json")
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = answer.Body.Close() }()
			if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
				t.Errorf("%d: %s", answer.StatusCode, text)
			}
			return time.Since(begin)
		}
		// Of the four that send a MiB two hold all of the memory, until they are 3 seconds late.
		for sent, most := range map[string]time.Duration{"": 0, `{"body": "` + strings.Repeat("x", 1<<20): 10 * time.Second} {
			var gone sync.WaitGroup
			for range 4 {
				gone.Go(func() { announce(sent) })
			}
			synctest.Wait()
			if took := send(); took > most {
				t.Errorf("sent in %v beside four that sent %d bytes, want %v at most", took, len(sent), most)
			}
			gone.Wait()
		}
	})
}
