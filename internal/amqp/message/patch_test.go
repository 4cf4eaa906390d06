package message_test

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

const maxInstant = amqp.Timestamp(253402300800000)

func keys(m amqp.Map) map[string]any {
	out := map[string]any{}
	for _, p := range m {
		k, _ := amqp.AsString(p.Key)
		out[k] = p.Value
	}
	return out
}

func TestPROP1_PROP4_PlainDeliveryHasExactlyTheseAnnotations(t *testing.T) {
	raw := join(annotations(t, one("x-user", "u")), properties(t, "id"), data(t, "x"))
	m := patched(t, message.Patch{SequenceNumber: 7, EnqueuedTime: 1000, LockedUntil: 2000, HasLockedUntil: true, DeliveryCount: 0}, raw)
	want := amqp.Map{
		{Key: amqp.Symbol("x-user"), Value: "u"}, {Key: amqp.Symbol("x-opt-sequence-number"), Value: int64(7)},
		{Key: amqp.Symbol("x-opt-enqueued-time"), Value: amqp.Timestamp(1000)},
		{Key: amqp.Symbol("x-opt-locked-until"), Value: amqp.Timestamp(2000)},
	}
	if got := annotationsOf(t, m, m.MessageAnnotations); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := fieldsOf(t, m, m.Header); !reflect.DeepEqual(got, amqp.List{nil, nil, nil, nil, uint32(0)}) {
		t.Errorf("header is %v", got)
	}
	if !m.DeliveryAnnotations.Empty() || text(*m, m.Body) != string(data(t, "x")) {
		t.Errorf("got % x", m.Raw)
	}
}

