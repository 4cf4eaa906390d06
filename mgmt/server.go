package mgmt

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"minibus/mgmt/rest"
)

// Limits of the HTTP server. Every client that is slower or larger than this is broken or hostile; an entity's
// description with its filters stays far below. Sends have the limit of their entity instead of maxBodyBytes.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = time.Minute
	answerTimeout  = 90 * time.Second // from the same moment: a request that timed out still gets its answer
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	maxBodyBytes   = 4 << 20
)

// NewServer wraps the handler in a server with time-outs and header limits. Its listener should be wrapped in [Listener].
// Receives that wait end when it is shut down.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	base, stop := context.WithCancel(context.Background())
	s := &http.Server{
		Handler:           limitBodies(h),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       connContext,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // broken clients are not the user's concern
	}
	s.RegisterOnShutdown(stop)
	return s
}

// limitBodies cuts off bodies that nobody needs. A send has the limit of its entity, which it keeps itself.
func limitBodies(h http.Handler) http.Handler {
	limited := http.MaxBytesHandler(h, maxBodyBytes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && len(parseTarget(r.URL.EscapedPath()).messages) == 1 {
			h.ServeHTTP(w, r)
			return
		}
		limited.ServeHTTP(w, r)
	})
}

// Listener prepares the connections of a listener for the server. Without it, the properties of messages that are sent over
// HTTP have the names that net/http makes of them.
func Listener(l net.Listener) net.Listener { return rest.Listener(l) }

// The keys of a connection's context values: whether it came through TLS, and the connection.
type (
	secureKey struct{}
	connKey   struct{}
)

// connContext notes on a connection whether its bytes arrived encrypted. The listener in front has undone TLS, so net/http
// can't know.
func connContext(ctx context.Context, c net.Conn) context.Context {
	t, ok := c.(interface{ IsTLS() bool })
	return context.WithValue(context.WithValue(ctx, connKey{}, c), secureKey{}, ok && t.IsTLS())
}

func isSecure(r *http.Request) bool {
	secure, _ := r.Context().Value(secureKey{}).(bool)
	return secure || r.TLS != nil
}
