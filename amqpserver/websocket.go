package amqpserver

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// subprotocols are the names of AMQP over WebSockets: the standard's, and an earlier one that most SDKs
// use (amqp-data-plane 1.1).
var subprotocols = []string{"amqp", "AMQPWSB10"}

// handshakeWrite bounds the time to answer an upgrade; the HTTP server's time-outs do not apply to it.
const handshakeWrite = 10 * time.Second

// WebSocketHandler serves AMQP over WebSockets: binary messages carry a stream of bytes, cut anywhere. It answers requests
// without an upgrade, or for other sub-protocols only, with an HTTP error. It does not check the Origin of a request: the
// caller must do that in front of it. A handler runs as long as its connection, and [Server.Shutdown] ends it.
func (s *Server) WebSocketHandler() http.Handler {
	upgrader := &websocket.Upgrader{
		HandshakeTimeout: handshakeWrite,
		CheckOrigin:      func(*http.Request) bool { return true }, // checked in front of this handler
		Error:            refuseUpgrade,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !websocket.IsWebSocketUpgrade(r) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			http.Error(w, "This path serves AMQP over WebSockets: send an upgrade request.", http.StatusUpgradeRequired)
			return
		}
		protocol, ok := chooseSubprotocol(r)
		if !ok {
			http.Error(w, "None of the sub-protocols offered is served: offer "+strings.Join(subprotocols, " or ")+".", http.StatusBadRequest)
			return
		}
		header := w.Header().Clone()
		if protocol != "" {
			header.Set("Sec-WebSocket-Protocol", protocol)
		}
		ws, err := upgrader.Upgrade(hijackable{w}, r, header)
		if err != nil {
			s.options.Logger.Debug("upgrade to a WebSocket refused", "remote", r.RemoteAddr, "reason", err)
			return
		}
		s.ServeConn(newWSConn(ws, r.Host))
	})
}

// hijackable finds the connection under the wrappers that the HTTP side has put around the response.
type hijackable struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// chooseSubprotocol returns the first offer that we serve, as the client wrote it: clients compare. A client that offers none
// gets none.
func chooseSubprotocol(r *http.Request) (protocol string, ok bool) {
	offered := websocket.Subprotocols(r)
	for _, o := range offered {
		for _, p := range subprotocols {
			if strings.EqualFold(o, p) {
				return o, true
			}
		}
	}
	return "", len(offered) == 0
}

// refuseUpgrade answers a bad WebSocket handshake.
func refuseUpgrade(w http.ResponseWriter, _ *http.Request, status int, reason error) {
	text := strings.TrimPrefix(reason.Error(), "websocket: ")
	w.Header().Set("Sec-WebSocket-Version", "13")
	http.Error(w, text, status)
}
