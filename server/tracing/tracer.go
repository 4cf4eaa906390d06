package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"minibus/emulator"
)

// Options say where spans go.
type Options struct {
	URL     string // of the collector, such as http://localhost:4318
	Headers string // of its requests, such as "api-key=secret,tenant=a"
	Version string // of Minibus
	Logger  *slog.Logger
}

// Times and sizes. The record is the queue, so a batch that waits takes no further memory.
const (
	gathering   = 200 * time.Millisecond // between two looks at the record
	fullBatch   = 512                    // spans
	sendingTime = 10 * time.Second       // for one batch, with its repetitions
	complaints  = time.Minute            // between two lines in the log about spans that were dropped
)

// Tracer sends spans until Close.
type Tracer struct {
	broker   *emulator.Broker
	record   *emulator.Record
	log      *slog.Logger
	url      string
	exporter sdk.SpanExporter
	spans    *spans
	stop     chan struct{} // closed by Close
	stopped  chan struct{} // closed at the end of the goroutine
	sending  context.Context
	cut      context.CancelFunc // ends sending

	// owned by the goroutine
	next       int64 // number of the first event that was not looked at
	batch      []sdk.ReadOnlySpan
	dropped    int64 // spans and events since the last complaint
	reason     error // of the last batch that was dropped
	complained time.Time
}

// Start begins with what the record has, such as messages of --seed. The broker must have a record.
func Start(b *emulator.Broker, o Options) (*Tracer, error) {
	record := b.Default().History().Record()
	if record == nil {
		return nil, errors.New("traces need the history: leave --history off out, or --otlp")
	}
	client, err := newClient(o)
	if err != nil {
		return nil, err
	}
	t := &Tracer{
		broker: b, record: record, log: o.Logger, url: client.url, exporter: otlptrace.NewUnstarted(client),
		stop: make(chan struct{}), stopped: make(chan struct{}), next: record.Oldest(),
	}
	t.sending, t.cut = context.WithCancel(context.Background())
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(collector{t}), sdk.WithResource(resource.NewSchemaless(
		semconv.ServiceName("minibus"), semconv.ServiceVersion(o.Version))))
	t.spans = newSpans(provider.Tracer("minibus"), t.nameOf)
	go t.run()
	return t, nil
}

// Close sends what is left, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	close(t.stop)
	defer t.cut()
	select {
	case <-t.stopped:
		return nil
	case <-ctx.Done():
		t.cut()
		<-t.stopped
		return fmt.Errorf("send the last spans to %s: %w", t.url, ctx.Err())
	}
}

func (t *Tracer) run() {
	defer close(t.stopped)
	for last := false; !last; {
		changed, done := t.record.Changed(t.next)
		select {
		case <-changed:
		case <-t.stop:
			last = true
		}
		done()
		t.catchUp()
		select {
		case <-time.After(gathering):
		case <-t.stop:
		}
	}
	t.complained = time.Time{}
	t.complain()
}

// catchUp makes spans of the events that there are, until sending ends. It looks at the record anew after each batch:
// while a batch is being sent, nothing keeps events that the record forgets.
func (t *Tracer) catchUp() {
	for more := true; more; {
		if t.sending.Err() != nil { // there is no time left
			t.dropped += t.record.Next() - t.next
			return
		}
		if missed := t.record.Oldest() - t.next; missed > 0 {
			t.dropped += missed
			t.next += missed
		}
		all, next := t.record.Events(t.next)
		more = false
		for e := range all {
			if t.spans.follow(&e); len(t.batch) >= fullBatch {
				next, more = e.Number+1, true
				break
			}
		}
		t.next = next
		t.send()
		t.dropped += t.spans.forgotten()
		t.complain()
	}
}

// send sends the batch, or drops it.
func (t *Tracer) send() {
	if len(t.batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(t.sending, sendingTime)
	defer cancel()
	if err := t.exporter.ExportSpans(ctx, t.batch); err != nil {
		t.dropped += int64(len(t.batch))
		t.reason = err
	}
	clear(t.batch)
	t.batch = t.batch[:0]
}

// complain logs once in a while how much was dropped.
func (t *Tracer) complain() {
	if t.dropped == 0 || time.Since(t.complained) < complaints {
		return
	}
	reason := "the collector is slow, or too many messages wait"
	if t.reason != nil {
		reason = t.reason.Error()
	}
	t.log.Warn("spans were dropped", "collector", t.url, "dropped", t.dropped, "reason", reason)
	t.dropped, t.reason, t.complained = 0, nil, time.Now()
}

// nameOf returns the name of a namespace.
func (t *Tracer) nameOf(id int64) string {
	for _, ns := range t.broker.Namespaces() {
		if ns.ID() == id {
			return ns.Name()
		}
	}
	return ""
}

// collector puts the spans that end into the batch. They end on the tracer's goroutine.
type collector struct{ *Tracer }

// OnStart implements sdk.SpanProcessor.
func (collector) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd implements sdk.SpanProcessor.
func (c collector) OnEnd(s sdk.ReadOnlySpan) { c.batch = append(c.batch, s) }

// Shutdown implements sdk.SpanProcessor.
func (collector) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdk.SpanProcessor.
func (collector) ForceFlush(context.Context) error { return nil }
