package arm

import (
	"net/http"
	"slices"
	"strings"

	"minibus/internal/dotnet"
	"minibus/internal/jsontree"
	"minibus/internal/template"
)

// whatIf says what a deployment would change, and makes nothing.
func (m *Manager) whatIf(c *call) (answer, error) {
	u, err := m.newDeployment(c, c.id.Parent())
	if err != nil {
		return answer{}, err
	}
	u.peeks = true
	if err := u.prepareAll(); err != nil {
		return answer{}, err
	}
	changes := []object{}
	named := make(map[string]bool)
	for owner, it := range u.each {
		if it.existing && !it.unknown {
			named[it.id.key()] = true
		}
		if !it.made() || it.inner != nil {
			continue
		}
		named[it.id.key()] = true
		changes = append(changes, owner.change(it))
	}
	changes = append(changes, u.ignored(named)...)
	return answer{status: http.StatusOK, body: object{
		"status": "Succeeded", "properties": object{"correlationId": u.correlation, "changes": changes},
	}}, nil
}

// each yields the resources of a plan and of those inside it, each with its plan.
func (p *deploymentPlan) each(yield func(*deploymentPlan, *plannedResource) bool) { p.walk(yield) }

func (p *deploymentPlan) walk(yield func(*deploymentPlan, *plannedResource) bool) bool {
	for _, it := range p.items {
		if !yield(p, it) || it.inner != nil && !it.inner.walk(yield) {
			return false
		}
	}
	return true
}

// change compares a resource with what is there.
func (p *deploymentPlan) change(it *plannedResource) object {
	body := p.body(it)
	after := &jsontree.Node{Kind: jsontree.Object}
	after.Put("apiVersion", asText(it.version))
	after.Put("id", asText(it.id.String()))
	after.Put("name", asText(it.id.Name()))
	after.Put("type", asText(it.kind))
	after.Members = append(after.Members, unevaluated(body).Members...)
	o := object{"resourceId": it.id.String(), "after": p.redactedNode(after)}
	a := p.ask(http.MethodGet, it.id, it.version, nil)
	if a.failure() != nil {
		o["changeType"] = "Create"
		return o
	}
	before := asNode(a.body)
	o["before"] = p.redactedNode(before)
	d := &differences{deploymentPlan: p, properties: knownProperties(it.id)}
	for _, m := range body.Members {
		if strings.EqualFold(m.Key, "properties") {
			d.compare("properties", before.Get("properties"), m.Value)
		} else {
			d.compare(m.Key, before.Member(m.Key), m.Value)
		}
	}
	o["changeType"] = "NoChange"
	if len(d.found) > 0 {
		o["changeType"] = "Modify"
		o["delta"] = d.found
	}
	return o
}

// unevaluated returns a value with the expressions of what is only known later, as what-if shows them.
func unevaluated(n *jsontree.Node) *jsontree.Node {
	v := *n
	if v.Unknown != "" {
		v.Text = v.Source
		return &v
	}
	v.Items, v.Members = nil, nil
	for _, item := range n.Items {
		v.Items = append(v.Items, unevaluated(item))
	}
	for _, m := range n.Members {
		m.Value = unevaluated(m.Value)
		v.Members = append(v.Members, m)
	}
	return &v
}

// knownProperties returns the names of the properties that a type has, in lower case; nil: it keeps all.
func knownProperties(id ID) []string {
	var names []string
	switch kind := strings.ToLower(id.Type()); {
	case kind == "microsoft.servicebus/namespaces":
		for _, p := range namespaceProperties {
			names = append(names, strings.ToLower(p.name))
		}
	case strings.HasSuffix(kind, "/queues"), strings.HasSuffix(kind, "/topics"),
		kind == "microsoft.servicebus/namespaces/topics/subscriptions":
		for _, p := range entityProperties {
			if p.form != readOnly {
				names = append(names, strings.ToLower(p.name))
			}
		}
	}
	return names
}

// differences are those between what is there and what the template says. What it leaves out does not count.
type differences struct {
	*deploymentPlan
	properties []string
	found      []object
}