func TestPROP2_PROP3_PROP6_PROP8_OptionalAnnotationsAndTheirTypes(t *testing.T) {
	token := amqp.UUID{1, 2, 3}
	m := patched(t, message.Patch{EnqueuedSequenceNumber: 5, HasEnqueuedSequenceNumber: true, State: 200, HasState: true,
		PartitionID: 3, HasPartitionID: true, DeadLetterSource: "a/b", LockToken: token, HasLockToken: true}, nil)
	got := keys(annotationsOf(t, m, m.MessageAnnotations))
	want := map[string]any{"x-opt-sequence-number": int64(0), "x-opt-enqueued-time": amqp.Timestamp(0),
		"x-opt-enqueue-sequence-number": int64(5), "x-opt-message-state": int32(200), "x-opt-partition-id": int16(3), "x-opt-deadletter-source": "a/b"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := annotationsOf(t, m, m.DeliveryAnnotations); !reflect.DeepEqual(got, one("x-opt-lock-token", token)) {
		t.Errorf("delivery annotations are %v", got)
	}
}

func TestSEQ7_SEQ17_PROP8_SendersBrokerAnnotationsAreReplacedOrDropped(t *testing.T) {
	raw := join(annotations(t, amqp.Map{
		{Key: amqp.Symbol("x-opt-sequence-number"), Value: int64(999)}, {Key: amqp.Symbol("x-opt-enqueued-time"), Value: nil},
		{Key: "x-first", Value: 1}, {Key: amqp.Symbol("x-opt-locked-until"), Value: "soon"},
		{Key: "x-opt-enqueue-sequence-number", Value: int64(5)}, {Key: []byte("x-opt-message-state"), Value: int32(1)},
		{Key: amqp.Symbol("x-opt-partition-id"), Value: int16(1)}, {Key: amqp.Symbol("x-last"), Value: 2},
	}), delivery(t, amqp.Map{{Key: amqp.Symbol("x-opt-lock-token"), Value: amqp.UUID{9}}, {Key: amqp.Symbol("omitted-message-body-size"), Value: 5}}))
	m := patched(t, message.Patch{SequenceNumber: 1, EnqueuedTime: 50}, raw)
	want := amqp.Map{{Key: "x-first", Value: int64(1)}, {Key: amqp.Symbol("x-last"), Value: int64(2)},
		{Key: amqp.Symbol("x-opt-sequence-number"), Value: int64(1)}, {Key: amqp.Symbol("x-opt-enqueued-time"), Value: amqp.Timestamp(50)}}
	if got := annotationsOf(t, m, m.MessageAnnotations); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !m.DeliveryAnnotations.Empty() {
		t.Errorf("delivery annotations: %v", annotationsOf(t, m, m.DeliveryAnnotations))
	}
}

func TestPROP7_PROP13_KeysAndScheduleAreEchoedAsSent(t *testing.T) {
	sent := amqp.Map{
		{Key: amqp.Symbol("x-opt-partition-key"), Value: nil}, {Key: amqp.Symbol("x-opt-via-partition-key"), Value: "via"},
		{Key: amqp.Symbol("x-opt-scheduled-enqueue-time"), Value: amqp.Timestamp(77)}, {Key: amqp.Symbol("x-opt-deadletter-source"), Value: nil},
	}
	m := patched(t, message.Patch{}, annotations(t, sent))
	if got := annotationsOf(t, m, m.MessageAnnotations)[:4]; !reflect.DeepEqual(got, sent) {
		t.Errorf("got %v, want %v", got, sent)
	}
	props := make([]any, 11)
	props[message.PropertyGroupID] = "session"
	m = patched(t, message.Patch{}, properties(t, props...))
	if _, ok := m.MessageAnnotation("x-opt-partition-key"); ok {
		t.Error("a session id made a partition key")
	}
	m = patched(t, message.Patch{DeadLetterSource: "queue"}, annotations(t, sent))
	if v, _ := m.MessageAnnotation("x-opt-deadletter-source"); v != "queue" {
		t.Errorf("dead-letter source is %v", v)
	}
}

func TestPROP5_TTLWritesHeaderAndBothTimes(t *testing.T) {
	user := make([]any, 13)
	user[message.PropertyMessageID], user[message.PropertyReplyToGroupID] = "id", "rg"
	user[message.PropertyAbsoluteExpiryTime], user[message.PropertyCreationTime] = amqp.Timestamp(5), amqp.Timestamp(4)
	for _, c := range []struct {
		name     string
		props    []byte
		ttl      int64
		header   any
		expiry   amqp.Timestamp
		wantSize int
	}{
		{"replaces the sender's", properties(t, user...), 60000, uint32(60000), 1060000, 13},
		{"extends a short list", properties(t, "id"), 60000, uint32(60000), 1060000, 10},
		{"without properties", nil, 60000, uint32(60000), 1060000, 10},
		{"longer than the header holds", nil, math.MaxUint32 + 1000, uint32(math.MaxUint32), 1000000 + math.MaxUint32 + 1000, 10},
		{"never later than clients can represent", nil, math.MaxInt64, uint32(math.MaxUint32), maxInstant, 10},
	} {
		p := message.Patch{TTL: c.ttl, EnqueuedTime: 1000000}
		m := patched(t, p, join(header(t, nil, nil, uint32(1)), c.props))
		fields := fieldsOf(t, m, m.Properties)
		if len(fields) != c.wantSize {
			t.Fatalf("%s: %d fields", c.name, len(fields))
		}
		if fields[message.PropertyCreationTime] != amqp.Timestamp(1000000) || fields[message.PropertyAbsoluteExpiryTime] != c.expiry {
			t.Errorf("%s: properties %v", c.name, fields)
		}
		if h := fieldsOf(t, m, m.Header); h[2] != c.header {
			t.Errorf("%s: header %v", c.name, h)
		}
		if c.wantSize == 13 && (fields[0] != "id" || fields[12] != "rg") {
			t.Errorf("%s: lost fields: %v", c.name, fields)
		}
	}
}

func TestPROP5_WithoutTTLNothingIsAddedAndTheSendersTimesStay(t *testing.T) {
	user := make([]any, 10)
	user[message.PropertyMessageID] = "id"
	user[message.PropertyAbsoluteExpiryTime], user[message.PropertyCreationTime] = amqp.Timestamp(5), amqp.Timestamp(4)
	for _, props := range [][]byte{properties(t, user...), properties(t, "id")} {
		m := patched(t, message.Patch{EnqueuedTime: 1000}, join(header(t, nil, nil, uint32(9)), props))
		if text(*m, m.Properties) != string(props) {
			t.Errorf("got % x, want % x", text(*m, m.Properties), props)
		}
		if h := fieldsOf(t, m, m.Header); h[2] != nil {
			t.Errorf("header has ttl %v", h[2])
		}
	}
}

func TestEXP17_LongTTLGoesOutAndComesBackIn(t *testing.T) {
	const days60 = 60 * 24 * 3600 * 1000
	m := patched(t, message.Patch{TTL: days60, EnqueuedTime: 1000}, nil)
	if in, err := m.Info(); err != nil || in.TTL != days60 {
		t.Errorf("got %d, %v", in.TTL, err)
	}
}

func TestPROP10_MessageIDIsMadeOnlyWhereThereIsNone(t *testing.T) {
	p := message.Patch{MessageID: "0123456789abcdef0123456789abcdef"}
	for name, props := range map[string][]byte{"no section": nil, "empty section": properties(t), "list0": unhex(t, "00 53 73 45"), "null": properties(t, nil, []byte("user"))} {
		m := patched(t, p, props)
		if id, err := m.Property(message.PropertyMessageID); id != p.MessageID || err != nil {
			t.Errorf("%s: id is %v, %v", name, id, err)
		}
		if user, _ := m.Property(message.PropertyUserID); name == "null" && !bytes.Equal(user.([]byte), []byte("user")) {
			t.Errorf("lost the user-id: %v", user)
		}
	}
	for _, id := range []any{"", "own", uint64(5), amqp.UUID{1}, []byte{2}} {
		m := patched(t, p, properties(t, id))
		if text(*m, m.Properties) != string(properties(t, id)) {
			t.Errorf("%T: properties changed to % x", id, text(*m, m.Properties))
		}
	}
	if m := patched(t, message.Patch{}, nil); m.Properties.Empty() {
		t.Error("no properties section without a message-id")
	}
}

func TestPROP9_PROP11_EverythingElsePassesThroughByteExact(t *testing.T) {
	described := amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: int64(5)}
	foot := footer(t, amqp.Map{{Key: amqp.Symbol("f"), Value: nil}})
	app := unhex(t, "00 53 74 c1 0a 02 a1 01 61 00 a3 01 74 55 05")
	mine := amqp.Map{{Key: amqp.Symbol("x-d"), Value: described}, {Key: amqp.Symbol("y"), Value: nil}}
	unknown := amqp.Map{{Key: amqp.Symbol("x-opt-other"), Value: nil}, {Key: amqp.Symbol("x"), Value: described}, {Key: uint64(8), Value: "n"}}
	// Footer and delivery annotations in unusual places, as some clients write them.
	m := patched(t, message.Patch{HasLockToken: true}, join(foot, annotations(t, unknown), data(t, "a"), data(t, "b"), app, delivery(t, mine)))
	if text(*m, m.Footer) != string(foot) || text(*m, m.ApplicationProperties) != string(app) || text(*m, m.Body) != string(join(data(t, "a"), data(t, "b"))) {
		t.Errorf("got % x", m.Raw)
	}
	if got := annotationsOf(t, m, m.DeliveryAnnotations); !reflect.DeepEqual(got[:2], mine) || len(got) != 3 {
		t.Errorf("delivery annotations: %v", got)
	}
	if got := annotationsOf(t, m, m.MessageAnnotations); !reflect.DeepEqual(got[:3], unknown) || len(got) != 5 {
		t.Errorf("message annotations: %v", got)
	}
}

