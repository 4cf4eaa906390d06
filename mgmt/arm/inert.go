package arm

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// insights is the provider of what watches resources.
const insights = "Microsoft.Insights"

// inertType is a type of resources without effect: they are kept as they come, and shown.
type inertType struct {
	name  string
	bare  bool                          // answers add nothing to the properties, and 200 also says that one is new
	check func(properties object) error // refuses what Azure would; it may change the properties
}

// inertTypes are those that templates have beside Service Bus.
var inertTypes = []inertType{
	{name: insights + "/diagnosticSettings", bare: true, check: checkDiagnosticSetting},
	{name: authorization + "/locks", bare: true, check: checkLock},
	{name: insights + "/metricAlerts", bare: true},
	{name: insights + "/actionGroups"},
	{name: userAssignedIdentities + "/federatedIdentityCredentials", bare: true},
}

func init() {
	for _, t := range inertTypes {
		register(t.kind())
	}
	register(kind{
		name: insights + "/diagnosticSettingsCategories", list: (*Manager).listCategories,
		methods: map[string]operation{http.MethodGet: (*Manager).getCategory},
	})
}

func (t inertType) kind() kind {
	put := func(m *Manager, c *call) (answer, error) { return m.putInert(c, t) }
	patch := func(m *Manager, c *call) (answer, error) { return m.patchInert(c, t) }
	return kind{
		name: t.name, list: (*Manager).listInert,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getInert, http.MethodHead: (*Manager).getInert, http.MethodPut: put,
			http.MethodPatch: patch, http.MethodDelete: (*Manager).deleteInert,
		},
	}
}

// maxInert bounds the body of a request that makes a resource without an effect.
const maxInert = 1 << 20

// checkExists fails unless there is the resource of an id. Of what is in a namespace only entities count.
func (m *Manager) checkExists(id ID) error {
	exists := true // without a provider: all subscriptions are there, and checkScope has looked for the group
	switch {
	case id.isList(), id.Provider != "" && len(id.Types) == 0:
		exists = false
	case id.Provider == serviceBus:
		exists = id.owner().key() == id.key() && m.hasEntity(id)
	case id.Provider != "":
		exists = m.do(&call{method: http.MethodGet, id: id}).status == http.StatusOK
	}
	if !exists {
		return resourceNotFound(id)
	}
	return nil
}

// hasEntity reports whether there is the namespace or the entity of an id.
func (m *Manager) hasEntity(id ID) bool {
	if len(id.Types) == 1 {
		_, err := m.find(id)
		return err == nil
	}
	_, _, err := m.entity(id)
	return err == nil
}

// checkParent fails unless there is what a resource belongs to. Between a resource of the first level and those deep in
// it, Azure has some that nobody makes.
func (m *Manager) checkParent(id ID) error {
	if len(id.Types) == 1 {
		return m.checkExists(id.Parent())
	}
	first := id
	first.Types, first.Names = id.Types[:1], id.Names[:1]
	if m.checkExists(first) == nil {
		return nil
	}
	return notFound("ParentResourceNotFound", "Failed to perform the operation on the resource '%s' because the "+
		"parent resource '%s' could not be found.", id.Type(), first.Name())
}

// readSmall reads the body of a call, which is about a resource without an effect and so may not be large.
func (c *call) readSmall(value any) error {
	if len(c.body) > maxInert {
		return errorf(http.StatusRequestEntityTooLarge, "RequestContentTooLarge", "A resource of the type '%s' can "+
			"have %d bytes.", c.id.Type(), maxInert)
	}
	return c.read(value)
}

// readObject reads the body of a call, which must be an object.
func (c *call) readObject() (object, error) {
	var o object
	if err := c.readSmall(&o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, badRequest("InvalidRequestContent", "The request content is null, and not a resource.")
	}
	return o, nil
}

func (m *Manager) putInert(c *call, t inertType) (answer, error) {
	o, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	_, was := document[object](m, c.id)
	return m.keepInert(c, o, was, t)
}

// patchInert merges a body into a resource: what is null is removed, and tags count as a whole.
func (m *Manager) patchInert(c *call, t inertType) (answer, error) {
	change, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	o, ok := document[object](m, c.id)
	if !ok {
		return answer{}, resourceNotFound(c.id)
	}
	if _, given := change["tags"]; given {
		delete(o, "tags")
	}
	return m.keepInert(c, merged(o, change), true, t)
}

