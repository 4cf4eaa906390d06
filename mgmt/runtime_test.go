package mgmt

import (
	"fmt"
	"strings"
	"testing"

	"minibus/emulator"
)

// TestChecklist19_RuntimeREST is line 19 of management-rest 10.
func TestChecklist19_RuntimeREST(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	w := b.do("POST", "/q/messages", "hello", "Content-Type", "text/plain")
	wants(t, w, 201)
	if got := w.Header().Get("Content-Type"); w.Body.Len() != 0 || got != "application/xml; charset=utf-8" {
		t.Errorf("send: %q %q", got, w.Body)
	}
	w = b.do("POST", "/q/messages/head?timeout=0", "")
	wants(t, w, 201, "hello")
	at := location(t, w)
	p := brokerProperties(t, w)
	if want := fmt.Sprintf("/q/messages/%v/%s", p["SequenceNumber"], p["LockToken"]); at != want {
		t.Errorf("location %s, want %s", at, want)
	}
	w = b.do("POST", at, "")
	wants(t, w, 200)
	if w.Body.Len() != 0 {
		t.Errorf("renew: %s", w.Body)
	}
	wants(t, b.do("PUT", at, ""), 200)
	wants(t, b.do("PUT", at, ""), 404, "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue. ")
	wants(t, b.do("POST", at, ""), 404, "The lock supplied is invalid.")
	wants(t, b.do("DELETE", at, ""), 404, "The lock supplied is invalid.")

	w = b.do("POST", "/q/messages/head?timeout=0", "")
	if p := brokerProperties(t, w); p["DeliveryCount"] != 2.0 {
		t.Errorf("after an unlock: %v", p)
	}
	wants(t, b.do("POST", "/q/messages/head?timeout=0", ""), 204)
	wants(t, b.do("DELETE", location(t, w), ""), 200)
	wants(t, b.do("DELETE", location(t, w), ""), 404)

	b.post("q", "bye")
	w = b.do("DELETE", "/q/messages/head?timeout=0", "")
	wants(t, w, 200, "bye")
	if p := brokerProperties(t, w); w.Header().Get("Location") != "" || p["LockToken"] != nil || p["LockedUntilUtc"] != nil {
		t.Errorf("receive and delete: %v %v", w.Header(), p)
	}
	w = b.do("DELETE", "/q/messages/head?timeout=0", "")
	wants(t, w, 204)
	if w.Body.Len() != 0 {
		t.Errorf("204 with %q", w.Body)
	}
	b.wantCounts("q", 0, 0)
}

// TestReceivedHeaders: an answer with all headers (management-rest 7.2).
func TestReceivedHeaders(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	b.post("q", "body", "Content-Type", "text/plain; charset=utf-8", "BrokerProperties",
		`{"Label":"M1","TimeToLive":40,"CorrelationId":"c","ReplyTo":"r","ReplyToSessionId":"rs","To":"t","MessageId":"id ü","PartitionKey":"p","label":"x","ForcePersistence":true}`,
		"Priority", "High", "N", "12", "Text", `"a \"b\""`, "When", `"Tue, 30 Jun 2026 20:51:21 GMT"`)
	w := b.do("POST", "/q/messages/head", "")
	wants(t, w, 201)
	token := brokerProperties(t, w)["LockToken"]
	want := `{"ContentType":"text/plain; charset=utf-8","CorrelationId":"c","DeliveryCount":1,"EnqueuedSequenceNumber":0,` +
		`"EnqueuedTimeUtc":"Sun, 01 Mar 2026 10:00:00 GMT","Label":"M1","LockToken":"` + fmt.Sprint(token) + `",` +
		`"LockedUntilUtc":"Sun, 01 Mar 2026 10:01:00 GMT","MessageId":"id \u00fc","PartitionKey":"p","ReplyTo":"r",` +
		`"ReplyToSessionId":"rs","SequenceNumber":1,"State":"Active","TimeToLive":40,"To":"t"}`
	if got := exactly(w.Header(), "BrokerProperties")[0]; got != want {
		t.Errorf("BrokerProperties\n%s, want\n%s", got, want)
	}
	for name, value := range map[string]string{"Content-Type": "text/plain; charset=utf-8", "Priority": `"High"`, "N": "12",
		"Text": `"a \"b\""`, "When": `"Tue, 30 Jun 2026 20:51:21 GMT"`} {
		if got := w.Header()[name]; len(got) != 1 || got[0] != value {
			t.Errorf("%s: %v, want %s", name, got, value)
		}
	}
}

