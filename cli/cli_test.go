package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/Azure/go-amqp"
)

// TestEveryPropertyHasItsMeaning finds a property that a new version of the SDK brings, and one that it takes away.
func TestEveryPropertyHasItsMeaning(t *testing.T) {
	found := make(map[string]bool)
	for _, properties := range []any{&admin.QueueProperties{}, &admin.TopicProperties{}, &admin.SubscriptionProperties{}} {
		_ = eachProperty(properties, func(name string, _ reflect.Value) error {
			found[name] = true
			if meaning[name] == "" {
				t.Errorf("the property %s has no help", name)
			}
			return nil
		})
	}
	for name := range meaning {
		if !found[name] {
			t.Errorf("there is no property %s", name)
		}
	}
	for _, name := range append(slices.Clone(fixed), durations...) {
		if !found[name] {
			t.Errorf("there is no property %s", name)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1h30m": 90 * time.Minute, "14d": 14 * 24 * time.Hour, "1d12h": 36 * time.Hour, "PT1M": time.Minute, "p1d": 24 * time.Hour,
		"forever": math.MaxInt64, "999999d": math.MaxInt64, "0s": 0, " 5M ": 5 * time.Minute,
	} {
		if got, err := parseDuration(text); err != nil || got != want && !(want == math.MaxInt64 && got > 200*365*24*time.Hour) {
			t.Errorf("parseDuration(%q) is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-5s", "5", "d", "1d2", "P", "PT", "1.5d"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("parseDuration(%q) is %v, want an error", text, got)
		}
	}
}

// TestValues takes values to JSON and back.
func TestValues(t *testing.T) {
	for _, v := range []any{nil, "", "text", true, int64(5), int64(math.MinInt64), int64(1<<53 + 1), int8(-1), int16(2), int32(3), uint8(4), uint16(5), uint32(6), uint64(math.MaxUint64),
		float32(1.5), float32(2), 0.5, 2.0, 1e300, math.Inf(-1), math.SmallestNonzeroFloat64, amqp.Symbol("s"), []byte{}, []byte{1, 255}, amqp.UUID{1}, time.UnixMilli(5).UTC(),
		[]any{"a", int32(1), nil}, map[any]any{"k": int64(1), int32(2): "v"}, []int32{1, 2}, []string{"a"}, []amqp.Symbol{"s"}, [][]byte{{1}}, []bool{true},
		[]time.Time{time.UnixMilli(7).UTC()}, []any{[]any{map[any]any{"deep": true}}}} {
		text, err := json.Marshal(toJSON(v))
		if err != nil {
			t.Errorf("%#v as JSON: %v", v, err)
			continue
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var document any
		if err := d.Decode(&document); err != nil {
			t.Errorf("%#v is %s: %v", v, text, err)
			continue
		}
		if got, err := fromJSON(document); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%#v is %s, and then %#v, %v", v, text, got, err)
		}
		if got, err := fromJSON(toJSON(v)); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%#v, without the text, is then %#v, %v", v, got, err)
		}
	}
}

func TestLongTimeToLive(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	m, err := encodeMessage(&message{TimeToLive: "100d"}, now)
	if err != nil {
		t.Fatal(err)
	}
	p := m.Properties
	if m.Header.TTL != longestTTL || p.AbsoluteExpiryTime == nil || p.AbsoluteExpiryTime.Sub(*p.CreationTime) != 100*24*time.Hour {
		t.Errorf("the header has %v, the properties %v and %v", m.Header.TTL, p.CreationTime, p.AbsoluteExpiryTime)
	}
	back := messageOf(&azservicebus.ReceivedMessage{RawAMQPMessage: m})
	if back.TimeToLive != "P100D" {
		t.Errorf("it is shown as %s", back.TimeToLive)
	}
	if m, err = encodeMessage(&message{TimeToLive: "forever"}, now); err != nil || !m.Properties.AbsoluteExpiryTime.Equal(farthest) {
		t.Errorf("forever ends %v, %v", m.Properties.AbsoluteExpiryTime, err)
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]address{
		"orders":                               {queue: "orders"},
		"/orders/$DeadLetterQueue":             {queue: "orders", sub: azservicebus.SubQueueDeadLetter},
		"a/Subscriptions/b":                    {topic: "a", subscription: "b"},
		"a/b/subscriptions/c/$deadletterqueue": {topic: "a/b", subscription: "c", sub: azservicebus.SubQueueDeadLetter},
		"q/$Transfer/$DeadLetterQueue":         {queue: "q", sub: azservicebus.SubQueueTransfer},
		"a/b/c":                                {queue: "a/b/c", topic: "a/b", subscription: "c", unsure: true},
	} {
		if got, err := parseAddress(text, subQueueFlags{}); err != nil || got != want {
			t.Errorf("parseAddress(%q) is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/", "a?b", "a#b", "a%2fb", "a\x00b", "$DeadLetterQueue/$DeadLetterQueue?"} {
		if got, err := parseAddress(text, subQueueFlags{}); err == nil {
			t.Errorf("parseAddress(%q) is %+v, want an error", text, got)
		}
	}
}

func TestErrorsHideKeys(t *testing.T) {
	a := &app{}
	a.target.Key, a.target.Signature = "topsecret", "SharedAccessSignature sr=x&sig=abc&se=1"
	if got := a.redact("a topsecret b, SharedAccessSignature sr=y&sig=abc"); strings.Contains(got, "topsecret") || strings.Contains(got, "abc") {
		t.Errorf("redacted: %s", got)
	}
}
