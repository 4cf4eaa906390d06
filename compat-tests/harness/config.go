package harness

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// Queue is a queue of a generated Config.json. A zero field is left out, so the default of Config.json counts.
// Durations are ISO 8601, for example PT5S.
type Queue struct {
	Name                      string
	LockDuration              string
	MaxDeliveryCount          int
	TimeToLive                string
	DeadLetterExpired         bool
	RequiresSession           bool
	DetectDuplicates          bool
	DuplicateWindow           string
	ForwardTo                 string
	ForwardDeadLettersTo      string
	Partitioned               bool
	Status                    string
	MaxSizeInMegabytes        int
	MaxMessageSizeInKilobytes int
	Policies                  []Policy
}

// Policy is a shared access policy of a queue.
type Policy struct {
	Name, Key string
	Rights    []string
}

// authorizationRules returns policies in the form of Config.json; nil for none.
func authorizationRules(policies []Policy) []object {
	var list []object
	for _, p := range policies {
		list = append(list, object{"KeyName": p.Name, "PrimaryKey": p.Key, "Rights": p.Rights})
	}
	return list
}

// properties returns the queue's Properties in Config.json.
func (q Queue) properties() map[string]any {
	o := compact(object{
		"LockDuration": q.LockDuration, "MaxDeliveryCount": q.MaxDeliveryCount, "DefaultMessageTimeToLive": q.TimeToLive,
		"DeadLetteringOnMessageExpiration": q.DeadLetterExpired, "RequiresSession": q.RequiresSession,
		"RequiresDuplicateDetection": q.DetectDuplicates, "DuplicateDetectionHistoryTimeWindow": q.DuplicateWindow,
		"ForwardTo": q.ForwardTo, "ForwardDeadLetteredMessagesTo": q.ForwardDeadLettersTo,
		"EnablePartitioning": q.Partitioned, "Status": q.Status,
		"MaxSizeInMegabytes": q.MaxSizeInMegabytes, "MaxMessageSizeInKilobytes": q.MaxMessageSizeInKilobytes,
	})
	if len(q.Policies) > 0 {
		o["AuthorizationRules"] = authorizationRules(q.Policies)
	}
	return o
}

// Topic is a topic of a generated Config.json, with the same conventions.
type Topic struct {
	Name             string
	TimeToLive       string
	DetectDuplicates bool
	Subscriptions    []Subscription
}

// Subscription is a subscription of a generated Config.json.
type Subscription struct {
	Queue                 // the settings that it shares with a queue, and the name
	NoFilterErrors bool   // messages on which a filter fails do not go to the dead-letter queue (TOP-10)
	Rules          []Rule // nil: one rule that takes everything
}

// Rule is a rule of a generated Config.json: a filter, either SQL or Correlation, and optionally an action.
type Rule struct {
	Name        string
	SQL         string
	Correlation map[string]any // in the form of the file, for example {"Label": "x", "Properties": {"a": 1}}
	Action      string
}

// object is an object of a Config.json.
type object = map[string]any

func (t Topic) object() object {
	properties := compact(object{"DefaultMessageTimeToLive": t.TimeToLive, "RequiresDuplicateDetection": t.DetectDuplicates})
	list := make([]object, 0, len(t.Subscriptions))
	for _, s := range t.Subscriptions {
		list = append(list, s.object())
	}
	return object{"Name": t.Name, "Properties": properties, "Subscriptions": list}
}

func (s Subscription) object() object {
	o := object{"Name": s.Name, "Properties": s.properties()}
	if s.NoFilterErrors {
		o["Properties"].(object)["DeadLetteringOnFilterEvaluationExceptions"] = false
	}
	if s.Rules == nil {
		return o
	}
	list := make([]object, 0, len(s.Rules))
	for _, r := range s.Rules {
		list = append(list, object{"Name": r.Name, "Properties": r.properties()})
	}
	o["Rules"] = list
	return o
}

func (r Rule) properties() object {
	o := object{"FilterType": "Sql", "SqlFilter": object{"SqlExpression": r.SQL}}
	if r.Correlation != nil {
		o = object{"FilterType": "Correlation", "CorrelationFilter": r.Correlation}
	}
	if r.Action != "" {
		o["Action"] = object{"SqlExpression": r.Action}
	}
	return o
}

// compact removes zero values.
func compact(o object) object {
	maps.DeleteFunc(o, func(_ string, value any) bool { return value == "" || value == 0 || value == false })
	return o
}

// WriteConfig writes a Config.json with these queues and returns its path.
func WriteConfig(t testing.TB, queues ...Queue) string {
	t.Helper()
	return WriteTopology(t, queues, nil)
}

// WriteTopology writes a Config.json with these queues and topics and returns its path.
func WriteTopology(t testing.TB, queues []Queue, topics []Topic) string {
	t.Helper()
	return WriteSpaces(t, Space{Queues: queues, Topics: topics})
}

// Space is a namespace of a generated Config.json. A zero field is left out.
type Space struct {
	Name     string // the first one of a file is the default one, which has a usual name
	Aliases  []string
	Port     int
	Policies []Policy
	Queues   []Queue
	Topics   []Topic
}

// object returns the namespace as Config.json has it.
func (s Space) object() object {
	queues, topics := []object{}, []object{}
	for _, q := range s.Queues {
		queues = append(queues, object{"Name": q.Name, "Properties": q.properties()})
	}
	for _, topic := range s.Topics {
		topics = append(topics, topic.object())
	}
	o := compact(object{"Name": s.Name, "Port": s.Port})
	o["Queues"], o["Topics"] = queues, topics
	if s.Aliases != nil {
		o["Aliases"] = s.Aliases
	}
	if len(s.Policies) > 0 {
		o["AuthorizationRules"] = authorizationRules(s.Policies)
	}
	return o
}

// ConfigText returns a Config.json with these queues and topics.
func ConfigText(queues []Queue, topics []Topic) ([]byte, error) {
	return SpacesText(Space{Queues: queues, Topics: topics})
}

// SpacesText returns a Config.json with these namespaces.
func SpacesText(spaces ...Space) ([]byte, error) {
	list := make([]object, 0, len(spaces))
	for i, s := range spaces {
		if i == 0 && s.Name == "" {
			s.Name = DefaultSpace
		}
		list = append(list, s.object())
	}
	text, err := json.MarshalIndent(object{"UserConfig": object{"Namespaces": list, "Logging": object{"Type": "Console"}}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode Config.json: %w", err)
	}
	return text, nil
}

// DefaultSpace is the name of the default namespace in a generated Config.json.
const DefaultSpace = "sbemulatorns"

// WriteSpaces writes a Config.json with these namespaces and returns its path.
func WriteSpaces(t testing.TB, spaces ...Space) string {
	t.Helper()
	text, err := SpacesText(spaces...)
	if err != nil {
		t.Fatal(err)
	}
	return writeConfig(t, text)
}

func writeConfig(t testing.TB, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Config.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatalf("write Config.json: %v", err)
	}
	return path
}
