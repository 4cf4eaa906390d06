package message_test

import (
	"reflect"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// marshalled is a message as go-amqp sends it, scanned.
func marshalled(t *testing.T, m *goamqp.Message) message.Message {
	t.Helper()
	raw, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	scanned, err := message.Scan(raw)
	if err != nil {
		t.Fatalf("scan % x: %v", raw, err)
	}
	return scanned
}

// delivered is a message as go-amqp reads it after a patch.
func delivered(t *testing.T, p message.Patch, m message.Message) *goamqp.Message {
	t.Helper()
	var out goamqp.Message
	if raw := p.Append(nil, &m); out.UnmarshalBinary(raw) != nil {
		t.Fatalf("go-amqp can't read % x", raw)
	}
	return &out
}

func ref[T any](v T) *T { return &v }

// TestForeign_Info reads what the broker needs from messages of go-amqp.
func TestForeign_Info(t *testing.T) {
	at := time.UnixMilli(1772359200000).UTC()
	for name, c := range map[string]struct {
		m    *goamqp.Message
		want message.Info
	}{
		"nothing":               {goamqp.NewMessage(nil), message.Info{}},
		"a text as message-id":  {&goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: "id"}}, message.Info{MessageID: "id", HasMessageID: true}},
		"a number":              {&goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: uint64(7)}}, message.Info{MessageID: "7", HasMessageID: true}},
		"a uuid":                {&goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: goamqp.UUID{0xab}}}, message.Info{MessageID: "ab000000-0000-0000-0000-000000000000", HasMessageID: true}},
		"a binary":              {&goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: []byte{1, 0xff}}}, message.Info{MessageID: "01ff", HasMessageID: true}},
		"a session":             {&goamqp.Message{Properties: &goamqp.MessageProperties{GroupID: ref("s")}}, message.Info{GroupID: "s", HasGroupID: true}},
		"the empty session":     {&goamqp.Message{Properties: &goamqp.MessageProperties{GroupID: ref("")}}, message.Info{HasGroupID: true}},
		"a time to live":        {&goamqp.Message{Header: &goamqp.MessageHeader{TTL: time.Minute}}, message.Info{TTL: 60_000}},
		"a schedule":            {&goamqp.Message{Annotations: goamqp.Annotations{"x-opt-scheduled-enqueue-time": at}}, message.Info{Scheduled: 1772359200000, HasScheduled: true}},
		"a partition key":       {&goamqp.Message{Annotations: goamqp.Annotations{"x-opt-partition-key": "k"}}, message.Info{PartitionKey: "k", HasPartitionKey: true}},
		"a key for a transfer":  {&goamqp.Message{Annotations: goamqp.Annotations{"x-opt-via-partition-key": "v"}}, message.Info{ViaPartitionKey: "v", HasViaPartitionKey: true}},
		"a foreign annotation":  {&goamqp.Message{Annotations: goamqp.Annotations{"x": int64(1), int64(5): "y"}}, message.Info{}},
		"the broker's own ones": {&goamqp.Message{Annotations: goamqp.Annotations{"x-opt-sequence-number": int64(1), "x-opt-enqueued-time": at}}, message.Info{}},
	} {
		m := marshalled(t, c.m)
		got, err := m.Info()
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// TestForeign_ADeliveryAsGoAMQPReadsIt: what the broker adds, and what the sender gave.
func TestForeign_ADeliveryAsGoAMQPReadsIt(t *testing.T) {
	sent := marshalled(t, &goamqp.Message{
		Header:                &goamqp.MessageHeader{Durable: true, Priority: 7, DeliveryCount: 99},
		DeliveryAnnotations:   goamqp.Annotations{"d": true},
		Annotations:           goamqp.Annotations{"x": int32(5), "x-opt-sequence-number": int64(1), "x-opt-partition-key": "k"},
		Properties:            &goamqp.MessageProperties{MessageID: "id", Subject: ref("s"), ContentType: ref("text/plain")},
		ApplicationProperties: map[string]any{"color": "red", "size": int64(3)},
		Data:                  [][]byte{[]byte("a"), []byte("b")},
		Footer:                goamqp.Annotations{"f": "end"},
	})
	added, err := message.EncodeProperties(amqp.Map{{Key: "size", Value: int32(4)}, {Key: "new", Value: true}})
	if err != nil {
		t.Fatal(err)
	}
	got := delivered(t, message.Patch{
		DeliveryCount: 2, TTL: 60_000, SequenceNumber: 42, EnqueuedTime: 1772359200000, LockedUntil: 1772359230000, HasLockedUntil: true,
		EnqueuedSequenceNumber: 40, HasEnqueuedSequenceNumber: true, State: 1, HasState: true, PartitionID: 3, HasPartitionID: true,
		DeadLetterSource: "src", LockToken: message.UUID{9}, HasLockToken: true, Properties: added,
	}, sent)
	at := time.UnixMilli(1772359200000).UTC()
	utc := func(v any) any {
		if at, isTime := v.(time.Time); isTime {
			return at.UTC()
		}
		return v
	}
	for name, c := range map[string][2]any{
		"durable":                    {got.Header.Durable, true},
		"priority":                   {got.Header.Priority, uint8(7)},
		"delivery-count":             {got.Header.DeliveryCount, uint32(2)},
		"ttl":                        {got.Header.TTL, time.Minute},
		"the sender's delivery note": {got.DeliveryAnnotations["d"], true},
		"the lock token":             {got.DeliveryAnnotations["x-opt-lock-token"], goamqp.UUID{9}},
		"the sender's annotation":    {got.Annotations["x"], int32(5)},
		"the partition key":          {got.Annotations["x-opt-partition-key"], "k"},
		"the number":                 {got.Annotations["x-opt-sequence-number"], int64(42)},
		"the first number":           {got.Annotations["x-opt-enqueue-sequence-number"], int64(40)},
		"the enqueued time":          {utc(got.Annotations["x-opt-enqueued-time"]), at},
		"the end of the lock":        {utc(got.Annotations["x-opt-locked-until"]), at.Add(30 * time.Second)},
		"the state":                  {got.Annotations["x-opt-message-state"], int32(1)},
		"the partition":              {got.Annotations["x-opt-partition-id"], int16(3)},
		"the source":                 {got.Annotations["x-opt-deadletter-source"], "src"},
		"message-id":                 {got.Properties.MessageID, "id"},
		"subject":                    {*got.Properties.Subject, "s"},
		"content-type":               {*got.Properties.ContentType, "text/plain"},
		"creation-time":              {got.Properties.CreationTime.UTC(), at},
		"absolute-expiry-time":       {got.Properties.AbsoluteExpiryTime.UTC(), at.Add(time.Minute)},
		"application properties":     {got.ApplicationProperties, map[string]any{"color": "red", "size": int32(4), "new": true}},
		"the body":                   {got.Data, [][]byte{[]byte("a"), []byte("b")}},
		"the footer":                 {got.Footer["f"], "end"},
	} {
		if !reflect.DeepEqual(c[0], c[1]) {
			t.Errorf("%s is %#v, want %#v", name, c[0], c[1])
		}
	}
}

// TestForeign_APlainDelivery has no more than it must.
func TestForeign_APlainDelivery(t *testing.T) {
	got := delivered(t, message.Patch{SequenceNumber: 1, EnqueuedTime: 5, MessageID: "made"}, marshalled(t, goamqp.NewMessage([]byte("x"))))
	if len(got.Annotations) != 2 || got.DeliveryAnnotations != nil || got.ApplicationProperties != nil || got.Footer != nil {
		t.Errorf("%+v", got)
	}
	if got.Properties == nil || got.Properties.MessageID != "made" || got.Properties.CreationTime != nil {
		t.Errorf("properties: %+v", got.Properties)
	}
	if got.Header.DeliveryCount != 0 || got.Header.TTL != 0 || string(got.GetData()) != "x" {
		t.Errorf("%+v, %q", got.Header, got.GetData())
	}
}

// TestForeign_BatchesOfGoAMQP are envelopes with a whole message in each data section.
func TestForeign_BatchesOfGoAMQP(t *testing.T) {
	var envelope goamqp.Message
	for _, id := range []string{"a", "b", "c"} {
		raw, err := (&goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: id}, Data: [][]byte{[]byte("body of " + id)}}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		envelope.Data = append(envelope.Data, raw)
	}
	raw, err := envelope.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	list, err := message.Batch(raw)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d messages, %v", len(list), err)
	}
	for i, m := range list {
		id := string(rune('a' + i))
		info, err := m.Info()
		if err != nil || info.MessageID != id || !m.Part {
			t.Errorf("%d: %+v, %v", i, info, err)
		}
		if got := delivered(t, message.Patch{SequenceNumber: 1}, m); string(got.GetData()) != "body of "+id {
			t.Errorf("%d: %q", i, got.GetData())
		}
	}
}

// TestForeign_AnnouncedIsTheLength of messages of which only the beginning has come.
func TestForeign_AnnouncedIsTheLength(t *testing.T) {
	for name, m := range map[string]*goamqp.Message{
		"data":       goamqp.NewMessage(make([]byte, 5000)),
		"a value":    {Value: string(make([]byte, 5000))},
		"properties": {ApplicationProperties: map[string]any{"k": string(make([]byte, 5000))}},
		"behind a header": {Header: &goamqp.MessageHeader{Durable: true}, Properties: &goamqp.MessageProperties{MessageID: "id"},
			Data: [][]byte{make([]byte, 5000)}},
	} {
		raw, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if got := message.Announced(raw[:100]); got != uint64(len(raw)) {
			t.Errorf("%s: %d of %d bytes", name, got, len(raw))
		}
	}
}
