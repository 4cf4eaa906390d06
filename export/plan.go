package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"minibus/emulator"
	"minibus/internal/printable"
	"minibus/mgmt/atom"
)

// node is a resource of a template. Exactly one of the pointers to entities is set.
type node struct {
	id       string // unique among all nodes, without regard to case
	full     string // path, for warnings
	comments []string
	parent   *node // topic of a subscription, subscription of a rule, entity of an authorization rule

	queue        *Queue
	topic        *Topic
	subscription *Subscription
	rule         *plainRule
	access       *Access

	forwardTo, forwardDeadLettered target
}

// target is the queue or topic to forward to. node is nil if the template does not have it.
type target struct {
	path string
	node *node
}

// plan lists the resources of a namespace. Each comes after those that it needs.
type plan struct {
	nodes    []*node
	warnings []string
	format   Format

	// filtered are the subscriptions that don't have $Default as Azure makes it.
	filtered []string

	byPath map[string]*node // queues and topics, in lower case
	ids    map[string]bool
}

// maxIdentifier leaves room for a number; Bicep allows 255 characters.
const maxIdentifier = 200

// newPlan makes the plan. The kind comes before each identifier, but for Terraform: elsewhere resources of all kinds
// need different identifiers.
func newPlan(n *Namespace, f Format) *plan {
	p := &plan{format: f, byPath: map[string]*node{}, ids: map[string]bool{}}
	prefix := func(kind string) string {
		if f != FormatTerraform {
			return kind + "_"
		}
		return ""
	}
	var topics, queues []*node
	for i := range n.Topics {
		t := &n.Topics[i]
		topics = append(topics, p.entity(&node{id: p.identifier(prefix("topic") + t.Path), full: t.Path, topic: t}))
	}
	for i := range n.Queues {
		q := &n.Queues[i]
		queues = append(queues, p.entity(&node{id: p.identifier(prefix("queue") + q.Path), full: q.Path, queue: q}))
	}
	for _, t := range topics {
		p.nodes = append(p.nodes, t)
		p.restrictions(t, t.topic.Refused, t.topic.Options.UserMetadata, t.topic.Options.Admin)
		p.access(t, prefix("policy"), t.topic.Access)
	}
	p.queues(queues)
	for _, q := range queues {
		p.access(q, prefix("policy"), q.queue.Access)
	}
	for _, t := range topics {
		for _, s := range t.topic.Subscriptions {
			if !slices.ContainsFunc(s.Rules, takesEverything) {
				p.filtered = append(p.filtered, t.full+"/"+s.Name)
			}
		}
	}
	for _, t := range topics {
		for i := range t.topic.Subscriptions {
			p.subscription(t, &t.topic.Subscriptions[i], prefix)
		}
	}
	return p
}

func (p *plan) entity(n *node) *node {
	p.byPath[strings.ToLower(n.full)] = n
	return n
}

// note adds a warning, and the same text as a comment above the resource.
func (p *plan) note(n *node, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	n.comments = append(n.comments, text)
	p.warnings = append(p.warnings, n.full+": "+text)
}

// identifier makes a name of letters, digits and underscores that no other resource has.
func (p *plan) identifier(name string) string {
	id := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, name)
	if id[0] >= '0' && id[0] <= '9' {
		id = "_" + id
	}
	id = id[:min(len(id), maxIdentifier)]
	unique := id
	for i := 2; p.ids[strings.ToLower(unique)]; i++ {
		unique = id + "_" + strconv.Itoa(i)
	}
	p.ids[strings.ToLower(unique)] = true
	return unique
}

// restrictions notes what Azure refuses and what templates do not have.
func (p *plan) restrictions(n *node, refused, metadata string, a emulator.Admin) {
	if refused != "" {
		p.note(n, "Azure will not create it as it is: %s", refused)
	}
	if metadata != "" {
		p.note(n, "its user metadata is left out, templates do not have it: %s", printable.Clip(oneLine(metadata), 200))
	}
	for _, x := range []struct {
		name string
		set  bool
	}{{"FilteringMessagesBeforePublishing", a.FilteringMessagesBeforePublishing},
		{"EnableSubscriptionPartitioning", a.EnableSubscriptionPartitioning}} {
		if x.set {
			p.note(n, "%s is left out, set it by hand", x.name)
		}
	}
}

