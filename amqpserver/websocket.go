package amqpserver

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// subprotocols are what clients call AMQP over WebSockets: the standard's name and the one from before it, which most SDKs
// use (amqp-data-plane 1.1).
var subprotocols = []string{"amqp", "AMQPWSB10"}

// handshakeWrite bounds the answer to an upgrade; the time-outs of the HTTP server end there.
const handshakeWrite = 10 * time.Second

// WebSocketHandler serves AMQP over WebSockets: binary messages carry a stream of bytes, cut anywhere. A request that does not
// ask for that, or for another sub-protocol, is answered with an HTTP error. It does not ask which web page a request comes from:
// strangers have to be turned away in front of it. A handler runs as long as its connection, and [Server.Shutdown] ends it.
func (s *Server) WebSocketHandler() http.Handler {
	upgrader := &websocket.Upgrader{
		HandshakeTimeout: handshakeWrite,
		CheckOrigin:      func(*http.Request) bool { return true }, // who calls the handler has decided
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
		s.ServeConn(newWSConn(ws))
	})
}

// hijackable finds the connection under whatever the HTTP side has put around the response.
type hijackable struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// chooseSubprotocol returns the first offer that is served, as it was written: clients compare. A client that offers none
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

// refuseUpgrade answers a handshake that is not one.
func refuseUpgrade(w http.ResponseWriter, _ *http.Request, status int, reason error) {
	text := strings.TrimPrefix(reason.Error(), "websocket: ")
	w.Header().Set("Sec-WebSocket-Version", "13")
	http.Error(w, text, status)
}
