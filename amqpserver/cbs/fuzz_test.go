package cbs

import (
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"

	goamqp "github.com/Azure/go-amqp"
)

// FuzzHandle feeds anything that scans as a message. There must be one response that a client can decode, and a grant
// only with success.
func FuzzHandle(f *testing.F) {
	f.Add(amqptest.EncodeRequest(f, "1", putTokenProperties("sb://localhost/q"), sasToken))
	f.Add(amqptest.EncodeRequest(f, uint64(1), append(putTokenProperties("amqps://h:1/%24management"),
		amqp.Pair{Key: "expiration", Value: "0"}), []byte(sasToken)))
	f.Add(amqptest.EncodeRequest(f, nil, amqp.Map{{Key: "operation", Value: "x"}}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		req, err := message.Scan(b)
		if err != nil {
			return
		}
		raw, grant := Handle(&req, Policy{Exists: only("q", "localhost")})
		resp, err := message.Scan(raw)
		if err != nil {
			t.Fatalf("the response does not scan: %v", err)
		}
		code, _ := resp.ApplicationProperty("status-code")
		if n, ok := code.(int32); !ok || (n == statusAccepted) != (grant != nil) {
			t.Fatalf("status-code %v with grant %v", code, grant)
		}
		if req.RequestID() == nil { // the client decodes only ids of the four legal types, we echo any
			var m goamqp.Message
			if err := m.UnmarshalBinary(raw); err != nil {
				t.Fatalf("the client cannot decode the response: %v", err)
			}
		}
	})
}
