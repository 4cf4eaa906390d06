package control_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/mgmt"
	"minibus/mgmt/control"
)

// inDefault begins the paths of the default namespace's entities.
const inDefault = control.Prefix + "namespaces/$default/entities/"

// decoded decodes a part of an answer.
func decoded[T any](t *testing.T, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return v
}

// receipt is what the tests read of the answer to a receive.
type receipt struct {
	Messages []struct {
		SequenceNumber int64
		LockToken      string
		Body           string
		DeliveryCount  int
		Properties     map[string]any `json:"applicationProperties"`
	}
	Session *struct{ ID, Token string }
}

// queueWith makes a queue in the default namespace with messages, of which those with a session are written
// session/body.
func (a *openAPI) queueWith(path string, o emulator.QueueOptions, messages ...string) {
	a.t.Helper()
	a.bus.makeQueue(path, o)
	for _, m := range messages {
		session, body, ok := strings.Cut(m, "/")
		if !ok {
			a.bus.post(path, m, authorization, a.root())
			continue
		}
		a.bus.post(path, body, authorization, a.root(), "BrokerProperties", `{"SessionId": "`+session+`"}`)
	}
}

// TestControlAPIReceivesAndSettles with locks that clients hold from request to request.
func TestControlAPIReceivesAndSettles(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("work", emulator.QueueOptions{}, "one", "two", "three")
	const work = inDefault + "work/"
	r := decoded[receipt](t, a.as("root", "POST", work+"receive", `{"max": 2}`))
	if len(r.Messages) != 2 || r.Messages[0].Body != "one" || r.Messages[1].SequenceNumber != 2 || r.Session != nil {
		t.Fatalf("received %+v", r)
	}
	one, two := r.Messages[0].LockToken, r.Messages[1].LockToken
	wants(t, a.as("root", "POST", work+"renew", `{"lockTokens": ["`+one+`", "`+two+`"]}`), 200, `"lockedUntil":["2`)
	wants(t, a.as("root", "POST", work+"settle", `{"lockTokens": ["`+one+`"], "outcome": "abandon", "properties": {"tried": 1, "by": "me", "ratio": 0.5}}`), 204)
	wants(t, a.as("root", "POST", work+"settle", `{"lockTokens": ["`+one+`"], "outcome": "complete"}`), 409, "lock supplied is invalid")
	wants(t, a.as("root", "POST", work+"renew", `{"lockTokens": ["`+one+`"]}`), 409)
	wants(t, a.as("root", "POST", work+"settle", `{"lockTokens": ["`+two+`"], "outcome": "deadLetter", "reason": "poison", "description": "it is bad"}`), 204)
	wants(t, a.as("root", "POST", inDefault+"work%2F$DeadLetterQueue/receive", `{"mode": "receiveAndDelete"}`), 200, `"DeadLetterReason":"poison"`, `"DeadLetterErrorDescription":"it is bad"`)
	r = decoded[receipt](t, a.as("root", "POST", work+"receive", `{}`))
	if m := r.Messages[0]; m.DeliveryCount != 1 || m.Properties["tried"] != 1.0 || m.Properties["by"] != "me" || m.Properties["ratio"] != 0.5 {
		t.Errorf("after an abandon: %+v", m)
	}
	wants(t, a.as("root", "POST", work+"settle", `{"lockTokens": ["`+r.Messages[0].LockToken+`"], "outcome": "defer"}`), 204)
	r = decoded[receipt](t, a.as("root", "POST", work+"receive", `{"sequenceNumbers": [1]}`))
	wants(t, a.as("root", "POST", work+"settle", `{"lockTokens": ["`+r.Messages[0].LockToken+`"], "outcome": "complete"}`), 204)
	wants(t, a.as("root", "POST", work+"receive", `{"sequenceNumbers": [1]}`), 404)
	r = decoded[receipt](t, a.as("root", "POST", work+"receive", `{"wait": "1s"}`))
	wants(t, a.as("root", "POST", work+"settle", `{"lockTokens": ["`+r.Messages[0].LockToken+`"], "outcome": "release"}`), 204)
	wants(t, a.as("root", "POST", work+"receive", `{"mode": "receiveAndDelete"}`), 200, `"deliveryCount":0`, `"body":"three"`)
	wants(t, a.as("root", "POST", work+"receive", `{}`), 200, `{"messages":[]}`)
	a.bus.wantCounts("work", 0, 0)
	for path, bodies := range map[string][]string{
		"receive": {`{"wait": "61s"}`, `{"wait": "x"}`, `{"max": 65}`, `{"mode": "peek"}`, `{"session": "s", "nextSession": true}`},
		"renew":   {`{"lockTokens": []}`, `{"lockTokens": ["x"]}`},
		"settle": {`{"lockTokens": ["x"], "outcome": "complete"}`, `{"lockTokens": ["` + one + `"], "outcome": "burn"}`, `{"lockTokens": ["` + one + `"], "outcome": "complete", "reason": "x"}`,
			`{"lockTokens": ["` + one + `"], "outcome": "release", "properties": {"a": 1}}`, `{"lockTokens": ["` + one + `"], "outcome": "defer", "properties": {"a": [1]}}`},
	} {
		for _, body := range bodies {
			wants(t, a.as("root", "POST", work+path, body), 400, `"detail":"`)
		}
		wants(t, a.as("root", "POST", inDefault+"nothing/"+path, strings.NewReplacer("x", one).Replace(bodies[0])), map[string]int{"receive": 404, "renew": 400, "settle": 404}[path])
	}
	wants(t, a.as("root", "POST", inDefault+"nothing/renew", `{"lockTokens": ["`+one+`"]}`), 404)
	wants(t, a.as("root", "POST", work+"settle", `{"lockTokens": ["`+strings.Repeat("x", 1<<20)+`"], "outcome": "complete"}`), 413)
	wants(t, a.as("root", "POST", work+"receive", `{"session": "s"}`), 409, "does not require sessions")
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/$default/history?client=control%20API", ""), 200,
		`"kind":"lockRenewed"`, `a settlement in work by an HTTP request from 192.0.2.1:1234 was refused: The lock`, `"kind":"completed"`, `"kind":"deadLettered"`, `"kind":"released"`, `"kind":"settlementRefused"`)
	a.covers("receive")
}

