package control_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
)

// TestControlAPILetsNoUploadHoldMemory wants a large message to be sent while others announce large ones: those that
// send nothing hold no memory, and those that stop in the middle are given up.
func TestControlAPILetsNoUploadHoldMemory(t *testing.T) {
	a := controlAPI(t)
	if _, err := a.bus.ns.Entities().CreateQueue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 100 << 10}); err != nil {
		t.Fatal(err)
	}
	addr := serve(t, a.bus.handler)
	const path = inDefault + "large/messages"
	token := sas.Sign("http://"+addr+"/", "root", "root-key", time.Now().Add(time.Hour))
	announce := func(sent string) net.Conn {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, addr, token, 50<<20, sent); err != nil {
			t.Fatal(err)
		}
		return c
	}
	began := func(c net.Conn) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(15 * time.Second))
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(text), "The body of the request ") {
			t.Errorf("%d: %s", answer.StatusCode, text)
		}
	}
	send := func() time.Duration {
		t.Helper()
		begin := time.Now()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+path, strings.NewReader(`{"body": "`+strings.Repeat("x", 60<<20)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(authorization, token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
			t.Errorf("%d: %s", answer.StatusCode, text)
		}
		return time.Since(begin)
	}
	var gone sync.WaitGroup
	for _, sent := range []string{"", `{"body": "` + strings.Repeat("x", 1<<20)} {
		for range 4 { // of which two hold all of the memory
			c := announce(sent)
			gone.Go(func() { began(c) })
		}
		t.Logf("sent in %v beside four that sent %d bytes", send(), len(sent))
		gone.Wait()
	}
}
