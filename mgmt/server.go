package mgmt

import (
	"log/slog"
	"net/http"
	"time"
)

// Limits of the HTTP server. Every client that is slower or larger than this is broken or hostile; an entity's
// description with its filters stays far below.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = time.Minute
	answerTimeout  = 90 * time.Second // from the same moment: a request that timed out still gets its answer
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	maxBodyBytes   = 4 << 20
)

// NewServer wraps the handler in a server with time-outs and header limits.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           http.MaxBytesHandler(h, maxBodyBytes),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnContext:       connContext,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // broken clients are not the user's concern
	}
}
