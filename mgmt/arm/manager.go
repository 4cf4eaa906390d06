package arm

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"minibus/emulator"
)

// Documents keep JSON by key. A change is durable when its method returns.
type Documents interface {
	All() (map[string][]byte, error)
	Put(key string, value []byte) error
	Delete(keys ...string) error
}

// Server is the process whose namespaces are managed. Its errors are of type *emulator.Error.
type Server interface {
	Broker() *emulator.Broker
	// CreateNamespace gives the namespace a port of its own if there is a range of them.
	CreateNamespace(
		name string, o emulator.NamespaceOptions, entities ...emulator.EntityConfig,
	) (*emulator.Namespace, error)
	DeleteNamespace(name string) error
	// AuthorizationRules returns the policies that count for all of a namespace, and SetAuthorizationRules replaces
	// them: from then on, and after a restart. A list has at least one.
	AuthorizationRules(ns *emulator.Namespace) []emulator.AuthorizationRule
	SetAuthorizationRules(ns *emulator.Namespace, rules []emulator.AuthorizationRule) error
	// Address returns the host, with a port unless it is the usual one of TLS, by which connection strings name a
	// namespace, and whether they tell clients to use no TLS. host is the name by which the client reached the server.
	Address(ns *emulator.Namespace, host string) (address string, plain bool)
}

// Options configure a Manager.
type Options struct {
	Server Server
	Logger *slog.Logger // default discards
	// OtherTypes lets it store resources of types that Minibus does not have. They have no effect.
	OtherTypes bool
}

// Manager does the requests of Resource Manager. Its methods may be called from any goroutine, once it is open.
type Manager struct {
	server Server
	log    *slog.Logger

	storesOthers bool     // resources of types that Minibus does not have
	deploying    sync.Map // keys of the deployments that run

	changing sync.Mutex // held by a request that changes something, until it is answered

	mu        sync.Mutex // never held while waiting
	documents Documents
	known     map[string][]byte // all of them, by key
	index
}

// New makes a manager, which can be asked once it is open.
func New(o Options) *Manager {
	m := &Manager{server: o.Server, log: o.Logger, storesOthers: o.OtherTypes, index: newIndex()}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	return m
}

// Open reads the documents. The server has its namespaces by then.
func (m *Manager) Open(d Documents) error {
	all, err := d.All()
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.documents, m.known = d, all
	for key, text := range all {
		if _, err := ParseID(key); err != nil {
			m.log.Error("a stored resource is left out: its id can't be read", "resource", key, "error", err)
			delete(all, key)
			continue
		}
		m.note(key, nil, text)
	}
	m.mu.Unlock()
	return m.reconcile()
}

// document returns a copy of the document of a resource, or false if it has none.
func document[T any](m *Manager, id ID) (value T, ok bool) {
	m.mu.Lock()
	text, ok := m.known[id.key()]
	m.mu.Unlock()
	if !ok {
		return value, false
	}
	if err := json.Unmarshal(text, &value); err != nil {
		m.log.Error("a stored resource can't be read", "resource", id.String(), "error", err)
		return value, false
	}
	return value, true
}

