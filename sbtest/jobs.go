package sbtest

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"
)

// Select says which messages [Server.Purge], [Server.Move] and [Server.Resubmit] concern: those that fit all that is set. The zero value means all
// active ones.
type Select struct {
	States          []emulator.State // emulator.Active, emulator.Deferred, emulator.Scheduled; default active
	SQL             string           // a SQL filter, such as "color = 'red'"
	Text            string           // in the body, in a property or in its name, in letters of any case
	Reason          string           // DeadLetterReason
	SessionID       string
	Before          time.Time // enqueued before
	SequenceNumbers []int64
	Max             int // the most messages, the lowest sequence numbers first; default all
}

func (s *Select) options(o emulator.JobOptions) emulator.JobOptions {
	o.Max = int64(s.Max)
	o.Select = emulator.Selection{States: s.States, SQL: s.SQL, Text: s.Text, Seqs: s.SequenceNumbers}
	if s.Reason != "" {
		o.Select.Reason = &s.Reason
	}
	if s.SessionID != "" {
		o.Select.SessionID = &s.SessionID
	}
	if !s.Before.IsZero() {
		o.Select.Before = s.Before.UnixMilli()
	}
	return o
}

// Edit says what [Server.Resubmit] and [Server.Move] change in each message. The zero value changes nothing.
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
	out := emulator.Edit{Strip: e.Strip, Remove: e.Remove}
	encode := func(m message.Map) []byte {
		encoded, err := message.EncodeProperties(m)
		if err != nil {
			t.Fatalf("sbtest: edit: %v", err)
		}
		return encoded
	}
	var users, system message.Map
	for name, v := range e.Properties {
		users = append(users, amqp.Pair{Key: name, Value: v})
	}
	for key, value := range map[string]string{message.SystemSessionID: e.SessionID, message.SystemMessageID: e.MessageID, message.SystemLabel: e.Subject} {
		if value != "" {
			system = append(system, amqp.Pair{Key: key, Value: value})
		}
	}
	out.Properties, out.System = encode(users), encode(system)
	if e.Body != nil {
		out.Body = message.DataSection(e.Body)
	}
	return out
}

// Purge removes messages of an entity of the default namespace and returns how many: a queue, a subscription, or a sub-queue such as
// "orders/$DeadLetterQueue". Those that clients have locked stay. It reaches scheduled and deferred messages, if asked.
func (s *Server) Purge(t testing.TB, entity string, which Select) int {
	t.Helper()
	return runJob(t, s.Default(), entity, which.options(emulator.JobOptions{}))
}

// Purge is [Server.Purge] in this namespace.
func (n *Namespace) Purge(t testing.TB, entity string, which Select) int {
	t.Helper()
	return runJob(t, n.Namespace, entity, which.options(emulator.JobOptions{}))
}

// Move moves messages of an entity of the default namespace to a queue or topic and returns how many. The test fails if the target does not take one
// of them.
func (s *Server) Move(t testing.TB, from, to string, which Select, edit Edit) int {
	t.Helper()
	return move(t, s.Default(), from, to, which, edit)
}

// Move is [Server.Move] in this namespace.
func (n *Namespace) Move(t testing.TB, from, to string, which Select, edit Edit) int {
	t.Helper()
	return move(t, n.Namespace, from, to, which, edit)
}

func move(t testing.TB, ns *emulator.Namespace, from, to string, which Select, edit Edit) int {
	t.Helper()
	return runJob(t, ns, from, which.options(emulator.JobOptions{Kind: emulator.MoveJob, Target: to, Edit: edit.edit(t)}))
}

// Resubmit puts dead letters of a queue or subscription of the default namespace back where they came from, with a new sequence number and no failed
// deliveries, and returns how many. The test fails if one can't go back.
func (s *Server) Resubmit(t testing.TB, entity string, which Select, edit Edit) int {
	t.Helper()
	return resubmit(t, s.Default(), entity, which, edit)
}

// Resubmit is [Server.Resubmit] in this namespace.
func (n *Namespace) Resubmit(t testing.TB, entity string, which Select, edit Edit) int {
	t.Helper()
	return resubmit(t, n.Namespace, entity, which, edit)
}

func resubmit(t testing.TB, ns *emulator.Namespace, entity string, which Select, edit Edit) int {
	t.Helper()
	return runJob(t, ns, emulator.DeadLetter.Join(entity), which.options(emulator.JobOptions{Kind: emulator.MoveJob, Edit: edit.edit(t)}))
}

// runJob waits until the job has ended.
func runJob(t testing.TB, ns *emulator.Namespace, entity string, o emulator.JobOptions) int {
	t.Helper()
	path, sub := entitypath.CutSubQueue(entity)
	o.Sub = sub
	e, err := ns.Entity(path)
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
	j, err := ns.Jobs().Start(e, o)
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
	<-j.Ended()
	switch p := j.Progress(); {
	case p.State != emulator.JobDone:
		t.Fatalf("sbtest: after %d of %d messages of %s: %s", p.Done, p.Total, entity, p.Why)
	case p.Failed > 0:
		t.Errorf("sbtest: %d messages of %s stay where they are: number %d: %s", p.Failed, entity, p.Errors[0].Seq, p.Errors[0].Text)
	}
	return int(j.Progress().Done)
}
