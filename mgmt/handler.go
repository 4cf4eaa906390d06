package mgmt

import (
	"encoding/json"
	"net/http"

	"github.com/gorilla/mux"
)

// Options configure [New].
type Options struct {
	// Ready tells whether every entity exists and every listener accepts (invariant 8 of DESIGN). It must not block: clients
	// ask while the process starts. Nil means ready.
	Ready func() bool
	// Version stands in the Server header.
	Version string
}

// The texts of Microsoft's emulator (drop-in 2.2); some users match them.
const (
	healthyText   = "Service is healthy."
	unhealthyText = "Service not available. Please try after some time."
)

const notServedText = "The HTTP administration API is not served by this version of Minibus. " +
	"Create entities with --config Config.json, and send and receive over AMQP. Served here: /health, /livez, /readyz."

// New returns the handler of every HTTP request.
func New(o Options) http.Handler {
	h := &handler{options: o}
	if h.options.Ready == nil {
		h.options.Ready = func() bool { return true }
	}
	r := mux.NewRouter().UseEncodedPath().SkipClean(true) // entity names reach the handlers as they were sent
	get := []string{http.MethodGet, http.MethodHead}
	r.HandleFunc("/health", h.health).Methods(get...)
	r.HandleFunc("/readyz", h.health).Methods(get...)
	r.HandleFunc("/livez", h.live).Methods(get...)
	r.NotFoundHandler = http.HandlerFunc(h.notServed)
	r.MethodNotAllowedHandler = http.HandlerFunc(h.notServed)
	return h.header(r)
}

type handler struct{ options Options }

// header adds what every response has.
func (h *handler) header(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "Minibus/"+h.options.Version)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// health answers at once, also while the process starts: what it replaces could hang there, and cost its users the whole
// time-out of their HTTP client.
func (h *handler) health(w http.ResponseWriter, _ *http.Request) {
	if h.options.Ready() {
		writeJSON(w, http.StatusOK, status{"healthy", healthyText})
		return
	}
	writeJSON(w, http.StatusServiceUnavailable, status{"unhealthy", unhealthyText})
}

// live answers as long as the process does.
func (h *handler) live(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, status{"alive", "Minibus is running."})
}

func (h *handler) notServed(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusNotImplemented, status{"error", notServedText})
}

// status is the body of every answer.
type status struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func writeJSON(w http.ResponseWriter, code int, body status) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client is gone if this fails
}
