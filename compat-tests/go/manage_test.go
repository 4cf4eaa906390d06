package compat

import (
	"fmt"

	"github.com/Azure/go-amqp"
)

// answer is a reply of a $management node.
type answer struct {
	status      int32
	condition   string
	description string
	body        map[string]any
}

// manager makes requests to a queue's $management node without the SDK.
type manager struct {
	b        *bench
	sender   *amqp.Sender
	receiver *amqp.Receiver
	replyTo  string
	requests int
}

// manage opens the pair of links to the node of an entity or of its dead-letter queue.
func (b *bench) manage(session *amqp.Session, path string) *manager {
	b.Helper()
	m := &manager{b: b, replyTo: "replies to " + path}
	var err error
	m.sender, err = session.NewSender(b.ctx, path+"/$management", nil)
	b.must("attach sender to $management", err)
	m.receiver, err = session.NewReceiver(b.ctx, path+"/$management", &amqp.ReceiverOptions{TargetAddress: m.replyTo})
	b.must("attach receiver to $management", err)
	return m
}

// ask makes one request. go-amqp encodes the body's values.
func (m *manager) ask(operation string, body map[string]any) answer {
	m.b.Helper()
	m.requests++
	id := fmt.Sprint(m.requests)
	request := &amqp.Message{
		Properties:            &amqp.MessageProperties{MessageID: id, ReplyTo: &m.replyTo},
		ApplicationProperties: map[string]any{"operation": "com.microsoft:" + operation},
		Value:                 body,
	}
	m.b.must("send request "+operation, m.sender.Send(m.b.ctx, request, nil))
	reply, err := m.receiver.Receive(m.b.ctx, nil)
	m.b.must("receive the reply to "+operation, err)
	if reply.Properties == nil || reply.Properties.CorrelationID != id {
		m.b.Fatalf("%s: the reply has properties %+v, want correlation id %s", operation, reply.Properties, id)
	}
	var a answer
	a.status, _ = reply.ApplicationProperties["statusCode"].(int32)
	a.condition = fmt.Sprint(reply.ApplicationProperties["errorCondition"])
	a.description, _ = reply.ApplicationProperties["statusDescription"].(string)
	a.body, _ = reply.Value.(map[string]any)
	return a
}

// want makes a request and fails unless the answer has this status, and this condition unless it is a success.
func (m *manager) want(operation string, body map[string]any, status int32, condition string) answer {
	m.b.Helper()
	a := m.ask(operation, body)
	if a.status != status || status >= 400 && a.condition != condition {
		m.b.Errorf("%s: status %d, %s (%s), want %d, %s", operation, a.status, a.condition, a.description, status, condition)
	}
	return a
}

// peek returns the bodies of everything in the entity, in any session (PEEK-7): the Go SDK can't, since it opens a receiver.
func (m *manager) peek() []string {
	m.b.Helper()
	a := m.ask("peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(250)})
	if a.status == 204 {
		return nil
	}
	list, ok := a.body["messages"].([]any)
	if a.status != 200 || !ok {
		m.b.Fatalf("peek: status %d, %s (%s), %v", a.status, a.condition, a.description, a.body)
	}
	var texts []string
	for _, item := range list {
		encoded, _ := item.(map[string]any)["message"].([]byte)
		var peeked amqp.Message
		m.b.must("decode peeked message", peeked.UnmarshalBinary(encoded))
		texts = append(texts, string(peeked.GetData()))
	}
	return texts
}

// peekQueue returns the bodies of everything in a queue.
func (b *bench) peekQueue(queue string) []string {
	b.Helper()
	return b.manage(b.dial(), b.name(queue)).peek()
}

// wantTexts compares bodies and their order.
func (b *bench) wantTexts(what string, got []string, want ...string) {
	b.Helper()
	if b.saw("%s: %q", what, got); fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("%s: %q, want %q", what, got, want)
	}
}

// acceptRaw takes a session without the SDK, which would reopen a lost one by itself, with credit for ten messages.
func (b *bench) acceptRaw(session *amqp.Session, queue, id string) *amqp.Receiver {
	b.Helper()
	receiver := b.acceptIdle(session, queue, id)
	b.must("grant credit", receiver.IssueCredit(10))
	return receiver
}

// acceptIdle takes a session and asks for no message.
func (b *bench) acceptIdle(session *amqp.Session, queue, id string) *amqp.Receiver {
	b.Helper()
	mode := amqp.ReceiverSettleModeSecond
	receiver, err := session.NewReceiver(b.ctx, queue, &amqp.ReceiverOptions{
		Credit: -1, SettlementMode: &mode,
		Filters: []amqp.LinkFilter{amqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, id)},
	})
	b.must("accept session "+id, err)
	return receiver
}
