//go:build !oldest

package compat

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

func TestConnect_ACertificateThatTheProgramRefuses(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "conn.callback")
	b := start(t)
	config := trust(t, b.server)
	config.VerifyConnection = func(tls.ConnectionState) error { return errors.New("not this one") }
	client := b.clientWith(b.secure(), azservicebus.ClientOptions{TLSConfig: config})
	b.wantErrorText("send", b.newSender(client).SendMessage(b.ctx, message("a"), nil), "not this one")
}

func TestConnect_ATokenOfAnUnknownIssuerIsRefused(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "auth.tokenrefused")
	b := startChecked(t)
	client, err := azservicebus.NewClient(b.server.Addr(), token{}, &azservicebus.ClientOptions{
		TLSConfig: trust(t, b.server), RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	b.must("create client", err)
	b.Cleanup(func() { client.Close(context.Background()) })
	b.wantUnauthorized("send", b.newSender(client).SendMessage(b.ctx, message("a"), nil), "401")
}

func TestSend_ACancelledSendSendsNothing(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "send.cancelled")
	b := start(t)
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	if err := b.sender.SendMessage(ctx, message("never"), nil); !errors.Is(err, context.Canceled) {
		b.Errorf("send: %v, want it cancelled", err)
	}
	b.send("a")
	b.check(b.receiveOne(b.receiver), stamps{body: "a", seq: 1, count: 1})
}

func TestSend_ABatchHoldsAMegabyteWhereMessagesMayBeLarger(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "send.batchlarge")
	b := start(t, func(q *harness.Queue) { q.MaxMessageSizeInKilobytes = 2048 })
	batch, err := b.sender.NewMessageBatch(b.ctx, nil)
	b.must("create batch", err)
	err = batch.AddMessage(&azservicebus.Message{Body: make([]byte, 1_200_000)}, nil)
	if !errors.Is(err, azservicebus.ErrMessageTooLarge) {
		b.Errorf("a message above the limit of a batch: %v", err)
	}
	for range 4 {
		b.must("add to batch", batch.AddMessage(&azservicebus.Message{Body: make([]byte, 250_000)}, nil))
	}
	b.must("send", b.sender.SendMessageBatch(b.ctx, batch, nil))
	b.receive(b.receiver, 4)
}

func TestPROP_WhatTheSenderDidNotSetIsNotThere(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "prop.none")
	b := start(t)
	b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: []byte("a")}, nil))
	for _, m := range append(b.peekAll(b.receiver, 0), b.receiveOne(b.receiver)) {
		for name, value := range map[string]*string{
			"correlation id": m.CorrelationID, "subject": m.Subject, "content type": m.ContentType, "to": m.To, "reply to": m.ReplyTo,
			"reply to session": m.ReplyToSessionID, "session": m.SessionID, "partition key": m.PartitionKey,
			"reason": m.DeadLetterReason, "description": m.DeadLetterErrorDescription, "source": m.DeadLetterSource,
		} {
			if value != nil {
				b.Errorf("%s is %q, want it absent", name, *value)
			}
		}
		if m.ScheduledEnqueueTime != nil || m.EnqueuedSequenceNumber != nil || len(m.ApplicationProperties) > 0 {
			b.Errorf("the message has a schedule %v, a first number %v or properties %v",
				m.ScheduledEnqueueTime, m.EnqueuedSequenceNumber, m.ApplicationProperties)
		}
	}
}

