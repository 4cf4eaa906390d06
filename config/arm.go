package config

import (
	"fmt"
	"slices"
	"strings"

	"minibus/internal/template"
)

// A template of the Azure Resource Manager, as az bicep build writes it, has resources in any order, with expressions
// for names and settings. The functions here turn it into the nodes of a Config.json, each with its place in the
// template, and leave the rest to the decoder of that. What is only known in Azure is an unknown value: it does not
// matter in the name of the namespace, counts as not given in a setting, and is an error anywhere else.

const (
	armNamespaces  = "microsoft.servicebus/namespaces"
	armDeployments = "microsoft.resources/deployments"
)

// isTemplate reports whether a document is a template.
func isTemplate(root *node) bool {
	return root.Get("UserConfig") == nil && root.Get("resources") != nil &&
		(root.Get("contentVersion") != nil || strings.Contains(schemaOf(root), "deploymenttemplate.json"))
}

// isParameterFile reports whether a document has values for the parameters of a template.
func isParameterFile(root *node) bool {
	return root.Get("UserConfig") == nil && strings.Contains(schemaOf(root), "deploymentparameters.json")
}

func schemaOf(root *node) string {
	if n := root.Get("$schema"); n != nil && n.Kind == kindString {
		return strings.ToLower(n.Text)
	}
	return ""
}

// armReader reads a template, or one that a deployment has in it.
type armReader struct {
	*decoder
	*template.Template
	found *armFound
}

