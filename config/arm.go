package config

import (
	"fmt"
	"slices"
	"strings"
)

// A template of the Azure Resource Manager, as az bicep build writes it, has resources in any order, with expressions
// for names and settings. The functions here turn it into the nodes of a Config.json, each with its place in the
// template, and leave the rest to the decoder of that. What is only known in Azure is an unknown value: it does not
// matter in the name of the namespace, counts as not given in a setting, and is an error anywhere else.

const (
	armNamespaces  = "microsoft.servicebus/namespaces"
	armDeployments = "microsoft.resources/deployments"
	// maxARMResources is the most resources that a deployment may have.
	maxARMResources = 800
)

// isTemplate reports whether a document is a template.
func isTemplate(root *node) bool {
	return root.get("UserConfig") == nil && root.get("resources") != nil &&
		(root.get("contentVersion") != nil || strings.Contains(schemaOf(root), "deploymenttemplate.json"))
}

// isParameterFile reports whether a document has values for the parameters of a template.
func isParameterFile(root *node) bool {
	return root.get("UserConfig") == nil && strings.Contains(schemaOf(root), "deploymentparameters.json")
}

func schemaOf(root *node) string {
	if n := root.get("$schema"); n != nil && n.kind == kindString {
		return strings.ToLower(n.text)
	}
	return ""
}

// template is a template, or one that a deployment has in it, while it is read.
type template struct {
	*decoder
	root       *node
	given      map[string]*node // values of parameters, by lower-case name
	evaluating map[string]bool  // parameters and variables
	evaluated  map[string]*node // those that are known already
	indexes    []copyIndex      // of loops, the innermost last
	found      *armFound
}

// copyIndex is where a loop stands.
type copyIndex struct {
	name string
	at   int
}

// armFound are the entities of a file.
type armFound struct {
	namespaces []*armNamespace
	resources  int
	work       int  // that was done to evaluate it, about in values that were looked at
	policies   bool // there are some, without their keys
	doubts     int  // conditions that are not known, of the resources that are being read
	warned     map[string]bool
}

// armNamespace is a namespace of a template.
type armNamespace struct {
	key    string
	name   *node
	queues []*armEntity
	topics []*armEntity
}

// armEntity is a queue, a topic, a subscription or a rule, with what is in it.
type armEntity struct {
	key        string
	name       *node
	properties *node // nil: no resource, but others are in it
	doubtful   bool  // its condition is not known
	children   []*armEntity
}

// template decodes a template.
func (d *decoder) template(root *node, given map[string]*node) {
	t := &template{decoder: d, root: root, given: given, evaluating: make(map[string]bool),
		evaluated: make(map[string]*node), found: &armFound{warned: make(map[string]bool)}}
	t.resources(root.get("resources"), "", nil)
	if t.found.policies {
		const found = "found policies, which are left out: their keys are only known in Azure"
		d.add(Note, root.get("resources"), found, "", "")
	}
	var list []*node
	for _, ns := range t.found.namespaces {
		list = append(list, t.namespaceNode(ns, len(list) == 0))
	}
	if len(list) == 0 {
		d.warn(root, "found a template without a Service Bus namespace, so there are no entities",
			"build the module that has them")
	}
	d.namespaces(list)
}

// parameterValues returns the values in a file of parameters.
func parameterValues(root *node) map[string]*node {
	given := make(map[string]*node)
	if list := root.get("parameters"); list != nil && list.kind == kindObject {
		for _, m := range list.members {
			if v := m.value.get("value"); v != nil {
				v.weighAll()
				v.unplace() // findings name the template
				given[strings.ToLower(m.key)] = v
			} else {
				given[strings.ToLower(m.key)] = unknownValue("the parameter " + m.key + " has a value only in Azure")
			}
		}
	}
	return given
}

// unplace forgets where a value stands.
func (n *node) unplace() {
	n.pos, n.path = position{}, ""
	for _, item := range n.items {
		item.unplace()
	}
	for _, m := range n.members {
		m.value.unplace()
	}
}

// resources reads a list of resources: an array or, since version 2.0 of the language, an object.
func (t *template) resources(list *node, parentType string, parent *node) {
	if list == nil {
		return
	}
	items := list.items
	for _, m := range list.members {
		items = append(items, m.value)
	}
	for _, r := range items {
		if !t.object(r) {
			continue
		}
		if existing := r.get("existing"); existing != nil && existing.boolean {
			continue
		}
		loop := r.get("copy")
		if loop == nil {
			t.resource(r, parentType, parent)
			continue
		}
		t.repeat(loop, func() { t.resource(r, parentType, parent) })
	}
}

