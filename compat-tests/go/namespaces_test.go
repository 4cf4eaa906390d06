package compat

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// sameEntities returns a queue, a queue with sessions and a topic for each name, the same in both namespaces but for the rule of the
// topic's subscription.
func sameEntities(names ...string) func(space int) harness.Space {
	return func(space int) (s harness.Space) {
		rules := [2][]harness.Rule{nil, {{Name: "red", SQL: "color = 'red'"}}}[space]
		for _, name := range names {
			s.Queues = append(s.Queues, lasting(harness.Queue{Name: "q." + name}), lasting(harness.Queue{Name: "s." + name, RequiresSession: true}))
			s.Topics = append(s.Topics, harness.Topic{Name: "t." + name, TimeToLive: noLimit,
				Subscriptions: []harness.Subscription{{Queue: lasting(harness.Queue{Name: "sub"}), Rules: rules}}})
		}
		return s
	}
}

// TestNamespacesDoNotMixOverAMQP reaches both namespaces in every way over every transport.
func TestNamespacesDoNotMixOverAMQP(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	s := startSpaces(t, nil, sameEntities(cells()...))
	for _, cell := range cells() {
		name, transport, _ := strings.Cut(cell, ".")
		t.Run(cell, func(t *testing.T) {
			first := s.bench(t, s.client(s.ways(0)[name], transport, "any"))
			second := s.bench(t, s.client(s.ways(1)[name], transport, "any"))
			messagesDoNotMix(first, second, "q."+cell)
			sessionsDoNotMix(first, second, "s."+cell)
			rulesDoNotMix(first, second, "t."+cell)
		})
	}
}

// messagesDoNotMix sends to both and receives what each has, with sequence numbers that count each queue's own messages.
func messagesDoNotMix(first, second *bench, queue string) {
	first.Helper()
	second.put(queue, message("second 1"), message("second 2"))
	first.put(queue, message("first 1"))
	second.put(queue, message("second 3"))
	for b, want := range map[*bench][]string{first: {"first 1"}, second: {"second 1", "second 2", "second 3"}} {
		from := b.from(queue)
		for i, m := range b.receive(from, len(want)) {
			b.check(m, stamps{body: want[i], seq: int64(i + 1), count: 1})
			b.must("complete", from.CompleteMessage(b.ctx, m, nil))
		}
		b.wantBodies("left", b.peekAll(from, 0))
	}
}

// sessionsDoNotMix holds a session of the same id in both at once.
func sessionsDoNotMix(first, second *bench, queue string) {
	first.Helper()
	both := map[*bench]string{first: "first", second: "second"}
	holders := map[*bench]*azservicebus.SessionReceiver{}
	for b, name := range both {
		b.put(queue, inSession("x", "of the "+name))
		holders[b] = b.accept(b.client, queue, "x")
		b.must("set state", holders[b].SetSessionState(b.ctx, []byte(name), nil))
	}
	for b, name := range both {
		state, err := holders[b].GetSessionState(b.ctx, nil)
		if b.must("get state", err); string(state) != name {
			b.Errorf("the session of the %s namespace has the state %q", name, state)
		}
		b.wantBodies("the session of the "+name, b.receive(holders[b], 1), "of the "+name)
	}
}

// rulesDoNotMix sends the same message to both. Only the first namespace's rule takes it.
func rulesDoNotMix(first, second *bench, topic string) {
	first.Helper()
	blue, red := message("blue"), message("red")
	blue.ApplicationProperties, red.ApplicationProperties = map[string]any{"color": "blue"}, map[string]any{"color": "red"}
	for b, want := range map[*bench][]string{first: {"blue", "red"}, second: {"red"}} {
		b.put(topic, blue, red)
		from, err := b.client.NewReceiverForSubscription(topic, "sub", nil)
		b.must("create receiver", err)
		b.wantBodies("the subscription", b.receive(from, len(want)), want...)
		b.wantBodies("all in the subscription", b.peekAll(from, 0), want...)
	}
}

