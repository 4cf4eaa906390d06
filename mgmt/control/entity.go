package control

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// Setting is a setting of an entity or a rule, by its name in Config.json. Its value becomes JSON.
type Setting struct {
	Name  string
	Value any
}

// settings are those of an entity.
type settings []Setting

// Schema implements [huma.SchemaProvider].
func (settings) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Ref: schemas + "EntityProperties"}
}

// MarshalJSON writes the settings in their order.
func (s settings) MarshalJSON() ([]byte, error) { return inOrder(s) }

// filterAndAction are the settings of a rule.
type filterAndAction []Setting

// Schema implements [huma.SchemaProvider].
func (filterAndAction) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Ref: schemas + "RuleProperties"}
}

// MarshalJSON writes the settings in their order.
func (s filterAndAction) MarshalJSON() ([]byte, error) { return inOrder(s) }

func inOrder(list []Setting) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(s.Name)
		value, err := json.Marshal(s.Value)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(name, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// wholeEntity is all that is known of an entity.
type wholeEntity struct {
	api.Entity
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated" doc:"When its settings or rules were changed last"`
	Accessed *time.Time `json:"accessed,omitempty" doc:"When it was used last since the process started"`

	Sessions      *int64         `json:"sessions,omitempty" doc:"Those with messages, a state or a lock"`
	Subscriptions *int64         `json:"subscriptions,omitempty" doc:"Of a topic"`
	Oldest        *oldestMessage `json:"oldest,omitempty"`
	AutoDelete    *autoDelete    `json:"autoDelete,omitempty" doc:"When it deletes itself, if AutoDeleteOnIdle is set"`
	ForwardsTo    []forwarding   `json:"forwardsTo" nullable:"false"`
	ForwardedFrom []forwarding   `json:"forwardedFrom" nullable:"false" doc:"Entities that forward to this one"`

	Properties settings     `json:"properties" doc:"With the defaults that count; without policies unless keys is set"`
	Rules      []entityRule `json:"rules,omitempty" nullable:"false" doc:"Of a subscription. Without any: nothing"`
}

// oldestMessage is the oldest message of an entity.
type oldestMessage struct {
	SequenceNumber int64     `json:"sequenceNumber"`
	Enqueued       time.Time `json:"enqueued"`
	Age            string    `json:"age" doc:"By the clock of the namespace, as an ISO 8601 duration"`
}

// autoDelete is when an entity deletes itself.
type autoDelete struct {
	At    time.Time `json:"at" doc:"When, unless it is used until then, by the clock of the namespace"`
	In    string    `json:"in" doc:"How long that is from now, as an ISO 8601 duration"`
	InUse bool      `json:"inUse" doc:"A receiver waits or a message is scheduled: the time restarts then"`
}

// forwarding is one end of a forward.
type forwarding struct {
	Entity      string `json:"entity"`
	DeadLetters bool   `json:"deadLetters" doc:"Whether dead letters are forwarded, else messages"`
	Missing     bool   `json:"missing,omitempty" doc:"Whether there is no such entity: messages wait for it"`
}

func (h *handler) getEntity(_ context.Context, in *struct {
	AtEntity
	Keys bool `query:"keys" doc:"Whether to show policies of the entity, with their keys"`
}) (*struct{ Body wholeEntity }, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	e, _, err := entityAt(ns, in.Entity)
	if err != nil {
		return nil, err
	}
	return &struct{ Body wholeEntity }{h.wholeEntity(ns, e, in.Keys)}, nil
}

// wholeEntity returns an entity with all that is known of it.
func (h *handler) wholeEntity(ns *emulator.Namespace, e *emulator.Entity, keys bool) wholeEntity {
	f := e.Facts()
	o := e.Options()
	s := e.Settings()
	w := wholeEntity{
		Entity:        shownEntity(e, h.refusedByAzure(ns)),
		Created:       instant(f.Created),
		Updated:       instant(f.Updated),
		ForwardsTo:    []forwarding{},
		ForwardedFrom: []forwarding{},
		Properties:    h.server.WriteSettings(ns, s, keys),
	}
	if f.Accessed != 0 {
		w.Accessed = new(instant(f.Accessed))
	}
	if o.RequiresSession {
		w.Sessions = &f.Sessions
	}
	if s.Topic != nil {
		w.Subscriptions = new(e.Counts().Subscriptions)
	}
	now := ns.Now()
	if f.Oldest != 0 {
		w.Oldest = &oldestMessage{f.Oldest, instant(f.OldestEnqueued), span(now - f.OldestEnqueued)}
	}
	if f.IdleAt != 0 {
		w.AutoDelete = &autoDelete{instant(f.IdleAt), span(f.IdleAt - now), f.InUse}
	}
	for i, target := range []string{o.ForwardTo, o.ForwardDeadLetteredMessagesTo} {
		if target != "" {
			_, there := ns.Kind(target)
			w.ForwardsTo = append(w.ForwardsTo, forwarding{Entity: target, DeadLetters: i == 1, Missing: !there})
		}
	}
	for _, source := range ns.Entities().Sources(e.Path()) {
		from := forwarding{Entity: source.Entity.Path(), DeadLetters: source.DeadLetters}
		w.ForwardedFrom = append(w.ForwardedFrom, from)
	}
	if s.Subscription != nil {
		w.Rules = []entityRule{}
		for _, r := range byRuleName(s.Subscription.Rules) {
			w.Rules = append(w.Rules, h.shownRule(r))
		}
	}
	return w
}

// span writes milliseconds as ISO 8601, 0 at least.
func span(ms int64) string { return isoOf(time.Duration(max(ms, 0)) * time.Millisecond) }