// warn adds a warning, once for all turns of a loop.
func (t *template) warn(n *node, found, fix string) {
	if key := n.path + found; !t.found.warned[key] {
		t.found.warned[key] = true
		t.decoder.warn(n, found, fix)
	}
}

// doubt adds a warning of a value that is not known, or an error if it can't be known in Azure either.
func (t *template) doubt(at, value *node, found, instead string) {
	if isFault(value.unknown) {
		t.notEvaluated(at, value, "")
		return
	}
	if strings.HasPrefix(value.unknown, hereNotEvaluated) {
		instead += "; " + asParameter
	}
	t.warn(at, found+" can't be evaluated: "+value.unknown, instead)
}

// repeat does something as often as a loop says.
func (t *template) repeat(loop *node, do func()) {
	count := t.evaluate(orAbsent(loop.get("count"), loop))
	name := orAbsent(loop.get("name"), loop).text
	n, ok := wholeNumber(count)
	switch {
	case count.unknown != "":
		t.notEvaluated(loop.get("count"), count, "give its parameters default values")
		return
	case !ok || n < 0 || n > maxARMResources:
		found := "the count " + count.describe()
		if count.kind == kindNumber {
			found = "the count " + clip(count.text)
		}
		t.fail(orAbsent(loop.get("count"), loop), "found "+found, fmt.Sprintf("0 to %d", maxARMResources), "")
		return
	}
	for i := range int(n) {
		t.indexes = append(t.indexes, copyIndex{name, i})
		do()
		t.indexes = t.indexes[:len(t.indexes)-1]
	}
}

// orAbsent returns n, or null at the place of what lacks it.
func orAbsent(n, of *node) *node {
	if n != nil {
		return n
	}
	return &node{pos: of.pos, path: of.path}
}

// notEvaluated adds an error for an expression.
func (t *template) notEvaluated(at, value *node, fix string) {
	at = orAbsent(at, value)
	if isFault(value.unknown) {
		fix = "correct the expression"
	}
	if strings.HasPrefix(value.unknown, hereNotEvaluated) {
		fix = asParameter
	}
	t.fail(at, "found "+at.describe()+", which can't be evaluated: "+value.unknown, "", fix)
}

const parameterFix = "write the value, give its parameter a default value, or name a file of parameters with another " +
	"--config"

const asParameter = "pass the value as a parameter"

// resource reads a resource and what is in it.
func (t *template) resource(r *node, parentType string, parent *node) {
	if t.found.resources++; t.found.resources > maxARMResources {
		if t.found.resources == maxARMResources+1 {
			t.fail(r, fmt.Sprintf("found more than %d resources", maxARMResources), "", "split the template")
		}
		return
	}
	if condition := r.get("condition"); condition != nil {
		yes := t.evaluate(condition)
		if yes.unknown != "" {
			t.doubt(condition, yes, "found the condition "+condition.describe()+", which", "it counts as true")
			t.found.doubts++
			defer func() { t.found.doubts-- }()
		} else if yes.kind != kindBool && !containsFold([]string{"true", "false"}, yes.text) {
			t.fail(condition, "found the condition "+yes.describe(), "true or false", "")
		} else if !truth(yes) {
			return
		}
	}
	typeName := strings.ToLower(t.evaluate(orAbsent(r.get("type"), r)).text)
	if i := strings.IndexByte(typeName, '@'); i >= 0 {
		typeName = typeName[:i] // as resource declarations have it
	}
	if parentType != "" {
		typeName = parentType + "/" + typeName
	}
	if typeName == armDeployments {
		t.deployment(r)
		return
	}
	kind, ours := strings.CutPrefix(typeName, armNamespaces)
	if !ours || kind != "" && kind[0] != '/' {
		return
	}
	at := orAbsent(r.get("name"), r)
	name := *t.evaluate(at)
	if name.kind != kindString {
		t.fail(at, "found "+name.describe()+" as the name of a resource", "text", "")
		return
	}
	name.pos, name.path = at.pos, at.path
	if parent != nil {
		name = *composed(parent.text + "/" + name.text)
		name.pos, name.path = at.pos, at.path
	}
	t.entity(r, at, kind, &name)
	t.resources(r.get("resources"), typeName, &name)
}

