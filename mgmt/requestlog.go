package mgmt

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"minibus/internal/sas"
)

// logged wraps the handler of all requests. Each request gets a line in the log and an observation, except that
// WebSockets get no observation: their duration says nothing about how fast requests are answered.
//
// The log's lines are rate-limited by status. So a flood of requests with one status does not hide those
// with another: the first error of one client shows beside the successes of others.
//
// The line has the path without the query, which may hold secrets, and no header. Requests to operational paths,
// which machines repeat every few seconds, are logged at debug level.
func (h *handler) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		rec := &answered{ResponseWriter: w}
		h.guarded(next, rec, r)
		took := time.Since(begin)
		if h.options.Observe != nil && rec.code() != http.StatusSwitchingProtocols {
			h.options.Observe(r.Method, rec.code(), took)
		}
		level := slog.LevelInfo
		if operationalPath(r.URL.Path) {
			level = slog.LevelDebug
		}
		if level == slog.LevelInfo && !h.options.Refusals.TakeAccess("request "+strconv.Itoa(rec.code())) {
			return
		}
		attributes := []any{"method", sas.Clip(r.Method), "path", sas.Clip(r.URL.Path), "status", rec.code(),
			"bytes", rec.bytes, "duration", took.Round(time.Microsecond), "remote", r.RemoteAddr,
			"agent", sas.Clip(r.UserAgent())}
		if rec.missing {
			attributes = append(attributes, "found", false)
		}
		h.options.Logger.Log(context.Background(), level, "request", attributes...)
	})
}

// guarded answers a request. A handler that panics costs its own request only, which gets a 500 if no answer has
// begun; the log says why.
func (h *handler) guarded(next http.Handler, w *answered, r *http.Request) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			h.options.Logger.Error("request failed", "method", sas.Clip(r.Method), "path", sas.Clip(r.URL.Path),
				"panic", p, "stack", string(debug.Stack()))
			if w.status != 0 {
				panic(http.ErrAbortHandler) // the client must not take the beginning for the whole
			}
			http.Error(w, "Minibus failed to answer this request. Its log says why.", http.StatusInternalServerError)
		}
	}()
	next.ServeHTTP(w, r)
}

// operationalPath reports whether a path shows the state of the process.
func operationalPath(path string) bool {
	switch path {
	case "/health", "/livez", "/readyz", "/metrics":
		return true
	}
	return false
}

// answered notes the status and the length of an answer.
type answered struct {
	http.ResponseWriter
	status  int
	bytes   int64
	missing bool // the answer is 200 with the feed of nothing
}

// WriteHeader implements http.ResponseWriter.
func (r *answered) WriteHeader(status int) {
	if r.status == 0 || r.status < http.StatusOK {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *answered) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *answered) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// code returns the status that the client got. A connection that was taken over, for a WebSocket, got 101.
func (r *answered) code() int {
	if r.status == 0 {
		return http.StatusSwitchingProtocols
	}
	return r.status
}
