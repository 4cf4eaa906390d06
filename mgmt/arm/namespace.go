package arm

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"minibus/emulator"
)

const serviceBus = "Microsoft.ServiceBus"

func init() {
	register(kind{
		name: serviceBus + "/namespaces", list: (*Manager).listNamespaces,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getNamespace, http.MethodHead: (*Manager).getNamespace,
			http.MethodPut: (*Manager).putNamespace, http.MethodPatch: (*Manager).patchNamespace,
			http.MethodDelete: (*Manager).deleteNamespace,
		},
		actions: map[string]operation{"failover": (*Manager).refuseFailover},
		tracked: (*Manager).trackedNamespaces,
	})
}

// sku is the tier of a namespace.
type sku struct {
	Name     string `json:"name"`
	Tier     string `json:"tier"`
	Capacity int    `json:"capacity,omitempty"`
}

// The tiers.
const (
	basic    = "Basic"
	standard = "Standard"
	premium  = "Premium"
)

// namespaceDocument is the document of a namespace that was made or changed here.
type namespaceDocument struct {
	ID         string            `json:"id"`
	Location   string            `json:"location"`
	Tags       map[string]string `json:"tags,omitempty"`
	SKU        sku               `json:"sku"`
	Identity   *identity         `json:"identity,omitempty"`
	Properties object            `json:"properties,omitempty"` // those that are only kept
	Updated    int64             `json:"updated,omitempty"`    // ms since the Unix epoch
	// Of is when the namespace of the broker was created, which tells it from a later one of the same name; 0: it is
	// being created.
	Of int64 `json:"of,omitempty"`
}

// defaultDocument returns what a namespace is here that has no document: one that was made elsewhere.
func defaultDocument(ns *emulator.Namespace) namespaceDocument {
	id := provided(groupID(DefaultSubscription, DefaultGroup), serviceBus, "namespaces", ns.Name())
	s := namespaceDocument{
		ID: id.String(), Location: DefaultLocation, SKU: sku{Name: standard, Tier: standard}, Of: ns.Created(),
	}
	if ns.Profile() == emulator.ProfilePremium {
		s.SKU = sku{Name: premium, Tier: premium, Capacity: 1}
	}
	return s
}

// documentOf returns what a namespace of the broker is here.
func (m *Manager) documentOf(ns *emulator.Namespace) namespaceDocument {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.namespaces[strings.ToLower(ns.Name())] {
		if s.Of == ns.Created() || s.Of == 0 {
			return s
		}
	}
	return defaultDocument(ns)
}

func (m *Manager) namespaceID(ns *emulator.Namespace) ID { return mustParse(m.documentOf(ns).ID) }

// reconcile puts in order what a process left that ended in the middle of a change: documents of namespaces that were
// never made, or were deleted elsewhere, and of what is in no resource group. A namespace among these is in the default
// one from then on.
func (m *Manager) reconcile() error {
	var gone []string
	for _, key := range m.keys(ID{}) {
		id := mustParse(key)
		if id.Group != "" && !m.groupExists(id.groupOf()) {
			gone = append(gone, key)
			continue
		}
		if !strings.EqualFold(id.Type(), serviceBus+"/namespaces") {
			continue
		}
		s, ok := document[namespaceDocument](m, id)
		ns, err := m.server.Broker().Namespace(id.Name())
		switch {
		case ok && err == nil && s.Of == 0:
			s.Of = ns.Created()
			if err := m.keep(id, s); err != nil {
				return err
			}
		case err != nil || s.Of != ns.Created():
			gone = append(gone, m.keys(id)...)
		}
	}
	if err := m.forget(gone...); err != nil {
		return err
	}
	return m.forget(m.orphans(ID{})...)
}

// located is a namespace of the broker with what it is here.
type located struct {
	ns *emulator.Namespace
	namespaceDocument
}

