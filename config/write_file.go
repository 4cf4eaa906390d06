package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"minibus/emulator"
)

// The parts of a file, in the order of their members.
type (
	writtenNamespace struct {
		Name               string
		AuthorizationRules []writtenPolicy `json:",omitempty"`
		Aliases            []string        `json:",omitempty"`
		Port               int             `json:",omitempty"`
		Queues             []writtenEntity
		Topics             []writtenTopic
	}
	writtenEntity struct {
		Name       string
		Properties Properties
	}
	writtenTopic struct {
		Name          string
		Properties    Properties
		Subscriptions []writtenSubscription
	}
	writtenSubscription struct {
		Name       string
		Properties Properties
		Rules      []writtenEntity `json:",omitempty"`
	}
)

// Write writes a Config.json with namespaces, of which the first is the default one. The same entities give the same
// bytes. A file leaves out what it means without it. Keys of policies are written if keys is set, else no policies.
func Write(list []*Topology, l emulator.Profile, keys bool) ([]byte, error) {
	var file struct {
		UserConfig struct {
			Namespaces []writtenNamespace
			Logging    struct{ Type string }
		}
	}
	file.UserConfig.Logging.Type = "Console"
	for _, t := range list {
		n := writtenNamespace{
			Name: t.Namespace, Aliases: t.Aliases, Port: t.Port,
			Queues: []writtenEntity{}, Topics: []writtenTopic{},
		}
		if keys {
			n.AuthorizationRules = writtenPolicies(t.AuthorizationRules)
		}
		for _, e := range t.Entities {
			if e.Queue != nil {
				n.Queues = append(n.Queues, writtenEntity{e.Path, QueueProperties(*e.Queue, l, keys).needed()})
			} else {
				n.Topics = append(n.Topics, topicOf(e, l, keys))
			}
		}
		file.UserConfig.Namespaces = append(file.UserConfig.Namespaces, n)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(file); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return b.Bytes(), nil
}

func topicOf(e emulator.EntityConfig, l emulator.Profile, keys bool) writtenTopic {
	topic := writtenTopic{e.Path, TopicProperties(*e.Topic, l, keys).needed(), []writtenSubscription{}}
	for _, o := range e.Topic.Subscriptions {
		s := writtenSubscription{Name: o.Name, Properties: SubscriptionProperties(o, l).needed()}
		if !takesEverything(o.Rules) {
			s.Rules = writtenRules(o.Rules)
		}
		topic.Subscriptions = append(topic.Subscriptions, s)
	}
	return topic
}

// takesEverything reports whether the only rule is that of a new subscription, which a file leaves out (TOP-4).
// Without a list of rules it is not known.
func takesEverything(rules []emulator.RuleOptions) bool {
	if len(rules) != 1 {
		return rules == nil
	}
	r := rules[0]
	return strings.EqualFold(r.Name, emulator.DefaultRuleName) && r.IsTrue() && r.Action == ""
}

// writtenRules returns the rules of a subscription. One without rules takes nothing. A file can't say so, but a rule
// that takes nothing can.
func writtenRules(rules []emulator.RuleOptions) (list []writtenEntity) {
	if len(rules) == 0 {
		rules = []emulator.RuleOptions{{Name: emulator.DefaultRuleName, SQL: emulator.FalseExpression, Constant: true}}
	}
	for _, r := range rules {
		list = append(list, writtenEntity{r.Name, RuleProperties(r)})
	}
	return list
}

// writtenSQL is an expression in a file.
type writtenSQL struct {
	SQLExpression string         `json:"SqlExpression"`
	Parameters    map[string]any `json:",omitempty"`
}

// RuleProperties returns the filter and the action of a rule as a file has them.
func RuleProperties(r emulator.RuleOptions) Properties {
	p := Properties{{"FilterType", "Sql", false}}
	switch {
	case r.Correlation != nil:
		p[0].Value = "Correlation"
		p = append(p, Property{"CorrelationFilter", writtenCorrelation(r.Correlation), false})
	case r.IsTrue():
		p[0].Value = "True"
	case r.IsFalse():
		p[0].Value = "False"
	default:
		p = append(p, Property{"SqlFilter", writtenSQL{r.SQL, writtenValues(r.Parameters)}, false})
	}
	if r.Action != "" {
		p = append(p, Property{"Action", writtenSQL{r.Action, writtenValues(r.ActionParameters)}, false})
	}
	return p
}

// writtenCorrelation returns the object of a correlation filter.
func writtenCorrelation(f *emulator.CorrelationFilter) map[string]any {
	m := map[string]any{}
	for _, field := range correlationFields(f) {
		if text := *field.value; text != nil {
			m[field.names[0]] = *text
		}
	}
	if len(f.Properties) > 0 {
		m["Properties"] = writtenValues(f.Properties)
	}
	return m
}

// writtenTyped is a value with its type.
type writtenTyped struct {
	Type  string
	Value any
}

// writtenValues returns values as plain JSON if the reader of the file gives that the same type, and with their type
// if not.
func writtenValues(values emulator.Values) map[string]any {
	m := make(map[string]any, len(values))
	for name, x := range values {
		typeName, text := emulator.TypedText(x)
		switch {
		case typeName == "string", typeName == "boolean":
			m[name] = x
			if typeName == "string" {
				m[name] = text
			}
		case typeName == "long":
			m[name] = json.RawMessage(text)
		case typeName == "double" && isFinite(x):
			m[name] = json.RawMessage(fractional(x.(float64)))
		case strings.Trim(text, "-0123456789") == "":
			m[name] = writtenTyped{typeName, json.RawMessage(text)}
		default:
			m[name] = writtenTyped{typeName, text}
		}
	}
	return m
}

func isFinite(x any) bool {
	f, ok := x.(float64)
	return ok && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// fractional returns the text of a double, with a point or an exponent, without which it would be read as a long.
func fractional(v float64) string {
	s := strings.Replace(strconv.FormatFloat(v, 'G', -1, 64), "E+", "E", 1)
	if !strings.ContainsAny(s, ".E") {
		s += ".0"
	}
	return s
}
