package tracing

import (
	"container/list"
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"minibus/emulator"
)

// spans makes spans of events. Each message has a span for its sending, a child of the sender's, and below it one for
// each wait, each lock and whatever else happens to it or to a copy.
type spans struct {
	tracer trace.Tracer
	nameOf func(namespace int64) string // empty: it is gone
	names  map[int64]string

	messages  map[body]*followed
	order     *list.List // of *followed, the oldest first
	positions map[position]*stay
	lost      int64 // messages forgotten since the last look
}

// Bounds of what is remembered. The oldest messages are forgotten.
const (
	mostFollowed = 100_000 // messages and positions of them and their copies
	mostNames    = 10_000  // namespaces
)

// body identifies the body that all copies of a message share.
type body struct{ namespace, id int64 }

// position is where a message or a copy is.
type position struct {
	namespace int64
	entity    string
	sub       emulator.SubQueue
	sequence  int64
}

// followed is a message that is somewhere.
type followed struct {
	body      body
	id        string          // message id; empty: unknown
	parent    context.Context // of its spans; nil before the first one
	coming    int             // copies that were announced and have not come: of a topic, or one that is forwarded
	positions map[position]struct{}
	element   *list.Element
}

// stay is a message's time in one place.
type stay struct {
	of       *followed
	what     string // operation of the span
	since    int64  // ms
	client   string // that has it locked
	renewals int
}

// The operations, in the names and attributes of spans.
const (
	opSend       = "send"
	opSchedule   = "schedule"
	opWait       = "wait"
	opLock       = "lock"
	opReceive    = "receive"
	opDefer      = "defer"
	opForward    = "forward"
	opDeadLetter = "dead-letter"
	opExpire     = "expire"
	opCancel     = "cancel"
	opPurge      = "purge"
)

func newSpans(t trace.Tracer, nameOf func(int64) string) *spans {
	return &spans{tracer: t, nameOf: nameOf, names: make(map[int64]string), messages: make(map[body]*followed),
		order: list.New(), positions: make(map[position]*stay)}
}

// follow makes the spans that end with an event.
func (s *spans) follow(e *emulator.Event) {
	here := position{e.Namespace, e.Entity, e.Sub, e.Sequence}
	switch e.Kind {
	case emulator.EventSent:
		s.passed(here, e, s.sent(e))
	case emulator.EventScheduled:
		s.begin(here, s.sent(e), opSchedule, e)
	case emulator.EventDuplicate:
		s.span(&followed{id: e.MessageID}, opSend, e, e.At, "", attribute.Bool("minibus.duplicate", true))
	case emulator.EventCopied, emulator.EventForwardedHere:
		f := s.of(e)
		f.coming--
		s.passed(here, e, f)
	case emulator.EventActivated:
		f := s.end(s.scheduled(here, e), e)
		if e.NextSequence != 0 {
			here.sequence = e.NextSequence
		}
		s.passed(here, e, f)
	case emulator.EventDelivered:
		if stay := s.begin(here, s.end(here, e), opLock, e); stay != nil {
			stay.client = clientName(e.Client)
		}
	case emulator.EventDeliveredDeleted:
		f := s.end(here, e)
		s.span(f, opReceive, e, e.At, "", semconv.MessagingOperationTypeReceive, clientID(clientName(e.Client)))
		s.endIfGone(f)
	case emulator.EventRenewed:
		if stay := s.positions[here]; stay != nil {
			stay.renewals++
		}
	case emulator.EventReturned:
		s.begin(here, s.of(e), opWait, e)
	case emulator.EventCompleted:
		s.endIfGone(s.end(here, e, semconv.MessagingServiceBusDispositionStatusComplete))
	case emulator.EventAbandoned:
		s.begin(here, s.end(here, e, semconv.MessagingServiceBusDispositionStatusAbandon), opWait, e)
	case emulator.EventReleased:
		s.begin(here, s.end(here, e, outcome("released")), opWait, e)
	case emulator.EventLockExpired:
		s.begin(here, s.end(here, e, outcome("lock expired")), opWait, e)
	case emulator.EventDeferred:
		s.begin(here, s.end(here, e, semconv.MessagingServiceBusDispositionStatusDefer), opDefer, e)
	case emulator.EventDeadLettered:
		f := s.end(here, e, semconv.MessagingServiceBusDispositionStatusDeadLetter)
		s.dead(here, e, f, opDeadLetter)
	case emulator.EventExpired:
		f := s.end(here, e)
		if e.Text != "" {
			s.dead(here, e, f, opExpire)
			return
		}
		s.span(f, opExpire, e, e.At, "the time to live was over")
		s.endIfGone(f)
	case emulator.EventForwarded:
		f := s.end(here, e)
		f.coming++
		s.span(f, opForward, e, e.At, "", attribute.String("minibus.forwarded_to", e.Text))
	case emulator.EventCancelled, emulator.EventPurged:
		operation := opPurge
		if e.Kind == emulator.EventCancelled {
			operation = opCancel
		}
		f := s.end(here, e)
		s.span(f, operation, e, e.At, "")
		s.endIfGone(f)
	}
}