// deployment reads the template in a deployment, which a module is.
func (t *template) deployment(r *node) {
	properties := orAbsent(r.get("properties"), r)
	inner := properties.get("template")
	if inner == nil || inner.kind != kindObject {
		t.warn(properties, "found a deployment whose template is elsewhere, it is left out",
			"build the whole with az bicep build")
		return
	}
	scope := properties.get("expressionEvaluationOptions").get("scope")
	if scope == nil || !strings.EqualFold(scope.text, "inner") {
		t.resources(inner.get("resources"), "", nil) // its expressions are those of the template around it
		return
	}
	module := &template{decoder: t.decoder, root: inner, given: make(map[string]*node),
		evaluating: make(map[string]bool), evaluated: make(map[string]*node), found: t.found}
	if list := properties.get("parameters"); list != nil {
		for _, m := range list.members {
			value := unknownValue("the parameter " + m.key + " has a value only in Azure")
			if given := m.value.get("value"); given != nil {
				value = t.evaluate(given)
			}
			module.given[strings.ToLower(m.key)] = value
		}
	}
	module.resources(inner.get("resources"), "", nil)
}

// entity takes in a namespace, or what is in one. kind is the type without that of a namespace.
func (t *template) entity(r, at *node, kind string, name *node) {
	segments := strings.Split(name.text, "/")
	if wanted := strings.Count(kind, "/") + 1; len(segments) != wanted {
		if name.unknown != "" {
			t.notEvaluated(at, name, parameterFix)
			return
		}
		t.fail(at, "found the name "+quote(name.text)+" of a resource of the type "+
			armNamespaces+kind, fmt.Sprintf("%d names with slashes between", wanted), "")
		return
	}
	for _, s := range segments[1:] {
		if why := unknownIn(s); why != "" {
			t.notEvaluated(at, &node{unknown: why, pos: at.pos}, parameterFix)
			return
		}
	}
	ns := t.found.namespace(segments[0], name)
	named := func(i int) *node {
		return &node{kind: kindString, pos: at.pos, path: at.path, text: strings.ReplaceAll(segments[i], "~", "/")}
	}
	properties := orAbsent(r.get("properties"), r)
	switch kind {
	case "/queues":
		t.declare(&ns.queues, named(1), "queue", t.settings(properties))
	case "/topics":
		t.declare(&ns.topics, named(1), "topic", t.settings(properties))
	case "/topics/subscriptions":
		topic := entityOf(&ns.topics, named(1))
		t.declare(&topic.children, named(2), "subscription", t.settings(properties))
	case "/topics/subscriptions/rules":
		topic := entityOf(&ns.topics, named(1))
		subscription := entityOf(&topic.children, named(2))
		values := withoutInert(t.evaluate(properties))
		if unknown := firstUnknown(values); unknown != nil {
			t.notEvaluated(unknown, unknown, parameterFix)
		}
		t.declare(&subscription.children, named(3), "rule", values)
	case "/authorizationrules", "/queues/authorizationrules", "/topics/authorizationrules":
		t.found.policies = true
	}
}

// namespace returns the one with a name.
func (f *armFound) namespace(key string, name *node) *armNamespace {
	key = strings.ToLower(key)
	for _, ns := range f.namespaces {
		if ns.key == key {
			return ns
		}
	}
	first, _, _ := strings.Cut(name.text, "/")
	ns := &armNamespace{key: key, name: &node{kind: kindString, pos: name.pos, path: name.path, text: first}}
	f.namespaces = append(f.namespaces, ns)
	return ns
}

// entityOf returns the entity of a list with a name. It adds it if it is missing: its resource may come later, or be
// in Azure.
func entityOf(list *[]*armEntity, name *node) *armEntity {
	key := strings.ToLower(name.text)
	for _, e := range *list {
		if e.key == key {
			return e
		}
	}
	e := &armEntity{key: key, name: name}
	*list = append(*list, e)
	return e
}

// declare gives an entity of a list its settings. It may have one resource, unless a condition that is not known
// chooses among several: then the last one counts.
func (t *template) declare(list *[]*armEntity, name *node, what string, properties *node) {
	e := entityOf(list, name)
	if e.properties != nil && !e.doubtful && t.found.doubts == 0 {
		t.fail(name, fmt.Sprintf("found the %s %s a second time (first on line %d)", what, quote(name.text),
			e.name.pos.line), "", "rename or remove one of the two")
		return
	}
	e.name, e.properties, e.doubtful = name, properties, t.found.doubts > 0
}

