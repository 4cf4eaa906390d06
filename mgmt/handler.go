package mgmt

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"minibus/emulator"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
	"minibus/mgmt/arm"
	"minibus/mgmt/control"
	"minibus/mgmt/identity"
	"minibus/mgmt/ui"
)

// Options configure [New].
type Options struct {
	// Ready reports whether every entity exists and every listener accepts (invariant 8 in ARCHITECTURE.md). It must
	// not block: clients ask while the process starts. Nil means ready.
	Ready func() bool
	// Trouble returns why the broker, although ready, can't do its work, or nil if it can. It must not block. May be
	// nil.
	Trouble func() error
	// Broker returns the namespaces. It is called only after Ready has returned true. Without it administration
	// answers 503.
	Broker func() *emulator.Broker
	// Control is the process that the control API changes. If it is nil there is no such API, and requests for it get
	// 404.
	Control control.Server
	// ARM is Azure Resource Manager; nil for none.
	ARM *arm.Manager
	// Principal returns whose web token a request to Resource Manager shows, or an error if the token does not count.
	// Nil: with Access none counts, without it any does.
	Principal func(*http.Request) (string, error)
	// Manual serves the pages of the docs below docsPath; nil for none. Browsers that ask for /docs are led there.
	Manual http.Handler
	// Metrics answers GET /metrics; nil for none. Where tokens are checked, a request needs one with the right to
	// listen, unless OpenMetrics is set.
	Metrics     http.Handler
	OpenMetrics bool
	// Observe is called after every answer, except for requests that became a WebSocket. May be nil.
	Observe func(method string, status int, took time.Duration)
	// MissingIsGone makes sends to and receives from an entity that does not exist answer 410, as the service's
	// documentation says, instead of 404 (DEC-13).
	MissingIsGone bool
	// WebSocket serves AMQP at webSocketPath; nil for none. It takes over the connection, and the time-outs of
	// [NewServer] end there.
	WebSocket http.Handler
	// Authority is the certificate, in PEM, that clients must trust to use TLS. It is served at authorityPath. Empty
	// for none.
	Authority []byte
	// Version is Minibus's version, for the Server header and for health.
	Version string
	// Ports are the bound ports, for health, by which other programs recognise a Minibus; marshalled as JSON. May be
	// nil.
	Ports any
	// Access returns the keys of a namespace by which tokens are checked. Nil accepts any token and asks for none
	// (DEC-10).
	Access func(*emulator.Namespace) *sas.Ring
	// Identity gives out tokens; nil for none.
	Identity *identity.Service
	// Unverified is called for each web token that was accepted because Access is nil. It must not block. May be nil.
	Unverified func()
	// KnownHost reports whether a host name, in lower case and without port, is one of this machine or of this
	// Minibus. It is called only for names that are not local by their form. Nil knows none.
	KnownHost func(host string) bool
	// Origins are the web origins, such as "http://localhost:3000", whose pages may connect over WebSockets, besides
	// Minibus's own.
	Origins []string
	// Refusals limits the log's lines about refused tokens and pages and about requests. Nil limits nothing. The
	// caller closes it.
	Refusals *loglimit.Limiter
	// Logger gets one line for each request, and lines about refused tokens and pages and about the broker's own
	// failures; default discards.
	Logger *slog.Logger
}

// The texts of Microsoft's emulator (drop-in 2.2); some users match them.
const (
	healthyText   = "Service is healthy."
	unhealthyText = "Service not available. Please try after some time."
)

// webSocketPath serves AMQP over WebSockets, in any case and with or without a slash at the end: SDKs differ
// (amqp-data-plane 1.1). No entity's name can begin with $. Methods other than GET go to the administration.
const webSocketPath = "/$servicebus/websocket"

// authorityPath serves the certificate of the authority. Clients fetch it before they can use TLS, so they can trust it
// only as far as the network to Minibus.
const authorityPath = "/minibus/ca.pem"

// docsPath begins the paths of the docs.
const docsPath = "/$minibus/docs/"

func isWebSocket(r *http.Request, _ *mux.RouteMatch) bool {
	return r.Method == http.MethodGet && strings.EqualFold(strings.TrimSuffix(r.URL.Path, "/"), webSocketPath)
}

func isControl(r *http.Request, _ *mux.RouteMatch) bool {
	return strings.HasPrefix(r.URL.Path, control.Prefix)
}

func isExplorer(r *http.Request, _ *mux.RouteMatch) bool { return ui.Wanted(r) }

// New returns the handler of every HTTP request.
func New(o Options) http.Handler {
	h := &handler{options: o}
	if h.options.Ready == nil {
		h.options.Ready = func() bool { return true }
	}
	if h.options.Logger == nil {
		h.options.Logger = slog.New(slog.DiscardHandler)
	}
	h.runtime = newRuntimeAPI(h.authorize, h.options.MissingIsGone)
	return h.logged(h.header(h.closing(h.pages(h.routes()))))
}

