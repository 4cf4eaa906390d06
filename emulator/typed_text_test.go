package emulator_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"minibus/emulator"
)

// TestTypedText_IsReadBack as the same value, with its type.
func TestTypedText_IsReadBack(t *testing.T) {
	for _, name := range emulator.ValueTypeNames() {
		kind, _ := emulator.ValueTypeOf(name)
		x, ok := kind.Parse(kind.Example)
		if !ok {
			t.Fatal(name)
		}
		got, text := emulator.TypedText(x)
		back, ok := kind.Parse(text)
		if got != name || !ok || !reflect.DeepEqual(back, x) {
			t.Errorf("%s %q is %s %q, read back as %v", name, kind.Example, got, text, back)
		}
	}
	for _, c := range []struct {
		x          any
		name, text string
	}{{math.Inf(-1), "double", "-INF"}, {float32(0.1), "float", "0.1"}, {-90 * time.Second, "duration", "-PT1M30S"}, {1e300, "double", "1e+300"},
		{emulator.UnzonedTime(time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)), "dateTime", "2026-01-02T03:04:05.0000006"}, {nil, "string", ""},
		{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "dateTime", "2026-01-02T03:04:05Z"}} {
		if name, text := emulator.TypedText(c.x); name != c.name || text != c.text {
			t.Errorf("%v is %s %q, want %s %q", c.x, name, text, c.name, c.text)
		}
	}
}
