package config

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// Write writes a Config.json with namespaces, of which the first is the default one. The same entities give the same bytes. A file leaves out
// what it means without it. Keys of policies are written if keys is set, else no policies.
func Write(list []*Topology, l emulator.Limits, keys bool) ([]byte, error) {
	var file struct {
		UserConfig struct {
			Namespaces []writtenNamespace
			Logging    struct{ Type string }
		}
	}
	file.UserConfig.Logging.Type = "Console"
	for _, t := range list {
		n := writtenNamespace{Name: t.Namespace, Aliases: t.Aliases, Port: t.Port, Queues: []writtenEntity{}, Topics: []writtenTopic{}}
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

func topicOf(e emulator.EntityConfig, l emulator.Limits, keys bool) writtenTopic {
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

// takesEverything reports whether the only rule is that of a new subscription, which a file leaves out (TOP-4). Without a list of rules it is not known.
func takesEverything(rules []emulator.RuleOptions) bool {
	return rules == nil || len(rules) == 1 && strings.EqualFold(rules[0].Name, emulator.DefaultRuleName) && rules[0].IsTrue() && rules[0].Action == ""
}

// writtenRules returns the rules of a subscription. One without rules takes nothing. A file can't say so, but a rule that takes nothing can.
func writtenRules(rules []emulator.RuleOptions) (list []writtenEntity) {
	if len(rules) == 0 {
		rules = []emulator.RuleOptions{{Name: emulator.DefaultRuleName, SQL: emulator.FalseExpression, Constant: true}}
	}
	for _, r := range rules {
		list = append(list, writtenEntity{r.Name, RuleProperties(r)})
	}
	return list
}