// passed says that a message has arrived in a place, or goes through a topic, whose copies come.
func (s *spans) passed(here position, e *emulator.Event, f *followed) {
	if !e.Topic {
		s.begin(here, f, opWait, e)
		return
	}
	f.coming += e.Copies
	s.endIfGone(f)
}

// scheduled returns the place where a message that becomes active was scheduled. The event of a topic has its new
// number.
func (s *spans) scheduled(here position, e *emulator.Event) position {
	if e.Topic {
		for p := range s.of(e).positions {
			if p.entity == here.entity {
				return p
			}
		}
	}
	return here
}

// dead says why a message went to the dead-letter queue, where it waits.
func (s *spans) dead(here position, e *emulator.Event, f *followed, operation string) {
	s.span(f, operation, e, e.At, e.Text, attribute.String("minibus.dead_letter_reason", e.Text))
	here.sub = emulator.DeadLetter
	s.begin(here, f, opWait, e)
}

// sent makes the span of a message that was sent.
func (s *spans) sent(e *emulator.Event) *followed {
	if old := s.messages[body{e.Namespace, e.Body}]; old != nil {
		s.forget(old) // ids come again after a reset
	}
	f := s.of(e)
	f.id = strings.Clone(e.MessageID) // the event's keeps many others
	if e.TraceParent != "" {
		f.parent = propagation.TraceContext{}.Extract(context.Background(),
			propagation.MapCarrier{"traceparent": e.TraceParent})
	}
	more := []attribute.KeyValue{semconv.MessagingOperationTypeSend}
	if e.Topic {
		more = append(more, attribute.Int("minibus.copies", e.Copies))
	}
	f.parent = s.span(f, opSend, e, e.At, "", more...)
	return f
}

// of returns the message of an event. One that was sent before the tracer began, or was forgotten, has a trace of its
// own from now on.
func (s *spans) of(e *emulator.Event) *followed {
	b := body{e.Namespace, e.Body}
	if f := s.messages[b]; f != nil {
		return f
	}
	for len(s.messages) > 0 && len(s.positions)+len(s.messages) >= mostFollowed {
		s.forget(s.order.Front().Value.(*followed))
		s.lost++
	}
	f := &followed{body: b, positions: make(map[position]struct{}, 1)}
	f.element = s.order.PushBack(f)
	s.messages[b] = f
	return f
}

func (s *spans) forget(f *followed) {
	for p := range f.positions {
		delete(s.positions, p)
	}
	delete(s.messages, f.body)
	s.order.Remove(f.element)
}

// forgotten returns how many messages were forgotten since the last call, because there were too many.
func (s *spans) forgotten() int64 {
	n := s.lost
	s.lost = 0
	return n
}

// endIfGone forgets a message that is nowhere.
func (s *spans) endIfGone(f *followed) {
	if len(f.positions) == 0 && f.coming <= 0 && s.messages[f.body] == f {
		s.forget(f)
	}
}

// begin says what a message does in a place from now on.
func (s *spans) begin(at position, f *followed, what string, e *emulator.Event) *stay {
	if old := s.positions[at]; old != nil {
		delete(old.of.positions, at)
	}
	stay := &stay{of: f, what: what, since: e.At}
	s.positions[at] = stay
	f.positions[at] = struct{}{}
	return stay
}

