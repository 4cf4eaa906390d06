package compat

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// client connects with these options.
func (b *bench) clientWith(connection string, o azservicebus.ClientOptions) *azservicebus.Client {
	b.Helper()
	o.RetryOptions.MaxRetries = -1
	client, err := azservicebus.NewClientFromConnectionString(connection, &o)
	b.must("create client", err)
	b.Cleanup(func() { client.Close(context.Background()) })
	return client
}

// secure is the connection string without the emulator's flag.
func (b *bench) secure() string {
	return strings.Replace(b.server.ConnectionString(), "UseDevelopmentEmulator=true;", "", 1)
}

func TestConnect_AnotherAddressThanTheNamespace(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "conn.endpoint")
	t.Parallel()
	config := harness.WriteConfig(t, harness.Queue{Name: queueName, MaxDeliveryCount: 10})
	b := startServer(t, harness.Options{Config: config, Alone: true}) // with one namespace the host means nothing
	elsewhere := strings.Replace(b.secure(), b.server.Addr(), "orders.servicebus.windows.net", 1)
	o := azservicebus.ClientOptions{TLSConfig: trust(t, b.server)}
	setEndpoint(&o, b.server.Addr())
	client := b.clientWith(elsewhere, o)
	b.must("send", b.newSender(client).SendMessage(b.ctx, message("a"), nil))
	b.wantBodies("received", b.receive(b.receiver, 1), "a")
}

func TestConnect_AnUnknownAuthorityIsRefused(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "conn.untrusted")
	b := start(t)
	client := b.clientWith(b.secure(), azservicebus.ClientOptions{})
	b.wantErrorText("send", b.newSender(client).SendMessage(b.ctx, message("a"), nil), "certificate signed by unknown authority")
}

// The SDK reads no token's inside; the server takes any unless it is told otherwise (DEC-10).
type token struct{}

func (token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "header.eyJhdWQiOiJzYiJ9.signature", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func TestConnect_WithATokenOfEntra(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "auth.token")
	b := start(t)
	client, err := azservicebus.NewClient(b.server.Addr(), token{}, &azservicebus.ClientOptions{
		TLSConfig: trust(t, b.server), RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	b.must("create client", err)
	b.Cleanup(func() { client.Close(context.Background()) })
	b.must("send", b.newSender(client).SendMessage(b.ctx, message("a"), nil))
	b.wantBodies("received", b.receive(b.receiver, 1), "a")
}

func TestConnect_LinksInTurn(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "conn.reuse", "conn.close")
	b := start(t)
	client := b.connect()
	for i := range 25 {
		sender, receiver := b.newSender(client), b.newReceiver(client, nil)
		b.must("send", sender.SendMessage(b.ctx, message(fmt.Sprint(i)), nil))
		m := b.receiveOne(receiver)
		b.must("complete", receiver.CompleteMessage(b.ctx, m, nil))
		b.must("close the sender", sender.Close(b.ctx))
		b.must("close the receiver", receiver.Close(b.ctx))
	}
	begin := time.Now()
	b.must("close", client.Close(b.ctx))
	if took := time.Since(begin); took > 30*time.Second {
		b.Errorf("the connection closed after %v", took)
	}
}

// go-amqp asks for a frame a minute; the client does nothing for longer.
func TestConnect_AnIdleConnectionIsKept(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "conn.idle")
	b := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	b.ctx = ctx
	b.send("before")
	b.must("complete", b.receiver.CompleteMessage(b.ctx, b.receiveOne(b.receiver), nil))
	time.Sleep(70 * time.Second)
	b.send("after") // this client does not try again
	b.wantBodies("received", b.receive(b.receiver, 1), "after")
}

