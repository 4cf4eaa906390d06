package sbtest

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// Select says which messages [Namespace.Purge], [Namespace.Move] and [Namespace.Resubmit] concern: those that fit all
// that is set. The zero value means all active ones.
type Select struct {
	States          []State // Active, Deferred, Scheduled; default active
	SQL             string  // a SQL filter, such as "color = 'red'"
	Text            string  // in the body, in a property or in its name; upper and lower case are the same
	Reason          string  // DeadLetterReason
	SessionID       string
	Before          time.Time // enqueued before
	SequenceNumbers []int64
	Max             int // the most messages, the lowest sequence numbers first; default all
}

func (s *Select) selection(t testing.TB) emulator.Selection {
	t.Helper()
	o := emulator.Selection{
		SQL: s.SQL, Text: s.Text, Reason: given(s.Reason), SessionID: given(s.SessionID),
		Seqs: s.SequenceNumbers, Before: millis(s.Before),
	}
	for _, state := range s.States {
		switch state {
		case Active:
			o.States = append(o.States, emulator.Active)
		case Deferred:
			o.States = append(o.States, emulator.Deferred)
		case Scheduled:
			o.States = append(o.States, emulator.Scheduled)
		default:
			t.Fatalf("sbtest: found the state %q; a selection is of active, deferred or scheduled messages", state)
		}
	}
	return o
}

// Edit says what [Namespace.Resubmit] and [Namespace.Move] change in each message. The zero value changes nothing.
type Edit struct {
	Strip      bool           // remove DeadLetterReason and DeadLetterErrorDescription
	Remove     []string       // application properties to remove
	Properties map[string]any // application properties to set
	SessionID  string
	MessageID  string
	Subject    string
	Body       []byte // takes the place of the body, unless it is nil
}

func (e *Edit) edit(t testing.TB) emulator.Edit {
	t.Helper()
	encode := func(m message.Map) []byte {
		encoded, err := message.EncodeProperties(m)
		check(t, "edit", err)
		return encoded
	}
	var users, system message.Map
	for name, v := range e.Properties {
		users = append(users, amqp.Pair{Key: name, Value: v})
	}
	for key, value := range map[string]string{
		message.SystemSessionID: e.SessionID, message.SystemMessageID: e.MessageID, message.SystemLabel: e.Subject,
	} {
		if value != "" {
			system = append(system, amqp.Pair{Key: key, Value: value})
		}
	}
	out := emulator.Edit{Strip: e.Strip, Remove: e.Remove, Properties: encode(users), System: encode(system)}
	if e.Body != nil {
		out.Body = message.DataSection(e.Body)
	}
	return out
}

// Purge removes messages of an entity and returns how many: a queue, a subscription, or a sub-queue such as
// "orders/$DeadLetterQueue". Those that clients have locked stay. It reaches scheduled and deferred messages, if asked.
func (n *Namespace) Purge(t testing.TB, entity string, which Select) int {
	t.Helper()
	return n.runJob(t, entity, which, emulator.JobOptions{})
}

// Move moves messages of an entity to a queue or topic and returns how many. The test fails if the target does not
// take one of them.
func (n *Namespace) Move(t testing.TB, from, to string, which Select, edit Edit) int {
	t.Helper()
	return n.runJob(t, from, which, emulator.JobOptions{Kind: emulator.MoveJob, Target: to, Edit: edit.edit(t)})
}

// Resubmit puts dead letters of a queue or subscription back where they came from, with a new sequence number and no
// failed deliveries, and returns how many. The test fails if one can't go back.
func (n *Namespace) Resubmit(t testing.TB, entity string, which Select, edit Edit) int {
	t.Helper()
	o := emulator.JobOptions{Kind: emulator.MoveJob, Edit: edit.edit(t)}
	return n.runJob(t, emulator.DeadLetter.Join(entity), which, o)
}

// runJob waits until the job has ended.
func (n *Namespace) runJob(t testing.TB, entity string, which Select, o emulator.JobOptions) int {
	t.Helper()
	e, sub := n.entityAt(t, entity)
	o.Sub = sub
	o.Select = which.selection(t)
	o.Max = int64(which.Max)
	j, err := n.ns.Jobs().Start(e, o)
	check(t, "start a job on "+entity, err)
	<-j.Ended()
	switch p := j.Progress(); {
	case p.State != emulator.JobDone:
		t.Fatalf("sbtest: after %d of %d messages of %s: %s", p.Done, p.Total, entity, p.Why)
	case p.Failed > 0:
		t.Errorf("sbtest: %d messages of %s stay where they are: number %d: %s",
			p.Failed, entity, p.Errors[0].Seq, p.Errors[0].Text)
	}
	return int(j.Progress().Done)
}