// ask makes a request of a namespace over HTTP or HTTPS, and returns the status and the body.
func (s *spaces) ask(w way, scheme, method, path, body string, header ...string) (int, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.ctx, method, scheme+"://"+w.host+path, strings.NewReader(body))
	if err != nil {
		s.Fatalf("make request: %v", err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := s.httpClient(w).Do(r)
	if err != nil {
		s.Fatalf("%s %s of %s: %v", method, path, w.host, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatalf("read answer: %v", err)
	}
	return answer.StatusCode, string(text)
}

// wantAsk is ask for a request whose status must be this one.
func (s *spaces) wantAsk(status int, w way, scheme, method, path, body string, header ...string) string {
	s.Helper()
	got, text := s.ask(w, scheme, method, path, body, header...)
	if got != status {
		s.Fatalf("%s %s://%s%s: %d, want %d: %s", method, scheme, w.host, path, got, status, text)
	}
	return text
}

var activeCount = regexp.MustCompile(`ActiveMessageCount>(\d+)<`)

// newQueueEntry is the document that makes a queue.
const newQueueEntry = `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">` +
	`<QueueDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"/></content></entry>`

// TestNamespacesDoNotMixOverHTTP sends and receives over HTTP, counts messages in the queue's entry, and makes an entity in one namespace.
func TestNamespacesDoNotMixOverHTTP(t *testing.T) {
	var names []string
	for _, w := range wayNames {
		names = append(names, w+".http", w+".https")
	}
	s := startSpaces(t, nil, sameEntities(names...))
	for _, cell := range names {
		name, scheme, _ := strings.Cut(cell, ".")
		t.Run(cell, func(t *testing.T) {
			s := &spaces{T: t, ctx: s.ctx, server: s.server, tls: s.tls}
			for space, count := range []int{1, 2} {
				w := s.ways(space)[name]
				for range count {
					s.wantAsk(201, w, scheme, "POST", "/q."+cell+"/messages", "of "+spaceNames[space])
				}
			}
			for space, count := range []string{"1", "2"} {
				w := s.ways(space)[name]
				entry := s.wantAsk(200, w, scheme, "GET", "/q."+cell+"?api-version=2021-05", "")
				if found := activeCount.FindStringSubmatch(entry); found == nil || found[1] != count {
					t.Errorf("%s counts %v messages, want %s:\n%s", spaceNames[space], found, count, entry)
				}
				if got := s.wantAsk(200, w, scheme, "DELETE", "/q."+cell+"/messages/head?timeout=5", ""); got != "of "+spaceNames[space] {
					t.Errorf("%s gave %q", spaceNames[space], got)
				}
			}
			s.wantAsk(201, s.ways(1)[name], scheme, "PUT", "/made."+cell+"?api-version=2021-05", newQueueEntry, "Content-Type", "application/atom+xml")
			if text := s.wantAsk(200, s.ways(1)[name], scheme, "GET", "/made."+cell+"?api-version=2021-05", ""); !strings.Contains(text, "<QueueDescription") {
				t.Errorf("the second namespace does not have what was made there: %s", text)
			}
			// The service answers with an empty feed if there is no such entity.
			if text := s.wantAsk(200, s.ways(0)[name], scheme, "GET", "/made."+cell+"?api-version=2021-05", ""); !strings.Contains(text, "<feed") {
				t.Errorf("the first namespace has the queue of the second: %s", text)
			}
		})
	}
}

// TestWhatNamesNoNamespaceMeansTheDefaultOne unless the port belongs to another: an address, and a host under no known suffix.
func TestWhatNamesNoNamespaceMeansTheDefaultOne(t *testing.T) {
	s := startSpaces(t, nil, sameEntities("x"))
	for space := range spaceNames {
		_, port, _ := net.SplitHostPort(s.local(space))
		for _, host := range []string{"127.0.0.1:" + port, "localhost", "minibus", "somewhere.example.org"} {
			w := way{host, s.local(space)}
			s.bench(t, s.client(w, "amqp", "any")).put("q.x", message(host))
			s.wantAsk(201, w, "http", "POST", "/q.x/messages", "over HTTP with "+host)
		}
		b := s.usual(space)
		if got := len(b.peekAll(b.from("q.x"), 0)); got != 8 {
			t.Errorf("%s has %d messages, want 8", spaceNames[space], got)
		}
	}
}

// TestUnknownNamespaceIsRefused at the port of each namespace, over every transport. A WebSocket is a request over HTTP.
func TestUnknownNamespaceIsRefused(t *testing.T) {
	s := startSpaces(t, nil, sameEntities("x"))
	for space := range spaceNames {
		for _, suffix := range []string{"servicebus.windows.net", "localhost"} {
			w := way{"secnd-ns." + suffix, s.local(space)}
			for _, transport := range transportNames {
				b := s.bench(t, s.client(w, transport, "any"))
				err := b.to("q.x").SendMessage(b.ctx, message("x"), nil)
				want := "amqp:not-found"
				if strings.HasPrefix(transport, "ws") {
					want = "got 404"
				}
				b.wantErrorText(fmt.Sprintf("send to %s over %s", w.host, transport), err, want)
			}
			for _, scheme := range []string{"http", "https"} {
				s.wantAsk(404, w, scheme, "POST", "/q.x/messages", "x")
				s.wantAsk(404, w, scheme, "GET", "/q.x?api-version=2021-05", "")
			}
		}
		b := s.usual(space)
		b.wantBodies(spaceNames[space], b.peekAll(b.from("q.x"), 0))
	}
}

// TestNamespacesSurviveKill with their ports, messages and numbers.
func TestNamespacesSurviveKill(t *testing.T) {
	s := startSpaces(t, nil, sameEntities("x"))
	for space, name := range spaceNames {
		b := s.usual(space)
		b.put("q.x", message(name+" 1"))
		b.put("s.x", inSession("x", name))
		b.must("set state", b.accept(b.client, "s.x", "x").SetSessionState(b.ctx, []byte(name), nil))
	}
	kept := maps.Clone(s.server.Ports.Spaces)
	s.server.Kill(t)
	s = connectSpaces(t, harness.Start(t, s.server.Options()))
	if !maps.Equal(kept, s.server.Ports.Spaces) || kept[otherSpace] == 0 {
		t.Fatalf("the ports were %v and are %v", kept, s.server.Ports.Spaces)
	}
	for space, name := range spaceNames {
		b := s.usual(space)
		b.put("q.x", message(name+" 2"))
		for i, m := range b.receive(b.from("q.x"), 2) {
			b.check(m, stamps{body: fmt.Sprint(name, " ", i+1), seq: int64(i + 1), count: 1})
		}
		holder := b.accept(b.client, "s.x", "x")
		state, err := holder.GetSessionState(b.ctx, nil)
		if b.must("get state", err); string(state) != name {
			t.Errorf("the session of %s has the state %q", name, state)
		}
		b.wantBodies("the session", b.receive(holder, 1), name)
	}
}
