package control

import (
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"
	"minibus/mgmt/control/api"
)

// states are the domain's, by name.
var states = map[string]emulator.State{
	"active":    emulator.Active,
	"deferred":  emulator.Deferred,
	"scheduled": emulator.Scheduled,
}

// jobOptions returns the entity and what to do there.
func jobOptions(ns *emulator.Namespace, r *api.JobOrder) (*emulator.Entity, emulator.JobOptions, error) {
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
	o.Select = selectionOf(r.Filter)
	var err error
	if r.Edit != nil {
		if o.Edit, err = editOf(r.Edit); err != nil {
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

func selectionOf(f *api.JobFilter) (s emulator.Selection) {
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

func editOf(x *api.JobEdit) (e emulator.Edit, err error) {
	e = emulator.Edit{Remove: x.RemoveProperties}
	if e.Properties, err = encodeProperties(x.Properties); err != nil {
		return e, err
	}
	var system message.Map
	for key, value := range map[string]*string{
		message.SystemMessageID:     x.MessageID,
		message.SystemSessionID:     x.SessionID,
		message.SystemLabel:         x.Subject,
		message.SystemContentType:   x.ContentType,
		message.SystemCorrelationID: x.CorrelationID,
		message.SystemTo:            x.To,
		message.SystemReplyTo:       x.ReplyTo,
	} {
		if value != nil {
			system = append(system, amqp.Pair{Key: key, Value: *value})
		}
	}
	if x.ScheduledEnqueueTime != nil {
		at := amqp.Timestamp(x.ScheduledEnqueueTime.UnixMilli())
		system = append(system, amqp.Pair{Key: message.SystemScheduled, Value: at})
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