func TestSend_ManyAtOnce(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "send.parallel", "recv.order")
	b := start(t)
	const total = 500
	errs := make(chan error, total)
	var sending sync.WaitGroup
	for i := range total {
		sending.Go(func() { errs <- b.sender.SendMessage(b.ctx, message(fmt.Sprint(i)), nil) })
	}
	sending.Wait()
	for range total {
		b.must("send", <-errs)
	}
	seen := make(map[string]bool)
	for i, m := range b.receive(b.receiver, total) {
		if seen[string(m.Body)] || *m.SequenceNumber != int64(i+1) {
			b.Errorf("message %d has number %d and body %s, seen before: %v", i, *m.SequenceNumber, m.Body, seen[string(m.Body)])
		}
		seen[string(m.Body)] = true
	}
}

func TestSend_ABatchKnowsItsLimit(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "send.batchfull")
	b := start(t)
	batch, err := b.sender.NewMessageBatch(b.ctx, nil)
	b.must("create batch", err)
	kilobyte := &azservicebus.Message{Body: make([]byte, 1024)}
	count := 0
	for ; err == nil; count++ {
		err = batch.AddMessage(kilobyte, nil)
	}
	most := 256
	if b.elsewhere() {
		most = 1024 // in the premium tier
	}
	if count--; err != azservicebus.ErrMessageTooLarge || count < 200 || count > most { //nolint:errorlint // the SDK's own, as it is documented
		b.Errorf("%d messages of 1 KiB fit, then %v", count, err)
	}
	b.must("send a full batch", b.sender.SendMessageBatch(b.ctx, batch, nil))
	b.receive(b.receiver, count)
}

func TestReceive_AMessageComesAtOnce(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "recv.one", "recv.empty")
	b := start(t)
	b.wantEmpty(b.receiver)
	begin := time.Now()
	go func() {
		time.Sleep(500 * time.Millisecond)
		if err := b.sender.SendMessage(b.ctx, message("a"), nil); err != nil {
			b.Errorf("send: %v", err)
		}
	}()
	b.wantBodies("received", b.receive(b.receiver, 1), "a")
	if took := time.Since(begin); took > 10*time.Second {
		b.Errorf("received after %v", took)
	}
}

func TestReceive_AClosedReceiverTakesNothing(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "recv.close")
	b := start(t)
	closed := b.newReceiver(b.client, nil)
	b.wantEmpty(closed) // with credit left
	b.must("close", closed.Close(b.ctx))
	b.send("a")
	b.check(b.receiveOne(b.receiver), stamps{body: "a", seq: 1, count: 1})
}

func TestSettle_ManyAtOnceAndWithGaps(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "settle.many", "settle.gaps")
	b := start(t)
	b.must("send", b.sender.SendMessageBatch(b.ctx, b.batchOf(b.sender, messages(70)...), nil))
	got := b.receive(b.receiver, 70)
	errs := make(chan error, 70)
	for i, m := range got {
		if i < 50 || i%2 == 0 {
			go func() { errs <- b.receiver.CompleteMessage(b.ctx, m, nil) }()
		}
	}
	for range 60 {
		b.must("complete", <-errs)
	}
	var want []string
	for i := 51; i < 70; i += 2 {
		want = append(want, fmt.Sprint("m", i))
	}
	b.wantBodies("left", b.peekAll(b.receiver, 0), want...)
}

func TestDefer_RenewedAndDeadLettered(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "defer.deadletter", "defer.renew")
	b := start(t)
	b.send("a")
	b.must("defer", b.receiver.DeferMessage(b.ctx, b.receiveOne(b.receiver), nil))
	fetched, err := b.receiver.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.must("receive deferred", err)
	since := time.Now()
	b.must("renew", b.receiver.RenewMessageLock(b.ctx, fetched[0], nil))
	b.checkLock(fetched[0], since, defaultLock)
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, fetched[0], nil))
	b.check(b.receiveOne(b.deadLetters()), stamps{body: "a", seq: 1, count: 2})
}

func TestPeek_ManyLargeMessages(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "peek.large")
	b := start(t)
	const total = 40
	for range total {
		b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: bytes.Repeat([]byte("x"), 20<<10)}, nil))
	}
	peeked := 0
	for {
		page, err := b.receiver.PeekMessages(b.ctx, total, nil)
		if b.must("peek", err); len(page) == 0 {
			break
		}
		peeked += len(page)
	}
	if peeked != total {
		b.Errorf("peeked %d messages, want %d", peeked, total)
	}
}

