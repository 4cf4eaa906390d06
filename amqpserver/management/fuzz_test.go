package management

import (
	"testing"
	"time"
	"unicode/utf8"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// FuzzHandle feeds anything that scans as a message to a queue: each request gets one response that scans, with a
// status that clients know.
func FuzzHandle(f *testing.F) {
	for operation, fields := range map[string]amqp.Map{
		"renew-lock":                 {{Key: "lock-tokens", Value: []amqp.UUID{{1}}}},
		"update-disposition":         suspended(amqp.Pair{Key: "properties-to-modify", Value: amqp.Map{{Key: "k", Value: "v"}}}),
		"peek-message":               {{Key: "from-sequence-number", Value: int64(0)}, {Key: "message-count", Value: int32(2)}},
		"schedule-message":           {{Key: "messages", Value: amqp.List{amqp.Map{{Key: "message", Value: []byte{0, 0x53, 0x77, 0x40}}}}}},
		"cancel-scheduled-message":   {{Key: "sequence-numbers", Value: []int64{1, 2}}},
		"receive-by-sequence-number": {{Key: "sequence-numbers", Value: []int64{1}}, {Key: "receiver-settle-mode", Value: uint32(0)}},
	} {
		properties := amqp.Map{{Key: "operation", Value: "com.microsoft:" + operation}}
		f.Add(encodeRequest(f, uint64(1), properties, fields))
		f.Add(encodeRequest(f, "a", properties, nil))
	}
	ctx := open(f).ctx
	known := map[int32]bool{200: true, 204: true, 400: true, 403: true, 404: true, 410: true, 501: true}
	f.Fuzz(func(t *testing.T, b []byte) {
		req, err := message.Scan(b)
		if err != nil {
			return
		}
		answers := make(chan []byte, 1)
		Handle(ctx, &req, func(resp []byte) { answers <- resp })
		select {
		case raw := <-answers:
			resp, err := message.Scan(raw)
			if err != nil {
				t.Fatalf("the response does not scan: %v", err)
			}
			status, _ := resp.ApplicationProperty("statusCode")
			if n, ok := status.(int32); !ok || !known[n] {
				t.Fatalf("statusCode %v", status)
			}
			text, _ := resp.ApplicationProperty("statusDescription")
			if s, ok := text.(string); ok && !utf8.ValidString(s) {
				t.Fatalf("statusDescription %q is not UTF-8", s)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("no answer")
		}
	})
}
