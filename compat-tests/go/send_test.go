package compat

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"
)

func TestSEQ1_SEQ10_TIME1_SendAndReceive(t *testing.T) {
	provesAnywhere(t, "send.single", "settle.complete", "recv.several", "prop.sequence", "prop.enqueued", "prop.deliverycount", "conn.shared")
	proves(t, "auth.emulator")
	b := start(t)
	b.send("a", "b", "c")
	since := time.Now()
	messages := b.receive(b.receiver, 3)
	for i, body := range []string{"a", "b", "c"} {
		b.check(messages[i], stamps{body: body, seq: int64(i + 1), count: 1})
		b.checkLock(messages[i], since, defaultLock)
		b.must("complete", b.receiver.CompleteMessage(b.ctx, messages[i], nil))
	}
	b.wantEmpty(b.receiver)
	if rest := b.peekAll(b.receiver, 0); len(rest) != 0 {
		b.Errorf("%d messages left after complete", len(rest))
	}
	b.send("d")
	b.check(b.receiveOne(b.receiver), stamps{body: "d", seq: 4, count: 1})
}

func TestSEQ14_BatchKeepsOrder(t *testing.T) {
	provesAnywhere(t, "send.batch")
	b := start(t)
	b.send("first")
	batch, err := b.sender.NewMessageBatch(b.ctx, nil)
	b.must("create batch", err)
	const size = 100
	for i := range size {
		b.must("add to batch", batch.AddMessage(message(fmt.Sprintf("m%d", i)), nil))
	}
	b.must("send batch", b.sender.SendMessageBatch(b.ctx, batch, nil))
	b.check(b.receiveOne(b.receiver), stamps{body: "first", seq: 1, count: 1})
	for i, m := range b.receive(b.receiver, size) {
		b.check(m, stamps{body: fmt.Sprintf("m%d", i), seq: int64(i + 2), count: 1})
	}
}

func TestPROP9_PropertiesComeBackAsSent(t *testing.T) {
	provesAnywhere(t, "send.again", "prop.messageid", "prop.correlationid", "prop.subject", "prop.contenttype", "prop.to", "prop.replyto",
		"prop.replytosession", "prop.partitionkey", "app.string", "app.long", "app.double", "app.bool", "app.bytes", "app.time", "app.null",
		"app.empty", "app.int", "app.uuid", "body.bytes")
	b := start(t)
	sent := &azservicebus.Message{
		Body:             []byte("body"),
		MessageID:        to.Ptr("id-1"),
		ContentType:      to.Ptr("application/json"),
		CorrelationID:    to.Ptr("corr"),
		PartitionKey:     to.Ptr("key"),
		ReplyTo:          to.Ptr("answers"),
		ReplyToSessionID: to.Ptr("answers-1"),
		Subject:          to.Ptr("subject"),
		To:               to.Ptr("you"),
		TimeToLive:       to.Ptr(10 * time.Minute),
		ApplicationProperties: map[string]any{
			"text": "t", "int": int64(-7), "float": 1.5, "bool": true, "bytes": []byte{1, 2}, "when": time.UnixMilli(1).UTC(), "null": nil,
			"empty": "", "small": int32(7), "id": amqp.UUID{1, 2, 15: 16},
		},
	}
	b.must("send", b.sender.SendMessage(b.ctx, sent, nil))
	got := b.receiveOne(b.receiver)
	for name, pair := range map[string][2]*string{
		"content type": {got.ContentType, sent.ContentType}, "correlation id": {got.CorrelationID, sent.CorrelationID},
		"partition key": {got.PartitionKey, sent.PartitionKey}, "reply to": {got.ReplyTo, sent.ReplyTo},
		"reply to session": {got.ReplyToSessionID, sent.ReplyToSessionID}, "subject": {got.Subject, sent.Subject}, "to": {got.To, sent.To},
	} {
		b.wantText(name, pair[0], *pair[1])
	}
	for key, want := range sent.ApplicationProperties {
		if value, present := got.ApplicationProperties[key]; !present || fmt.Sprint(value) != fmt.Sprint(want) {
			b.Errorf("application property %s is %v (%T), want %v", key, value, value, want)
		}
	}
	if got.MessageID != "id-1" || !bytes.Equal(got.Body, sent.Body) {
		b.Errorf("received id %q and body %q", got.MessageID, got.Body)
	}
	again := got.Message()
	b.must("send a received message again", b.sender.SendMessage(b.ctx, again, nil))
	b.check(b.receiveOne(b.receiver), stamps{body: "body", seq: 2, count: 1})
}