func TestDeadLetters_InOrderAndNobodySendsThem(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "dlq.order", "dlq.nosend", "dlq.transfer")
	b := start(t)
	b.send("a", "b", "c")
	got := b.receive(b.receiver, 3)
	slices.Reverse(got)
	for _, m := range got {
		b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, m, nil))
	}
	b.wantBodies("received", b.receive(b.deadLetters(), 3), "a", "b", "c")
	if err := b.to(queueName+"/$DeadLetterQueue").SendMessage(b.ctx, message("x"), nil); err == nil {
		b.Error("a message was sent to the dead-letter queue")
	}
	b.wantEmpty(b.newReceiver(b.client, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueTransfer}))
}

// Without a deadline the SDK names no time, and the server waits for 65 s.
func TestSession_AcceptNextTimesOut(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "sess.timeout")
	b := serve(t, sessions)
	_, err := b.client.AcceptNextSessionForQueue(context.WithoutCancel(b.ctx), b.name(queueName), nil)
	b.wantCode("accept next", err, azservicebus.CodeTimeout)
}

func TestSession_LostToTheSDK(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "sess.lost")
	b := serve(t, harness.Queue{Name: queueName, RequiresSession: true, LockDuration: "PT5S"})
	b.put(queueName, inSession("a", "1"))
	holder := b.accept(b.client, queueName, "a")
	b.receiveOne(holder)
	time.Sleep(time.Until(holder.LockedUntil().Add(500*time.Millisecond + b.slack())))
	b.wantCode("renew", holder.RenewSessionLock(b.ctx, nil), azservicebus.CodeLockLost)
	b.check(b.receiveOne(b.accept(b.connect(), queueName, "a")), stamps{body: "1", seq: 1, count: 2})
}

func TestSession_ScheduledMessages(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "sess.schedule", "prop.sessionid")
	b := serve(t, sessions)
	due := time.Now().Add(b.pace(time.Second))
	_, err := b.to(queueName).ScheduleMessages(b.ctx, []*azservicebus.Message{inSession("a", "later")}, due, nil)
	b.must("schedule", err)
	m := b.receiveOne(b.accept(b.client, queueName, "a"))
	b.wantText("session id", m.SessionID, "a")
	b.checkActivated(m, due)
}

func TestERR_TheQueueOfAReceiverIsDeleted(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provesAnywhere(t, "err.deleted")
	b := serveWithData(t)
	c := b.administer()
	_, err := c.CreateQueue(b.ctx, b.name(queueName), nil)
	b.must("create queue", err)
	b.send("a") // so that the link is open
	b.receiveOne(b.receiver)
	_, err = c.DeleteQueue(b.ctx, b.name(queueName), nil)
	b.must("delete queue", err)
	_, err = b.receiver.ReceiveMessages(b.ctx, 1, nil)
	b.wantErrorText("receive", err, "amqp:not-found")
}

// A signature that somebody else has made opens what it was made for.
func TestConnect_WithASignature(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	proves(t, "auth.signature")
	b := startChecked(t)
	signed := signature("sb://"+b.server.Addr()+"/"+queueName, "writer", "writer-key")
	connection := fmt.Sprintf("Endpoint=sb://%s;SharedAccessSignature=%s;UseDevelopmentEmulator=true", b.server.Addr(), signed)
	client := b.clientWith(connection, azservicebus.ClientOptions{})
	b.must("send", b.newSender(client).SendMessage(b.ctx, message("a"), nil))
	b.wantBodies("received", b.receive(b.receiver, 1), "a")
}

// signature signs for an address, for an hour.
func signature(address, policyName, key string) string {
	resource := url.QueryEscape(address)
	expiry := time.Now().Add(time.Hour).Unix()
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s\n%d", resource, expiry)
	signed := url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return fmt.Sprintf("SharedAccessSignature sr=%s&sig=%s&se=%d&skn=%s", resource, signed, expiry, policyName)
}