func TestPROP9_NarrowIntegersAndNamesComeBackAsSent(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "app.narrow", "app.names", "trace.keep")
	b := start(t)
	sent := map[string]any{
		"ubyte": uint8(255), "byte": int8(-128), "short": int16(-32768), "ushort": uint16(65535), "zero": uint32(0),
		"uint": uint32(1<<32 - 1), "ulong": uint64(1<<64 - 1),
		"NAME": "upper", "name": "lower", "größe": "größe", "日本語": "日本語", "a b.c-d": "a", "🚌": "bus",
		"Diagnostic-Id": trace, "traceparent": trace, "tracestate": "a=b",
	}
	for i := range 200 {
		sent[fmt.Sprint("n", i)] = fmt.Sprint(i)
	}
	b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: []byte("a"), ApplicationProperties: sent}, nil))
	b.same("properties", b.receiveOne(b.receiver).ApplicationProperties, sent)
}

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestPROP9_FurtherSectionsAndValuesComeBackAsSent(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "raw.delivery", "raw.properties", "raw.broker", "body.value")
	b := start(t)
	data := azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{[]byte("x")}}
	sent := &azservicebus.AMQPAnnotatedMessage{
		Body: data, DeliveryAnnotations: map[any]any{"x-mine": "d"},
		MessageAnnotations: map[any]any{"x-opt-sequence-number": int64(77), "x-opt-enqueued-time": time.Unix(0, 0)},
		Properties: &azservicebus.AMQPAnnotatedMessageProperties{
			UserID: []byte("user"), ContentEncoding: to.Ptr("gzip"), GroupSequence: to.Ptr(uint32(9)),
			To: to.Ptr("sb://example.test/to")},
	}
	b.must("send", b.sender.SendAMQPAnnotatedMessage(b.ctx, sent, nil))
	m := b.receiveOne(b.receiver)
	b.check(m, stamps{body: "x", seq: 1, count: 1})
	raw := m.RawAMQPMessage
	b.same("delivery annotation", raw.DeliveryAnnotations["x-mine"], any("d"))
	p := raw.Properties
	b.same("properties", []any{string(p.UserID), *p.ContentEncoding, *p.GroupSequence, *p.To},
		[]any{"user", "gzip", uint32(9), "sb://example.test/to"})
	for _, value := range []any{
		true, false, amqp.UUID{1, 2, 3}, time.UnixMilli(1_700_000_000_001).UTC(), []byte("bytes"),
	} {
		b.must("send", b.sender.SendAMQPAnnotatedMessage(b.ctx,
			&azservicebus.AMQPAnnotatedMessage{Body: azservicebus.AMQPAnnotatedMessageBody{Value: value}}, nil))
		got := b.receiveOne(b.receiver).RawAMQPMessage.Body.Value
		if instant, ok := got.(time.Time); ok {
			got = instant.UTC()
		}
		b.same("value", got, value)
	}
}

func TestReceive_ACancelledReceiveLosesNothing(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "recv.cancel", "recv.cancelother")
	b := start(t)
	for i := range 10 {
		body := fmt.Sprint(i)
		ctx, cancel := context.WithCancel(b.ctx)
		type result struct {
			messages []*azservicebus.ReceivedMessage
			err      error
		}
		done := make(chan result, 1)
		go func() {
			messages, err := b.receiver.ReceiveMessages(ctx, 1, nil)
			done <- result{messages, err}
		}()
		time.Sleep(50 * time.Millisecond)
		sent := make(chan error, 1)
		go func() { sent <- b.sender.SendMessage(b.ctx, message(body), nil) }()
		time.Sleep(time.Duration(i) * time.Millisecond)
		cancel()
		b.must("send", <-sent)
		got := <-done
		if len(got.messages) == 0 {
			got.messages = b.receive(b.receiver, 1)
		}
		b.wantBodies("received", got.messages, body)
		b.must("complete", b.receiver.CompleteMessage(b.ctx, got.messages[0], nil))
	}
	b.wantEmpty(b.receiver) // its credit is taken back
	b.send("later")
	b.check(b.receiveOne(b.newReceiver(b.connect(), nil)), stamps{body: "later", seq: 11, count: 1})
}

func TestTOP_ANewSubscriptionGetsOnlyWhatIsSentLater(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "topic.later", "admin.filtercounts")
	b := serveWithData(t)
	c := b.administer()
	_, err := c.CreateTopic(b.ctx, b.name("t"), nil)
	b.must("create topic", err)
	subscribe := func(name string) *azservicebus.Receiver {
		_, err := c.CreateSubscription(b.ctx, b.name("t"), name, nil)
		b.must("create subscription", err)
		receiver, err := b.client.NewReceiverForSubscription(b.name("t"), name, nil)
		b.must("create receiver", err)
		return receiver
	}
	early := subscribe("early")
	b.put("t", message("first"))
	late := subscribe("late")
	b.put("t", message("second"))
	b.wantBodies("the early one", b.receive(early, 2), "first", "second")
	b.wantBodies("the late one", b.receive(late, 1), "second")
	_, err = c.CreateRule(b.ctx, b.name("t"), "late", &admin.CreateRuleOptions{
		Name: to.Ptr("correlated"), Filter: &admin.CorrelationFilter{Subject: to.Ptr("x")}})
	b.must("create rule", err)
	counts, err := c.GetTopicRuntimeProperties(b.ctx, b.name("t"), nil)
	b.must("get runtime properties", err)
	// A subscription begins with an SQL rule.
	b.same("filters", [2]int32{counts.SQLFilterCount, counts.CorrelationFilterCount}, [2]int32{2, 1})
}

func TestSESS_AnIDIsTheSameSessionInAnyCase(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "sess.case")
	b := serve(t, sessions)
	b.put(queueName, inSession("ORDER-1", "a"))
	holder, err := b.client.AcceptSessionForQueue(b.ctx, b.name(queueName), "order-1", nil)
	b.must("accept", err)
	m := b.receiveOne(holder)
	b.wantText("session", m.SessionID, "ORDER-1")
	b.must("set state", holder.SetSessionState(b.ctx, []byte("half"), nil))
	_, err = b.connect().AcceptSessionForQueue(b.ctx, b.name(queueName), "Order-1", nil)
	b.wantErrorText("accept a held session", err, "com.microsoft:session-cannot-be-locked")
	b.must("complete", holder.CompleteMessage(b.ctx, m, nil))
	b.must("close", holder.Close(b.ctx))
	state, err := b.accept(b.client, queueName, "ORDER-1").GetSessionState(b.ctx, nil)
	b.must("get state", err)
	b.same("state", string(state), "half")
}