// Bodies, and the sections around them that only the SDK's other kind of message can have.
func TestPROP9_PROP12_BodiesAndSectionsComeBackAsSent(t *testing.T) {
	provesAnywhere(t, "body.text", "body.empty", "body.sections", "body.string", "body.number", "body.list", "body.map", "body.sequence",
		"raw.header", "raw.annotation", "raw.footer")
	b := start(t)
	for name, sent := range map[string]*azservicebus.AMQPAnnotatedMessage{
		"text":     {Body: azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{[]byte("größer")}}},
		"empty":    {Body: azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{{}}}},
		"sections": {Body: azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{[]byte("a"), []byte("b")}}},
		"string":   {Body: azservicebus.AMQPAnnotatedMessageBody{Value: "größer"}},
		"number":   {Body: azservicebus.AMQPAnnotatedMessageBody{Value: int64(1) << 40}},
		"list":     {Body: azservicebus.AMQPAnnotatedMessageBody{Value: []any{"a", int64(1), true, nil}}},
		"map":      {Body: azservicebus.AMQPAnnotatedMessageBody{Value: map[string]any{"a": int64(1)}}},
		"sequence": {Body: azservicebus.AMQPAnnotatedMessageBody{Sequence: [][]any{{"a", int64(1)}, {"b"}}}},
		"around": {
			Body:               azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{[]byte("x")}},
			Header:             &azservicebus.AMQPAnnotatedMessageHeader{Durable: true, Priority: 7},
			MessageAnnotations: map[any]any{"x-mine": "yes"}, Footer: map[any]any{"x-sum": "1"},
		},
	} {
		b.must("send "+name, b.sender.SendAMQPAnnotatedMessage(b.ctx, sent, nil))
		m := b.receiveOne(b.receiver)
		got := m.RawAMQPMessage
		b.same("body "+name, got.Body, sent.Body)
		if sent.Header != nil {
			b.same("header", [2]any{got.Header.Durable, got.Header.Priority}, [2]any{true, uint8(7)})
			b.same("annotation", got.MessageAnnotations["x-mine"], any("yes"))
			b.same("footer", got.Footer, sent.Footer)
		}
		b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
	}
}

func TestTIME4_PROP5_ExpiryIsEnqueuedTimePlusTimeToLive(t *testing.T) {
	provesAnywhere(t, "send.ttl")
	b := start(t)
	b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{TimeToLive: to.Ptr(10 * time.Minute)}, nil))
	got := b.receiveOne(b.receiver)
	if got.TimeToLive == nil || *got.TimeToLive != 10*time.Minute {
		b.Fatalf("time to live is %v, want 10m", got.TimeToLive)
	}
	properties := got.RawAMQPMessage.Properties
	if properties.CreationTime == nil || !properties.CreationTime.Equal(*got.EnqueuedTime) {
		b.Errorf("creation time is %v, want the enqueued time %v", properties.CreationTime, got.EnqueuedTime)
	}
	if want := got.EnqueuedTime.Add(10 * time.Minute); properties.AbsoluteExpiryTime == nil || !properties.AbsoluteExpiryTime.Equal(want) {
		b.Errorf("absolute expiry time is %v, want %v", properties.AbsoluteExpiryTime, want)
	}
}

func TestPROP10_BrokerMakesAMessageID(t *testing.T) {
	provesAnywhere(t, "send.noid")
	b := start(t)
	b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: []byte("x")}, nil))
	if id := b.receiveOne(b.receiver).MessageID; len(id) != 32 {
		b.Errorf("message id is %q, want 32 hex digits", id)
	}
}