func TestPatch_SectionsComeOutInTheStandardsOrder(t *testing.T) {
	raw := join(footer(t, one("f", 1)), data(t, "x"), appProperties(t, one("a", 1)), properties(t, "id"), annotations(t, one("m", 1)),
		delivery(t, one("d", 1)), header(t, true))
	m := patched(t, message.Patch{}, raw)
	order := []message.Span{m.Header, m.DeliveryAnnotations, m.MessageAnnotations, m.Properties, m.ApplicationProperties, m.Body, m.Footer}
	at := uint32(0)
	for i, s := range order {
		if s.Start != at || s.Empty() {
			t.Errorf("section %d at %+v, want start %d", i, s, at)
		}
		at = s.End
	}
}

func TestPROP12_HeaderEchoesDurablePriorityAndFirstAcquirer(t *testing.T) {
	for _, c := range []struct {
		sent, want amqp.List
	}{
		{amqp.List{true, uint8(9), uint32(1), true, uint32(77)}, amqp.List{true, uint8(9), nil, true, uint32(5)}},
		{amqp.List{false, uint8(4), nil, false}, amqp.List{false, uint8(4), nil, false, uint32(5)}},
		{amqp.List{nil, nil}, amqp.List{nil, nil, nil, nil, uint32(5)}},
		{amqp.List{}, amqp.List{nil, nil, nil, nil, uint32(5)}},
	} {
		m := patched(t, message.Patch{DeliveryCount: 5}, header(t, c.sent...))
		if got := fieldsOf(t, m, m.Header); !reflect.DeepEqual(got, c.want) {
			t.Errorf("sent %v: got %v, want %v", c.sent, got, c.want)
		}
	}
	m := patched(t, message.Patch{}, unhex(t, "00 53 70 c0 03 01 56 00"))
	if b := m.Raw[m.Header.Start:m.Header.End]; b[12] != 0x56 || b[13] != 0 {
		t.Errorf("durable was encoded anew: % x", b)
	}
}

