package cbs

import (
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"

	goamqp "github.com/Azure/go-amqp"
)

// answer is a response as an independent client decodes it.
type answer struct {
	correlationID any
	code          int32
	condition     string // empty when absent
	description   string
}

func handle(t testing.TB, p Policy, request []byte) (answer, *Grant) {
	t.Helper()
	req, err := message.Scan(request)
	if err != nil {
		t.Fatalf("scan request: %v", err)
	}
	raw, grant := Handle(&req, p)
	var m goamqp.Message
	if err := m.UnmarshalBinary(raw); err != nil {
		t.Fatalf("the client cannot decode the response: %v", err)
	}
	a := answer{correlationID: m.Properties.CorrelationID}
	if c, given := m.ApplicationProperties["error-condition"]; given {
		// This client reads symbols as strings; others insist on the type.
		resp, err := message.Scan(raw)
		if err != nil {
			t.Fatalf("scan response: %v", err)
		}
		if v, _ := resp.ApplicationProperty("error-condition"); v != amqp.Symbol(c.(string)) {
			t.Fatalf("error-condition is %T, want a symbol", v)
		}
		a.condition = c.(string)
	}
	var ok bool
	if a.code, ok = m.ApplicationProperties["status-code"].(int32); !ok {
		t.Fatalf("status-code is %T, want an int", m.ApplicationProperties["status-code"])
	}
	if a.description, ok = m.ApplicationProperties["status-description"].(string); !ok {
		t.Fatalf("status-description is %T, want a string", m.ApplicationProperties["status-description"])
	}
	return a, grant
}

func only(names ...string) func(string) bool {
	return func(path string) bool {
		for _, n := range names {
			if n == path || n == entitypath.Root(path) {
				return true
			}
		}
		return false
	}
}