func (p *plan) access(parent *node, prefix string, rules []Access) {
	for i := range rules {
		p.nodes = append(p.nodes, &node{id: p.identifier(prefix + parent.full + "_" + rules[i].Name),
			full: parent.full + "/" + rules[i].Name, parent: parent, access: &rules[i]})
	}
}

// queues puts queues behind those that they forward to. The service wants a target to exist (FWD), so one template
// can't create queues that forward in a circle: the forward that closes the circle is left out.
func (p *plan) queues(list []*node) {
	const open, done = 1, 2
	state := map[*node]int{}
	var visit func(n *node)
	visit = func(n *node) {
		state[n] = open
		p.restrictions(n, n.queue.Refused, n.queue.Options.UserMetadata, n.queue.Options.Admin)
		for _, x := range []struct {
			name, path string
			into       *target
		}{{"forwardTo", n.queue.Options.ForwardTo, &n.forwardTo},
			{"forwardDeadLetteredMessagesTo", n.queue.Options.ForwardDeadLetteredMessagesTo, &n.forwardDeadLettered}} {
			t := p.target(n, x.name, x.path)
			if t.node != nil && t.node.queue != nil && state[t.node] == 0 {
				visit(t.node)
			}
			if t.node != nil && state[t.node] == open {
				p.note(n, "%s is left out, it closes a circle; set it to %s afterwards", x.name, t.path)
				t = target{}
			}
			*x.into = t
		}
		state[n] = done
		p.nodes = append(p.nodes, n)
	}
	for _, n := range list {
		if state[n] == 0 {
			visit(n)
		}
	}
}

func (p *plan) target(n *node, property, path string) target {
	if path == "" {
		return target{}
	}
	found := p.byPath[strings.ToLower(path)]
	if found == nil {
		p.note(n, "the target of %s, %s, is not among the exported entities and must exist", property, path)
		return target{path: path}
	}
	return target{path: found.full, node: found}
}

func (p *plan) subscription(topic *node, s *Subscription, prefix func(string) string) {
	n := &node{id: p.identifier(prefix("subscription") + topic.full + "_" + s.Name), full: topic.full + "/" + s.Name,
		parent: topic, subscription: s}
	p.restrictions(n, s.Refused, s.Options.UserMetadata, s.Options.Admin)
	n.forwardTo = p.target(n, "forwardTo", s.Options.ForwardTo)
	n.forwardDeadLettered = p.target(n, "forwardDeadLetteredMessagesTo", s.Options.ForwardDeadLetteredMessagesTo)
	p.nodes = append(p.nodes, n)
	for _, r := range p.rules(n) {
		rule := plain(r)
		id := p.identifier(prefix("rule") + n.full + "_" + strings.TrimPrefix(r.Name, "$"))
		x := &node{id: id, full: n.full + "/" + r.Name, parent: n, rule: &rule}
		for _, note := range rule.Notes {
			p.note(x, "%s", note)
		}
		p.nodes = append(p.nodes, x)
	}
}

// rules returns the rules to write for a subscription. A new one already has $Default, which takes everything.
func (p *plan) rules(n *node) []atom.Rule {
	rules := n.subscription.Rules
	switch {
	case len(rules) == 0:
		p.note(n, "it has no rules; it gets one that takes nothing, which is the same")
		return []atom.Rule{nothing()}
	case p.format == FormatTerraform && len(p.filtered) > 0:
		return rules // the provider deletes $Default of all subscriptions
	case p.format == FormatTerraform:
		return slices.DeleteFunc(slices.Clone(rules), takesEverything)
	case len(rules) == 1 && takesEverything(rules[0]):
		return nil
	case p.format == FormatBicep && !slices.ContainsFunc(rules, isDefault):
		p.note(n, "%s takes nothing here: Azure makes it with the subscription, and a template can't delete it",
			emulator.DefaultRuleName)
		return append([]atom.Rule{nothing()}, rules...)
	}
	return rules
}
