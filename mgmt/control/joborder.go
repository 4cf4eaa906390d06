package control

import (
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/entitypath"
)

// jobOrder says what a job is to do.
type jobOrder struct {
	Kind   string     `json:"kind" enum:"purge,move,resubmit" doc:"purge removes the messages, move moves them, resubmit moves dead letters without their reason, to their own entity unless target names another"`
	Entity string     `json:"entity" example:"orders" doc:"Where the messages are: a path, with a sub-queue if that is meant. With resubmit, the dead-letter queue is meant if none is named"`
	Target string     `json:"target,omitempty" doc:"Where they go: the path of a queue or topic"`
	Max    int64      `json:"max,omitempty" minimum:"1" doc:"The most messages, the lowest sequence numbers first; none: all"`
	Filter *jobFilter `json:"filter,omitempty" doc:"Only messages that fit all of it; none: all active ones"`
	Edit   *jobEdit   `json:"edit,omitempty" doc:"What to change in each message, with move and resubmit; none: they stay as they are, but for what resubmit strips"`
}

// jobFilter selects messages.
type jobFilter struct {
	States          []string   `json:"states,omitempty" nullable:"false" enum:"active,deferred,scheduled" doc:"None: active ones. A deferred one that moves is active in the target; a scheduled one stays scheduled"`
	SQL             string     `json:"sql,omitempty" example:"color = 'red'" doc:"A SQL filter, as rules have them"`
	Text            string     `json:"text,omitempty" doc:"In the body, in a property or in its name, in letters of any case"`
	Reason          *string    `json:"reason,omitempty" doc:"The DeadLetterReason"`
	SessionID       *string    `json:"sessionId,omitempty"`
	Before          *time.Time `json:"before,omitempty" doc:"Enqueued before that time"`
	SequenceNumbers []int64    `json:"sequenceNumbers,omitempty" nullable:"false" maxItems:"10000" doc:"Only these; one that is not there counts as failed"`
}

// jobEdit changes messages that move.
type jobEdit struct {
	Strip                *bool              `json:"strip,omitempty" doc:"Whether to remove the properties DeadLetterReason and DeadLetterErrorDescription; none: with resubmit, and not with move"`
	RemoveProperties     []string           `json:"removeProperties,omitempty" nullable:"false" doc:"Application properties to remove"`
	Properties           messagejson.Values `json:"properties,omitempty" nullable:"false" doc:"Application properties to set"`
	MessageID            *string            `json:"messageId,omitempty"`
	SessionID            *string            `json:"sessionId,omitempty"`
	Subject              *string            `json:"subject,omitempty"`
	ContentType          *string            `json:"contentType,omitempty"`
	CorrelationID        *string            `json:"correlationId,omitempty"`
	To                   *string            `json:"to,omitempty"`
	ReplyTo              *string            `json:"replyTo,omitempty"`
	ScheduledEnqueueTime *time.Time         `json:"scheduledEnqueueTime,omitempty"`
	Body                 *string            `json:"body,omitempty" doc:"A text that takes the place of the body"`
	BodyBase64           []byte             `json:"bodyBase64,omitempty" doc:"Bytes that take the place of the body"`
}

// states are the domain's, by name.
var states = map[string]emulator.State{"active": emulator.Active, "deferred": emulator.Deferred, "scheduled": emulator.Scheduled}

// options returns the entity and what to do there.
func (r *jobOrder) options(ns *emulator.Namespace) (*emulator.Entity, emulator.JobOptions, error) {
	o := emulator.JobOptions{Target: r.Target, Max: r.Max}
	path, sub := entitypath.CutSubQueue(r.Entity)
	o.Sub = sub
	switch r.Kind {
	case "move":
		if o.Kind = emulator.MoveJob; r.Target == "" {
			return nil, o, badRequest("A move needs a target.")
		}
	case "resubmit":
		o.Again = true
		if o.Kind = emulator.MoveJob; sub == emulator.Main {
			o.Sub = emulator.DeadLetter
		}
	default:
		if r.Target != "" || r.Edit != nil {
			return nil, o, badRequest("A purge has no target and no edit.")
		}
	}
	o.Select = r.Filter.selection()
	var err error
	if r.Edit != nil {
		if o.Edit, err = r.Edit.edit(); err != nil {
			return nil, o, err
		}
	}
	o.Edit.Strip = o.Again
	if r.Edit != nil && r.Edit.Strip != nil {
		o.Edit.Strip = *r.Edit.Strip
	}
	e, err := ns.Entity(path)
	return e, o, guessed(ns, path, err)
}

func (f *jobFilter) selection() (s emulator.Selection) {
	if f == nil {
		return s
	}
	s = emulator.Selection{SQL: f.SQL, Text: f.Text, Reason: f.Reason, SessionID: f.SessionID, Seqs: f.SequenceNumbers}
	for _, name := range f.States {
		s.States = append(s.States, states[name])
	}
	if f.Before != nil {
		s.Before = f.Before.UnixMilli()
	}
	return s
}

func (x *jobEdit) edit() (e emulator.Edit, err error) {
	e = emulator.Edit{Remove: x.RemoveProperties}
	if e.Properties, err = encodeProperties(x.Properties); err != nil {
		return e, err
	}
	var system message.Map
	for key, value := range map[string]*string{
		message.SystemMessageID: x.MessageID, message.SystemSessionID: x.SessionID, message.SystemLabel: x.Subject, message.SystemContentType: x.ContentType,
		message.SystemCorrelationID: x.CorrelationID, message.SystemTo: x.To, message.SystemReplyTo: x.ReplyTo,
	} {
		if value != nil {
			system = append(system, amqp.Pair{Key: key, Value: *value})
		}
	}
	if x.ScheduledEnqueueTime != nil {
		system = append(system, amqp.Pair{Key: message.SystemScheduled, Value: amqp.Timestamp(x.ScheduledEnqueueTime.UnixMilli())})
	}
	if e.System, err = message.EncodeProperties(system); err != nil {
		return e, badRequest("edit: %v.", err)
	}
	if x.Body != nil && x.BodyBase64 != nil {
		return e, badRequest("edit: give the body as body or as bodyBase64, not both.")
	}
	body := x.BodyBase64
	if x.Body != nil {
		body = []byte(*x.Body)
	}
	if x.Body != nil || x.BodyBase64 != nil {
		e.Body = message.DataSection(body)
	}
	return e, nil
}