// TestRuntimeDefaults: the answer for a message with only a body.
func TestRuntimeDefaults(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	b.post("q", "")
	w := b.do("DELETE", "/q/messages/head", "")
	wants(t, w, 200)
	id, _ := brokerProperties(t, w)["MessageId"].(string)
	want := `{"DeliveryCount":1,"EnqueuedSequenceNumber":0,"EnqueuedTimeUtc":"Sun, 01 Mar 2026 10:00:00 GMT",` +
		`"MessageId":"` + id + `","SequenceNumber":1,"State":"Active","TimeToLive":922337203685.47754}`
	if got := exactly(w.Header(), "BrokerProperties")[0]; got != want || len(id) != 32 || strings.Contains(id, "-") {
		t.Errorf("BrokerProperties\n%s, want\n%s", got, want)
	}
	if got := w.Header().Get("Content-Type"); got != "text/plain; charset=utf-8" || w.Body.Len() != 0 {
		t.Errorf("%q %q", got, w.Body)
	}
}

func TestRuntimeTopicsSubscriptionsAndDeadLetterQueues(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/a/Topic", entry("TopicDescription", "")), 201)
	wants(t, b.do("PUT", "/a/Topic/Subscriptions/Sub", entry("SubscriptionDescription", "<MaxDeliveryCount>1</MaxDeliveryCount>")), 201)
	b.post("A%2Ftopic", "one", "BrokerProperties", `{"Label":"x"}`)
	w := b.do("POST", "/a/topic/SUBSCRIPTIONS/sub/Messages/Head?timeout=0", "")
	wants(t, w, 201, "one")
	if p := brokerProperties(t, w); p["EnqueuedSequenceNumber"] != 1.0 || p["SequenceNumber"] != 1.0 {
		t.Errorf("%v", p)
	}
	if at := location(t, w); !strings.HasPrefix(at, "/a/topic/SUBSCRIPTIONS/sub/messages/1/") {
		t.Errorf("location %s", at)
	}
	wants(t, b.do("PUT", location(t, w), ""), 200) // its only delivery has failed
	for _, dlq := range []string{"/a/topic/subscriptions/sub/$DeadLetterQueue", "/a/topic/subscriptions/sub/%24deadletterqueue"} {
		w = b.do("POST", dlq+"/messages/head?timeout=0", "")
		wants(t, w, 201, "one")
		if got := exactly(w.Header(), "DeadLetterReason"); len(got) != 1 || got[0] != `"MaxDeliveryCountExceeded"` {
			t.Errorf("reason %v", got)
		}
		if exactly(w.Header(), "DeadLetterErrorDescription") == nil {
			t.Error("no description")
		}
		wants(t, b.do("PUT", location(t, w), ""), 200)
	}
	wants(t, b.do("DELETE", "/a/topic/subscriptions/sub/$deadletterqueue/messages/head", ""), 200, "one")
	wants(t, b.do("POST", "/a/topic/$Transfer/$DeadLetterQueue/messages/head?timeout=0", ""), 204)
	wants(t, b.do("DELETE", "/a/topic/subscriptions/sub/$Transfer/$DeadLetterQueue/messages/head?timeout=0", ""), 204)

	wants(t, b.do("POST", "/a/topic/messages/head?timeout=0", ""), 404, "could not be found")
	wants(t, b.do("POST", "/a/topic/subscriptions/sub/messages", "x"), 400, "SubCode=40000.")
	wants(t, b.do("POST", "/a/topic/$DeadLetterQueue/messages", "x"), 400, "SubCode=40000.", "sub-queue")
	wants(t, b.do("POST", "/a/topic/subscriptions/none/messages/head", ""), 404, "SubCode=40400.")
}