func TestPEEK_ADeferredMessageOfASessionHasTheEndOfItsLock(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "peek.deferred")
	b := serve(t, sessions)
	b.put(queueName, inSession("s", "a"))
	session := b.accept(b.client, queueName, "s")
	b.must("defer", session.DeferMessage(b.ctx, b.receiveOne(session), nil))
	if m := b.peekAll(session, 0)[0]; m.State != azservicebus.MessageStateDeferred || m.LockedUntil == nil {
		b.Errorf("the message is %v and locked until %v", m.State, m.LockedUntil)
	}
}

func TestSettle_ByTheTokenAlone(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "settle.token", "dlq.twice")
	b := start(t)
	b.send("complete", "dead")
	got := b.receive(b.receiver, 2)
	other := b.newReceiver(b.connect(), nil)
	b.must("complete", other.CompleteMessage(b.ctx, &azservicebus.ReceivedMessage{LockToken: got[0].LockToken}, nil))
	b.must("dead-letter", other.DeadLetterMessage(b.ctx, &azservicebus.ReceivedMessage{LockToken: got[1].LockToken}, nil))
	letters := b.deadLetters()
	if err := letters.DeadLetterMessage(b.ctx, b.receiveOne(letters), nil); err == nil {
		b.Error("a dead letter was dead-lettered again")
	}
	b.wantBodies("left", b.peekAll(b.receiver, 0))
}

func TestSettle_PropertiesOfEveryType(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "settle.types")
	b := start(t)
	b.send("a")
	changed := map[string]any{"text": "größe", "int": int32(5), "long": int64(1) << 40, "double": 1.5, "yes": true,
		"time": time.UnixMilli(1_700_000_000_001).UTC(), "bytes": []byte("bytes")}
	b.must("abandon", b.receiver.AbandonMessage(b.ctx, b.receiveOne(b.receiver),
		&azservicebus.AbandonMessageOptions{PropertiesToModify: changed}))
	got := b.receiveOne(b.receiver).ApplicationProperties
	if instant, ok := got["time"].(time.Time); ok {
		got["time"] = instant.UTC()
	}
	b.same("properties", got, changed)
}

func TestPeek_250AtMost(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "peek.most")
	b := start(t)
	b.must("send", b.sender.SendMessageBatch(b.ctx, b.batchOf(b.sender, messages(300)...), nil))
	for _, want := range []int{250, 50} {
		page, err := b.receiver.PeekMessages(b.ctx, 1000, nil)
		b.must("peek", err)
		b.same("peeked", len(page), want)
	}
}

func TestSession_ACancelledAcceptNextTakesNone(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "sess.cancel", "sess.connection")
	b := serve(t, sessions)
	brief, cancel := context.WithCancel(b.ctx) // a deadline would be the broker's too
	defer cancel()
	defer time.AfterFunc(b.pace(500*time.Millisecond), cancel).Stop()
	_, err := b.client.AcceptNextSessionForQueue(brief, b.name(queueName), nil)
	if !errors.Is(err, context.Canceled) {
		b.Errorf("accept next: %v, want it cancelled", err)
	}
	b.put(queueName, inSession("a", "1"))
	client := b.connect()
	holder, err := client.AcceptNextSessionForQueue(b.ctx, b.name(queueName), nil)
	b.must("accept next", err)
	first := b.receiveOne(holder)
	b.must("close the connection", client.Close(b.ctx))
	again := b.receiveOne(b.accept(b.client, queueName, "a"))
	if again.LockToken == first.LockToken {
		b.Error("the message has the lock of a session that is over")
	}
}

func TestSession_ManyOfASubscriptionAreListed(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "sess.lists")
	b := serveWithData(t)
	c := b.administer()
	_, err := c.CreateTopic(b.ctx, b.name("t"), nil)
	b.must("create topic", err)
	_, err = c.CreateSubscription(b.ctx, b.name("t"), "s", &admin.CreateSubscriptionOptions{
		Properties: &admin.SubscriptionProperties{RequiresSession: to.Ptr(true)}})
	b.must("create subscription", err)
	var want []string
	var sent []*azservicebus.Message
	for i := range 250 {
		id := fmt.Sprintf("%03d", i)
		want, sent = append(want, id), append(sent, inSession(id, id))
	}
	sender := b.to("t")
	b.must("send", sender.SendMessageBatch(b.ctx, b.batchOf(sender, sent...), nil))
	var got []string
	for pager := b.client.NewListSessionsForSubscriptionPager(b.name("t"), "s", nil); pager.More(); {
		page, err := pager.NextPage(b.ctx)
		b.must("list", err)
		got = append(got, page.Sessions...)
	}
	b.wantNames("sessions", got, want...)
}