// TestControlAPIReceivesFromSessions by id and the next free one, by number too.
func TestControlAPIReceivesFromSessions(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("sessions", emulator.QueueOptions{RequiresSession: true}, "a/one", "b/two", "b/three")
	const at = inDefault + "sessions/"
	r := decoded[receipt](t, a.as("root", "POST", at+"receive", `{"nextSession": true, "max": 9}`))
	if len(r.Messages) != 1 || r.Messages[0].Body != "one" || r.Session == nil || r.Session.ID != "a" {
		t.Fatalf("the next session: %+v", r)
	}
	wants(t, a.as("root", "POST", at+"receive", `{"session": "a"}`), 409, "cannot be accepted")
	wants(t, a.as("root", "GET", at+"sessions/a", ""), 200, `"active":1,"locked":1`, `"holder":"control API","lockedUntil":"`)
	wants(t, a.as("root", "POST", at+"settle", `{"lockTokens": ["`+r.Messages[0].LockToken+`"], "outcome": "defer"}`), 204)
	wants(t, a.as("root", "POST", at+"sessions/a/break", ""), 204)
	wants(t, a.as("root", "POST", at+"receive", `{"session": "a", "sequenceNumbers": [1], "mode": "receiveAndDelete"}`), 200, `"body":"one"`)
	wants(t, a.as("root", "POST", at+"receive", `{"sequenceNumbers": [1]}`), 409)
	wants(t, a.as("root", "POST", at+"receive", `{"session": "b", "max": 9, "mode": "receiveAndDelete"}`), 200, `"body":"two"`, `"body":"three"`)
	wants(t, a.as("root", "POST", at+"receive", `{"nextSession": true, "wait": "10ms"}`), 200, `{"messages":[]}`)
	wants(t, a.as("root", "POST", at+"receive", `{"session": "empty"}`), 200, `{"messages":[]}`)
	wants(t, a.as("root", "POST", at+"receive", `{}`), 409, "requires sessions")
	wants(t, a.as("root", "GET", at+"sessions", ""), 200, `{"items":[]}`)
}

// TestControlAPITakesNothingFromAClientThatLeaves while it waits.
func TestControlAPITakesNothingFromAClientThatLeaves(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("work", emulator.QueueOptions{})
	r := httptest.NewRequest(http.MethodPost, inDefault+"work/receive", strings.NewReader(`{"wait": "60s", "mode": "receiveAndDelete"}`))
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Millisecond)
	defer cancel()
	r.Header.Set(authorization, a.root())
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.bus.handler.ServeHTTP(w, r.WithContext(ctx))
	wants(t, w, 503)
	a.bus.post("work", "one", authorization, a.root())
	a.bus.wantCounts("work", 1, 0)
}

// TestLOCK13_AnAnswerOfTheControlAPIThatCouldNotBeWritten gives its messages back, with numbers and counts as they
// were, and its session.
func TestLOCK13_AnAnswerOfTheControlAPIThatCouldNotBeWritten(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		b.handler = mgmt.New(mgmt.Options{Broker: b.Broker, Control: controlled{b}})
		b.makeQueue("sessions", emulator.QueueOptions{RequiresSession: true})
		for _, body := range []string{"one", "two", "three"} {
			b.post("q", body)
			b.post("sessions", body, "BrokerProperties", `{"SessionId": "a"}`)
		}
		r := decoded[receipt](t, b.do("POST", inDefault+"q/receive", `{}`))
		wants(t, b.do("POST", inDefault+"q/settle", `{"lockTokens": ["`+r.Messages[0].LockToken+`"], "outcome": "defer"}`), 204)
		for range 2 {
			for _, mode := range []string{"peekLock", "receiveAndDelete"} {
				for at, how := range map[string]string{"q": `"max": 2`, "sessions": `"session": "a", "max": 2`, "q/": `"sequenceNumbers": [1]`} {
					path := inDefault + strings.TrimSuffix(at, "/") + "/receive"
					broken := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"mode": "`+mode+`", `+how+`}`))
					b.handler.ServeHTTP(brokenWriter{httptest.NewRecorder()}, broken)
					synctest.Wait()
				}
			}
		}
		wants(t, b.do("POST", inDefault+"q/receive", `{"max": 9}`), 200, `{"messages":[{"sequenceNumber":2,`, `"deliveryCount":0`, `},{"sequenceNumber":3,`)
		wants(t, b.do("POST", inDefault+"sessions/receive", `{"max": 9, "session": "a"}`), 200, `{"messages":[{"sequenceNumber":1,`, `},{"sequenceNumber":2,`, `"deliveryCount":0`)
		wants(t, b.do("POST", inDefault+"q/receive", `{"sequenceNumbers": [1]}`), 200, `"deliveryCount":1`, `"body":"one"`)
	})
}