// end makes the span of what a message has done in a place, and returns the message. how is about a lock.
func (s *spans) end(at position, e *emulator.Event, how ...attribute.KeyValue) *followed {
	stay := s.positions[at]
	if stay == nil {
		return s.of(e)
	}
	f := stay.of
	delete(s.positions, at)
	delete(f.positions, at)
	failed := ""
	switch {
	case stay.what != opLock:
		how = nil
		if stay.since == e.At && e.Kind != emulator.EventDelivered && e.Kind != emulator.EventDeliveredDeleted {
			return f // it went on at once
		}
	case e.Kind == emulator.EventLockExpired:
		failed = "the lock expired"
	}
	if stay.client != "" {
		how = append(how, clientID(stay.client))
	}
	if stay.renewals > 0 {
		how = append(how, attribute.Int("minibus.renewals", stay.renewals))
	}
	s.span(f, stay.what, e, stay.since, failed, how...)
	return f
}

// span makes a span of a message until an event. failed says what went wrong, if anything did.
func (s *spans) span(f *followed, operation string, e *emulator.Event, since int64, failed string,
	more ...attribute.KeyValue) context.Context {
	kind := trace.SpanKindInternal
	if operation == opSend {
		kind = trace.SpanKindServer
	}
	parent := f.parent
	if parent == nil {
		parent = context.Background()
	}
	entity := e.Sub.Join(e.Entity)
	ctx, span := s.tracer.Start(parent, operation+" "+entity, trace.WithSpanKind(kind),
		trace.WithTimestamp(time.UnixMilli(since)), trace.WithAttributes(s.attributes(f, operation, entity, e)...),
		trace.WithAttributes(more...))
	if failed != "" {
		span.SetStatus(codes.Error, failed)
	}
	span.End(trace.WithTimestamp(time.UnixMilli(e.At)))
	ctx = trace.ContextWithSpanContext(context.Background(), trace.SpanContextFromContext(ctx)) // without the span
	if f.parent == nil {
		f.parent = ctx
	}
	return ctx
}

// attributes returns those that all spans have, by the names of OpenTelemetry's conventions where there is one.
func (s *spans) attributes(f *followed, operation, entity string, e *emulator.Event) []attribute.KeyValue {
	topic, subscription := cutSubscription(entity)
	all := []attribute.KeyValue{semconv.MessagingSystemServiceBus, semconv.MessagingOperationName(operation),
		semconv.MessagingDestinationName(topic)}
	if subscription != "" {
		all = append(all, semconv.MessagingDestinationSubscriptionName(subscription))
	}
	if f.id != "" {
		all = append(all, semconv.MessagingMessageID(f.id))
	}
	if e.DeliveryCount > 0 {
		all = append(all, semconv.MessagingServiceBusMessageDeliveryCount(int(e.DeliveryCount)))
	}
	if e.Sequence != 0 {
		all = append(all, attribute.Int64("minibus.sequence_number", e.Sequence))
	}
	if name := s.namespace(e.Namespace); name != "" {
		all = append(all, attribute.String("minibus.namespace", name))
	}
	return all
}

// namespace returns the name of a namespace, also of one that is gone by now.
func (s *spans) namespace(id int64) string {
	name, ok := s.names[id]
	if ok {
		return name
	}
	if len(s.names) >= mostNames {
		clear(s.names)
	}
	name = s.nameOf(id)
	s.names[id] = name
	return name
}

// cutSubscription cuts the path of a subscription, or of a sub-queue of one, into its topic and the rest.
func cutSubscription(path string) (topic, rest string) {
	const between = "/subscriptions/"
	for i := range path {
		if len(path)-i >= len(between) && strings.EqualFold(path[i:i+len(between)], between) {
			return path[:i], path[i+len(between):]
		}
	}
	return path, ""
}

func outcome(text string) attribute.KeyValue { return attribute.String("minibus.outcome", text) }

func clientID(name string) attribute.KeyValue { return semconv.MessagingClientID(name) }

// clientName returns the name that a client gives itself.
func clientName(c *emulator.Client) string {
	switch {
	case c == nil:
		return ""
	case c.Container != "":
		return c.Container
	}
	return c.Remote
}
