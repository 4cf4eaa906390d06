package control

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/sync/semaphore"

	"minibus/emulator"
	"minibus/internal/printable"
	"minibus/internal/strictjson"
	"minibus/mgmt/control/api"
	"minibus/mgmt/control/receive"
)

// description introduces the API in its document.
const description = "Shows and steers Minibus while it runs. With --auth sas each request needs a token of a policy " +
	"of the default namespace that has the Manage right, except the one for this document. Requests and answers are " +
	"JSON, and errors are problem documents as in RFC 9457."

// configJSON has the schemas of what has the form of Config.json. Package config reads that; the API only passes it on.
//
//go:embed configjson.json
var configJSON []byte

// handler has the operations. Huma reads their arguments, checks them, and describes them in the document, from Go
// types.
type handler struct {
	huma.API
	server   Server
	document func() ([]byte, error)
	memory   *semaphore.Weighted // bytes

	smallReads *semaphore.Weighted // reads
	held       receive.Held
}

func newHandler(s Server, adapter huma.Adapter) *handler {
	h := &handler{server: s, memory: semaphore.NewWeighted(memoryBudget), smallReads: semaphore.NewWeighted(smallReads)}
	h.API = huma.NewAPI(huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI:  "3.1.0",
			Info:     &huma.Info{Title: "Minibus control API", Version: "1", Description: description},
			Security: []map[string][]string{{}, {"sharedAccessSignature": {}}},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry(schemas, huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{"sharedAccessSignature": {
					Type:        "apiKey",
					In:          "header",
					Name:        "Authorization",
					Description: "SharedAccessSignature sr=...&sig=...&se=...&skn=...",
				}},
			},
		},
		Formats:                      map[string]huma.Format{"application/json": strict, "json": strict},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
	}, adapter)
	h.UseMiddleware(h.guard)
	h.enumerate()
	h.document = sync.OnceValues(h.describe)
	return h
}

// strict reads and writes the bodies.
var strict = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: func(data []byte, v any) error {
	if err := strictjson.Check(data); err != nil {
		return err
	}
	return strictjson.Words(huma.DefaultJSONFormat.Unmarshal(data, v))
}}

// readOnly says of an operation that it changes nothing although its method says that it may. A GET needs no such word.
var readOnly = map[string]any{"x-read-only": true}

// schemas begins the references to schemas in the document.
const schemas = "#/components/schemas/"

// onlyQuery describes the status 400 of operations that would not refuse anything else.
const onlyQuery = "A query that the operation does not have"

// tagged is an operation in an area of the API.
func tagged(area string) huma.Operation { return huma.Operation{Tags: []string{area}} }

// register adds an operation, which descriptions.txt describes. route is its method and its path, ok the status of
// success. refusals are the statuses of its errors, besides those that all operations have: 401, 503, and 400 for a
// wrong query.
func register[I, O any](
	h *handler, id, route string, o huma.Operation, run func(context.Context, *I) (*O, error), ok int, refusals ...int,
) {
	method, path, _ := strings.Cut(route, " ")
	o.OperationID = id
	o.Method = method
	o.Path = Prefix + path
	text := descriptions()[id]
	o.Summary = text[0]
	o.Description = strings.Join(text[1:], "\n\n")
	o.DefaultStatus = ok
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = maxBody
	}
	refuses := slices.Contains(refusals, http.StatusBadRequest)
	o.Errors = append(refusals, http.StatusBadRequest, http.StatusUnauthorized, http.StatusServiceUnavailable)
	huma.Register(h.API, o, func(ctx context.Context, in *I) (*O, error) {
		out, err := run(ctx, in)
		if err != nil && errors.Is(context.Cause(ctx), ErrTokenExpired) {
			err = ErrTokenExpired
		}
		if err != nil {
			return nil, problemOf(err)
		}
		return out, nil
	})
	// Huma lists two statuses of its own. Wrong arguments have 400 here, and 500 is a fault of Minibus.
	item := h.OpenAPI().Paths[o.Path]
	for _, registered := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if registered != nil {
			delete(registered.Responses, strconv.Itoa(http.StatusUnprocessableEntity))
			delete(registered.Responses, strconv.Itoa(http.StatusInternalServerError))
			if registered.OperationID == id && !refuses {
				registered.Responses[strconv.Itoa(http.StatusBadRequest)].Description = onlyQuery
			}
		}
	}
}

