package mgmt

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"minibus/mgmt/rest"
)

// Limits of the HTTP server. Every client that is slower or larger than this is broken or hostile. Each reader of a body bounds it: a
// description has maxDescription, a send the limit of its entity.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = time.Minute
	answerTimeout  = 90 * time.Second // from the same moment: a request that timed out still gets its answer
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// Server is an HTTP server that knows when the last of its requests has been dealt with.
type Server struct {
	*http.Server

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup // being served; Add only while not closed
}

// NewServer wraps the handler in a server with time-outs and header limits. Its listener should be wrapped in [Listener].
func NewServer(h http.Handler, log *slog.Logger) *Server {
	base, stop := context.WithCancel(context.Background())
	s := new(Server)
	s.Server = &http.Server{
		Handler:           s.counted(h),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       connContext,
		// OPTIONS for the whole server is a method that nothing serves, as OPTIONS for a path is.
		DisableGeneralOptionsHandler: true,

		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // broken clients are not the user's concern
	}
	s.RegisterOnShutdown(stop)
	return s
}

// counted counts the requests that are being served.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.begin() {
			http.Error(w, "Minibus is shutting down.", http.StatusServiceUnavailable)
			return
		}
		defer s.requests.Done()
		next.ServeHTTP(w, r)
	})
}

func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.requests.Add(1)
	}
	return !s.closed
}

// Shutdown ends receives that wait, lets other requests end, and closes all connections but those of WebSockets. When ctx ends
// first, connections are cut and its error is returned. Either way all requests have been dealt with when it returns: a message
// that did not reach its client has been given back.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.Server.Shutdown(ctx)
	if err != nil {
		_ = s.Close()
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.requests.Wait()
	return err
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