func TestAdminClient_Names(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "admin.lowercase", "admin.hyphen", "admin.dollar", "admin.topicaccess")
	b := serveWithData(t)
	c := b.administer()
	if q, err := c.GetQueue(b.ctx, "$verification", nil); q != nil || err != nil { // how this SDK says that it is missing
		b.Errorf("a missing queue is %v, %v", q, err)
	}
	_, err := c.CreateQueue(b.ctx, b.name("Orders-"), nil)
	b.must("create queue", err)
	_, err = c.CreateTopic(b.ctx, b.name("Shop/Fault--Order--"), nil)
	b.must("create topic", err)
	before, err := c.GetTopicRuntimeProperties(b.ctx, b.name("Shop/Fault--Order--"), nil)
	b.must("get topic", err)
	_, err = c.CreateSubscription(b.ctx, b.name("Shop/Fault--Order--"), "Mixed-Case", nil)
	b.must("create subscription", err)
	after, err := c.GetTopicRuntimeProperties(b.ctx, b.name("Shop/Fault--Order--"), nil)
	b.must("get topic", err)
	if !after.AccessedAt.After(before.AccessedAt) {
		b.Errorf("the topic was accessed at %v before it got a subscription, and at %v after it",
			before.AccessedAt, after.AccessedAt)
	}
	b.wantAll("queues", func() []string {
		return listed(b, c.NewListQueuesPager(nil), func(p admin.ListQueuesResponse) (names []string) {
			for _, q := range p.Queues {
				names = append(names, q.QueueName)
			}
			return names
		})
	}, "orders-")
	b.wantAll("topics", func() []string {
		return listed(b, c.NewListTopicsPager(nil), func(p admin.ListTopicsResponse) (names []string) {
			for _, topic := range p.Topics {
				names = append(names, topic.TopicName)
			}
			return names
		})
	}, "shop/fault--order--")
}

func TestAdminClient_APartitionedQueueHoldsSixteenTimesTheSize(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "admin.queuepartitions")
	b := serveWithData(t)
	c := b.administer()
	if b.elsewhere() {
		b.needTier(c, []harness.Queue{{Partitioned: true}})
	}
	q, err := c.CreateQueue(b.ctx, b.name("q"), &admin.CreateQueueOptions{Properties: &admin.QueueProperties{
		EnablePartitioning: to.Ptr(true), MaxSizeInMegabytes: to.Ptr(int32(2048))}})
	b.must("create", err)
	b.same("size", *q.MaxSizeInMegabytes, int32(16*2048))
}

// secured returns an administration client for a connection string whose host is filled in, over TLS on the port
// that it names.
func (b *bench) secured(end string, o azcore.ClientOptions) *admin.Client {
	b.Helper()
	transport := &http.Transport{TLSClientConfig: trust(b.T, b.server)}
	b.Cleanup(transport.CloseIdleConnections)
	o.Transport, o.Retry = &http.Client{Transport: transport}, policy.RetryOptions{MaxRetries: -1}
	c, err := admin.NewClientFromConnectionString("Endpoint=sb://"+b.server.Addr()+";"+end,
		&admin.ClientOptions{ClientOptions: o})
	b.must("create administration client", err)
	return c
}

func TestAdminClient_VersionsPortAndSignature(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "admin.versions", "admin.port", "admin.signature")
	b := startChecked(t)
	const key = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE"
	largest := to.Ptr(int64(256))
	for version, want := range map[string]*int64{"2017-04": nil, "2021-05": largest, "2024-05": largest} {
		c := b.secured(key, azcore.ClientOptions{APIVersion: version})
		q, err := c.GetQueue(b.ctx, queueName, nil)
		b.must("get with "+version, err)
		b.same("largest message with "+version, q.MaxMessageSizeInKilobytes, want)
	}
	signed := signature("sb://"+b.server.Addr()+"/", "RootManageSharedAccessKey", "SAS_KEY_VALUE")
	q, err := b.secured("SharedAccessSignature="+signed, azcore.ClientOptions{}).GetQueue(b.ctx, queueName, nil)
	if b.must("get with a signature", err); q == nil {
		b.Error("the queue is missing")
	}
	signed = signature("sb://"+b.server.Addr()+"/", "RootManageSharedAccessKey", "wrong")
	_, err = b.secured("SharedAccessSignature="+signed, azcore.ClientOptions{}).GetQueue(b.ctx, queueName, nil)
	b.wantStatus("get with a wrong signature", err, 401, "InvalidSignature")
}
