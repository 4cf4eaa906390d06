package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// The defaults that a Config.json shares with the cloud, and that it may leave out. Other settings are always written, because their
// defaults differ (DEC-4).
const (
	standardSizeMB    = 1024
	standardMessageKB = 256
)

type configFile struct {
	UserConfig struct {
		Namespaces [1]configNamespace
		Logging    struct{ Type string }
	}
}

type configNamespace struct {
	Name   string
	Queues []configQueue
	Topics []configTopic
}

type configQueue struct {
	Name       string
	Properties configProperties
}

type configTopic struct {
	Name          string
	Properties    configProperties
	Subscriptions []configSubscription
}

type configSubscription struct {
	Name       string
	Properties configProperties
	Rules      []configRule `json:",omitempty"`
}

// configProperties has the properties of all kinds of entities. Those that a kind does not have stay empty.
type configProperties struct {
	DeadLetteringOnMessageExpiration          *bool  `json:",omitempty"`
	DefaultMessageTimeToLive                  string `json:",omitempty"`
	DuplicateDetectionHistoryTimeWindow       string `json:",omitempty"`
	ForwardDeadLetteredMessagesTo             string `json:",omitempty"`
	ForwardTo                                 string `json:",omitempty"`
	LockDuration                              string `json:",omitempty"`
	MaxDeliveryCount                          int    `json:",omitempty"`
	RequiresDuplicateDetection                *bool  `json:",omitempty"`
	RequiresSession                           *bool  `json:",omitempty"`
	AutoDeleteOnIdle                          string `json:",omitempty"`
	DeadLetteringOnFilterEvaluationExceptions *bool  `json:",omitempty"`
	EnableBatchedOperations                   *bool  `json:",omitempty"`
	EnablePartitioning                        bool   `json:",omitempty"`
	MaxMessageSizeInKilobytes                 int64  `json:",omitempty"`
	MaxSizeInMegabytes                        int64  `json:",omitempty"`
	Status                                    string `json:",omitempty"`
	SupportOrdering                           *bool  `json:",omitempty"`
	UserMetadata                              string `json:",omitempty"`
}

type configRule struct {
	Name       string
	Properties configRuleProperties
}

type configRuleProperties struct {
	FilterType        string
	SQLFilter         *configSQL     `json:"SqlFilter,omitempty"`
	CorrelationFilter map[string]any `json:",omitzero"` // written without conditions too: the reader requires it
	Action            *configSQL     `json:",omitempty"`
}

type configSQL struct {
	SQLExpression string         `json:"SqlExpression"`
	Parameters    map[string]any `json:",omitempty"`
}

// configTyped is a value with its type.
type configTyped struct {
	Type  string
	Value any
}

// configWriter writes the parts of a Config.json and collects warnings.
type configWriter struct {
	namespace *Namespace
	paths     map[string]string
	warnings  []string
}

func (w *configWriter) warn(entity, format string, args ...any) {
	w.warnings = append(w.warnings, entity+": "+fmt.Sprintf(format, args...))
}

