package tracing_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"minibus/config"
	"minibus/server"
	"minibus/server/tracing"
)

// bench has a server whose messages are traced.
type bench struct {
	*testing.T
	server    *server.Server
	client    *azservicebus.Client
	tracer    *tracing.Tracer
	collector *fake
	log       bytes.Buffer
}

// fake is a collector.
type fake struct {
	*httptest.Server
	mu     sync.Mutex
	spans  []span
	header http.Header
	answer func(w http.ResponseWriter, r *http.Request) // in the place of success; nil: none
}

// span is a span as the collector received it.
type span struct {
	*pb.Span
	attributes map[string]string
}

func newFake(t *testing.T) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.answer != nil {
			f.answer(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		var request pb.TracesData // has the fields of ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
			t.Errorf("the collector got %s %s: %q, %v", r.Method, r.URL, body, err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.header = r.Header
		for _, of := range request.ResourceSpans {
			if name := texts(of.Resource.Attributes)["service.name"]; name != "minibus" {
				t.Errorf("the service is %q", name)
			}
			for _, scope := range of.ScopeSpans {
				for _, s := range scope.Spans {
					f.spans = append(f.spans, span{s, texts(s.Attributes)})
				}
			}
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func texts(all []*common.KeyValue) map[string]string {
	out := make(map[string]string)
	for _, a := range all {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		default:
			out[a.Key] = strings.Trim(strings.SplitN(a.Value.String(), ":", 2)[1], `" `)
		}
	}
	return out
}

// start runs a server with these entities, and a message in each of these queues before the tracer begins.
func start(t *testing.T, entities string, seeded ...string) *bench {
	t.Helper()
	b := &bench{T: t, collector: newFake(t)}
	topology, report, err := config.Settings{ConfigJSON: entities}.ParseText()
	b.must(err)
	b.must(report.Err())
	b.server, err = server.Start(t.Context(), server.Config{
		Settings: config.Settings{Host: "localhost", TLSPort: config.PortOff, HTTPPort: config.PortOff, NamespacePorts: "off",
			Ephemeral: true, History: 1 << 20, OTLP: b.collector.URL},
		Topology: topology,
	})
	b.must(err)
	t.Cleanup(func() { _ = b.server.Close(context.Background()) })
	b.client, err = azservicebus.NewClientFromConnectionString(b.server.ConnectionString(), nil)
	b.must(err)
	t.Cleanup(func() { _ = b.client.Close(context.Background()) })
	for _, queue := range seeded {
		b.send(queue, &azservicebus.Message{})
	}
	b.tracer, err = tracing.Start(b.server.Broker(), tracing.Options{URL: b.collector.URL, Headers: "api-key=a%20b, x=y", Version: "1.2.3",
		Logger: slog.New(slog.NewTextHandler(&b.log, nil))})
	b.must(err)
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) send(entity string, m *azservicebus.Message) {
	b.Helper()
	sender, err := b.client.NewSender(entity, nil)
	b.must(err)
	b.must(sender.SendMessage(b.Context(), m, nil))
}

func (b *bench) receiver(r *azservicebus.Receiver, err error) (*azservicebus.Receiver, *azservicebus.ReceivedMessage) {
	b.Helper()
	b.must(err)
	messages, err := r.ReceiveMessages(b.Context(), 1, nil)
	b.must(err)
	return r, messages[0]
}

// end stops the tracer and returns its spans in the order of their ends.
func (b *bench) end() []span {
	b.Helper()
	b.must(b.tracer.Close(b.Context()))
	return b.collector.spans
}

const (
	traceID   = "0af7651916cd43dd8448eb211c80319c"
	spanID    = "b7ad6b7169203331"
	context55 = "00-" + traceID + "-" + spanID + "-01"
)

func names(all []span) (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// TestTheWayOfAMessage that fails twice, between the spans of its sender.
func TestTheWayOfAMessage(t *testing.T) {
	b := start(t, `{"UserConfig": {"Namespaces": [{"Name": "shop", "Queues": [{"Name": "orders", "Properties": {"MaxDeliveryCount": 2}}]}]}}`)
	b.send("orders", &azservicebus.Message{MessageID: new("order-7"), ApplicationProperties: map[string]any{"Diagnostic-Id": context55}})
	for range 2 {
		r, m := b.receiver(b.client.NewReceiverForQueue("orders", nil))
		b.must(r.AbandonMessage(t.Context(), m, nil))
		b.must(r.Close(t.Context()))
	}
	r, m := b.receiver(b.client.NewReceiverForQueue("orders", &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}))
	b.must(r.CompleteMessage(t.Context(), m, nil))
	all := b.end()
	want := []string{"send orders", "wait orders", "lock orders", "wait orders", "lock orders", "dead-letter orders",
		"wait orders/$DeadLetterQueue", "lock orders/$DeadLetterQueue"}
	if got := names(all); !slices.Equal(got, want) {
		t.Fatalf("the spans are %q, want %q", got, want)
	}
	for i, s := range all {
		parent := spanID
		if i > 0 {
			parent = hex(all[0].SpanId)
		}
		if hex(s.TraceId) != traceID || hex(s.ParentSpanId) != parent {
			t.Errorf("%s is below %s of the trace %s", s.Name, hex(s.ParentSpanId), hex(s.TraceId))
		}
		if s.attributes["messaging.system"] != "servicebus" || s.attributes["messaging.message.id"] != "order-7" ||
			s.attributes["minibus.namespace"] != "shop" || s.attributes["minibus.sequence_number"] != "1" ||
			!strings.HasPrefix(s.attributes["messaging.destination.name"], "orders") || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s has %v", s.Name, s.attributes)
		}
	}
	for i, want := range map[int]string{2: "abandon", 4: "abandon", 7: "complete"} {
		if got := all[i].attributes["messaging.servicebus.disposition_status"]; got != want {
			t.Errorf("span %d was settled by %q, want %q", i, got, want)
		}
	}
	if dead := all[5]; dead.Status.Message != "MaxDeliveryCountExceeded" || dead.Status.Code != pb.Status_STATUS_CODE_ERROR ||
		dead.attributes["minibus.dead_letter_reason"] != "MaxDeliveryCountExceeded" {
		t.Errorf("the dead letter has %v, %v", dead.Status, dead.attributes)
	}
	if all[2].attributes["messaging.client.id"] == "" {
		t.Errorf("the lock has no holder: %v", all[2].attributes)
	}
	if b.collector.header.Get("Api-Key") != "a b" || b.collector.header.Get("X") != "y" {
		t.Errorf("the headers are %v", b.collector.header)
	}
}

func hex(b []byte) string {
	const digits = "0123456789abcdef"
	var out strings.Builder
	for _, c := range b {
		out.WriteByte(digits[c>>4])
		out.WriteByte(digits[c&15])
	}
	return out.String()
}

// TestCopiesStayInTheTrace of a topic, through a forward, a schedule and the end of the time to live.
func TestCopiesStayInTheTrace(t *testing.T) {
	b := start(t, `{"UserConfig": {"Namespaces": [{"Name": "shop", "Queues": [{"Name": "work"}], "Topics": [{"Name": "events", "Subscriptions": [
		{"Name": "all", "Properties": {"DefaultMessageTimeToLive": "PT1H", "DeadLetteringOnMessageExpiration": true}},
		{"Name": "kitchen", "Properties": {"ForwardTo": "work"}}]}]}]}}`)
	soon := time.Now().Add(30 * time.Minute)
	b.send("events", &azservicebus.Message{MessageID: new("m"), ScheduledEnqueueTime: &soon, ApplicationProperties: map[string]any{"traceparent": context55}})
	b.must(b.server.Broker().Advance(45 * time.Minute))
	r, m := b.receiver(b.client.NewReceiverForQueue("work", &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete}))
	b.must(r.Close(t.Context()))
	if m.MessageID != "m" {
		t.Errorf("received %q", m.MessageID)
	}
	b.must(b.server.Broker().Advance(time.Hour))
	all := b.end()
	got := names(all)
	for _, want := range []string{"send events", "schedule events", "forward events/Subscriptions/kitchen", "wait work", "receive work",
		"wait events/Subscriptions/all", "expire events/Subscriptions/all"} {
		if i := slices.Index(got, want); i < 0 || hex(all[i].TraceId) != traceID || i > 0 && hex(all[i].ParentSpanId) != hex(all[0].SpanId) {
			t.Errorf("no span %s in the trace: %q", want, got)
		}
	}
	if i := slices.Index(got, "wait events/Subscriptions/all"); i >= 0 {
		took := time.Duration(all[i].EndTimeUnixNano - all[i].StartTimeUnixNano)
		if took < 59*time.Minute || took > 61*time.Minute || all[i].attributes["messaging.destination.subscription.name"] != "all" || all[i].attributes["messaging.destination.name"] != "events" {
			t.Errorf("it waited %v in %v", took, all[i].attributes)
		}
	}
}

// TestASenderThatIsNotSampled has no spans of the broker either.
func TestASenderThatIsNotSampled(t *testing.T) {
	b := start(t, `{"UserConfig": {"Namespaces": [{"Name": "shop", "Queues": [{"Name": "orders"}, {"Name": "seeded"}]}]}}`, "seeded")
	b.send("orders", &azservicebus.Message{ApplicationProperties: map[string]any{"traceparent": strings.TrimSuffix(context55, "1") + "0"}})
	b.send("orders", &azservicebus.Message{ApplicationProperties: map[string]any{"traceparent": "no trace"}})
	all := b.end()
	if got := names(all); !slices.Equal(got, []string{"send seeded", "send orders"}) {
		t.Fatalf("the spans are %q", got)
	}
	if all = all[1:]; len(all[0].ParentSpanId) != 0 || hex(all[0].TraceId) == traceID {
		t.Errorf("the spans are %v", all)
	}
}

// TestACollectorThatFails costs nobody anything but its spans, which are counted.
func TestACollectorThatFails(t *testing.T) {
	b := start(t, `{"UserConfig": {"Namespaces": [{"Name": "shop", "Queues": [{"Name": "orders"}]}]}}`)
	b.collector.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	for range 3 {
		b.send("orders", &azservicebus.Message{})
	}
	if all := b.end(); len(all) != 0 {
		t.Errorf("it got %v", all)
	}
	if log := b.log.String(); !strings.Contains(log, "403 Forbidden") || !strings.Contains(log, "dropped=") {
		t.Errorf("the log is %s", log)
	}
}

// TestACollectorThatHangs does not hold up the broker, and the end has a bound. What the record forgets meanwhile is counted.
func TestACollectorThatHangs(t *testing.T) {
	b := start(t, `{"UserConfig": {"Namespaces": [{"Name": "shop", "Queues": [{"Name": "orders"}]}]}}`)
	asked, release := make(chan struct{}, 100), make(chan struct{})
	b.collector.answer = func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	defer close(release)
	sender, err := b.client.NewSender("orders", nil)
	b.must(err)
	b.must(sender.SendMessage(t.Context(), &azservicebus.Message{}, nil))
	<-asked
	record := b.server.Namespace().History().Record()
	for record.Oldest() == 1 { // until the record has forgotten what was not sent
		batch, err := sender.NewMessageBatch(t.Context(), nil)
		b.must(err)
		for range 1000 {
			b.must(batch.AddMessage(&azservicebus.Message{MessageID: new(strings.Repeat("x", 100))}, nil))
		}
		b.must(sender.SendMessageBatch(t.Context(), batch, nil))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := b.tracer.Close(ctx); err == nil || !strings.Contains(err.Error(), b.collector.URL) {
		t.Errorf("the end says %v", err)
	}
	if log := b.log.String(); !strings.Contains(log, "spans were dropped") {
		t.Errorf("the log is %s", log)
	}
}
