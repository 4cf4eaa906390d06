package arm

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"minibus/internal/jsontree"
	"minibus/internal/template"
)

// expand adds the resources of a list: an array or, since version 2.0 of the language, an object with symbolic names.
func (p *deploymentPlan) expand(list *jsontree.Node, parent *plannedResource) error {
	if list == nil {
		return nil
	}
	symbols := make([]string, len(list.Items))
	nodes := list.Items
	for _, m := range list.Members {
		symbols = append(symbols, m.Key)
		nodes = append(nodes[:len(nodes):len(nodes)], m.Value)
	}
	for i, node := range nodes {
		if node.Kind != jsontree.Object {
			return p.invalid(node, "found %s where a resource belongs", node.Describe())
		}
		loop := node.Get("copy")
		if loop == nil {
			if err := p.add(node, parent, symbols[i], "", 0); err != nil {
				return err
			}
			continue
		}
		name := symbols[i]
		if n := loop.Get("name"); n != nil {
			name = n.Text
		}
		turns, wrong := p.tpl.Count(loop)
		switch {
		case wrong == nil:
		case wrong.Unknown == later && p.parent != nil && !p.final:
			turns = 1 // about as many as there will be
		case wrong.Unknown != "":
			return p.notEvaluated(wrong)
		default:
			return p.invalid(wrong, "the count of the loop '%s' is no number from 0 to %d", name, template.MaxCount)
		}
		var err error
		for turn := range turns {
			p.tpl.At(name, turn, func() { err = p.add(node, parent, symbols[i], name, turn) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a resource, and those that stand in it.
func (p *deploymentPlan) add(node *jsontree.Node, parent *plannedResource, symbol, loop string, turn int) error {
	if p.checking {
		p.resources++
	}
	if len(p.items) >= template.MaxCount || p.resources > maxItems {
		return p.invalid(node, "a template may have %d resources, and all that are deployed together %d",
			template.MaxCount, maxItems)
	}
	it := &plannedResource{node: node, symbol: symbol, loop: loop, turn: turn, turns: p.tpl.Turns()}
	p.items = append(p.items, it)
	if parent != nil {
		it.skipped, it.doubtful = parent.skipped, parent.doubtful
		it.needs = append(it.needs, parent)
	}
	if existing := node.Get("existing"); existing != nil && existing.Bool {
		it.existing = true
	}
	if condition := node.Member("condition"); condition != nil && !it.skipped {
		yes, ok, err := p.known(condition)
		switch {
		case err != nil:
			return err
		case !ok:
			it.doubtful = true
		case yes.Kind != jsontree.Bool && !strings.EqualFold(yes.Text, "true") && !strings.EqualFold(yes.Text, "false"):
			return p.invalid(condition, "the condition is %s, not true or false", yes.Describe())
		case !template.Truth(yes):
			it.skipped = true
		}
	}
	if err := p.identify(it, parent); err != nil {
		return err
	}
	return p.expand(node.Get("resources"), it)
}

// identify finds type, name and id of a resource. Those of one that is skipped may be impossible.
func (p *deploymentPlan) identify(it *plannedResource, parent *plannedResource) error {
	err := p.nameItem(it, parent)
	if err != nil && it.skipped {
		it.unknown = true
		return nil
	}
	return err
}

func (p *deploymentPlan) nameItem(it *plannedResource, parent *plannedResource) error {
	node := it.node
	if node.Get("extension") != nil || node.Get("import") != nil {
		return p.invalid(node, "Minibus has no extensions of templates, such as that of Microsoft Graph")
	}
	text := func(key string) (string, bool, error) {
		n := node.Get(key)
		if n == nil {
			return "", true, p.invalid(node, "a resource has no %s", key)
		}
		v, ok, err := p.known(n)
		if err == nil && ok && v.Kind != jsontree.String {
			err = p.invalid(n, "the %s of a resource is %s, not a text", key, v.Describe())
		}
		return v.Text, ok, err
	}
	var err error
	if it.kind, _, err = text("type"); err != nil {
		return err
	}
	kind, version, _ := strings.Cut(it.kind, "@")
	it.kind, it.version = kind, version
	if version == "" {
		if it.version, _, err = text("apiVersion"); err != nil {
			return err
		}
	}
	name, ok, err := text("name")
	if err != nil {
		return err
	}
	it.name, it.unknown = name, !ok
	if parent != nil && !strings.Contains(strings.ToLower(it.kind), strings.ToLower(parent.kind)+"/") {
		it.kind, it.name = parent.kind+"/"+it.kind, parent.name+"/"+it.name
		it.unknown = it.unknown || parent.unknown
	}
	types, names := strings.Split(it.kind, "/"), strings.Split(it.name, "/")
	if it.unknown {
		names = slices.Repeat([]string{"unknown"}, max(len(types)-1, 0))
	}
	if len(types) < 2 || len(types) != len(names)+1 {
		return p.invalid(node, "the resource '%s' of the type '%s' has incorrect segment lengths: a type has one "+
			"segment more than the name of its resource", it.name, it.kind)
	}
	base, known, err := p.baseOf(it)
	if err != nil {
		return err
	}
	it.unknown = it.unknown || !known
	id, err := ParseID(resourceID(base, it.kind, names))
	if err != nil {
		return p.invalid(node, "the name '%s' can't be part of an id", it.name)
	}
	it.id = id
	if it.existing || it.skipped {
		return nil
	}
	if strings.EqualFold(it.kind, deploymentsType) {
		return nil
	}
	if !it.unknown && strings.EqualFold(id.Type(), own+"/subscriptions/resourceGroups") {
		p.made[id.key()] = true
	}
	if !p.m.serves(id) && !it.doubtful {
		p.refuseType(it)
	} else if id.Group == "" && groupOnly[strings.ToLower(id.Provider)] && !it.unknown {
		return p.invalid(node, "a resource of the type '%s' goes to a resource group, and the deployment is to a "+
			"subscription: put it into a module with a scope", it.kind)
	}
	return nil
}

// groupOnly are the providers whose resources are in resource groups.
var groupOnly = map[string]bool{"microsoft.servicebus": true, "microsoft.managedidentity": true}

// serves reports whether the Manager can make resources of the type of an id.
func (m *Manager) serves(id ID) bool {
	k, ok := m.kindOf(id)
	return ok && k.methods[http.MethodPut] != nil
}

// refuseType notes a type that Minibus does not have, once.
func (p *deploymentPlan) refuseType(it *plannedResource) {
	hint := "Deploy a template without it."
	if isOther(it.id) {
		hint = "To store resources of such types without any effect, start Minibus with " + OtherTypes + " store."
	}
	e := badRequest("InvalidResourceType", "Minibus does not have the resource type '%s', which the template has %s. "+
		"%s", it.kind, p.where(it.node), hint)
	e.Target = it.kind
	if len(p.unserved) < 100 && !slices.ContainsFunc(p.unserved, func(x *Error) bool {
		return strings.EqualFold(x.Target, it.kind)
	}) {
		p.unserved = append(p.unserved, e)
	}
}

// baseOf returns the id of what a resource belongs to: what its scope names, or the scope of the deployment.
func (p *deploymentPlan) baseOf(it *plannedResource) (base string, known bool, err error) {
	at, known, err := p.scopeOf(it.node)
	if err != nil {
		return "", false, err
	}
	base = at.id().String()
	scope := it.node.Get("scope")
	if scope == nil {
		return base, known, nil
	}
	v, ok, err := p.known(scope)
	switch {
	case err != nil:
		return "", false, err
	case !ok:
		return base, false, nil
	case v.Text == "/":
		return "", known, nil
	case strings.HasPrefix(v.Text, "/"):
		return strings.TrimSuffix(v.Text, "/"), known, nil
	}
	if to := p.symbol(v.Text); to != nil {
		return to.id.String(), known && !to.unknown, nil
	}
	return base + "/" + providers + "/" + v.Text, known, nil
}

// scopeOf returns where a resource goes: its properties subscriptionId and resourceGroup, or the scope of the
// deployment.
func (p *deploymentPlan) scopeOf(node *jsontree.Node) (deploymentScope, bool, error) {
	at, known := p.at, true
	if n := node.Get("subscriptionId"); n != nil {
		v, ok, err := p.known(n)
		if err != nil {
			return at, false, err
		}
		at, known = deploymentScope{subscription: v.Text}, ok
	}
	if n := node.Get("resourceGroup"); n != nil {
		v, ok, err := p.known(n)
		if err != nil {
			return at, false, err
		}
		at.group, known = v.Text, known && ok
	}
	if !known {
		at = p.at
	}
	return at, known, nil
}

// resourceID returns the id of a resource of a type.
func resourceID(base, kind string, names []string) string {
	types := strings.Split(kind, "/")
	var b strings.Builder
	b.WriteString(base)
	switch {
	case strings.EqualFold(kind, own+"/resourceGroups"):
		b.WriteString("/" + resourceGroups)
	case strings.EqualFold(kind, own+"/subscriptions"):
		b.WriteString("/" + subscriptions)
	default:
		b.WriteString("/" + providers + "/" + types[0] + "/" + types[1])
	}
	for i, name := range names {
		if i > 0 {
			b.WriteString("/" + types[i+1])
		}
		b.WriteString("/" + name)
	}
	return b.String()
}

// checkTwice fails if a resource is in the template twice.
func (p *deploymentPlan) checkTwice() error {
	seen := make(map[string]*plannedResource)
	for _, it := range p.items {
		if it.skipped || it.existing || it.unknown || it.doubtful {
			continue
		}
		if first := seen[it.id.key()]; first != nil {
			return p.invalid(it.node, "the resource '%s' is defined a second time; the first one is %s", it.id,
				p.where(first.node))
		}
		seen[it.id.key()] = it
	}
	return nil
}

// symbol returns the resource with a symbolic name, or one of a loop: name[0]; nil if there is none.
func (p *deploymentPlan) symbol(name string) *plannedResource {
	name, index, indexed := strings.Cut(name, "[")
	turn := 0
	if indexed {
		n, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil {
			return nil
		}
		turn = n
	}
	for _, it := range p.items {
		if it.symbol != "" && strings.EqualFold(it.symbol, name) && (it.loop == "" || indexed) && it.turn == turn {
			return it
		}
	}
	return nil
}

// loopOf returns the resources of a loop, in the order of its turns.
func (p *deploymentPlan) loopOf(name string) (all []*plannedResource) {
	for _, it := range p.items {
		named := strings.EqualFold(it.loop, name) || it.symbol != "" && strings.EqualFold(it.symbol, name)
		if it.loop != "" && named {
			all = append(all, it)
		}
	}
	return all
}

// named returns the resources that a text of dependsOn or of reference() means.
func (p *deploymentPlan) named(text string) []*plannedResource {
	if it := p.symbol(text); it != nil {
		return []*plannedResource{it}
	}
	if all := p.loopOf(text); len(all) > 0 {
		return all
	}
	if strings.HasPrefix(text, "/") {
		id, err := ParseID(text)
		if err != nil {
			return nil
		}
		return p.with(func(it *plannedResource) bool { return it.id.key() == id.key() })
	}
	whole := p.with(func(it *plannedResource) bool {
		return strings.EqualFold(it.name, text) || strings.EqualFold(it.kind+"/"+it.name, text) ||
			strings.HasSuffix(it.id.key(), "/"+providers+"/"+strings.ToLower(text))
	})
	if len(whole) > 0 {
		return whole
	}
	return p.with(func(it *plannedResource) bool {
		return strings.EqualFold(it.name[strings.LastIndexByte(it.name, '/')+1:], text)
	})
}

// with returns the resources that a condition holds for.
func (p *deploymentPlan) with(is func(*plannedResource) bool) (all []*plannedResource) {
	for _, it := range p.items {
		if !it.unknown && is(it) {
			all = append(all, it)
		}
	}
	return all
}

// resolveDependsOn adds what a resource says it depends on.
func (p *deploymentPlan) resolveDependsOn(it *plannedResource) error {
	list := it.node.Get("dependsOn")
	if list == nil || it.skipped || it.doubtful {
		return nil
	}
	if list.Kind != jsontree.Array && list.Kind != jsontree.String {
		return p.invalid(list, "dependsOn is %s, not an array", list.Describe())
	}
	var v *jsontree.Node
	var ok bool
	var err error
	p.tpl.Within(it.turns, func() { v, ok, err = p.known(list) })
	if err != nil {
		return err
	}
	if !ok { // some names may be known all the same: the order is looked for again
		return nil
	}
	for _, on := range v.Items {
		if on.Kind != jsontree.String {
			return p.invalid(on, "dependsOn has %s, not the name or the id of a resource", on.Describe())
		}
		found, known := p.byText[on.Text]
		if !known {
			if !p.budget.Spend(len(p.items)) {
				return p.invalid(on, "%s", p.budget.Exceeded())
			}
			found = p.named(on.Text)
			p.byText[on.Text] = found
		}
		if !p.budget.Spend(1 + len(found)*(1+len(it.needs)/64)) {
			return p.invalid(on, "%s", p.budget.Exceeded())
		}
		if len(found) == 0 && !p.outside(on.Text) && !p.hasUnknown() {
			return p.invalid(on, "the resource '%s' is not defined in the template", on.Text)
		}
		it.need(found...)
	}
	return nil
}

// outside reports whether a text is the name of a loop without turns.
func (p *deploymentPlan) outside(name string) bool {
	list := p.root.Get("resources")
	if list.Member(name) != nil {
		return true
	}
	for _, node := range list.Items {
		if n := node.Get("copy").Get("name"); n != nil && strings.EqualFold(n.Text, name) {
			return true
		}
	}
	return false
}

// hasUnknown reports whether the name of a resource is not known yet, or is impossible.
func (p *deploymentPlan) hasUnknown() bool {
	return slices.ContainsFunc(p.items, func(it *plannedResource) bool { return it.unknown })
}

// need adds resources that come first.
func (it *plannedResource) need(others ...*plannedResource) {
	for _, other := range others {
		if other != it && !slices.Contains(it.needs, other) {
			it.needs = append(it.needs, other)
		}
	}
}

// orderByNeeds finds the order: what a resource needs comes first, and else that of the template.
func (p *deploymentPlan) orderByNeeds() error {
	p.order = nil
	for _, it := range p.items {
		it.state = 0
	}
	var visit func(it *plannedResource) error
	visit = func(it *plannedResource) error {
		switch it.state {
		case 1:
			return p.invalid(it.node, "circular dependency detected on resource: '%s'", it.id)
		case 2:
			return nil
		}
		it.state = 1
		for _, other := range it.needs {
			if err := visit(other); err != nil {
				return err
			}
		}
		it.state = 2
		p.order = append(p.order, it)
		return nil
	}
	for _, it := range p.items {
		if err := visit(it); err != nil {
			return err
		}
	}
	return nil
}
