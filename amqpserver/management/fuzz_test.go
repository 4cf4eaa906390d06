package management

import (
	"bytes"
	"testing"
	"time"
	"unicode/utf8"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"
)

// FuzzHandle feeds anything that scans as a message to a queue. Each request must get one response that scans, with a
// status that clients know.
func FuzzHandle(f *testing.F) {
	for operation, fields := range map[string]amqp.Map{
		"renew-lock": {{Key: "lock-tokens", Value: []amqp.UUID{{1}}}},
		"update-disposition": suspended(amqp.Pair{Key: "properties-to-modify",
			Value: amqp.Map{{Key: "k", Value: "v"}}}),
		"peek-message": {{Key: "from-sequence-number", Value: int64(0)},
			{Key: "message-count", Value: int32(2)}},
		"schedule-message": {{Key: "messages",
			Value: amqp.List{amqp.Map{{Key: "message", Value: []byte{0, 0x53, 0x77, 0x40}}}}}},
		"cancel-scheduled-message": {{Key: "sequence-numbers", Value: []int64{1, 2}}},
		"receive-by-sequence-number": {{Key: "sequence-numbers", Value: []int64{1}},
			{Key: "receiver-settle-mode", Value: uint32(0)}},
		"renew-session-lock": {{Key: "session-id", Value: "s"}},
		"get-session-state":  {{Key: "session-id", Value: ""}},
		"set-session-state":  {{Key: "session-id", Value: "s"}, {Key: "session-state", Value: []byte{1}}},
		"get-message-sessions": {{Key: "last-updated-time", Value: everything}, {Key: "skip", Value: int32(0)},
			{Key: "top", Value: int32(9)}},
		"batch-delete-messages": {{Key: "message-count", Value: int32(9)},
			{Key: "enqueued-time-utc", Value: everything}},
		"add-rule": ruleNamed("r",
			amqp.Pair{Key: "sql-filter", Value: amqp.Map{{Key: "expression", Value: "a = 1"}}}),
		"remove-rule":     {{Key: "rule-name", Value: "r"}},
		"enumerate-rules": {{Key: "skip", Value: int32(0)}, {Key: "top", Value: int32(9)}},
	} {
		properties := amqp.Map{{Key: "operation", Value: "com.microsoft:" + operation}}
		f.Add(amqptest.EncodeRequest(f, uint64(1), properties, fields))
		f.Add(amqptest.EncodeRequest(f, "a", properties, nil))
	}
	fixture := open(f)
	contexts := []Context{fixture.ctx, sessionContext(f, fixture.ns), {Queue: subscriptionOf(f, fixture.ns)}}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, ctx := range contexts {
			req, err := message.Scan(bytes.Clone(b)) // the queue keeps what it stores
			if err != nil {
				return
			}
			answers := make(chan []byte, 1)
			Handle(ctx, &req, func(resp []byte) { answers <- resp })
			select {
			case raw := <-answers:
				checkAnswer(t, raw)
			case <-time.After(10 * time.Second):
				t.Fatal("no answer")
			}
		}
	})
}

// sessionContext returns the context of a connection that holds the session "s", and any other on request, on one link.
func sessionContext(t testing.TB, ns *emulator.Namespace) Context {
	t.Helper()
	q, err := ns.Entities().CreateQueue("sessions", emulator.QueueOptions{RequiresSession: true})
	if err != nil {
		t.Fatalf("create the queue: %v", err)
	}
	c, err := q.Sessions().Accept("s", emulator.Accept{Notify: func() {}, Lost: func(error) {}})
	if err != nil {
		t.Fatalf("accept the session: %v", err)
	}
	held := func(string) *emulator.Consumer { return c }
	return Context{Queue: q.Entity, Holder: held, LinkHolder: held}
}

// checkAnswer checks that clients can read a response.
func checkAnswer(t *testing.T, raw []byte) {
	t.Helper()
	known := map[int32]bool{200: true, 204: true, 400: true, 403: true, 404: true, 409: true, 410: true, 501: true}
	resp, err := message.Scan(raw)
	if err != nil {
		t.Fatalf("the response does not scan: %v", err)
	}
	status, _ := resp.ApplicationProperty("statusCode")
	if n, ok := status.(int32); !ok || !known[n] {
		t.Fatalf("statusCode %v", status)
	}
	text, _ := resp.ApplicationProperty("statusDescription")
	if s, ok := text.(string); ok && !utf8.ValidString(s) {
		t.Fatalf("statusDescription %q is not UTF-8", s)
	}
}