// routes makes the router. The administration needs entity names as clients sent them, slashes and escapes included, so
// all requests but operational ones and WebSockets go to one handler.
func (h *handler) routes() *mux.Router {
	r := mux.NewRouter().UseEncodedPath().SkipClean(true)
	get := []string{http.MethodGet, http.MethodHead}
	operational := func(r *http.Request, _ *mux.RouteMatch) bool { return !h.namesEntity(r) }
	r.HandleFunc("/health", h.health).Methods(get...).MatcherFunc(operational)
	r.HandleFunc("/readyz", h.health).Methods(get...).MatcherFunc(operational)
	r.HandleFunc("/livez", h.live).Methods(get...).MatcherFunc(operational)
	if h.options.Metrics != nil {
		r.Handle("/metrics", http.HandlerFunc(h.metrics)).Methods(get...).MatcherFunc(operational)
	}
	if len(h.options.Authority) > 0 {
		r.HandleFunc(authorityPath, h.authority).Methods(get...).MatcherFunc(operational)
	}
	if h.options.Identity != nil {
		r.MatcherFunc(isIdentity).HandlerFunc(h.identify)
	}
	if h.options.WebSocket != nil {
		r.MatcherFunc(isWebSocket).Handler(h.known(keeping(h.options.WebSocket)))
	}
	if h.options.Manual == nil {
		r.PathPrefix(docsPath).Methods(get...).HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "The program minibus has the docs, and servers in tests do not. See /docs of the program.",
				http.StatusNotFound)
		})
	} else {
		r.PathPrefix(docsPath).Methods(get...).Handler(http.StripPrefix(docsPath, h.options.Manual))
		r.Handle("/docs", http.RedirectHandler(docsPath, http.StatusFound)).Methods(get...).MatcherFunc(isExplorer)
	}
	if h.options.Control != nil {
		r.MatcherFunc(isControl).Handler(h.controlling(control.New(h.options.Control)))
		r.HandleFunc("/", ui.Page).Methods(get...).MatcherFunc(isExplorer)
		r.PathPrefix(ui.Prefix).Methods(get...).HandlerFunc(ui.Serve)
	} else {
		r.MatcherFunc(isControl).HandlerFunc(control.Off)
	}
	r.MatcherFunc(isResourceManager).HandlerFunc(h.resourceManager)
	entities := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := h.request(w, r)
		err := h.find(x)
		switch {
		case isRuntime(r, x.target):
			h.runtime.serve(x, err)
		default:
			administer(h, x, err)
		}
	})
	r.NotFoundHandler, r.MethodNotAllowedHandler = entities, entities
	return r
}

// namesEntity reports whether a request for an operational path is about an entity of that name, which need not
// exist: clients of the administration send an api-version or a token (DEC-12). A token alone on /metrics is for the
// metrics, unless there is an entity of that name.
func (h *handler) namesEntity(r *http.Request) bool {
	if r.URL.Query().Has("api-version") {
		return true
	}
	if r.Header.Get("Authorization") == "" || r.URL.Path != "/metrics" {
		return r.Header.Get("Authorization") != ""
	}
	x := h.request(nil, r)
	return h.find(x) == nil && atomNamespace{x.ns}.Kind(strings.TrimPrefix(r.URL.Path, "/")) != 0
}

type handler struct {
	options Options
	runtime *runtimeAPI
}

// inert is the policy of every answer: a browser may show it, but runs no script, loads nothing, and shows it in no
// frame. Any client can send a message, and a script in one would have all rights here.
const inert = "sandbox; default-src 'none'; frame-ancestors 'none'"

// header adds what every response has.
func (h *handler) header(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "Minibus/"+h.options.Version)
		for name, value := range armour {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}

// armour are the headers that keep a browser safe.
var armour = map[string]string{
	"X-Content-Type-Options": "nosniff", "Content-Security-Policy": inert,
	"X-Frame-Options": "DENY", // for old browsers, which ignore frame-ancestors
}

// disarm removes the headers for browsers from an answer to a program.
func disarm(h http.Header) {
	for name := range armour {
		h.Del(name)
	}
}

// health answers at once, also while the process starts. Microsoft's emulator may hang there, which costs users the
// whole time-out of their HTTP client.
func (h *handler) health(w http.ResponseWriter, _ *http.Request) {
	if !h.options.Ready() {
		writeJSON(w, http.StatusServiceUnavailable, h.identified("unhealthy", unhealthyText))
		return
	}
	if h.options.Trouble != nil {
		if err := h.options.Trouble(); err != nil {
			writeJSON(w, http.StatusServiceUnavailable, h.identified("unhealthy", err.Error()))
			return
		}
	}
	writeJSON(w, http.StatusOK, h.identified("healthy", healthyText))
}

// metrics checks the right to listen, since metrics show the names of entities, and serves the metrics.
func (h *handler) metrics(w http.ResponseWriter, r *http.Request) {
	if h.options.Access != nil && !h.options.OpenMetrics {
		x := h.request(w, r)
		err := h.useDefault(x) // the metrics are of all namespaces
		if err == nil {
			err = h.authorize(x, sas.Listen, "")
		}
		if err != nil {
			h.refuse(w, r, problemOf(err))
			return
		}
	}
	h.options.Metrics.ServeHTTP(w, r)
}

// live answers as long as the process does.
func (h *handler) live(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, status{Status: "alive", Message: "Minibus is running."})
}

func (h *handler) authority(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-pem-file")
	w.Header().Set("Content-Disposition", `attachment; filename="minibus-ca.pem"`)
	_, _ = w.Write(h.options.Authority) // the client is gone if this fails
}

// status is the body of an operational answer.
type status struct {
	Status  string  `json:"status"`
	Message string  `json:"message"`
	Minibus *itself `json:"minibus,omitempty"`
}

// itself tells a Minibus from other servers. The names of namespaces are not in it: nobody needs a key for it.
type itself struct {
	Version string `json:"version"`
	Ports   any    `json:"ports,omitempty"`
}

func (h *handler) identified(word, text string) status {
	return status{word, text, &itself{h.options.Version, h.options.Ports}}
}

func writeJSON(w http.ResponseWriter, code int, body status) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client is gone if this fails
}