// merged applies a JSON merge patch (RFC 7396).
func merged(o, change object) object {
	o = maps.Clone(o)
	if o == nil {
		o = object{}
	}
	for name, value := range change {
		if value == nil {
			delete(o, name)
			continue
		}
		if inner, ok := value.(object); ok {
			old, _ := o[name].(object)
			value = merged(old, inner)
		}
		o[name] = value
	}
	return o
}

// keepInert stores a resource with what Resource Manager adds to it.
func (m *Manager) keepInert(c *call, o object, was bool, t inertType) (answer, error) {
	if err := m.checkParent(c.id); err != nil {
		return answer{}, err
	}
	given := o["properties"]
	properties, ok := given.(object)
	if given != nil && !ok {
		return answer{}, badRequest("InvalidRequestContent", "The properties of a resource are an object.")
	}
	properties = merged(properties, nil)
	if t.check != nil {
		if err := t.check(properties); err != nil {
			return answer{}, err
		}
	}
	if !t.bare {
		properties["provisioningState"] = "Succeeded"
	}
	if err := checkInertTags(o["tags"]); err != nil {
		return answer{}, err
	}
	if err := addIdentity(c.id, o); err != nil {
		return answer{}, err
	}
	maps.DeleteFunc(o, func(name string, _ any) bool {
		return slices.Contains([]string{"id", "name", "type", "properties"}, strings.ToLower(name))
	})
	o["id"], o["name"], o["type"], o["properties"] = c.id.String(), c.id.Name(), c.id.Type(), properties
	if old, ok := document[object](m, c.id); ok {
		o["id"], o["name"] = old["id"], old["name"]
	}
	if err := m.keep(c.id, o); err != nil {
		return answer{}, err
	}
	if was {
		return answer{status: http.StatusOK, body: o}, nil
	}
	m.logInert(c.id, "Minibus keeps and shows it")
	if t.bare {
		return answer{status: http.StatusOK, body: o}, nil
	}
	return answer{status: http.StatusCreated, body: o}, nil
}

// logInert says once of a resource that it has no effect.
func (m *Manager) logInert(id ID, why string) {
	m.log.Info("a resource is stored without effect: "+why, "type", id.Type(), "resource", id.String())
}

func checkInertTags(given any) error {
	tags, ok := given.(object)
	if given != nil && !ok {
		return badRequest("InvalidRequestContent", "Tags are an object of texts.")
	}
	texts := make(map[string]string)
	for name, value := range tags {
		if texts[name], ok = value.(string); !ok {
			return badRequest("InvalidRequestContent", "The tag %.60q is not a text.", name)
		}
	}
	return checkTags(texts)
}

// addIdentity adds the ids of the identities that a resource has.
func addIdentity(id ID, o object) error {
	given := o["identity"]
	delete(o, "identity")
	if given == nil {
		return nil
	}
	text, err := json.Marshal(given)
	if err != nil {
		return err
	}
	has, err := readIdentity(id.String(), text)
	if err == nil && has != nil {
		o["identity"] = has
	}
	return err
}

func (m *Manager) getInert(c *call) (answer, error) {
	o, ok := document[object](m, c.id)
	if !ok {
		return answer{}, resourceNotFound(c.id)
	}
	return answer{status: http.StatusOK, body: o}, nil
}

// listInert answers with the resources of a type that a scope has, those of its resources among them.
func (m *Manager) listInert(c *call) (answer, error) {
	var all []object
	for _, key := range m.keysOf(c.id.Type(), c.id.Parent()) {
		if o, ok := document[object](m, mustParse(key)); ok {
			all = append(all, o)
		}
	}
	return list(c, len(all), func(i int) any { return all[i] })
}

func (m *Manager) deleteInert(c *call) (answer, error) {
	if _, ok := document[object](m, c.id); !ok {
		return answer{status: http.StatusNoContent}, nil
	}
	return answer{status: http.StatusOK}, m.forget(m.keys(c.id)...)
}

