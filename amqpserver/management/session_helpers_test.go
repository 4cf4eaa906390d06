package management

import (
	"testing"
	"testing/synctest"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"

	goamqp "github.com/Azure/go-amqp"
)

// sessionFixture has an entity with sessions, and one connection's session receivers on it.
type sessionFixture struct {
	*fixture
	links map[string]*emulator.Consumer // by link name
}

// inSessionBubble is inBubble for a queue with sessions. Its context finds the connection's session receivers like
// amqpserver.
func inSessionBubble(t *testing.T, test func(f *sessionFixture)) {
	t.Helper()
	inBubble(t, func(f *fixture) {
		s := &sessionFixture{fixture: f, links: make(map[string]*emulator.Consumer)}
		s.queue = f.create("sessions", emulator.QueueOptions{RequiresSession: true, LockDuration: lockDuration})
		s.ctx = Context{
			Queue:      s.queue,
			LinkHolder: func(name string) *emulator.Consumer { return s.links[name] },
			Holder: func(id string) *emulator.Consumer {
				for _, c := range s.links {
					if held, ok := c.SessionID(); ok && emulator.SameSession(held, id) {
						return c
					}
				}
				return nil
			},
		}
		test(s)
	})
}

func (f *fixture) create(path string, o emulator.QueueOptions) *emulator.Entity {
	f.Helper()
	q, err := f.ns.Entities().CreateQueue(path, o)
	if err != nil {
		f.Fatalf("create %s: %v", path, err)
	}
	return q.Entity
}

// accept opens a session receiver on a link with that name.
func (f *sessionFixture) accept(link, id string) *emulator.Consumer {
	f.Helper()
	c := f.acceptElsewhere(id, func() { delete(f.links, link) })
	f.links[link] = c
	return c
}

// acceptElsewhere opens a session receiver on another connection.
func (f *sessionFixture) acceptElsewhere(id string, lost func()) *emulator.Consumer {
	f.Helper()
	c, err := f.queue.Sessions().Accept(id, emulator.Accept{Notify: func() {}, Lost: func(error) { lost() }})
	if err != nil {
		f.Fatalf("accept session %q: %v", id, err)
	}
	f.Cleanup(c.Close)
	return c
}

// closeLink detaches a session receiver.
func (f *sessionFixture) closeLink(name string) {
	f.links[name].Close()
	delete(f.links, name)
}

// sendTo sends one message to each of the sessions.
func (f *sessionFixture) sendTo(ids ...string) {
	f.Helper()
	for _, id := range ids {
		f.sendMessage(&goamqp.Message{Properties: &goamqp.MessageProperties{GroupID: &id}, Data: [][]byte{[]byte(id)}})
	}
}

func (f *fixture) sendMessage(m *goamqp.Message) {
	f.Helper()
	msgs := []message.Message{f.scan(marshal(f, m))}
	f.await(func(c emulator.Completion) error { return f.queue.Send(msgs, c) })
}

// takeFrom receives up to n messages of a session.
func (f *sessionFixture) takeFrom(c *emulator.Consumer, n int) []*emulator.Delivery {
	f.Helper()
	ds := c.Take(nil, n)
	synctest.Wait()
	return ds
}

// deferIn sends n messages to a session, and its receiver defers them.
func (f *sessionFixture) deferIn(c *emulator.Consumer, n int) {
	f.Helper()
	id, _ := c.SessionID()
	for range n {
		f.sendTo(id)
	}
	f.await(func(done emulator.Completion) error {
		return f.queue.Settle(tokensOf(f.takeFrom(c, n)), emulator.Settlement{Outcome: emulator.Defer}, done)
	})
}

// ask sends a request that names a link. An empty name is left out, and so is a session-id of nil.
func (f *sessionFixture) ask(link, operation string, id any, fields ...amqp.Pair) answer {
	f.Helper()
	properties := amqp.Map{{Key: "operation", Value: "com.microsoft:" + operation}}
	if link != "" {
		properties = append(properties, amqp.Pair{Key: "associated-link-name", Value: link})
	}
	if id != nil {
		fields = append(fields, amqp.Pair{Key: "session-id", Value: id})
	}
	return decodeAnswer(f, f.handle(f.ctx, amqptest.EncodeRequest(f, "1", properties, append(amqp.Map{}, fields...))))
}

// wantSessionLost checks that the answer has the service's words for a session that is not held (SESS-14).
func wantSessionLost(t testing.TB, what string, a answer) {
	t.Helper()
	const text = "The session lock has expired on the MessageSession. Accept a new MessageSession."
	if a.code != 410 || a.condition != "com.microsoft:session-lock-lost" || a.text != text {
		t.Errorf("%s: %d %q %q, want 410 session-lock-lost", what, a.code, a.condition, a.text)
	}
}