// armFound are the entities of a file.
type armFound struct {
	namespaces []*armNamespace
	resources  int
	budget     *template.Budget
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
	found := &armFound{budget: template.NewBudget(), warned: make(map[string]bool)}
	t := &armReader{decoder: d, Template: template.New(root, given, nil, found.budget), found: found}
	t.resources(root.Get("resources"), "", nil)
	if t.found.policies {
		const found = "found policies, which are left out: their keys are only known in Azure"
		d.add(Note, root.Get("resources"), found, "", "")
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
	if list := root.Get("parameters"); list != nil && list.Kind == kindObject {
		for _, m := range list.Members {
			if v := m.Value.Get("value"); v != nil {
				template.Weigh(v)
				template.Unplace(v) // findings name the template
				given[strings.ToLower(m.Key)] = v
			} else {
				why := "the parameter " + m.Key + " has a value only in Azure"
				given[strings.ToLower(m.Key)] = template.Unknown(why)
			}
		}
	}
	return given
}

// resources reads a list of resources: an array or, since version 2.0 of the language, an object.
func (t *armReader) resources(list *node, parentType string, parent *node) {
	if list == nil {
		return
	}
	items := list.Items
	for _, m := range list.Members {
		items = append(items, m.Value)
	}
	for _, r := range items {
		if !t.object(r) {
			continue
		}
		if existing := r.Get("existing"); existing != nil && existing.Bool {
			continue
		}
		loop := r.Get("copy")
		if loop == nil {
			t.resource(r, parentType, parent)
			continue
		}
		t.repeat(loop, func() { t.resource(r, parentType, parent) })
	}
}

// warn adds a warning, once for all turns of a loop.
func (t *armReader) warn(n *node, found, fix string) {
	if key := n.Path + found; !t.found.warned[key] {
		t.found.warned[key] = true
		t.decoder.warn(n, found, fix)
	}
}

// doubt adds a warning of a value that is not known, or an error if it can't be known in Azure either.
func (t *armReader) doubt(at, value *node, found, instead string) {
	if template.IsFault(value.Unknown) {
		t.notEvaluated(at, value, "")
		return
	}
	if template.IsNotHere(value.Unknown) {
		instead += "; " + asParameter
	}
	t.warn(at, found+" can't be evaluated: "+value.Unknown, instead)
}

// repeat does something as often as a loop says.
func (t *armReader) repeat(loop *node, do func()) {
	turns, count := t.Count(loop)
	at := orAbsent(loop.Get("count"), loop)
	switch {
	case count == nil:
	case count.Unknown != "":
		t.notEvaluated(at, count, "give its parameters default values")
	default:
		found := "the count " + count.Describe()
		if count.Kind == kindNumber {
			found = "the count " + clip(count.Text)
		}
		t.fail(at, "found "+found, fmt.Sprintf("0 to %d", template.MaxCount), "")
	}
	name := orAbsent(loop.Get("name"), loop).Text
	for i := range turns {
		t.At(name, i, do)
	}
}

// orAbsent returns n, or null at the place of what lacks it.
func orAbsent(n, of *node) *node {
	if n != nil {
		return n
	}
	return &node{Pos: of.Pos, Path: of.Path}
}

// notEvaluated adds an error for an expression.
func (t *armReader) notEvaluated(at, value *node, fix string) {
	at = orAbsent(at, value)
	if template.IsFault(value.Unknown) {
		fix = "correct the expression"
	}
	if template.IsNotHere(value.Unknown) {
		fix = asParameter
	}
	t.fail(at, "found "+at.Describe()+", which can't be evaluated: "+value.Unknown, "", fix)
}

const parameterFix = "write the value, give its parameter a default value, or name a file of parameters with another " +
	"--config"

const asParameter = "pass the value as a parameter"

// resource reads a resource and what is in it.
func (t *armReader) resource(r *node, parentType string, parent *node) {
	if t.found.resources++; t.found.resources > template.MaxCount {
		if t.found.resources == template.MaxCount+1 {
			t.fail(r, fmt.Sprintf("found more than %d resources", template.MaxCount), "", "split the template")
		}
		return
	}
	if condition := r.Get("condition"); condition != nil {
		yes := t.Evaluate(condition)
		if yes.Unknown != "" {
			t.doubt(condition, yes, "found the condition "+condition.Describe()+", which", "it counts as true")
			t.found.doubts++
			defer func() { t.found.doubts-- }()
		} else if yes.Kind != kindBool && !containsFold([]string{"true", "false"}, yes.Text) {
			t.fail(condition, "found the condition "+yes.Describe(), "true or false", "")
		} else if !template.Truth(yes) {
			return
		}
	}
	typeName := strings.ToLower(t.Evaluate(orAbsent(r.Get("type"), r)).Text)
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
	at := orAbsent(r.Get("name"), r)
	name := *t.Evaluate(at)
	if name.Kind != kindString {
		t.fail(at, "found "+name.Describe()+" as the name of a resource", "text", "")
		return
	}
	name.Pos, name.Path = at.Pos, at.Path
	if parent != nil {
		name = *template.Composed(parent.Text + "/" + name.Text)
		name.Pos, name.Path = at.Pos, at.Path
	}
	t.entity(r, at, kind, &name)
	t.resources(r.Get("resources"), typeName, &name)
}

// deployment reads the template in a deployment, which a module is.
func (t *armReader) deployment(r *node) {
	properties := orAbsent(r.Get("properties"), r)
	inner := properties.Get("template")
	if inner == nil || inner.Kind != kindObject {
		t.warn(properties, "found a deployment whose template is elsewhere, it is left out",
			"build the whole with az bicep build")
		return
	}
	scope := properties.Get("expressionEvaluationOptions").Get("scope")
	if scope == nil || !strings.EqualFold(scope.Text, "inner") {
		t.resources(inner.Get("resources"), "", nil) // its expressions are those of the template around it
		return
	}
	values := make(map[string]*node)
	module := &armReader{decoder: t.decoder, Template: template.New(inner, values, nil, t.found.budget), found: t.found}
	if list := properties.Get("parameters"); list != nil {
		for _, m := range list.Members {
			value := template.Unknown("the parameter " + m.Key + " has a value only in Azure")
			if given := m.Value.Get("value"); given != nil {
				value = t.Evaluate(given)
			}
			values[strings.ToLower(m.Key)] = value
		}
	}
	module.resources(inner.Get("resources"), "", nil)
}

// entity takes in a namespace, or what is in one. kind is the type without that of a namespace.
func (t *armReader) entity(r, at *node, kind string, name *node) {
	segments := strings.Split(name.Text, "/")
	if wanted := strings.Count(kind, "/") + 1; len(segments) != wanted {
		if name.Unknown != "" {
			t.notEvaluated(at, name, parameterFix)
			return
		}
		t.fail(at, "found the name "+quote(name.Text)+" of a resource of the type "+
			armNamespaces+kind, fmt.Sprintf("%d names with slashes between", wanted), "")
		return
	}
	for _, s := range segments[1:] {
		if why := template.UnknownIn(s); why != "" {
			t.notEvaluated(at, &node{Unknown: why, Pos: at.Pos}, parameterFix)
			return
		}
	}
	ns := t.found.namespace(segments[0], name)
	named := func(i int) *node {
		return &node{Kind: kindString, Pos: at.Pos, Path: at.Path, Text: strings.ReplaceAll(segments[i], "~", "/")}
	}
	properties := orAbsent(r.Get("properties"), r)
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
		values := withoutInert(t.Evaluate(properties))
		if unknown := template.FirstUnknown(values); unknown != nil {
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
	first, _, _ := strings.Cut(name.Text, "/")
	ns := &armNamespace{key: key, name: &node{Kind: kindString, Pos: name.Pos, Path: name.Path, Text: first}}
	f.namespaces = append(f.namespaces, ns)
	return ns
}

// entityOf returns the entity of a list with a name. It adds it if it is missing: its resource may come later, or be
// in Azure.
func entityOf(list *[]*armEntity, name *node) *armEntity {
	key := strings.ToLower(name.Text)
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
func (t *armReader) declare(list *[]*armEntity, name *node, what string, properties *node) {
	e := entityOf(list, name)
	if e.properties != nil && !e.doubtful && t.found.doubts == 0 {
		t.fail(name, fmt.Sprintf("found the %s %s a second time (first on line %d)", what, quote(name.Text),
			e.name.Pos.Line), "", "rename or remove one of the two")
		return
	}
	e.name, e.properties, e.doubtful = name, properties, t.found.doubts > 0
}

// settings returns the settings of an entity. Those that are only known in Azure are left out.
func (t *armReader) settings(properties *node) *node {
	values := *withoutInert(t.Evaluate(properties))
	if values.Unknown != "" {
		t.doubt(properties, &values, "found "+properties.Describe()+", which", "the defaults count")
		return &node{Kind: kindObject, Pos: properties.Pos, Path: properties.Path}
	}
	values.Members = slices.DeleteFunc(slices.Clone(values.Members), func(m member) bool {
		unknown := template.FirstUnknown(m.Value)
		if unknown != nil {
			t.doubt(unknown, unknown, "the setting "+m.Key, "its default counts")
		}
		return unknown != nil
	})
	return &values
}

// withoutInert returns a value without the settings that have no effect here, which templates have.
func withoutInert(n *node) *node {
	v := *n
	v.Members = nil
	for _, m := range n.Members {
		if !containsFold(inertKeys, m.Key) && !containsFold(inertInTemplates, m.Key) {
			m.Value = withoutInert(m.Value)
			v.Members = append(v.Members, m)
		}
	}
	return &v
}

var inertInTemplates = []string{"RequiresPreprocessing", "CompatibilityLevel"}

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
	n.Kind = kindObject
	n.Members = slices.Clone(n.Members)
	for _, x := range armDefaults {
		if !slices.Contains(known, x.key) || n.Get(x.key) != nil {
			continue
		}
		value := &node{Kind: kindString, Text: x.text, Pos: n.Pos, Path: n.Path}
		if x.number != "" {
			value.Kind, value.Text = kindNumber, x.number
		}
		n.Put(x.key, value)
	}
	return &n
}

// namespaceNode returns a namespace as a Config.json has it. The first one is the default one, whose name may be
// unknown.
func (t *armReader) namespaceNode(ns *armNamespace, first bool) *node {
	n := &node{Kind: kindObject, Pos: ns.name.Pos, Path: ns.name.Path}
	switch why := template.UnknownIn(ns.name.Text); {
	case why == "":
		n.Put("Name", ns.name)
	case template.IsFault(why):
		t.notEvaluated(ns.name, &node{Unknown: why}, "")
	case !first:
		t.fail(ns.name, "found a second namespace, whose name can't be evaluated: "+why, "", parameterFix)
		n.Put("Name", &node{Kind: kindString, Pos: n.Pos, Path: n.Path})
	}
	list := func(of *node, key string, entities []*armEntity, one func(*armEntity) *node) {
		all := &node{Kind: kindArray, Pos: of.Pos, Path: of.Path}
		for _, e := range entities {
			all.Items = append(all.Items, one(e))
		}
		if len(all.Items) > 0 {
			of.Put(key, all)
		}
	}
	object := func(e *armEntity, what string, known []string) *node {
		x := &node{Kind: kindObject, Pos: e.name.Pos, Path: e.name.Path}
		if e.properties == nil {
			t.warn(e.name, "found no resource of the "+what+" "+quote(e.name.Text), "it is made with Azure's defaults")
			e.properties = orAbsent(nil, e.name)
		}
		x.Put("Name", e.name)
		x.Put("Properties", withDefaults(e.properties, known))
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
