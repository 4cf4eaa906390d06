package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// Namespace has the entities that [Read] found, sorted by name.
type Namespace struct {
	Name    string // as the namespace calls itself
	Source  string // host that it was read from
	Premium bool   // Azure's Premium tier
	Queues  []Queue
	Topics  []Topic

	Resource *Resource // nil: modules add the entities to a namespace that exists

	Warnings []string // entities and settings that could not be read exactly
}

// Queue is a queue.
type Queue struct {
	Path    string
	Options emulator.QueueOptions // MaxSizeInMegabytes is that of one partition (QUO-1)
	Access  []Access
	Refused string // why Azure would not create it, empty if it would
}

// Topic is a topic.
type Topic struct {
	Path          string
	Options       emulator.TopicOptions
	Access        []Access
	Subscriptions []Subscription
	Refused       string
}

// Subscription is a subscription with all its rules. One without rules takes nothing (TOP-4).
type Subscription struct {
	Name         string
	Options      emulator.QueueOptions
	Client       *emulator.ClientAffine // nil: it does not belong to JMS clients
	FilterErrors bool                   // DeadLetteringOnFilterEvaluationExceptions
	Rules        []atom.Rule
	Refused      string
}

// Access is an authorization rule without its keys.
type Access struct {
	Name   string
	Rights []string // Manage, Send, Listen
}

func (a Access) has(right string) bool { return slices.Contains(a.Rights, right) }

// warn notes something about an entity.
func (n *Namespace) warn(entity, format string, args ...any) {
	n.Warnings = append(n.Warnings, entity+": "+fmt.Sprintf(format, args...))
}

// sort puts everything into the order of output. Names are compared as the service does, without case.
func (n *Namespace) sort() {
	slices.SortFunc(n.Queues, func(a, b Queue) int { return byName(a.Path, b.Path) })
	slices.SortFunc(n.Topics, func(a, b Topic) int { return byName(a.Path, b.Path) })
	for _, t := range n.Topics {
		slices.SortFunc(t.Subscriptions, func(a, b Subscription) int { return byName(a.Name, b.Name) })
		for _, s := range t.Subscriptions {
			slices.SortFunc(s.Rules, func(a, b atom.Rule) int { return byName(a.Name, b.Name) })
		}
	}
	slices.Sort(n.Warnings)
	n.Warnings = slices.Compact(n.Warnings)
}

func byName(a, b string) int {
	return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
}

// paths returns the paths of the queues and topics by their lower-case form. These can be forwarded to.
func (n *Namespace) paths() map[string]string {
	m := make(map[string]string, len(n.Queues)+len(n.Topics))
	for _, q := range n.Queues {
		m[strings.ToLower(q.Path)] = q.Path
	}
	for _, t := range n.Topics {
		m[strings.ToLower(t.Path)] = t.Path
	}
	return m
}

// Summary returns the numbers of entities as text.
func (n *Namespace) Summary() string {
	subscriptions, rules := 0, 0
	for _, t := range n.Topics {
		subscriptions += len(t.Subscriptions)
		for _, s := range t.Subscriptions {
			rules += len(s.Rules)
		}
	}
	return fmt.Sprintf("queues: %d, topics: %d, subscriptions: %d, rules: %d", len(n.Queues), len(n.Topics),
		subscriptions, rules)
}

// isDefault reports whether a rule has the name of the one that a new subscription has.
func isDefault(r atom.Rule) bool { return strings.EqualFold(r.Name, emulator.DefaultRuleName) }

// takesEverything reports whether a rule is the one of a new subscription, as it is there (TOP-4).
func takesEverything(r atom.Rule) bool {
	return isDefault(r) && r.Filter.Kind == atom.TrueFilter && r.Action.SQL == ""
}