// keep stores the document of a resource, and returns once that is durable. Its id can be read again, as that of a
// request can: templates make ids of their own.
func (m *Manager) keep(id ID, value any) error {
	for _, text := range []string{id.String(), id.key()} {
		if _, err := ParseID(text); err != nil {
			return err
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", id, err)
	}
	if err := m.checkRoom(id, len(text)); err != nil {
		return err
	}
	if err := m.documents.Put(id.key(), text); err != nil {
		return fmt.Errorf("store %s: %w", id, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note(id.key(), m.known[id.key()], text)
	m.known[id.key()] = text
	return nil
}

// forget removes the documents of keys by one change.
func (m *Manager) forget(keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	if err := m.documents.Delete(keys...); err != nil {
		return fmt.Errorf("remove resources: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		m.note(key, m.known[key], nil)
		delete(m.known, key)
	}
	return nil
}

// keys returns the keys of the documents of a resource and of all in it, in their order. Of "/" it returns all.
func (m *Manager) keys(above ID) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	prefix := strings.TrimSuffix(above.key(), "/")
	var in []string
	for key := range m.known {
		if within(key, prefix) {
			in = append(in, key)
		}
	}
	slices.Sort(in)
	return in
}

// call is one request. base is the scheme and host by which the client addresses this server.
type call struct {
	method    string
	id        ID
	version   string
	query     url.Values
	body      []byte
	base      string
	principal string
	ctx       context.Context // of the client and this server; deployments look at it
	groups    groupsSeen      // of a deployment, which works on in the groups that it has seen; nil: any will do
}

// answer is the answer to a call. A body of nil is none.
type answer struct {
	status int
	body   any
	header http.Header
}

// object is a JSON object.
type object = map[string]any

// operation does a call of one method on resources of one kind. Its errors become answers, as errorOf says.
type operation func(m *Manager, c *call) (answer, error)

// kind is a type of resources. What is nil answers 405.
type kind struct {
	name    string               // as answers show it, such as Microsoft.ServiceBus/namespaces/queues
	methods map[string]operation // on a resource, by method
	list    operation            // GET of all that the parent has
	actions map[string]operation // POST to a resource, by the last word of the path in lower case

	tracked func(m *Manager, scope ID) []object // what lists of all resources have of it; nil: nothing
	nests   bool                                // its operations do calls, so others may change something meanwhile
	ungated bool                                // its operations look themselves whether the resource group exists
}

// kinds is the registry, by the name in lower case.
var kinds = make(map[string]kind)

// register adds a kind to the registry. It is called at initialisation only.
func register(k kind) { kinds[strings.ToLower(k.name)] = k }

// do does one request in process.
func (m *Manager) do(c *call) answer {
	a, err := m.try(c)
	if err != nil {
		e := errorOf(c.id, err)
		if e.Status == http.StatusInternalServerError {
			m.log.Error("a request to Resource Manager failed", "method", c.method, "resource", c.id.String(),
				"error", err)
		}
		return answer{status: e.Status, body: object{"error": e}}
	}
	return a
}

// try finds and runs the operation.
func (m *Manager) try(c *call) (answer, error) {
	o, k, err := m.route(c)
	if err != nil {
		return answer{}, err
	}
	if c.method != http.MethodGet && c.method != http.MethodHead && !k.nests {
		m.changing.Lock()
		defer m.changing.Unlock()
	}
	if err := m.checkScope(c.id, k); err != nil { // while nobody deletes the resource group
		return answer{}, err
	}
	if c.groups != nil && c.id.Group != "" && !k.ungated {
		if err := c.groups.check(m, c.id.groupOf()); err != nil {
			return answer{}, err
		}
	}
	return o(m, c)
}

// route returns the operation of a call with the kind to which it belongs.
func (m *Manager) route(c *call) (operation, kind, error) {
	if c.id.Provider != "" && len(c.id.Types) == 0 { // {scope}/providers/Microsoft.X
		k := kinds[strings.ToLower(providersType)]
		return k.methods[c.method], k, allowed(k.methods[c.method], c)
	}
	k, known := m.kindOf(c.id)
	if known && !c.id.isList() {
		return k.methods[c.method], k, allowed(k.methods[c.method], c)
	}
	if known && k.list != nil && c.method == http.MethodGet {
		return k.list, k, nil
	}
	if parent, ok := ownerOf(c.id); ok {
		if o := parent.actions[strings.ToLower(c.id.Types[len(c.id.Types)-1])]; o != nil {
			return o, parent, allowedAction(c)
		}
	}
	if known {
		return nil, k, allowed(nil, c)
	}
	return nil, k, unknownType(c)
}

// ownerOf returns the kind of the resource that has the list or action of an id.
func ownerOf(id ID) (kind, bool) {
	if !id.isList() {
		return kind{}, false
	}
	if n := len(id.Types) - 1; n > 0 {
		k, ok := kinds[strings.ToLower(id.typeOf(n))]
		return k, ok
	}
	k, ok := kinds[strings.ToLower(providersType)]
	return k, ok && id.Provider != ""
}

func allowed(o operation, c *call) error {
	if o != nil {
		return nil
	}
	return errorf(http.StatusMethodNotAllowed, "MethodNotAllowed",
		"The resource type '%s' does not take the HTTP method '%.20s'.", c.id.Type(), c.method)
}

func allowedAction(c *call) error {
	if c.method == http.MethodPost {
		return nil
	}
	return allowed(nil, c)
}
