package message_test

import (
	"strings"
	"testing"

	"minibus/internal/amqp"
)

func TestLargestProperty(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		what  string
		raw   []byte
		floor int
		name  string
		size  int
	}{
		{"no sections", nil, 0, "", 0},
		{"text of 300", appProperties(t, amqp.Map{{Key: "a", Value: long(10)}, {Key: "b", Value: long(300)}}), 100, "b", 300},
		{"text of 255", appProperties(t, amqp.Map{{Key: "a", Value: long(255)}}), 100, "a", 255},
		{"binary", appProperties(t, amqp.Map{{Key: "a", Value: make([]byte, 700)}}), 100, "a", 700},
		{"symbol", appProperties(t, amqp.Map{{Key: "a", Value: amqp.Symbol(long(256))}}), 100, "a", 256},
		{"number", appProperties(t, amqp.Map{{Key: "a", Value: amqp.Timestamp(1 << 50)}}), 0, "a", 8},
		{"below the floor", appProperties(t, amqp.Map{{Key: "a", Value: long(200)}}), 300, "", 0},
		{"subject", properties(t, nil, nil, nil, long(400)), 100, "subject", 400},
		{"the larger of both", join(properties(t, long(300)), appProperties(t, amqp.Map{{Key: "a", Value: long(299)}})), 100, "message-id", 300},
	} {
		if name, size := scan(t, c.raw).LargestProperty(c.floor); name != c.name || size != c.size {
			t.Errorf("%s: %q with %d bytes, want %q with %d", c.what, name, size, c.name, c.size)
		}
	}
}
