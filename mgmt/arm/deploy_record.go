package arm

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"time"

	"minibus/internal/jsontree"
	"minibus/internal/template"
)

// note keeps what was done for a resource.
func (u *deploymentPlan) note(it *plannedResource, began time.Time, status int, e *Error) {
	state := "Succeeded"
	properties := object{
		"provisioningOperation": "Create", "timestamp": stamp(time.Now()), "duration": lasted(began),
		"trackingId": u.correlation, "statusCode": http.StatusText(status),
		"targetResource": object{"id": it.id.String(), "resourceType": it.kind, "resourceName": it.name},
	}
	if e != nil {
		state = "Failed"
		properties["statusMessage"] = object{"status": "Failed", "error": u.redacted(e)}
	}
	properties["provisioningState"] = state
	id := operationID(it.id.key())
	u.operations = append(u.operations, object{
		"id": u.id.Child("operations", id).String(), "operationId": id, "properties": properties,
	})
}

// operationID returns the id of the operation on a resource.
func operationID(key string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // it never fails
	return strings.ToUpper(fmt.Sprintf("%016x", h.Sum64()))
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.0000000Z") }

// lasted returns the time since then as a duration of ISO 8601.
func lasted(since time.Time) string { return fmt.Sprintf("PT%.7fS", time.Since(since).Seconds()) }

// described returns the properties of a deployment as answers show them.
func (u *deploymentPlan) described(state string) object {
	text, _ := u.root.MarshalJSON() // it never fails
	h := fnv.New64a()
	_, _ = h.Write(text) // it never fails
	parameters := object{}
	if declared := u.root.Get("parameters"); declared != nil && u.outer == nil {
		definitions := u.definitions()
		for _, m := range declared.Members {
			p := object{"type": definitions.TypeOf(m.Value)}
			if v := u.values[strings.ToLower(m.Key)]; v != nil && v.Unknown == "" && !definitions.Secure(m.Value) {
				p["value"] = v
			}
			parameters[m.Key] = p
		}
	}
	return object{
		"templateHash": fmt.Sprint(h.Sum64()), "parameters": parameters, "mode": "Incremental",
		"provisioningState": state,
		"timestamp":         stamp(time.Now()), "duration": lasted(u.began), "correlationId": u.correlation,
		"providers": u.providersOf(), "dependencies": u.dependencies(),
	}
}

// providersOf returns the providers of the resources with their types.
func (u *deploymentPlan) providersOf() []object {
	all := []object{}
	types := make(map[string]int) // where a provider is in all
	for _, it := range u.items {
		provider, kind, _ := strings.Cut(it.kind, "/")
		if it.existing {
			continue
		}
		at, known := types[strings.ToLower(provider)]
		if !known {
			at = len(all)
			types[strings.ToLower(provider)] = at
			all = append(all, object{"namespace": provider, "resourceTypes": []object{}})
		}
		list := all[at]["resourceTypes"].([]object)
		same := func(o object) bool { return strings.EqualFold(o["resourceType"].(string), kind) }
		if !slices.ContainsFunc(list, same) {
			all[at]["resourceTypes"] = append(list, object{"resourceType": kind, "locations": []any{nil}})
		}
	}
	return all
}

// dependencies returns what each resource depends on.
func (u *deploymentPlan) dependencies() []object {
	all := []object{}
	basic := func(it *plannedResource) object {
		return object{"id": it.id.String(), "resourceType": it.kind, "resourceName": it.name}
	}
	for _, it := range u.items {
		on := []object{}
		for _, other := range it.needs {
			if other.made() {
				on = append(on, basic(other))
			}
		}
		if it.made() && len(on) > 0 {
			o := basic(it)
			o["dependsOn"] = on
			all = append(all, o)
		}
	}
	return all
}

// finish stores a deployment that has ended, unless its resource group has gone meanwhile.
func (u *deploymentPlan) finish() (*deployment, error) {
	state := "Succeeded"
	if u.failure != nil {
		state = "Failed"
	}
	properties := u.described(state)
	if u.failure != nil {
		properties["error"] = u.redacted(u.failure)
	} else {
		properties["outputs"] = u.outputs
	}
	properties["outputResources"] = slices.Concat([]object{}, u.outputOf)
	d := &deployment{
		ID: u.id.String(), Location: u.location, Tags: u.tags, Ended: time.Now().UnixNano(), Properties: properties,
		Operations: slices.Concat([]object{}, u.operations),
	}
	if u.at.group != "" {
		d.Location = ""
	}
	u.m.changing.Lock()
	defer u.m.changing.Unlock()
	if u.id.Group != "" {
		if err := u.groups.check(u.m, u.id.groupOf()); err != nil {
			return nil, err
		}
	}
	if u.parent == nil {
		if err := u.m.keep(templateOf(u.id), u.withoutSecrets()); err != nil {
			return nil, err
		}
	} else if err := u.m.forget(u.m.keys(u.id)...); err != nil {
		return nil, err
	}
	if err := u.m.keep(u.id, d); err != nil {
		return nil, err
	}
	u.scopes[u.id.Parent().key()] = u.id.Parent()
	if u.parent != nil {
		return d, nil
	}
	for _, scope := range u.scopes {
		if err := u.m.forgetOld(scope); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// forgetOld forgets the oldest deployments of a resource group or a subscription that has too many.
func (m *Manager) forgetOld(scope ID) error {
	var old []string
	for i, d := range m.deploymentsOf(scope) {
		if id := mustParse(d.ID); i >= maxDeployments && !m.isDeploying(id) {
			old = append(old, m.keys(id)...)
		}
	}
	return m.forget(old...)
}

func (m *Manager) isDeploying(id ID) bool {
	_, running := m.deploying.Load(id.key())
	return running
}

// withoutSecrets returns the template without the default values of its secure parameters, and of those of the
// templates in it.
func (u *deploymentPlan) withoutSecrets() *jsontree.Node { return u.open(u.root) }

func (u *deploymentPlan) open(n *jsontree.Node) *jsontree.Node {
	v := *n
	v.Items, v.Members = nil, nil
	for _, item := range n.Items {
		v.Items = append(v.Items, u.open(item))
	}
	var declared *jsontree.Node
	if n.Member("resources") != nil {
		declared = n.Get("parameters")
	}
	for _, m := range n.Members {
		if declared != nil && m.Value == declared {
			m.Value = u.openParameters(n, declared)
		} else {
			m.Value = u.open(m.Value)
		}
		v.Members = append(v.Members, m)
	}
	return &v
}

// openParameters returns the declarations of a template's parameters without the default values of secure ones.
func (u *deploymentPlan) openParameters(root, declared *jsontree.Node) *jsontree.Node {
	definitions := template.New(root, nil, nil, u.budget)
	v := *declared
	v.Members = slices.Clone(declared.Members)
	for i, m := range v.Members {
		if definitions.Secure(m.Value) {
			d := *m.Value
			d.Members = slices.DeleteFunc(slices.Clone(d.Members), func(x jsontree.Member) bool {
				return strings.EqualFold(x.Key, "defaultValue")
			})
			v.Members[i].Value = &d
		}
	}
	return &v
}
