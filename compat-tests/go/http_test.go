package compat

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// httpAnswer is an answer of the runtime API over HTTP.
type httpAnswer struct {
	status int
	header http.Header
	body   string
}

// http makes a request of the runtime API on the port of AMQP. Header names are sent exactly as given.
func (b *bench) http(method, path, body string, header map[string]string) httpAnswer {
	b.Helper()
	address := path
	if !strings.HasPrefix(path, "http") {
		address = "http://" + b.server.Addr() + path
	}
	r, err := http.NewRequestWithContext(b.ctx, method, address, strings.NewReader(body))
	b.must("make request", err)
	for name, value := range header {
		r.Header[name] = []string{value}
	}
	resp, err := http.DefaultClient.Do(r)
	b.must(method+" "+path, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	b.must("read answer", err)
	return httpAnswer{resp.StatusCode, resp.Header, string(text)}
}

// wantHTTP is http for a request whose status must be this one.
func (b *bench) wantHTTP(status int, method, path, body string, header map[string]string) httpAnswer {
	b.Helper()
	a := b.http(method, path, body, header)
	if a.status != status {
		b.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.body)
	}
	return a
}

func (a httpAnswer) brokerProperties(t *testing.T) map[string]any {
	t.Helper()
	var p map[string]any
	if err := json.Unmarshal([]byte(a.header.Get("BrokerProperties")), &p); err != nil {
		t.Fatalf("BrokerProperties %q: %v", a.header.Get("BrokerProperties"), err)
	}
	return p
}

// TestHTTP_SendReceiveBySDK: to the SDK, a message sent over HTTP looks like one that an SDK sent.
func TestHTTP_SendReceiveBySDK(t *testing.T) {
	b := start(t)
	b.wantHTTP(201, "POST", "/orders/messages?api-version=2021-05", "hällo", map[string]string{
		"Content-Type": "text/plain; charset=utf-8",
		"BrokerProperties": `{"MessageId":"id-1","Label":"subject","CorrelationId":"c","ReplyTo":"r","ReplyToSessionId":"rs","To":"t",` +
			`"PartitionKey":"p","SessionId":"p","TimeToLive":3600}`,
		"camelCase": `"text \"quoted\""`, "UPPER": "12", "long-One": "5000000000", "yes": "true", "half": "0.5",
		"when": `"Tue, 30 Jun 2026 20:51:21 GMT"`, "plain": "as it is",
	})
	m := b.receiveOne(b.receiver)
	b.check(m, stamps{body: "hällo", seq: 1, count: 1})
	b.checkLock(m, b.began, defaultLock)
	got := fmt.Sprint(m.MessageID, *m.Subject, *m.CorrelationID, *m.ReplyTo, *m.ReplyToSessionID, *m.To, *m.PartitionKey, *m.SessionID,
		*m.ContentType, *m.TimeToLive)
	if want := "id-1subject c r rs t p p text/plain; charset=utf-8 1h0m0s"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		b.Errorf("properties %s, want %s", got, want)
	}
	want := map[string]any{
		"camelCase": `text "quoted"`, "UPPER": int64(12), "long-One": int64(5_000_000_000), "yes": true, "half": 0.5,
		"when": time.Date(2026, 6, 30, 20, 51, 21, 0, time.UTC), "plain": "as it is",
	}
	if n, ok := m.ApplicationProperties["UPPER"].(int32); ok {
		m.ApplicationProperties["UPPER"] = int64(n) // go-amqp may make either type of an int
	}
	if at, ok := m.ApplicationProperties["when"].(time.Time); ok {
		m.ApplicationProperties["when"] = at.UTC()
	}
	if !reflect.DeepEqual(m.ApplicationProperties, want) {
		b.Errorf("application properties %#v, want %#v", m.ApplicationProperties, want)
	}
	if !m.ExpiresAt.Equal(m.EnqueuedTime.Add(time.Hour)) {
		b.Errorf("expires at %v, enqueued at %v", m.ExpiresAt, m.EnqueuedTime)
	}
	b.wantHTTP(200, "DELETE", fmt.Sprintf("/orders/messages/1/%x-%x-%x-%x-%x", m.LockToken[:4], m.LockToken[4:6], m.LockToken[6:8],
		m.LockToken[8:10], m.LockToken[10:]), "", nil)
	b.wantErrorText("complete again", b.receiver.CompleteMessage(b.ctx, m, nil), "lock")
	b.wantEmpty(b.receiver)
}