// resourcesOf returns the identities and the inert resources that a subscription or a resource group holds by itself,
// and not on or in another resource.
func (m *Manager) resourcesOf(scope ID) (all []object) {
	for _, key := range m.keys(scope) {
		id := mustParse(key)
		inGroup := id.Group != "" && id.Scope == id.groupOf().String() && len(id.Types) == 1
		if !inGroup || id.Provider == serviceBus || id.Provider == own || id.Provider == authorization {
			continue
		}
		if strings.EqualFold(id.Type(), userAssignedIdentities) {
			if u, ok := document[userAssigned](m, id); ok {
				all = append(all, u.shown())
			}
			continue
		}
		o, ok := document[object](m, id)
		if !ok || strings.HasSuffix(id.Type(), "/diagnosticSettings") {
			continue
		}
		given, _ := o["tags"].(object)
		tags := make(map[string]string)
		for name, value := range given {
			tags[name], _ = value.(string)
		}
		o["tags"] = tags
		all = append(all, o)
	}
	return all
}

// keysOf returns the keys of the documents of a type in a resource or, of the zero id, of all.
func (m *Manager) keysOf(kind string, above ID) []string {
	kind = strings.ToLower(kind)
	last := kind[strings.LastIndexByte(kind, '/')+1:]
	return slices.DeleteFunc(m.keys(above), func(key string) bool {
		return !strings.Contains(key, "/"+last+"/") || !strings.EqualFold(mustParse(key).Type(), kind)
	})
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

func checkDiagnosticSetting(properties object) error {
	for _, sink := range []string{
		"workspaceId", "storageAccountId", "eventHubAuthorizationRuleId", "marketplacePartnerId", "serviceBusRuleId",
	} {
		if text, _ := properties[sink].(string); text != "" {
			return nil
		}
	}
	return badRequest("BadRequest", "At least one data sink needs to be specified: workspaceId, storageAccountId, "+
		"eventHubAuthorizationRuleId or marketplacePartnerId.")
}

func checkLock(properties object) error {
	level, _ := properties["level"].(string)
	for _, known := range []string{"CanNotDelete", "ReadOnly", "NotSpecified"} {
		if strings.EqualFold(level, known) {
			properties["level"] = known
			return nil
		}
	}
	return badRequest("InvalidLockLevel", "The level '%.60s' of the lock is not valid. It is CanNotDelete or ReadOnly.",
		level)
}

// categories are what diagnostic settings of a namespace can name. Those of other resources have none here.
var categories = []struct {
	name, kind string
	groups     []string
}{
	{"OperationalLogs", "Logs", []string{"allLogs"}},
	{"VNetAndIPFilteringLogs", "Logs", []string{"allLogs"}},
	{"RuntimeAuditLogs", "Logs", []string{"audit", "allLogs"}},
	{"ApplicationMetricsLogs", "Logs", []string{"allLogs"}},
	{"DiagnosticErrorLogs", "Logs", []string{"allLogs"}},
	{"AllMetrics", "Metrics", []string{}},
}

func shownCategory(scope ID, i int) object {
	id := provided(scope, insights, "diagnosticSettingsCategories", categories[i].name)
	return object{
		"id": id.String(), "name": categories[i].name, "type": id.Type(),
		"properties": object{"categoryType": categories[i].kind, "categoryGroups": categories[i].groups},
	}
}

func (m *Manager) listCategories(c *call) (answer, error) {
	scope := c.id.Parent()
	if err := m.checkExists(scope); err != nil {
		return answer{}, err
	}
	n := 0
	if strings.EqualFold(scope.Type(), serviceBus+"/namespaces") {
		n = len(categories)
	}
	return list(c, n, func(i int) any { return shownCategory(scope, i) })
}

func (m *Manager) getCategory(c *call) (answer, error) {
	scope := c.id.Parent()
	if err := m.checkExists(scope); err != nil {
		return answer{}, err
	}
	for i, known := range categories {
		if strings.EqualFold(known.name, c.id.Name()) && strings.EqualFold(scope.Type(), serviceBus+"/namespaces") {
			return answer{status: http.StatusOK, body: shownCategory(scope, i)}, nil
		}
	}
	return answer{}, resourceNotFound(c.id)
}