func (d *differences) add(path, kind string, before, after *jsontree.Node) {
	o := object{"path": path, "propertyChangeType": kind, "children": nil}
	if before != nil {
		o["before"] = d.redactedNode(before)
	}
	if after != nil {
		o["after"] = d.redactedNode(after)
	}
	d.found = append(d.found, o)
}

func (d *differences) compare(path string, before, after *jsontree.Node) {
	switch {
	case after.Kind == jsontree.Null, after.Unknown != "":
		return // it is left out, or known when it is deployed
	case before == nil && template.TextOf(after) == "":
		return
	case before == nil && len(after.Items)+len(after.Members) == 0 && after.Kind >= jsontree.Array &&
		!strings.Contains(path, "userAssignedIdentities."):
		return
	case before == nil:
		d.add(path, "Create", nil, unevaluated(after))
		return
	case after.Kind == jsontree.Object && before.Kind == jsontree.Object:
		d.compareMembers(path, before, after)
		return
	}
	if !sameValue(path, before, after) {
		d.add(path, "Modify", before, unevaluated(after))
	}
}

func (d *differences) compareMembers(path string, before, after *jsontree.Node) {
	for _, m := range after.Members {
		lower := strings.ToLower(m.Key)
		if path == "properties" && d.properties != nil && !slices.Contains(d.properties, lower) {
			continue // the type has no such property, or only shows it
		}
		if lower == "maxsizeinmegabytes" && sameSize(before, m.Value) {
			continue
		}
		d.compare(path+"."+m.Key, before.Member(m.Key), m.Value)
	}
	if path != "tags" {
		return
	}
	for _, m := range before.Members {
		if after.Member(m.Key) == nil {
			d.add(path+"."+m.Key, "Delete", m.Value, nil)
		}
	}
}

// sameSize reports whether a size is that of an entity, which shows that of all its partitions. Zero is the default.
func sameSize(entity, size *jsontree.Node) bool {
	shown, _ := jsontree.Whole(entity.Get("maxSizeInMegabytes"))
	given, ok := jsontree.Whole(size)
	partitioned := entity.Get("enablePartitioning")
	return ok && (given == 0 || given*16 == shown && partitioned != nil && partitioned.Bool)
}

// sameValue reports whether a value is another spelling of the one that is there.
func sameValue(path string, before, after *jsontree.Node) bool {
	if before.Kind == jsontree.Array && after.Kind == jsontree.Array {
		if len(before.Items) != len(after.Items) {
			return false
		}
		for _, x := range after.Items {
			if !slices.ContainsFunc(before.Items, func(y *jsontree.Node) bool { return sameValue(path, y, x) }) {
				return false
			}
		}
		return true
	}
	if before.Kind == jsontree.Object && after.Kind == jsontree.Object {
		return !slices.ContainsFunc(after.Members, func(m jsontree.Member) bool {
			y := before.Member(m.Key)
			return y == nil || !sameValue(path, y, m.Value)
		})
	}
	if path == "location" {
		return sameLocation(before.Text, after.Text)
	}
	if before.Kind != jsontree.String || after.Kind != jsontree.String {
		x, y := template.TextOf(before), template.TextOf(after)
		return strings.EqualFold(x, y)
	}
	if strings.HasPrefix(path, "tags.") {
		return before.Text == after.Text
	}
	x, err := dotnet.ParseDuration(before.Text)
	y, wrong := dotnet.ParseDuration(after.Text)
	if err == nil && wrong == nil {
		return x == y
	}
	return strings.EqualFold(before.Text, after.Text)
}

// ignored returns the namespaces of the resource group that the template does not name: they stay as they are.
func (p *deploymentPlan) ignored(named map[string]bool) []object {
	var all []object
	if p.at.group == "" {
		return nil
	}
	for _, s := range p.m.namespacesIn(p.at.id()) {
		id := mustParse(s.ID)
		if !named[id.key()] {
			all = append(all, object{
				"resourceId": s.ID, "changeType": "Ignore", "before": p.m.shownNamespace(p.c, s),
			})
		}
	}
	return all
}
