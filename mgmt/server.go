package mgmt

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"minibus/mgmt/rest"
)

// Limits of the HTTP server. Clients beyond them are broken or hostile. Each reader of a body has its own limit:
// maxDescription for a description, the entity's largest message for a send.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = time.Minute
	answerTimeout  = 90 * time.Second // counted like requestTimeout, so a request that timed out still gets its answer
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// Server is an HTTP server whose Shutdown waits for all handlers, even those whose connections were cut.
type Server struct {
	*http.Server

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup // requests in handlers; Add only while not closed
}

// NewServer wraps the handler in a server with time-outs and header limits. Its listener should be wrapped in
// [Listener].
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
		// OPTIONS * gets the same answer as any method that a path does not have.
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

// grace is how long Shutdown waits for handlers after the end of its context. It suffices to give messages back.
const grace = 20 * time.Second

// Shutdown ends waiting receives, waits for other requests, and closes all connections but WebSockets. If ctx ends
// first, it cuts the connections and returns the error. Either way all handlers have returned by then, and messages
// that did not reach their clients have been given back; only handlers that never end are left behind.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.Server.Shutdown(ctx)
	if err != nil {
		_ = s.Close()
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	returned := make(chan struct{})
	go func() {
		s.requests.Wait()
		close(returned)
	}()
	select {
	case <-returned:
		return err
	case <-ctx.Done():
	}
	select {
	case <-returned:
		return err
	case <-time.After(grace):
		return errors.Join(err, errors.New("a request does not end"))
	}
}

// Listener wraps a listener for the server. Without it, properties of messages sent over
// HTTP get net/http's canonical names instead of the client's.
func Listener(l net.Listener) net.Listener { return rest.Listener(l) }

// The keys of a connection's context values: whether it came through TLS, and the connection.
type (
	secureKey struct{}
	connKey   struct{}
)

// connContext stores the connection and whether its bytes arrived encrypted. The listener has already decrypted TLS,
// so net/http can't know.
func connContext(ctx context.Context, c net.Conn) context.Context {
	t, ok := c.(interface{ IsTLS() bool })
	return context.WithValue(context.WithValue(ctx, connKey{}, c), secureKey{}, ok && t.IsTLS())
}

func isSecure(r *http.Request) bool {
	secure, _ := r.Context().Value(secureKey{}).(bool)
	return secure || r.TLS != nil
}
