package message_test

import (
	"errors"
	"math"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func info(t *testing.T, raw []byte) message.Info {
	t.Helper()
	in, err := scan(t, raw).Info()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestInfo_NothingThere(t *testing.T) {
	if in := info(t, nil); in != (message.Info{}) {
		t.Errorf("got %+v", in)
	}
	if in := info(t, join(header(t), annotations(t, nil), properties(t), data(t, "x"))); in != (message.Info{}) {
		t.Errorf("got %+v", in)
	}
}

func TestInfo_EverythingThere(t *testing.T) {
	props := make([]any, 11)
	props[message.PropertyMessageID], props[message.PropertyGroupID] = "id", "session"
	in := info(t, join(header(t, nil, nil, uint32(5000)), properties(t, props...), annotations(t, amqp.Map{
		{Key: amqp.Symbol("x-opt-partition-key"), Value: "pk"},
		{Key: "x-opt-via-partition-key", Value: "via"},
		{Key: []byte("x-opt-scheduled-enqueue-time"), Value: amqp.Timestamp(99)},
		{Key: uint64(4), Value: "a key that is no text"},
	})))
	want := message.Info{MessageID: "id", HasMessageID: true, GroupID: "session", HasGroupID: true, PartitionKey: "pk", HasPartitionKey: true,
		ViaPartitionKey: "via", HasViaPartitionKey: true, TTL: 5000, Scheduled: 99, HasScheduled: true}
	if in != want {
		t.Errorf("got %+v, want %+v", in, want)
	}
}

func TestDUP11_MessageIDHasOneTextForEveryType(t *testing.T) {
	uuid := amqp.UUID(unhex(t, "b5dc4a70ac5d43b3b132ec8fcdac3a9d"))
	for _, c := range []struct {
		id   any
		want string
	}{
		{"Text", "Text"}, {"", ""}, {amqp.Symbol("sym"), "sym"}, {uuid, "b5dc4a70-ac5d-43b3-b132-ec8fcdac3a9d"},
		{uint64(math.MaxUint64), "18446744073709551615"}, {uint64(0), "0"}, {uint32(7), "7"}, {int64(-7), "-7"}, {[]byte{0xAB, 1}, "ab01"},
	} {
		if in := info(t, properties(t, c.id)); in.MessageID != c.want || !in.HasMessageID {
			t.Errorf("%T: got %q, %v", c.id, in.MessageID, in.HasMessageID)
		}
	}
	if in := info(t, properties(t, nil, "user")); in.HasMessageID {
		t.Error("null is no message-id")
	}
}

func TestSESS2_EmptyGroupIDIsASession(t *testing.T) {
	props := make([]any, 11)
	if in := info(t, properties(t, props...)); in.HasGroupID {
		t.Error("null group-id is no session")
	}
	props[message.PropertyGroupID] = ""
	if in := info(t, properties(t, props...)); !in.HasGroupID || in.GroupID != "" {
		t.Errorf("got %q, %v", in.GroupID, in.HasGroupID)
	}
}

func TestEXP16_ZeroTTLIsNone(t *testing.T) {
	for _, ttl := range []any{nil, uint32(0), uint64(0), int32(0)} {
		if in := info(t, header(t, nil, nil, ttl)); in.TTL != 0 {
			t.Errorf("%T: %d", ttl, in.TTL)
		}
	}
	for _, ttl := range []any{uint32(1500), uint64(1500), int64(1500), uint16(1500)} {
		if in := info(t, header(t, nil, nil, ttl)); in.TTL != 1500 {
			t.Errorf("%T: %d", ttl, in.TTL)
		}
	}
}

func TestEXP17_LongTTLIsTheDifferenceOfTheTimes(t *testing.T) {
	const days60 = 60 * 24 * 3600 * 1000
	at := func(ttl uint32, expiry, creation any) []byte {
		props := make([]any, 10)
		props[message.PropertyAbsoluteExpiryTime], props[message.PropertyCreationTime] = expiry, creation
		return join(properties(t, props...), header(t, nil, nil, ttl))
	}
	for _, c := range []struct {
		name             string
		ttl              uint32
		expiry, creation any
		want             int64
	}{
		{"both times", math.MaxUint32, amqp.Timestamp(1000 + days60), amqp.Timestamp(1000), days60},
		{"short ttl wins over the times", 1500, amqp.Timestamp(1000 + days60), amqp.Timestamp(1000), 1500},
		{"no ttl, the times have no effect", 0, amqp.Timestamp(1000 + days60), amqp.Timestamp(1000), 0},
		{"no creation", math.MaxUint32, amqp.Timestamp(1000), nil, math.MaxUint32},
		{"no expiry", math.MaxUint32, nil, amqp.Timestamp(1000), math.MaxUint32},
		{"expired before created", math.MaxUint32, amqp.Timestamp(1), amqp.Timestamp(1000), math.MaxUint32},
		{"difference overflows", math.MaxUint32, amqp.Timestamp(math.MaxInt64), amqp.Timestamp(math.MinInt64), math.MaxUint32},
	} {
		if in := info(t, at(c.ttl, c.expiry, c.creation)); in.TTL != c.want {
			t.Errorf("%s: got %d, want %d", c.name, in.TTL, c.want)
		}
	}
}

func TestPROP13_Refusals(t *testing.T) {
	group := make([]any, 11)
	group[message.PropertyGroupID] = uint64(1)
	for name, c := range map[string]struct {
		raw []byte
		key string
	}{
		"null scheduled time":    {annotations(t, one("x-opt-scheduled-enqueue-time", nil)), "x-opt-scheduled-enqueue-time"},
		"scheduled time as long": {annotations(t, one("x-opt-scheduled-enqueue-time", int64(5))), "x-opt-scheduled-enqueue-time"},
		"scheduled time as text": {annotations(t, one("x-opt-scheduled-enqueue-time", "5")), "x-opt-scheduled-enqueue-time"},
		"null state":             {annotations(t, one("x-opt-message-state", nil)), "x-opt-message-state"},
		"null enqueue number":    {annotations(t, one("x-opt-enqueue-sequence-number", nil)), "x-opt-enqueue-sequence-number"},
		"partition key a number": {annotations(t, one("x-opt-partition-key", 5)), "x-opt-partition-key"},
		"partition key no UTF-8": {annotations(t, one("x-opt-partition-key", []byte{0xff})), "x-opt-partition-key"},
		"via key a number":       {annotations(t, one("x-opt-via-partition-key", 5)), "x-opt-via-partition-key"},
		"message-id a float":     {properties(t, 1.5), "message-id"},
		"message-id a time":      {properties(t, amqp.Timestamp(1)), "message-id"},
		"group-id a number":      {properties(t, group...), "group-id"},
		"ttl negative":           {header(t, nil, nil, int32(-1)), "ttl"},
		"ttl text":               {header(t, nil, nil, "5"), "ttl"},
		"durable a number":       {header(t, uint8(1)), "durable"},
	} {
		_, err := scan(t, c.raw).Info()
		var p *message.PropertyError
		if !errors.As(err, &p) || p.Key != c.key || p.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPROP13_SEQ7_BrokerAnnotationsOfASenderAreIgnored(t *testing.T) {
	for _, v := range []any{nil, int64(5), "text", 1.5, amqp.List{}} {
		in := info(t, annotations(t, amqp.Map{
			{Key: amqp.Symbol("x-opt-sequence-number"), Value: v}, {Key: amqp.Symbol("x-opt-locked-until"), Value: v},
			{Key: amqp.Symbol("x-opt-enqueued-time"), Value: v}, {Key: amqp.Symbol("x-opt-deadletter-source"), Value: v},
		}))
		if in != (message.Info{}) {
			t.Errorf("%v: %+v", v, in)
		}
	}
	if in := info(t, annotations(t, one("x-opt-partition-key", nil))); in.HasPartitionKey {
		t.Error("null partition key is none")
	}
}

func TestPROP13_ReceivedMessageSentAgainIsAccepted(t *testing.T) {
	p := message.Patch{SequenceNumber: 9, EnqueuedTime: 1000, LockedUntil: 2000, HasLockedUntil: true, EnqueuedSequenceNumber: 3,
		HasEnqueuedSequenceNumber: true, State: 1, HasState: true, PartitionID: 2, HasPartitionID: true, DeadLetterSource: "q",
		HasLockToken: true, TTL: 5000, DeliveryCount: 4}
	again := patched(t, p, full(t))
	in, err := again.Info()
	if err != nil || in.MessageID != "id" || in.PartitionKey != "pk" || in.TTL != 5000 || in.HasScheduled {
		t.Errorf("got %+v, %v", in, err)
	}
	out := patched(t, message.Patch{SequenceNumber: 1, EnqueuedTime: 5}, again.Raw)
	got := annotationsOf(t, out, out.MessageAnnotations)
	for key, want := range map[string]any{
		"x-opt-sequence-number": int64(1), "x-opt-enqueued-time": amqp.Timestamp(5), "x-opt-deadletter-source": "q", "x-opt-partition-key": "pk",
		"x-user": int32(1),
	} {
		if v, _ := got.Get(key); v != want {
			t.Errorf("%s: got %v, want %v", key, v, want)
		}
	}
	if len(got) != 5 || len(annotationsOf(t, out, out.DeliveryAnnotations)) != 1 {
		t.Errorf("leftovers of the first delivery: %v, %v", got, annotationsOf(t, out, out.DeliveryAnnotations))
	}
}
