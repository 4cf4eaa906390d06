package emulator

import (
	"math"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator/filter"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// filterMessageOf returns a client's message as filters see it once a topic has accepted it.
func filterMessageOf(t testing.TB, m *goamqp.Message) *filterMessage {
	t.Helper()
	raw, err := m.MarshalBinary()
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	scanned, err := message.Scan(raw)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	info, err := scanned.Info()
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return &filterMessage{m: scanned, info: &info, seq: 7, enqueued: 1000, ttl: 60_000, size: int64(len(raw))}
}

// orderMessage is message M of sql-filter.md 9.
func orderMessage() *goamqp.Message {
	label := "Order"
	return &goamqp.Message{
		Properties: &goamqp.MessageProperties{MessageID: "m1", Subject: &label},
		ApplicationProperties: map[string]any{
			"color": "blue", "quantity": int32(10), "price": 2.5, "active": true, "note": "50% off_now", "txt": "11", "empty": nil,
			"d1": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "d2": time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC),
		},
		Data: [][]byte{[]byte("the body")},
	}
}

// TestTOP9_FiltersReadTheEncodedMessage evaluates vectors of sql-filter.md 9 on the bytes of a message.
func TestTOP9_FiltersReadTheEncodedMessage(t *testing.T) {
	v := filterMessageOf(t, orderMessage())
	for text, want := range map[string]filter.Tri{
		"1=1": filter.True, "1=0": filter.False, "color='blue' AND quantity=10": filter.True, "COLOR = 'blue'": filter.True,
		"color = 'Blue'": filter.False, "user.color = 'blue' AND sys.label = 'Order'": filter.True, "missing = 1": filter.Unknown,
		"empty IS NULL": filter.True, "EXISTS(empty)": filter.True, "EXISTS(missing)": filter.False, "sys.To IS NULL": filter.True,
		"quantity IN (1, 10)": filter.True, `note LIKE '50\% off\_now' ESCAPE '\'`: filter.True, "price = 2.5E0": filter.True,
		"quantity / 4 = 2": filter.True, "txt > 10": filter.Unknown, "active = TRUE": filter.True, "d2 - d1 <= @ts": filter.True,
		"d1 < @d": filter.True, "sys.MessageId = 'm1'": filter.True, "sys.SequenceNumber = 7 AND sys.EnqueuedSequenceNumber = 7": filter.True,
		"sys.Size > 100": filter.True, "sys.TimeToLive = @minute": filter.True, "sys.DeliveryCount = 0 AND sys.State = 0": filter.True,
		"sys.ForcePersistence = FALSE": filter.True, "sys.ExpiresAtUtc - sys.EnqueuedTimeUtc = @minute": filter.True,
		"sys.LockToken IS NULL AND sys.DeadLetterSource IS NULL AND sys.SessionId IS NULL":                 filter.True,
		"sys.PartitionKey IS NULL AND sys.ViaPartitionKey IS NULL AND sys.ScheduledEnqueueTimeUtc IS NULL": filter.True,
	} {
		f, err := filter.ParseFilter(text, map[string]filter.Value{
			"ts": filter.TimeSpan(72_000_000_000), "d": filter.DateTime(1_780_000_000_000), "minute": filter.TimeSpan(600_000_000),
		})
		if err != nil {
			t.Fatalf("parse %s: %v", text, err)
		}
		if got, err := f.Eval(v); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}

// broken is a message whose application properties can't be decoded: a look at them finds nothing.
type broken struct{}

func (broken) User(string) (filter.Value, bool)         { panic("an application property was asked for") }
func (b broken) Exact(name string) (filter.Value, bool) { return b.User(name) }
func (broken) System(filter.SystemProperty) (v filter.Value) {
	panic("a broker property was asked for")
}

// A filterMessage remembers the message's own values, by the spelling that was asked for, and answers for more names than it remembers.
func TestTOP9_PropertiesThatWereAskedForBefore(t *testing.T) {
	v := filterMessageOf(t, &goamqp.Message{ApplicationProperties: map[string]any{
		"a": int32(1), "A": int32(2), "b": "x", "none": nil, "c": true, "d": int32(4), "e": int32(5),
	}})
	want := []struct {
		name  string
		value filter.Value
		found bool
	}{
		{"A", filter.Int32(2), true}, {"a", filter.Int32(1), true}, {"missing", filter.Value{}, false}, {"none", filter.Null(), true},
		{"e", filter.Int32(5), true}, {"d", filter.Int32(4), true}, {"B", filter.String("x"), true}, {"c", filter.Bool(true), true},
	}
	for range 3 {
		for _, w := range want {
			if value, found := v.User(w.name); value != w.value || found != w.found {
				t.Errorf("%s is %v, %v; want %v, %v", w.name, value, found, w.value, w.found)
			}
		}
	}
}

func TestTOP9_TrueFilterDecodesNothing(t *testing.T) {
	for _, text := range []string{filter.TrueText, filter.FalseText} {
		f, err := filter.ParseFilter(text, nil)
		if err != nil {
			t.Fatalf("parse: %v", err)
		}
		if _, err := f.Eval(broken{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTOP9_EvaluatingDoesNotAllocate(t *testing.T) {
	v := filterMessageOf(t, orderMessage())
	for _, text := range []string{
		"color = 'blue'", "quantity > 5 AND price < 3.0", "sys.Label = 'Order' OR sys.MessageId = 'x'", "note LIKE '50%'", "color IN ('red', 'blue')",
		"missing IS NULL AND EXISTS(active)", "d1 < d2",
	} {
		f, err := filter.ParseFilter(text, nil)
		if err != nil {
			t.Fatalf("parse %s: %v", text, err)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = f.Eval(v) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
	c, err := filter.NewCorrelation(map[filter.SystemProperty]string{filter.Label: "Order"}, map[string]filter.Value{"color": filter.String("blue")})
	if err != nil {
		t.Fatalf("make a correlation filter: %v", err)
	}
	if n := testing.AllocsPerRun(100, func() { c.Match(v) }); n != 0 {
		t.Errorf("correlation filter: %v allocations", n)
	}
}

// TestValuesOfAllTypesThereAndBack proves that a value that an action only carries comes out as it went in.
func TestValuesOfAllTypesThereAndBack(t *testing.T) {
	for _, x := range []any{
		nil, true, false, int8(-1), int16(-2), int32(-3), int64(math.MinInt64), uint8(255), uint16(65535), uint32(math.MaxUint32),
		uint64(math.MaxUint64), float32(1.5), -2.5, math.Inf(1), amqp.Char('é'), amqp.Timestamp(-5), amqp.Timestamp(1_700_000_000_000),
		amqp.UUID{1, 2, 15: 3}, "text", "", []byte{1, 2}, amqp.List{int32(1), "x"}, amqp.Decimal32{1}, amqp.Decimal64{2},
		amqp.Decimal128{0x30, 0x40, 15: 5}, amqp.Decimal128{0x78}, // five; infinity
		amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: int64(-600)},
		amqp.Described{Descriptor: amqp.Symbol("com.microsoft:datetime-offset"), Value: int64(637_000_000_000_000_000)},
		amqp.Described{Descriptor: amqp.Symbol("other"), Value: "x"},
		amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: "no number"},
	} {
		encoded, err := message.EncodeValue(x)
		if err != nil {
			t.Fatalf("encode %v: %v", x, err)
		}
		back := scalarOf(filterValue(message.DecodeScalar(encoded))).Append(nil)
		if string(back) != string(encoded) {
			t.Errorf("%T %v is %x, came back as %x", x, x, encoded, back)
		}
	}
	for x, want := range map[any]string{
		amqp.Symbol("symbol"): "symbol",
		amqp.Described{Descriptor: amqp.Symbol("com.microsoft:uri"), Value: "http://x"}: "http://x",
	} {
		encoded, err := message.EncodeValue(x)
		if err != nil {
			t.Fatalf("encode %v: %v", x, err)
		}
		if v := filterValue(message.DecodeScalar(encoded)); v.Kind() != filter.KindString || v.Text() != want {
			t.Errorf("%v is %v %q", x, v.Kind(), v.Text())
		}
	}
}