// namespacesIn returns the namespaces of a subscription or a resource group, by name.
func (m *Manager) namespacesIn(id ID) (all []located) {
	for _, ns := range m.server.Broker().Namespaces() {
		s := m.documentOf(ns)
		if within(strings.ToLower(s.ID), id.key()) {
			all = append(all, located{ns, s})
		}
	}
	return all
}

// find returns the namespace that an id names, or in which it names something. It is missing, as err says, if it is in
// another resource group.
func (m *Manager) find(id ID) (located, error) {
	ns, err := m.server.Broker().Namespace(id.Names[0])
	if err == nil {
		s := m.documentOf(ns)
		if at := mustParse(s.ID); at.groupOf().key() == id.groupOf().key() {
			return located{ns, s}, nil
		}
	}
	if len(id.Types) > 1 {
		return located{}, notFound("ParentResourceNotFound", "Failed to perform the operation on the resource '%s' "+
			"because the parent resource '%s' could not be found.", id.Type(), strings.Join(id.Names[:1], "/"))
	}
	return located{}, resourceNotFound(id)
}

func (m *Manager) listNamespaces(c *call) (answer, error) {
	all := m.namespacesIn(c.id.Parent())
	return list(c, len(all), func(i int) any { return m.shownNamespace(c, all[i]) })
}

func (m *Manager) getNamespace(c *call) (answer, error) {
	s, err := m.find(c.id)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: m.shownNamespace(c, s)}, nil
}

// shownNamespace returns a namespace as answers show it.
func (m *Manager) shownNamespace(c *call, s located) object {
	id := mustParse(s.ID)
	properties := object{
		"provisioningState": "Succeeded", "status": "Active",
		"createdAt": instant(s.ns.Created()), "updatedAt": instant(max(s.Updated, s.ns.Created())),
		"metricId":           strings.ToLower(id.Subscription) + ":" + strings.ToLower(s.ns.Name()),
		"serviceBusEndpoint": m.serviceEndpoint(s.ns, c.base),
	}
	for _, p := range namespaceProperties {
		if v, ok := s.Properties[p.name]; ok {
			properties[p.name] = v
		} else if v := p.initial(s.SKU); v != nil {
			properties[p.name] = v
		}
	}
	o := object{
		"id": s.ID, "name": s.ns.Name(), "type": serviceBus + "/Namespaces", "location": shownLocation(s.Location),
		"tags": tagsOf(s.Tags), "sku": s.SKU, "properties": properties,
	}
	if s.Identity != nil {
		o["identity"] = s.Identity
	}
	return o
}

// trackedNamespaces returns the namespaces of a subscription or a resource group for lists of all resources.
func (m *Manager) trackedNamespaces(scope ID) (all []object) {
	for _, s := range m.namespacesIn(scope) {
		o := object{
			"id": s.ID, "name": s.ns.Name(), "type": serviceBus + "/namespaces", "location": plainLocation(s.Location),
			"tags": tagsOf(s.Tags), "sku": s.SKU,
		}
		if s.Identity != nil {
			o["identity"] = s.Identity
		}
		all = append(all, o)
	}
	return all
}

func (m *Manager) refuseFailover(c *call) (answer, error) {
	if _, err := m.find(c.id); err != nil {
		return answer{}, err
	}
	return answer{}, unsupported(c.id, "Minibus has no other region to which a namespace could fail over.")
}

