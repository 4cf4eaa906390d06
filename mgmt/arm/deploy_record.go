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
func (p *deploymentPlan) note(it *plannedResource, began time.Time, status int, e *Error) {
	state := "Succeeded"
	properties := object{
		"provisioningOperation": "Create", "timestamp": stamp(time.Now()), "duration": lasted(began),
		"trackingId": p.correlation, "statusCode": http.StatusText(status),
		"targetResource": object{"id": it.id.String(), "resourceType": it.kind, "resourceName": it.name},
	}
	if e != nil {
		state = "Failed"
		properties["statusMessage"] = object{"status": "Failed", "error": p.redacted(e)}
	}
	properties["provisioningState"] = state
	id := operationID(it.id.key())
	p.operations = append(p.operations, object{
		"id": p.id.Child("operations", id).String(), "operationId": id, "properties": properties,
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
func (p *deploymentPlan) described(state string) object {
	text, _ := p.root.MarshalJSON() // it never fails
	h := fnv.New64a()
	_, _ = h.Write(text) // it never fails
	parameters := object{}
	if declared := p.root.Get("parameters"); declared != nil && p.outer == nil {
		definitions := p.definitions()
		for _, m := range declared.Members {
			parameter := object{"type": definitions.TypeOf(m.Value)}
			if v := p.values[strings.ToLower(m.Key)]; v != nil && v.Unknown == "" && !definitions.Secure(m.Value) {
				parameter["value"] = v
			}
			parameters[m.Key] = parameter
		}
	}
	return object{
		"templateHash": fmt.Sprint(h.Sum64()), "parameters": parameters, "mode": "Incremental",
		"provisioningState": state,
		"timestamp":         stamp(time.Now()), "duration": lasted(p.began), "correlationId": p.correlation,
		"providers": p.providersOf(), "dependencies": p.dependencies(),
	}
}

// providersOf returns the providers of the resources with their types.
func (p *deploymentPlan) providersOf() []object {
	all := []object{}
	types := make(map[string]int) // where a provider is in all
	for _, it := range p.items {
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
func (p *deploymentPlan) dependencies() []object {
	all := []object{}
	basic := func(it *plannedResource) object {
		return object{"id": it.id.String(), "resourceType": it.kind, "resourceName": it.name}
	}
	for _, it := range p.items {
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
func (p *deploymentPlan) finish() (*deployment, error) {
	state := "Succeeded"
	if p.failure != nil {
		state = "Failed"
	}
	properties := p.described(state)
	if p.failure != nil {
		properties["error"] = p.redacted(p.failure)
	} else {
		properties["outputs"] = p.outputs
	}
	properties["outputResources"] = slices.Concat([]object{}, p.outputOf)
	d := &deployment{
		ID: p.id.String(), Location: p.location, Tags: p.tags, Ended: time.Now().UnixNano(), Properties: properties,
		Operations: slices.Concat([]object{}, p.operations),
	}
	if p.at.group != "" {
		d.Location = ""
	}
	p.m.changing.Lock()
	defer p.m.changing.Unlock()
	if p.id.Group != "" {
		if err := p.groups.check(p.m, p.id.groupOf()); err != nil {
			return nil, err
		}
	}
	if p.parent == nil {
		if err := p.m.keep(templateOf(p.id), p.withoutSecrets()); err != nil {
			return nil, err
		}
	} else if err := p.m.forget(p.m.keys(p.id)...); err != nil {
		return nil, err
	}
	if err := p.m.keep(p.id, d); err != nil {
		return nil, err
	}
	p.scopes[p.id.Parent().key()] = p.id.Parent()
	if p.parent != nil {
		return d, nil
	}
	for _, scope := range p.scopes {
		if err := p.m.forgetOld(scope); err != nil {
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
func (p *deploymentPlan) withoutSecrets() *jsontree.Node { return p.open(p.root) }

func (p *deploymentPlan) open(n *jsontree.Node) *jsontree.Node {
	v := *n
	v.Items, v.Members = nil, nil
	for _, item := range n.Items {
		v.Items = append(v.Items, p.open(item))
	}
	var declared *jsontree.Node
	if n.Member("resources") != nil {
		declared = n.Get("parameters")
	}
	for _, m := range n.Members {
		if declared != nil && m.Value == declared {
			m.Value = p.openParameters(n, declared)
		} else {
			m.Value = p.open(m.Value)
		}
		v.Members = append(v.Members, m)
	}
	return &v
}

// openParameters returns the declarations of a template's parameters without the default values of secure ones.
func (p *deploymentPlan) openParameters(root, declared *jsontree.Node) *jsontree.Node {
	definitions := template.New(root, nil, nil, p.budget)
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