// TestHTTP_BatchReceiveBySDK: a batch over HTTP becomes ordinary messages.
func TestHTTP_BatchReceiveBySDK(t *testing.T) {
	b := start(t)
	b.wantHTTP(201, "POST", "/Orders/Messages", `[{"Body":"one","BrokerProperties":{"Label":"L"},"UserProperties":{"n":1}},{"Body":"two"}]`,
		map[string]string{"Content-Type": "application/vnd.microsoft.servicebus.json"})
	messages := b.receive(b.receiver, 2)
	b.check(messages[0], stamps{body: "one", seq: 1, count: 1})
	b.check(messages[1], stamps{body: "two", seq: 2, count: 1})
	if *messages[0].Subject != "L" || fmt.Sprint(messages[0].ApplicationProperties) != "map[n:1]" || len(messages[1].MessageID) != 32 {
		b.Errorf("%+v", messages[0])
	}
}

// TestHTTP_SendBySDKReceiveOverHTTP uses every operation on the lock.
func TestHTTP_SendBySDKReceiveOverHTTP(t *testing.T) {
	b := start(t)
	when := time.Date(2026, 6, 30, 20, 51, 21, 0, time.UTC)
	b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{
		Body: []byte{0, 1, 0xff}, MessageID: to.Ptr("id-1"), Subject: to.Ptr("subject"), ContentType: to.Ptr("application/octet-stream"),
		CorrelationID: to.Ptr("c"), ReplyTo: to.Ptr("r"), To: to.Ptr("t"), TimeToLive: to.Ptr(time.Hour),
		ApplicationProperties: map[string]any{"camelCase": "a \"b\"", "n": int32(-5), "big": int64(5_000_000_000), "yes": true, "half": 0.5, "when": when},
	}, nil))
	a := b.wantHTTP(201, "POST", "/orders/messages/head?timeout=5", "", nil)
	p := a.brokerProperties(t)
	for name, want := range map[string]any{"MessageId": "id-1", "Label": "subject", "CorrelationId": "c", "ReplyTo": "r", "To": "t", "TimeToLive": 3600.0,
		"SequenceNumber": 1.0, "DeliveryCount": 1.0, "State": "Active", "ContentType": "application/octet-stream"} {
		if p[name] != want {
			b.Errorf("%s is %v, want %v", name, p[name], want)
		}
	}
	for name, want := range map[string]string{"camelCase": `"a \"b\""`, "n": "-5", "big": "5000000000", "yes": "true", "half": "0.5",
		"when": `"Tue, 30 Jun 2026 20:51:21 GMT"`, "Content-Type": "application/octet-stream"} {
		if got := a.header.Get(name); got != want {
			b.Errorf("header %s is %s, want %s", name, got, want)
		}
	}
	if a.body != "\x00\x01\xff" {
		b.Errorf("body %q", a.body)
	}
	at := a.header.Get("Location")
	b.wantHTTP(200, "POST", at, "", nil)
	b.wantHTTP(200, "PUT", at, "", nil)
	m := b.receiveOne(b.receiver) // the unlock gave it back
	b.check(m, stamps{body: "\x00\x01\xff", seq: 1, count: 2})
	b.must("abandon", b.receiver.AbandonMessage(b.ctx, m, nil))
	a = b.wantHTTP(200, "DELETE", "/orders/messages/head?timeout=5", "", nil)
	if p := a.brokerProperties(t); p["DeliveryCount"] != 3.0 || p["LockToken"] != nil {
		b.Errorf("%v", p)
	}
	b.wantHTTP(204, "DELETE", "/orders/messages/head?timeout=0", "", nil)
	b.wantHTTP(404, "DELETE", at, "", nil)
}

// TestHTTP_ReadsTheDeadLetterQueue that an SDK filled.
func TestHTTP_ReadsTheDeadLetterQueue(t *testing.T) {
	b := start(t)
	b.send("a")
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, b.receiveOne(b.receiver), &azservicebus.DeadLetterOptions{
		Reason: to.Ptr("Broken"), ErrorDescription: to.Ptr("cannot be parsed"), PropertiesToModify: map[string]any{"added": "too"},
	}))
	a := b.wantHTTP(201, "POST", "/orders/$DeadLetterQueue/messages/head?timeout=5", "", nil)
	for name, want := range map[string]string{"DeadLetterReason": `"Broken"`, "DeadLetterErrorDescription": `"cannot be parsed"`, "added": `"too"`} {
		if got := a.header.Get(name); got != want {
			b.Errorf("header %s is %s, want %s", name, got, want)
		}
	}
	b.wantHTTP(200, "DELETE", a.header.Get("Location"), "", nil)
	b.wantEmpty(b.deadLetters())
}

// TestHTTP_AWaitIsEndedByASend over AMQP.
func TestHTTP_AWaitIsEndedByASend(t *testing.T) {
	b := start(t)
	got := make(chan httpAnswer)
	go func() { got <- b.http("DELETE", "/orders/messages/head?timeout=60", "", nil) }()
	b.send("a")
	if a := <-got; a.status != 200 || a.body != "a" {
		b.Errorf("%+v", a)
	}
}