func TestPEEK14_OmittedBodyLeavesItsSize(t *testing.T) {
	for name, body := range map[string][]byte{"data": join(data(t, "a"), data(t, "b")), "empty data": data(t, ""), "value": value(t, nil), "none": nil} {
		m := patched(t, message.Patch{OmitBody: true}, join(properties(t, "id"), body, footer(t, one("f", 1))))
		size, ok := m.DeliveryAnnotation("omitted-message-body-size")
		if n, isLong := size.(int64); !ok || !isLong || n != int64(len(body)) {
			t.Errorf("%s: size %v, want %d", name, size, len(body))
		}
		if !m.Body.Empty() || m.Footer.Empty() {
			t.Errorf("%s: body %+v, footer %+v", name, m.Body, m.Footer)
		}
	}
	m := patched(t, message.Patch{}, data(t, "a"))
	if _, ok := m.DeliveryAnnotation("omitted-message-body-size"); ok || m.Body.Empty() {
		t.Error("body omitted without being asked")
	}
}

func TestPatch_OverlayJoinsAndReplacesApplicationProperties(t *testing.T) {
	overlay, err := message.EncodeProperties(amqp.Map{{Key: "b", Value: "new"}, {Key: amqp.Symbol("DeadLetterReason"), Value: "r"}})
	if err != nil {
		t.Fatal(err)
	}
	m := patched(t, message.Patch{Properties: overlay}, full(t))
	want := amqp.Map{{Key: "a", Value: "1"}, {Key: "b", Value: "new"}, {Key: "DeadLetterReason", Value: "r"}}
	if got := annotationsOf(t, m, m.ApplicationProperties); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	m = patched(t, message.Patch{Properties: overlay}, data(t, "x"))
	if got := annotationsOf(t, m, m.ApplicationProperties); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("without a section: got %v", got)
	}
}

func TestPROP10_HasMessageIDKnowsNullFromEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		raw  []byte
		want bool
	}{
		"no section": {nil, false}, "no fields": {properties(t), false}, "null": {properties(t, nil, []byte("u")), false},
		"empty text": {properties(t, ""), true}, "number": {properties(t, uint64(0)), true},
	} {
		if got := scan(t, c.raw).HasMessageID(); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestAppendHead_LeavesTheBodyWhereItIs(t *testing.T) {
	for name, raw := range map[string][]byte{
		"body":               join(properties(t, "id"), data(t, "one"), data(t, "two")),
		"body and footer":    join(properties(t, "id"), data(t, "one"), footer(t, one("f", "x"))),
		"footer before body": join(footer(t, one("f", "x")), properties(t, "id"), data(t, "one")),
		"no body":            properties(t, "id"),
	} {
		m, p := scan(t, raw), message.Patch{SequenceNumber: 7}
		head, tail := p.AppendHead([]byte{0xee}, m)
		if got, want := join(head, tail), p.Append([]byte{0xee}, m); !bytes.Equal(got, want) {
			t.Errorf("%s: head and tail are % x, want % x", name, got, want)
		}
		if name != "no body" && &tail[0] != &raw[len(raw)-len(tail)] && name != "footer before body" {
			t.Errorf("%s: the tail is a copy", name)
		}
	}
}