// instant returns a time in ms as answers show it.
func instant(ms int64) string {
	if ms == 0 {
		return "0001-01-01T00:00:00Z"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

func (m *Manager) putNamespace(c *call) (answer, error) {
	var body envelope
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	name := c.id.Name()
	if err := emulator.CheckNamespaceName(name); err != nil {
		if _, there := m.server.Broker().Namespace(name); there != nil { // the default one may be called otherwise
			return answer{}, badRequest("BadRequest", "The specified service namespace is invalid. %s "+
				"CorrelationId: %s", err.Error(), uuid.NewString())
		}
	}
	old, err := m.find(c.id)
	if err == nil {
		return m.replaceNamespace(c, old, body)
	}
	if _, err := m.server.Broker().Namespace(name); err == nil {
		return answer{}, conflict("Conflict", "The namespace name '%s' is not available: a namespace in another "+
			"resource group has it. CorrelationId: %s", name, uuid.NewString())
	}
	if body.Location == "" {
		return answer{}, badRequest("LocationRequired", "The location property is required for this definition.")
	}
	s := namespaceDocument{ID: c.id.String(), Location: body.Location, SKU: sku{Name: standard, Tier: standard}}
	if err := m.takeNamespace(c, &s, body, true); err != nil {
		return answer{}, err
	}
	return m.createNamespace(c, s)
}

// createNamespace makes a namespace. The document comes first, so that it is in its place from the beginning.
func (m *Manager) createNamespace(c *call, s namespaceDocument) (answer, error) {
	if err := m.forget(m.keys(c.id)...); err != nil { // of an earlier one that was deleted elsewhere
		return answer{}, err
	}
	if err := m.keep(c.id, s); err != nil {
		return answer{}, err
	}
	ns, err := m.server.CreateNamespace(c.id.Name(), m.limited(s.SKU))
	if err != nil {
		_ = m.forget(c.id.key()) // the first error matters
		return answer{}, err
	}
	s.Of = ns.Created()
	if err := m.keep(c.id, s); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: m.shownNamespace(c, located{ns, s})}, nil
}

// limited returns the settings of a new namespace. Where the process has the limits of a tier, the namespace has those
// of its own.
func (m *Manager) limited(of sku) (o emulator.NamespaceOptions) {
	if l := m.server.Broker().Default().Profile(); l == emulator.ProfileStandard || l == emulator.ProfilePremium {
		l = emulator.ProfileStandard
		if of.Name == premium {
			l = emulator.ProfilePremium
		}
		o.Limits = &l
	}
	return o
}

// replaceNamespace gives a namespace what a body says; what it leaves out gets its default.
func (m *Manager) replaceNamespace(c *call, old located, body envelope) (answer, error) {
	if body.Location != "" && !sameLocation(old.Location, body.Location) {
		return answer{}, conflict("InvalidResourceLocation", "The resource '%s' already exists in location '%s' in "+
			"resource group '%s'. A resource with the same name cannot be created in location '%.60s'. Please "+
			"select a new resource name.", c.id.Name(), old.Location, c.id.Group, body.Location)
	}
	s := old.namespaceDocument
	s.Tags, s.Identity = nil, nil
	if err := m.takeNamespace(c, &s, body, true); err != nil {
		return answer{}, err
	}
	return m.updateNamespace(c, located{old.ns, s})
}

func (m *Manager) patchNamespace(c *call) (answer, error) {
	var body envelope
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	old, err := m.find(c.id)
	if err != nil {
		return answer{}, err
	}
	s := old.namespaceDocument
	if err := m.takeNamespace(c, &s, body, false); err != nil {
		return answer{}, err
	}
	return m.updateNamespace(c, located{old.ns, s})
}

func (m *Manager) updateNamespace(c *call, s located) (answer, error) {
	s.Updated, s.Of = s.ns.Now(), s.ns.Created()
	if err := m.keep(mustParse(s.ID), s.namespaceDocument); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: m.shownNamespace(c, s)}, nil
}

func (m *Manager) deleteNamespace(c *call) (answer, error) {
	s, err := m.find(c.id)
	if err != nil {
		return answer{status: http.StatusNoContent}, nil
	}
	if s.ns == m.server.Broker().Default() {
		return answer{}, conflict("Conflict", "The namespace '%s' is the default one of this Minibus and can't be "+
			"deleted. Delete its entities.", s.ns.Name())
	}
	if err := m.removeNamespace(s); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK}, nil
}

// removeNamespace deletes a namespace with all that is known of it.
func (m *Manager) removeNamespace(s located) error {
	if err := m.server.DeleteNamespace(s.ns.Name()); err != nil {
		return err
	}
	return m.forget(m.keys(mustParse(s.ID))...)
}
