package message_test

import (
	"reflect"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func TestTOP6_SystemOverlayReplacesWhatTheSenderGave(t *testing.T) {
	raw := join(header(t, true, nil, uint32(9000)),
		annotations(t, amqp.Map{{Key: amqp.Symbol("x-opt-partition-key"), Value: "old"}, {Key: amqp.Symbol("x-opt-via-partition-key"), Value: "gone"},
			{Key: amqp.Symbol("x-opt-scheduled-enqueue-time"), Value: amqp.Timestamp(5)}, {Key: amqp.Symbol("x-user"), Value: "u"}}),
		properties(t, amqp.UUID{1}, []byte("user"), "to", "subject", nil, "correlation"), data(t, "x"))
	system := encode(t, amqp.Map{
		{Key: message.SystemMessageID, Value: "new"}, {Key: message.SystemTo, Value: nil}, {Key: message.SystemReplyTo, Value: "rt"},
		{Key: message.SystemContentType, Value: "ct"}, {Key: message.SystemSessionID, Value: "s"}, {Key: message.SystemReplyToSessionID, Value: "rs"},
		{Key: message.SystemPartitionKey, Value: "pk"}, {Key: message.SystemViaPartitionKey, Value: nil}, {Key: message.SystemScheduled, Value: amqp.Timestamp(7)},
	})
	m := patched(t, message.Patch{SequenceNumber: 1, EnqueuedTime: 2, MessageID: "made", System: system}, raw)
	want := amqp.List{"new", []byte("user"), nil, "subject", "rt", "correlation", "ct", nil, nil, nil, "s", nil, "rs"}
	if got := fieldsOf(t, m, m.Properties); !reflect.DeepEqual(got, want) {
		t.Errorf("properties %v, want %v", got, want)
	}
	wantKeys := map[string]any{"x-user": "u", "x-opt-partition-key": "pk", "x-opt-scheduled-enqueue-time": amqp.Timestamp(7),
		"x-opt-sequence-number": int64(1), "x-opt-enqueued-time": amqp.Timestamp(2)}
	if got := keys(annotationsOf(t, m, m.MessageAnnotations)); !reflect.DeepEqual(got, wantKeys) {
		t.Errorf("annotations %v, want %v", got, wantKeys)
	}
	if text(*m, m.Body) != string(data(t, "x")) {
		t.Errorf("body % x", m.Raw)
	}
}

func TestTOP6_PROP10_ClearedMessageIDIsMade(t *testing.T) {
	system := encode(t, amqp.Map{{Key: message.SystemMessageID, Value: nil}})
	for _, raw := range [][]byte{nil, properties(t, "id")} {
		m := patched(t, message.Patch{MessageID: "made", System: system}, raw)
		if id, err := m.Property(message.PropertyMessageID); err != nil || id != "made" {
			t.Errorf("id %v, %v", id, err)
		}
	}
	m := patched(t, message.Patch{MessageID: "made", System: encode(t, amqp.Map{{Key: message.SystemLabel, Value: "l"}})}, properties(t, "id"))
	if id, _ := m.Property(message.PropertyMessageID); id != "id" {
		t.Errorf("id %v", id)
	}
}

func TestTOP6_PROP5_ClearedTimeToLiveTakesTheTimesAlong(t *testing.T) {
	raw := properties(t, "id", nil, nil, nil, nil, nil, nil, nil, amqp.Timestamp(9), amqp.Timestamp(4))
	cleared := encode(t, amqp.Map{{Key: message.SystemTimeToLive, Value: nil}})
	m := patched(t, message.Patch{System: cleared}, raw)
	if fields := fieldsOf(t, m, m.Properties); fields[8] != nil || fields[9] != nil {
		t.Errorf("properties %v", fields)
	}
	m = patched(t, message.Patch{System: cleared, TTL: 10, EnqueuedTime: 1}, raw) // the entity's own
	if fields := fieldsOf(t, m, m.Properties); fields[8] != amqp.Timestamp(11) || fields[9] != amqp.Timestamp(1) {
		t.Errorf("properties %v", fields)
	}
}

func TestTOP5_ReplacedApplicationProperties(t *testing.T) {
	raw := join(appProperties(t, amqp.Map{{Key: "a", Value: 1}, {Key: "b", Value: 2}}), data(t, "x"))
	replace := encode(t, amqp.Map{{Key: message.SystemReplace, Value: true}})
	m := patched(t, message.Patch{System: replace, Properties: encode(t, amqp.Map{{Key: "b", Value: 3}})}, raw)
	if got := annotationsOf(t, m, m.ApplicationProperties); !reflect.DeepEqual(got, amqp.Map{{Key: "b", Value: int64(3)}}) {
		t.Errorf("application properties %v", got)
	}
	m = patched(t, message.Patch{System: replace}, raw)
	if !m.ApplicationProperties.Empty() {
		t.Errorf("% x", m.Raw)
	}
}

func TestTOP6_InfoWithASystemOverlay(t *testing.T) {
	raw := join(header(t, nil, nil, uint32(9000)), properties(t, "old", nil, nil, nil, nil, nil, nil, nil, nil, nil, "s1"))
	before := info(t, raw)
	same := before
	same.Overlay(nil)
	if same != before {
		t.Errorf("without an overlay: %+v", same)
	}
	got := before
	got.Overlay(encode(t, amqp.Map{
		{Key: message.SystemMessageID, Value: amqp.UUID{}}, {Key: message.SystemSessionID, Value: nil}, {Key: message.SystemPartitionKey, Value: "pk"},
		{Key: message.SystemViaPartitionKey, Value: "via"}, {Key: message.SystemScheduled, Value: amqp.Timestamp(77)}, {Key: message.SystemTimeToLive, Value: uint64(50)},
	}))
	want := message.Info{MessageID: "00000000-0000-0000-0000-000000000000", HasMessageID: true, PartitionKey: "pk", HasPartitionKey: true,
		ViaPartitionKey: "via", HasViaPartitionKey: true, Scheduled: 77, HasScheduled: true, TTL: 50}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got.Overlay(encode(t, amqp.Map{{Key: message.SystemScheduled, Value: nil}, {Key: message.SystemTimeToLive, Value: nil}}))
	if got.HasScheduled || got.TTL != 0 {
		t.Errorf("cleared: %+v", got)
	}
}