// settings returns the settings of an entity. Those that are only known in Azure are left out.
func (t *template) settings(properties *node) *node {
	values := *withoutInert(t.evaluate(properties))
	if values.unknown != "" {
		t.doubt(properties, &values, "found "+properties.describe()+", which", "the defaults count")
		return &node{kind: kindObject, pos: properties.pos, path: properties.path}
	}
	values.members = slices.DeleteFunc(slices.Clone(values.members), func(m member) bool {
		unknown := firstUnknown(m.value)
		if unknown != nil {
			t.doubt(unknown, unknown, "the setting "+m.key, "its default counts")
		}
		return unknown != nil
	})
	return &values
}

// withoutInert returns a value without the settings that have no effect here, which templates have.
func withoutInert(n *node) *node {
	v := *n
	v.members = nil
	for _, m := range n.members {
		if !containsFold(inertKeys, m.key) && !containsFold(inertInTemplates, m.key) {
			m.value = withoutInert(m.value)
			v.members = append(v.members, m)
		}
	}
	return &v
}

var inertInTemplates = []string{"ClientAffineProperties", "RequiresPreprocessing", "CompatibilityLevel"}

// firstUnknown returns what is unknown in a value; nil if all of it is known.
func firstUnknown(n *node) *node {
	if n.unknown != "" {
		return n
	}
	for _, item := range n.items {
		if u := firstUnknown(item); u != nil {
			return u
		}
	}
	for _, m := range n.members {
		if u := firstUnknown(m.value); u != nil {
			return u
		}
	}
	return nil
}

// armDefaults are the defaults of Azure where those of a Config.json are others (DEC-4).
var armDefaults = []struct{ key, number, text string }{
	{key: "MaxDeliveryCount", number: "10"},
	{key: "LockDuration", text: "PT1M"},
	{key: "DefaultMessageTimeToLive", text: "P10675199DT2H48M5.4775807S"},
	{key: "DuplicateDetectionHistoryTimeWindow", text: "PT10M"},
}

// withDefaults adds those defaults to settings that may have the key.
func withDefaults(properties *node, known []string) *node {
	n := *properties
	n.kind = kindObject
	n.members = slices.Clone(n.members)
	for _, x := range armDefaults {
		if !slices.Contains(known, x.key) || n.get(x.key) != nil {
			continue
		}
		value := &node{kind: kindString, text: x.text, pos: n.pos, path: n.path}
		if x.number != "" {
			value.kind, value.text = kindNumber, x.number
		}
		n.put(x.key, value)
	}
	return &n
}

// namespaceNode returns a namespace as a Config.json has it. The first one is the default one, whose name may be
// unknown.
func (t *template) namespaceNode(ns *armNamespace, first bool) *node {
	n := &node{kind: kindObject, pos: ns.name.pos, path: ns.name.path}
	switch why := unknownIn(ns.name.text); {
	case why == "":
		n.put("Name", ns.name)
	case isFault(why):
		t.notEvaluated(ns.name, &node{unknown: why}, "")
	case !first:
		t.fail(ns.name, "found a second namespace, whose name can't be evaluated: "+why, "", parameterFix)
		n.put("Name", &node{kind: kindString, pos: n.pos, path: n.path})
	}
	list := func(of *node, key string, entities []*armEntity, one func(*armEntity) *node) {
		all := &node{kind: kindArray, pos: of.pos, path: of.path}
		for _, e := range entities {
			all.items = append(all.items, one(e))
		}
		if len(all.items) > 0 {
			of.put(key, all)
		}
	}
	object := func(e *armEntity, what string, known []string) *node {
		x := &node{kind: kindObject, pos: e.name.pos, path: e.name.path}
		if e.properties == nil {
			t.warn(e.name, "found no resource of the "+what+" "+quote(e.name.text), "it is made with Azure's defaults")
			e.properties = orAbsent(nil, e.name)
		}
		x.put("Name", e.name)
		x.put("Properties", withDefaults(e.properties, known))
		return x
	}
	list(n, "Queues", ns.queues, func(e *armEntity) *node { return object(e, "queue", queueKeys) })
	list(n, "Topics", ns.topics, func(e *armEntity) *node {
		topic := object(e, "topic", topicKeys)
		list(topic, "Subscriptions", e.children, func(e *armEntity) *node {
			subscription := object(e, "subscription", subscriptionKeys)
			list(subscription, "Rules", e.children, func(e *armEntity) *node { return object(e, "rule", nil) })
			return subscription
		})
		return topic
	})
	return n
}
