package arm

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// version matches an api-version of Resource Manager. The administration's versions have no day.
var version = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-[a-zA-Z]+)?$`)

// The largest bodies of requests, in MiB: of a deployment, which has its template in it, and of any other, which may be
// as large as with the administration API.
const (
	maxDeployment = 4
	maxBody       = 1
)

// graphVersion begins the paths of Microsoft Graph.
const graphVersion = "v1.0"

// graph are the collections of Microsoft Graph in which az looks for who has a role.
var graph = []string{"applications", "directoryobjects", "groups", "me", "serviceprincipals", "users"}

// IsGraph reports whether a request is one to Microsoft Graph, whose address clients of Resource Manager have from
// [Endpoints].
func IsGraph(r *http.Request) bool {
	words := strings.FieldsFunc(strings.ToLower(r.URL.Path), func(c rune) bool { return c == '/' })
	_, versioned := apiVersion(r.URL.Query())
	return len(words) > 1 && words[0] == graphVersion && slices.Contains(graph, words[1]) && !versioned
}

// NoGraph refuses a request to Microsoft Graph as az takes it: it then shows ids without names.
func NoGraph(w http.ResponseWriter, r *http.Request) {
	Refuse(w, r, errorf(http.StatusForbidden, "Authorization_RequestDenied", "Minibus has no Microsoft Graph. Name an "+
		"identity by its object id."))
}

// EndpointsPath is the path that clients ask for without a token.
const EndpointsPath = "/metadata/endpoints"

// beginnings are the first words of the paths.
var beginnings = []string{"subscriptions", "providers", "tenants", "metadata", graphVersion}

// Wanted reports whether a request is one to Resource Manager. An entity may be called as the paths begin: clients of
// the administration say no version, or one without a day. Without a version it is one only if no entity could be
// meant.
func Wanted(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(r.URL.Path, "/"), "/")
	if !slices.ContainsFunc(beginnings, func(word string) bool { return strings.EqualFold(word, first) }) {
		return false // at no cost: every request passes here
	}
	if IsGraph(r) {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(r.URL.Path), func(c rune) bool { return c == '/' })
	if words[0] == graphVersion || words[0] == "metadata" && (len(words) < 2 || words[1] != "endpoints") {
		return false
	}
	said, has := apiVersion(r.URL.Query())
	if has {
		return version.MatchString(said)
	}
	return words[0] == "subscriptions" && len(words) > 2 && uuid.Validate(words[1]) == nil &&
		(words[2] == "resourcegroups" || words[2] == "providers") && !strings.Contains(r.URL.Path, "/messages")
}

// apiVersion returns the api-version of a query, whose names are in any case.
func apiVersion(query url.Values) (said string, has bool) {
	for name, values := range query {
		if strings.EqualFold(name, "api-version") && len(values) > 0 {
			return values[0], values[0] != ""
		}
	}
	return "", false
}

// Serve answers a request. base is the scheme and host by which the client addresses this server, principal whose token
// it showed.
func (m *Manager) Serve(w http.ResponseWriter, r *http.Request, base, principal string) {
	c, err := newCall(w, r, base, principal)
	var a answer
	if err != nil {
		e := errorOf(ID{}, err)
		a = answer{status: e.Status, body: object{"error": e}}
	} else if a = m.unmet(c, r); a.status == 0 {
		a = m.do(c)
	}
	write(w, r, a)
}

// unmet returns the answer to a request that changes only what is there, if it is not; else an answer without status.
func (m *Manager) unmet(c *call, r *http.Request) answer {
	if r.Header.Get("If-Match") != "*" || c.method == http.MethodGet || c.method == http.MethodHead {
		return answer{}
	}
	look := *c
	look.method, look.body = http.MethodGet, nil
	if m.do(&look).status != http.StatusNotFound {
		return answer{}
	}
	return answer{status: http.StatusPreconditionFailed, body: object{"error": errorf(http.StatusPreconditionFailed,
		"PreconditionFailed", "The resource does not exist, and the request has 'If-Match: *'.")}}
}

// newCall reads a request.
func newCall(w http.ResponseWriter, r *http.Request, base, principal string) (*call, error) {
	c := &call{method: r.Method, base: base, principal: principal, query: make(url.Values), ctx: r.Context()}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("InvalidRequestUri", "The query of the request can't be read: %v.", err)
	}
	for name, values := range query {
		c.query[strings.ToLower(name)] = values
	}
	c.version = c.query.Get("api-version")
	if c.version == "" {
		return nil, badRequest("MissingApiVersionParameter", "The api-version query parameter (?api-version=) is "+
			"required for all requests.")
	}
	if c.id, err = parsePath(r.URL.EscapedPath()); err != nil {
		return nil, err
	}
	limit := int64(maxBody)
	if strings.Contains(strings.ToLower(r.URL.Path), "/microsoft.resources/deployments/") {
		limit = maxDeployment
	}
	c.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit<<20))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return nil, errorf(http.StatusRequestEntityTooLarge, "RequestContentTooLarge", "The request content size "+
			"exceeds the maximum size of %d MB.", limit)
	} else if err != nil {
		return nil, badRequest("InvalidRequestContent", "The request content could not be read: %v.", err)
	}
	return c, nil
}

// ServeEndpoints answers at [EndpointsPath].
func ServeEndpoints(w http.ResponseWriter, r *http.Request, base string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		Refuse(w, r, errorf(http.StatusMethodNotAllowed, "MethodNotAllowed", "The path takes GET only."))
		return
	}
	write(w, r, answer{status: http.StatusOK, body: Endpoints(base)})
}

// Refuse answers a request with an error.
func Refuse(w http.ResponseWriter, r *http.Request, e *Error) {
	write(w, r, answer{status: e.Status, body: object{"error": e}})
}

// Unauthorized refuses a request for want of a token that counts. Clients learn from the header where to get one.
func Unauthorized(w http.ResponseWriter, r *http.Request, base, text string) {
	w.Header().Set("WWW-Authenticate", `Bearer authorization_uri="`+base+`/`+Tenant+`", error="invalid_token", `+
		`error_description="The access token is missing or invalid."`)
	Refuse(w, r, errorf(http.StatusUnauthorized, "AuthenticationFailed", "%s", text))
}

// Off answers every request where Minibus serves no Resource Manager. No client retries that.
func Off(w http.ResponseWriter, r *http.Request) {
	Refuse(w, r, badRequest("MessagingGatewayBadRequest", "This Minibus does not serve Azure Resource Manager: it "+
		"was started with --arm off or --control off. Declare entities in Config.json, or make them with a client "+
		"of the Service Bus administration API, such as ServiceBusAdministrationClient."))
}

// write answers. A client that is gone is told nothing.
func write(w http.ResponseWriter, r *http.Request, a answer) {
	h := w.Header()
	for name, values := range a.header {
		h[name] = values
	}
	h.Set("x-ms-request-id", uuid.NewString())
	h.Set("x-ms-correlation-request-id", uuid.NewString())
	if id := r.Header.Get("x-ms-client-request-id"); id != "" && len(id) <= 200 {
		h.Set("x-ms-client-request-id", id)
	}
	h.Set("x-go-azure-sdk-skip-polling-delay", "true") // Terraform would wait 10 s for what is done
	h.Set("Cache-Control", "no-cache")
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		a.status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"InternalServerError"}}`)
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text)
	}
}