// writeConfig renders a Config.json.
func writeConfig(n *Namespace) ([]byte, []string, error) {
	w := &configWriter{namespace: n, paths: n.paths()}
	var file configFile
	file.UserConfig.Logging.Type = "Console"
	into := &file.UserConfig.Namespaces[0]
	*into = configNamespace{Name: n.Name, Queues: []configQueue{}, Topics: []configTopic{}}
	for _, q := range n.Queues {
		into.Queues = append(into.Queues, configQueue{Name: q.Path, Properties: w.queue(q)})
	}
	for _, t := range n.Topics {
		into.Topics = append(into.Topics, w.topic(t))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(file); err != nil {
		return nil, nil, fmt.Errorf("write the configuration: %w", err)
	}
	return b.Bytes(), w.warnings, nil
}

func (w *configWriter) queue(q Queue) configProperties {
	o := q.Options
	p := w.shared(q.Path, o)
	p.RequiresDuplicateDetection, p.DuplicateDetectionHistoryTimeWindow = &o.RequiresDuplicateDetection, window(o.DuplicateDetectionWindow)
	p.EnablePartitioning = o.EnablePartitioning
	p.MaxSizeInMegabytes, p.MaxMessageSizeInKilobytes = unlike(o.MaxSizeInMegabytes, standardSizeMB), unlike(o.MaxMessageSizeInKilobytes, standardMessageKB)
	w.inert(q.Path, o.Admin, q.Access)
	return p
}

// shared returns the properties that queues and subscriptions share.
func (w *configWriter) shared(entity string, o emulator.QueueOptions) configProperties {
	return configProperties{
		DeadLetteringOnMessageExpiration: &o.DeadLetteringOnExpiration,
		DefaultMessageTimeToLive:         duration(o.DefaultMessageTimeToLive),
		ForwardTo:                        w.target(entity, "ForwardTo", o.ForwardTo),
		ForwardDeadLetteredMessagesTo:    w.target(entity, "ForwardDeadLetteredMessagesTo", o.ForwardDeadLetteredMessagesTo),
		LockDuration:                     atom.SpanOf(o.LockDuration).String(),
		MaxDeliveryCount:                 o.MaxDeliveryCount,
		RequiresSession:                  &o.RequiresSession,
		AutoDeleteOnIdle:                 idle(o.AutoDeleteOnIdle),
		EnableBatchedOperations:          unlessTrue(o.EnableBatchedOperations),
		Status:                           status(o.Status),
		UserMetadata:                     o.UserMetadata,
	}
}

func (w *configWriter) topic(t Topic) configTopic {
	o := t.Options
	p := configProperties{
		DefaultMessageTimeToLive:            duration(o.DefaultMessageTimeToLive),
		DuplicateDetectionHistoryTimeWindow: window(o.DuplicateDetectionWindow),
		RequiresDuplicateDetection:          &o.RequiresDuplicateDetection,
		AutoDeleteOnIdle:                    idle(o.AutoDeleteOnIdle),
		EnableBatchedOperations:             unlessTrue(o.EnableBatchedOperations),
		EnablePartitioning:                  o.EnablePartitioning,
		MaxMessageSizeInKilobytes:           unlike(o.MaxMessageSizeInKilobytes, standardMessageKB),
		MaxSizeInMegabytes:                  unlike(o.MaxSizeInMegabytes, standardSizeMB),
		Status:                              status(o.Status),
		UserMetadata:                        o.UserMetadata,
	}
	if o.SupportOrdering == o.EnablePartitioning { // the default is the opposite
		p.SupportOrdering = &o.SupportOrdering
	}
	w.inert(t.Path, o.Admin, t.Access)
	topic := configTopic{Name: t.Path, Properties: p, Subscriptions: []configSubscription{}}
	for _, s := range t.Subscriptions {
		topic.Subscriptions = append(topic.Subscriptions, w.subscription(t.Path, s))
	}
	return topic
}

func (w *configWriter) subscription(topic string, s Subscription) configSubscription {
	full := topic + "/" + s.Name
	c := configSubscription{Name: s.Name, Properties: w.shared(full, s.Options)}
	c.Properties.DeadLetteringOnFilterEvaluationExceptions = unlessTrue(&s.FilterErrors)
	w.inert(full, s.Options.Admin, nil)
	if s.takesEverything() {
		return c // a subscription without rules has that one
	}
	if len(s.Rules) == 0 {
		w.warn(full, "it has no rules; it is exported with one that takes nothing, which is the same")
		s.Rules = []atom.Rule{nothing()}
	}
	for _, r := range s.Rules {
		c.Rules = append(c.Rules, w.rule(full, r))
	}
	return c
}

// nothing returns a rule that selects nothing, for a subscription without rules.
func nothing() atom.Rule {
	return atom.Rule{Name: emulator.DefaultRuleName, Filter: atom.Filter{Kind: atom.FalseFilter, SQL: emulator.FalseExpression}}
}

func (w *configWriter) rule(subscription string, r atom.Rule) configRule {
	c := configRule{Name: r.Name}
	switch f := r.Filter; f.Kind {
	case atom.CorrelationFilter:
		c.Properties.FilterType, c.Properties.CorrelationFilter = "Correlation", correlation(f)
	case atom.TrueFilter, atom.FalseFilter:
		c.Properties.FilterType = strings.TrimSuffix(string(f.Kind), "Filter")
		if len(f.Parameters) > 0 {
			w.warn(subscription+"/"+r.Name, "the parameters of its filter are left out: a constant filter has no use for them")
		}
	default:
		c.Properties.FilterType, c.Properties.SQLFilter = "Sql", &configSQL{f.SQL, configValues(f.Parameters)}
	}
	if r.Action.SQL != "" {
		c.Properties.Action = &configSQL{r.Action.SQL, configValues(r.Action.Parameters)}
	}
	return c
}

// correlation returns the object of a correlation filter. encoding/json sorts its keys.
func correlation(f atom.Filter) map[string]any {
	m := map[string]any{}
	for _, t := range f.Correlation {
		m[t.Property] = t.Value
	}
	if len(f.Properties) > 0 {
		m["Properties"] = configValues(f.Properties)
	}
	return m
}

// configValues returns values as plain JSON if the reader of the file gives that the same type, and with their type if not.
func configValues(list []atom.Parameter) map[string]any {
	m := make(map[string]any, len(list))
	for _, x := range list {
		switch v := x.Value.(type) {
		case string, bool, int64:
			m[x.Key] = v
			continue
		case float64:
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				m[x.Key] = json.RawMessage(decimal(v)) // a whole number would become a long
				continue
			}
		case int8, int16, int32, uint8, uint16, uint32, uint64:
			typeName, _ := x.TypeAndText()
			m[x.Key] = configTyped{typeName, v}
			continue
		}
		typeName, text := x.TypeAndText()
		m[x.Key] = configTyped{typeName, text}
	}
	return m
}

// target returns the path to forward to. The reader of the file requires that it exists.
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
		{"EnableSubscriptionPartitioning", a.EnableSubscriptionPartitioning}, {"IsClientAffine", a.IsClientAffine}} {
		if x.set {
			w.warn(entity, "%s is left out: a configuration does not have it", x.name)
		}
	}
	for _, rule := range access {
		w.warn(entity, "the policy %q is left out: keys are not exported", rule.Name)
	}
}

// unlike returns 0, which is left out, for the default.
func unlike(v, standard int64) int64 {
	if v == standard {
		return 0
	}
	return v
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
