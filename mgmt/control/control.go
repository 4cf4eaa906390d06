package control

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"

	"minibus/emulator"
	"minibus/internal/sas"
)

// Prefix begins the paths of the API. No entity's name can begin with $.
const Prefix = "/$minibus/v1/"

// DocumentPath is the path of the OpenAPI document.
const DocumentPath = Prefix + "openapi.json"

// Server is the process that the API controls. Its errors are of type *emulator.Error.
type Server interface {
	Broker() *emulator.Broker
	// ReadEntities reads the Queues and Topics of a JSON object, which have the form of Config.json, under a profile of limits or, without
	// one, that of the process. It returns all that is wrong, a line for each finding, which begins with from and the place in the text.
	ReadEntities(from string, text []byte, limits *emulator.Limits) (entities []emulator.EntityConfig, wrong []string)
	// CreateNamespace makes up a name if it is empty, and gives the namespace a port if there is a range of them. It makes all of the entities,
	// or no namespace.
	CreateNamespace(name string, o emulator.NamespaceOptions, entities ...emulator.EntityConfig) (*emulator.Namespace, error)
	DeleteNamespace(name string) error
	// Endpoint returns the host, with a port if it needs one, by which a client reaches a namespace. host is the name by which the client
	// reached the server.
	Endpoint(ns *emulator.Namespace, host string) string
	// Policies returns those that count for all entities of a namespace.
	Policies(ns *emulator.Namespace) []sas.Policy
}

//go:embed openapi.json
var document []byte

// New returns the handler of all requests below [Prefix].
func New(s Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{server: s, w: w, r: r}
		if err := c.serve(); err != nil {
			Refuse(w, problemOf(err))
		}
	})
}

// call is one request.
type call struct {
	server Server
	w      http.ResponseWriter
	r      *http.Request
	name   string // of the namespace in the path
}

// operations has the API's operations by path, in which * stands for a name, and method.
var operations = map[string]map[string]func(*call) error{
	"namespaces":   {http.MethodGet: (*call).list, http.MethodPost: (*call).create},
	"namespaces/*": {http.MethodGet: (*call).get, http.MethodDelete: (*call).remove},
	"openapi.json": {http.MethodGet: (*call).document},
}

// serve finds and runs the operation.
func (c *call) serve() error {
	path := strings.TrimPrefix(c.r.URL.Path, Prefix)
	if kind, name, below := strings.Cut(path, "/"); below && name != "" {
		path, c.name = kind+"/*", name
	}
	methods := operations[path]
	if methods == nil {
		return &Error{Status: http.StatusNotFound, Detail: "There is nothing at this path. " + DocumentPath + " lists what there is."}
	}
	method := c.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	do := methods[method]
	if do == nil {
		var allowed []string
		for _, m := range []string{http.MethodDelete, http.MethodGet, http.MethodPost} {
			if methods[m] != nil {
				allowed = append(allowed, m)
			}
		}
		c.w.Header().Set("Allow", strings.Join(allowed, ", "))
		return &Error{Status: http.StatusMethodNotAllowed, Detail: "The path takes " + strings.Join(allowed, ", ") + "."}
	}
	return do(c)
}

func (c *call) document() error {
	write(c.w, http.StatusOK, "application/json", document)
	return nil
}

// answer writes a document.
func (c *call) answer(status int, document any) error {
	body, err := json.Marshal(document)
	if err != nil {
		return err
	}
	write(c.w, status, "application/json", append(body, '\n'))
	return nil
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store") // answers have keys
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone if this fails
}
