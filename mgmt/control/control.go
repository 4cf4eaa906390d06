package control

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/control/api"
)

// Prefix begins the paths of the API. No entity's name can begin with $.
const Prefix = "/$minibus/v1/"

// DocumentPath is the path of the OpenAPI document.
const DocumentPath = Prefix + "openapi.json"

// These stand in a path for a namespace. No namespace can have such a name.
const (
	DefaultNamespace = "$default" // the default one
	ThisNamespace    = "$this"    // the one that the host and the port of the request mean
)

// NamespaceFile has the namespace of a Config.json.
type NamespaceFile struct {
	Options  emulator.NamespaceOptions // aliases, port and policies
	Entities []emulator.EntityConfig
}

// Server is the process that the API controls. Its errors are of type *emulator.Error.
type Server interface {
	Durations
	State
	ConfigTexts
	Configurations
	Resources
	Broker() *emulator.Broker
	// ReadEntities reads the Queues and Topics of a JSON object, which have the form of Config.json, under a profile
	// of limits or, without one, that of the process. It returns all that is wrong, a line for each finding, which
	// begins with from and the place in the text.
	ReadEntities(from string, text []byte, limits *emulator.Profile) (entities []emulator.EntityConfig, wrong []string)
	// ReadFile reads what a whole Config.json has for a new namespace of this name; of a file with one namespace it
	// takes that, whatever its name. It returns nil, and nothing wrong, if the text is no such file.
	ReadFile(from string, text []byte, name string, limits *emulator.Profile) (f *NamespaceFile, wrong []string)
	// CreateNamespace makes up a name if it is empty, and gives the namespace a port if there is a range of them. It
	// makes all of the entities, or no namespace.
	CreateNamespace(
		name string, o emulator.NamespaceOptions, entities ...emulator.EntityConfig,
	) (*emulator.Namespace, error)
	DeleteNamespace(name string) error
	// Endpoint returns the host, with a port if it needs one, by which a client reaches a namespace. host is the name
	// by which the client reached the server.
	Endpoint(ns *emulator.Namespace, host string) string
	// Policies returns those that count for all entities of a namespace.
	Policies(ns *emulator.Namespace) []sas.Policy
	Inspector
}

// New returns the handler of all requests below [Prefix]. It describes its operations at the first request: this
// takes longer than all else that a start does.
func New(s Server) http.Handler {
	described := sync.OnceValue(func() http.Handler { return describe(s) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { described().ServeHTTP(w, r) })
}

func describe(s Server) http.Handler {
	mux := http.NewServeMux()
	h := newHandler(s, humago.NewAdapter(mux, ""))
	h.namespaces()
	h.resources()
	h.entities()
	h.configs()
	h.history()
	h.stream()
	h.wait()
	h.connections()
	h.refusals()
	h.why()
	h.activity()
	h.lookup()
	h.match()
	h.receive()
	h.sessions()
	h.sessionLocks()
	h.jobs()
	h.messages()
	h.upcoming()
	h.clock()
	h.state()
	h.faults()
	h.snapshots()
	mux.HandleFunc("GET "+DocumentPath, h.serveDocument)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store") // answers have keys
		if p := r.URL.EscapedPath(); path.Clean(p) != strings.TrimSuffix(p, "/") {
			// The mux would redirect a path with dot segments, and a client that follows could delete something else.
			refuseRoute(w, r, http.NotFoundHandler())
			return
		}
		if h, pattern := mux.Handler(r); pattern == "" {
			refuseRoute(w, r, h)
			return
		}
		if wrong := checkQuery(r.URL.RawQuery); wrong != nil {
			Refuse(w, wrong)
			return
		}
		if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
			r.Header.Set("Content-Type", "application/json") // curl -d says the former unless it is told otherwise
		}
		mux.ServeHTTP(w, r)
	})
}

// Document returns the OpenAPI document, for those who have no server.
func Document() []byte {
	answer := httptest.NewRecorder()
	New(nil).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, DocumentPath, nil))
	return answer.Body.Bytes()
}

// checkQuery returns the answer to a query of which the operation would miss a part, or nil. No argument is there
// more than once: a list has commas.
func checkQuery(raw string) *api.Error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return badRequest("The query of the request can't be read: %v.", err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 {
			return badRequest("The query has %q more than once. A list is one argument with commas, such as "+
				"state=active,locked.", clipped(name))
		}
	}
	return nil
}

// refuseRoute answers a request that no pattern of the mux takes. h is the mux's answer.
func refuseRoute(w http.ResponseWriter, r *http.Request, h http.Handler) {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	if answer.Code == http.StatusMethodNotAllowed {
		allowed := answer.Header().Get("Allow")
		w.Header().Set("Allow", allowed)
		Refuse(w, &api.Error{Status: answer.Code, Detail: "The path takes " + allowed + "."})
		return
	}
	Refuse(w, &api.Error{Status: http.StatusNotFound, Detail: "There is nothing at this path. " + DocumentPath +
		" lists what there is. In the path of an entity each slash is %2F: events%2FSubscriptions%2Flarge."})
}
