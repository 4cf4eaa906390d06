package amqpserver

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"minibus/internal/amqptest"
)

// hijacked is the response to a request on nc.
type hijacked struct {
	http.ResponseWriter
	nc net.Conn
}

func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.nc, bufio.NewReadWriter(bufio.NewReader(h.nc), bufio.NewWriter(h.nc)), nil
}

// TestWebSocket_CloseEndsThoughTheDeadlineIsLifted: the connection's reader lifts it for an open that has just arrived.
func TestWebSocket_CloseEndsThoughTheDeadlineIsLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := amqptest.Pipe()
		defer client.Close()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
			"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
		ws, err := new(websocket.Upgrader).Upgrade(hijacked{httptest.NewRecorder(), server}, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := newWSConn(ws, "")
		closed := make(chan error)
		go func() { closed <- c.Close() }()
		synctest.Wait()
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-closed:
		case <-time.After(2*closeLinger + time.Second):
			t.Error("Close still waits for a client that says nothing")
			client.Close()
			<-closed
		}
	})
}
