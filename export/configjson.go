package export

import (
	"fmt"
	"strings"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/mgmt/atom"
)

// standardMessageKB is the default of the cloud, which templates leave out.
const standardMessageKB = 256

// configWriter makes a topology of a namespace and collects warnings.
type configWriter struct {
	paths    map[string]string
	warnings []string
}

func (w *configWriter) warn(entity, format string, args ...any) {
	w.warnings = append(w.warnings, entity+": "+fmt.Sprintf(format, args...))
}

// writeConfig renders a Config.json. Its settings are those of the namespace without keys.
func writeConfig(n *Namespace) ([]byte, []string, error) {
	w := &configWriter{paths: n.paths()}
	t := &config.Topology{Namespace: n.Name}
	for _, q := range n.Queues {
		o := w.options(q.Path, q.Options)
		w.inert(q.Path, o.Admin, q.Access)
		t.Entities = append(t.Entities, emulator.EntityConfig{Path: q.Path, Queue: &o})
	}
	for _, topic := range n.Topics {
		t.Entities = append(t.Entities, emulator.EntityConfig{Path: topic.Path, Topic: w.topic(topic)})
	}
	data, err := config.Write([]*config.Topology{t}, everything, false)
	return data, w.warnings, err
}

// options returns the settings of a queue or a subscription, without targets that are not exported: the reader of the
// file requires that they exist.
func (w *configWriter) options(entity string, o emulator.QueueOptions) emulator.QueueOptions {
	o.ForwardTo = w.target(entity, "ForwardTo", o.ForwardTo)
	o.ForwardDeadLetteredMessagesTo = w.target(entity, "ForwardDeadLetteredMessagesTo", o.ForwardDeadLetteredMessagesTo)
	return o
}

func (w *configWriter) topic(t Topic) *emulator.TopicOptions {
	o := t.Options
	o.Admin.SupportOrdering = &o.SupportOrdering
	w.inert(t.Path, o.Admin, t.Access)
	for _, s := range t.Subscriptions {
		o.Subscriptions = append(o.Subscriptions, w.subscription(t.Path, s))
	}
	return &o
}

func (w *configWriter) subscription(topic string, s Subscription) emulator.SubscriptionOptions {
	full := topic + "/" + s.Name
	o := emulator.SubscriptionOptions{
		Name:                        s.Name,
		Queue:                       w.options(full, s.Options),
		Client:                      s.Client,
		DeadLetteringOnFilterErrors: &s.FilterErrors,
		Rules:                       []emulator.RuleOptions{},
	}
	w.inert(full, s.Options.Admin, nil)
	if len(s.Rules) == 0 {
		w.warn(full, "it has no rules; it is exported with one that takes nothing, which is the same")
	}
	for _, r := range s.Rules {
		constant := r.Filter.Kind == atom.TrueFilter || r.Filter.Kind == atom.FalseFilter
		if constant && len(r.Filter.Parameters) > 0 {
			w.warn(full+"/"+r.Name, "the parameters of its filter are left out: a constant filter has no use for them")
		}
		o.Rules = append(o.Rules, r.Options())
	}
	return o
}

// nothing returns a rule that selects nothing, for a subscription without rules.
func nothing() atom.Rule {
	never := atom.Filter{Kind: atom.FalseFilter, SQL: emulator.FalseExpression}
	return atom.Rule{Name: emulator.DefaultRuleName, Filter: never}
}

// target returns the path to forward to.
func (w *configWriter) target(entity, property, path string) string {
	if path == "" {
		return ""
	}
	if known, ok := w.paths[strings.ToLower(path)]; ok {
		return known
	}
	w.warn(entity, "%s is left out: its target %q is not among the exported entities", property, path)
	return ""
}

// inert warns of settings that a Config.json does not have.
func (w *configWriter) inert(entity string, a emulator.Admin, access []Access) {
	for _, x := range []struct {
		name string
		set  bool
	}{{"EnableExpress", a.EnableExpress}, {"FilteringMessagesBeforePublishing", a.FilteringMessagesBeforePublishing},
		{"EnableSubscriptionPartitioning", a.EnableSubscriptionPartitioning}} {
		if x.set {
			w.warn(entity, "%s is left out: a configuration does not have it", x.name)
		}
	}
	for _, rule := range access {
		w.warn(entity, "the policy %q is left out: keys are not exported", rule.Name)
	}
}

func unlessTrue(b *bool) *bool {
	if b == nil || *b {
		return nil
	}
	return b
}

func status(s emulator.Status) string {
	if s == emulator.StatusActive {
		return ""
	}
	return string(s)
}

// duration returns the text of a time to live. No time to live is the longest time span of .NET.
func duration(d time.Duration) string {
	if d <= 0 {
		return atom.MaxTimeSpan.String()
	}
	return atom.SpanOf(d).String()
}

// idle returns the text of AutoDeleteOnIdle, which is empty for never.
func idle(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return atom.SpanOf(d).String()
}

func window(d time.Duration) string {
	if d <= 0 {
		d = emulator.DefaultDedupWindow
	}
	return atom.SpanOf(d).String()
}