// TestRuntimeErrors: the status and the text of refusals.
func TestRuntimeErrors(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	b.makeQueue("sessions", emulator.QueueOptions{RequiresSession: true})
	b.makeQueue("closed", emulator.QueueOptions{Status: emulator.StatusSendDisabled})
	b.makeQueue("shut", emulator.QueueOptions{Status: emulator.StatusReceiveDisabled})
	b.makeQueue("forwards", emulator.QueueOptions{ForwardTo: "q"})
	token := "/messages/1/7f3c7c41-2f4a-4d3e-9a0f-3d8e0b3f2a10"
	for _, tt := range []struct {
		method, path, body, broker string
		status                     int
		text                       string
	}{
		{"POST", "/none/messages", "x", "", 404, "SubCode=40400. The messaging entity 'none' could not be found."},
		{"DELETE", "/none/messages/head", "", "", 404, "SubCode=40400."},
		{"DELETE", "/none" + token, "", "", 404, "SubCode=40400."},
		{"DELETE", "/q" + token, "", "", 404, "<Detail>The lock supplied is invalid."},
		{"POST", "/q" + token, "", "", 404, "<Detail>The lock supplied is invalid."},
		{"PUT", "/q/messages/1/x", "", "", 404, "<Detail>The lock supplied is invalid."},
		{"POST", "/q/messages/head?timeout=x", "", "", 400, "'timeout'"},
		{"POST", "/q/messages/head?timeout=-1", "", "", 400, "'timeout'"},
		{"POST", "/q/messages?timeout=1.5", "x", "", 400, "'timeout'"},
		{"POST", "/sessions/messages/head", "", "", 400, "SubCode=40000. It is not possible for an entity that requires sessions to create a non-sessionful message receiver."},
		{"DELETE", "/sessions/messages/head", "", "", 400, "non-sessionful message receiver."},
		{"POST", "/sessions/messages", "x", "", 400, "SubCode=40000. The SessionId was not set on a message"},
		{"POST", "/closed/messages", "x", "", 403, "SubCode=40301. Messaging entity 'closed' is currently disabled"},
		{"POST", "/shut/messages/head", "", "", 403, "SubCode=40301. Messaging entity 'shut' is currently disabled"},
		{"DELETE", "/shut" + token, "", "", 403, "SubCode=40301."},
		{"DELETE", "/forwards/messages/head", "", "", 400, "SubCode=40000. Cannot create a message receiver on an entity with auto-forwarding enabled."},
		{"POST", "/q/messages", "x", "{", 400, "SubCode=40000. BrokerProperties is not a JSON object"},
		{"POST", "/q/messages", "x", `{"SessionId":"a","PartitionKey":"b"}`, 400, "must be equal"},
	} {
		w := b.do(tt.method, tt.path, tt.body, "BrokerProperties", tt.broker)
		wants(t, w, tt.status, tt.text, fmt.Sprintf("<Code>%d</Code>", tt.status), "TrackingId:", "SystemTracker:localhost:5300:", "Timestamp:")
		isSend := strings.HasSuffix(strings.Split(tt.path, "?")[0], "/messages")
		if got := w.Header().Get("x-ms-retrypolicy"); (got == "NoRetry") != isSend {
			t.Errorf("%s %s: retry policy %q", tt.method, tt.path, got)
		}
		if t.Failed() {
			t.Fatalf("%+v", tt)
		}
	}
	b.wantCounts("q", 0, 0)
}

func TestDEC13_MissingEntitiesAnd410(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	b.handler = New(Options{Broker: b.Broker, MissingIsGone: true})
	wants(t, b.do("POST", "/none/messages", "x"), 410, "<Code>410</Code>", "could not be found")
	wants(t, b.do("DELETE", "/none/messages/head", ""), 410)
	wants(t, b.do("DELETE", "/q/messages/1/7f3c7c41-2f4a-4d3e-9a0f-3d8e0b3f2a10", ""), 404, "The lock supplied is invalid.")
	wants(t, b.do("DELETE", "/none", ""), 404) // the administration still says 404
}

// TestRuntimeSessions: HTTP clients can send to sessions, and settle messages that a session receiver has locked.
func TestRuntimeSessions(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	q := b.makeQueue("q", emulator.QueueOptions{RequiresSession: true})
	b.post("q", "in a session", "BrokerProperties", `{"SessionId":"s"}`)
	c, err := q.Sessions().Accept("s", emulator.Accept{Notify: func() {}, Lost: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	ds := c.Take(nil, 1)
	if len(ds) != 1 {
		t.Fatal("no message")
	}
	wants(t, b.do("DELETE", "/q/messages/1/"+ds[0].Token().String(), ""), 200)
	b.wantCounts("q", 0, 0)
}

// TestLOCK9_TokensOfHTTPAndOfLinks: both can be used over either protocol.
func TestLOCK9_TokensOfHTTPAndOfLinks(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	q := b.makeQueue("q", emulator.QueueOptions{})
	b.post("q", "a")
	b.post("q", "b")
	w := b.do("POST", "/q/messages/head", "")
	token, err := parseToken(brokerProperties(t, w)["LockToken"])
	if err != nil {
		t.Fatal(err)
	}
	b.wait("complete", func(c emulator.Completion) error {
		return q.Settle([]emulator.LockToken{token}, emulator.Settlement{}, c)
	})
	wants(t, b.do("DELETE", location(t, w), ""), 404)
	c, err := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
	if err != nil {
		t.Fatal(err)
	}
	d := c.Take(nil, 1)[0]
	wants(t, b.do("POST", "/q/messages/1/"+d.Token().String(), ""), 200)
	wants(t, b.do("DELETE", "/q/messages/any%20id/"+strings.ToUpper(d.Token().String()), ""), 200)
	b.wantCounts("q", 0, 0)
}

// TestMessageIdsThatAreKeywords: the path of a message may look like that of a rule.
func TestMessageIdsThatAreKeywords(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/t", entry("TopicDescription", "")), 201)
	wants(t, b.do("PUT", "/t/Subscriptions/messages", entry("SubscriptionDescription", "")), 201)
	for _, id := range []string{"subscriptions", "rules", "head", "messages", "a%2Fb"} {
		b.post("t", id)
		w := b.do("POST", "/t/subscriptions/messages/messages/head", "")
		token := brokerProperties(t, w)["LockToken"]
		wants(t, b.do("DELETE", fmt.Sprintf("/t/subscriptions/messages/messages/%s/%s", id, token), ""), 200)
	}
	wants(t, b.do("DELETE", "/t/subscriptions/messages/rules/$Default", ""), 200)
}