// answered describes the answer of an operation whose Go type does not show it.
func answered(description, contentType string, schema *huma.Schema) map[string]*huma.Response {
	content := map[string]*huma.MediaType{contentType: {Schema: schema}}
	return map[string]*huma.Response{strconv.Itoa(http.StatusOK): {Description: description, Content: content}}
}

// describe makes the document.
func (h *handler) describe() ([]byte, error) {
	for heading, text := range descriptions() {
		for key := range strings.SplitSeq(heading, ", ") {
			if schema, property, isProperty := strings.Cut(key, "."); isProperty {
				h.property(schema, property).Description = text[0]
			}
		}
	}
	text, err := json.Marshal(h.OpenAPI())
	if err != nil {
		return nil, err
	}
	var document struct {
		OpenAPI    json.RawMessage                       `json:"openapi"`
		Info       json.RawMessage                       `json:"info"`
		Security   json.RawMessage                       `json:"security"`
		Paths      map[string]json.RawMessage            `json:"paths"`
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	var more map[string]json.RawMessage
	if err := json.Unmarshal(configJSON, &more); err != nil {
		return nil, err
	}
	maps.Copy(document.Components["schemas"], more)
	document.Paths[DocumentPath] = json.RawMessage(`{"get": {
		"operationId": "getDocument", "summary": "This document", "security": [], "responses": {"200": {
			"description": "An OpenAPI document",
			"content": {"application/json": {"schema": {"type": "object", "required": ["openapi", "paths"]}}}}}}}`)
	return json.MarshalIndent(document, "", "  ")
}

func (h *handler) serveDocument(w http.ResponseWriter, _ *http.Request) {
	text, err := h.document()
	if err != nil {
		Refuse(w, problemOf(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client is gone if this fails
}

// InNamespace is an argument of operations on one namespace.
type InNamespace struct {
	Namespace string `path:"namespace" doc:"The name, or $default, or $this for that of the host and port"`

	host   string
	port   int
	client *emulator.Client // asks
}

// Resolve implements [huma.Resolver].
func (in *InNamespace) Resolve(ctx huma.Context) []error {
	in.host = ctx.Host()
	product := printable.Clip(ctx.Header("User-Agent"), maxAgent)
	in.client = &emulator.Client{Container: "control API", Remote: ctx.RemoteAddr(), Product: product}
	r, _ := humago.Unwrap(ctx)
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		in.port = at.Port
	}
	return nil
}

// maxAgent is how many characters of a client's name for itself are kept.
const maxAgent = 200

// find returns the namespace.
func (in *InNamespace) find(h *handler) (*emulator.Namespace, error) {
	b := h.server.Broker()
	switch in.Namespace {
	case DefaultNamespace:
		return b.Default(), nil
	case ThisNamespace:
		return b.Find(in.host, in.port)
	}
	ns, err := b.Namespace(in.Namespace)
	isForgotten := in.Namespace == DefaultNamespace[1:] || in.Namespace == ThisNamespace[1:]
	if missing := (*emulator.Error)(nil); isForgotten && errors.As(err, &missing) {
		err = &emulator.Error{Code: missing.Code, Text: missing.Text + " Do you mean $" + in.Namespace + "?"}
	}
	return ns, err
}

// Paged are the arguments of operations that answer with a page.
type Paged struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"The most items of a page"`
	Cursor string `query:"cursor" doc:"What the page before had in next"`
}

// pageOf is the answer with a page of items. next is the cursor of the page behind it.
func pageOf[S, T any](items []S, next string, shown func(S) T) *struct{ Body api.Page[T] } {
	out := &struct{ Body api.Page[T] }{api.Page[T]{Items: make([]T, len(items)), Next: next}}
	for i, item := range items {
		out.Body.Items[i] = shown(item)
	}
	return out
}
