package control_test

import (
	"fmt"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/mgmt/control"
)

// TestControlAPIOfJobs starts, shows, lists and cancels them.
func TestControlAPIOfJobs(t *testing.T) {
	a := controlAPI(t)
	const all = control.Prefix + "namespaces/$default/jobs"
	a.queueWith("work", emulator.QueueOptions{}, "one", "two", "three", "four")
	a.queueWith("other", emulator.QueueOptions{})
	a.queueWith("sessions", emulator.QueueOptions{RequiresSession: true})
	wants(t, a.as("root", "GET", all, ""), 200, `{"items":[]}`)
	wants(t, a.as("root", "POST", all+"?wait=10s", `{"kind": "purge", "entity": "work", "filter": {"text": "THREE"}}`), 201,
		`"id":1,"kind":"purge","entity":"work","state":"done","total":4,"examined":4,"done":1,"failed":0,"skipped":0,"errors":[],"started":"`, `"ended":"`)
	wants(t, a.as("root", "POST", all+"?wait=10s", `{"kind": "move", "entity": "work", "target": "other", "max": 2}`), 201, `"kind":"move","entity":"work","target":"other"`, `"done":2`)
	a.bus.wantCounts("work", 1, 0)
	a.bus.wantCounts("other", 2, 0)
	r := decoded[receipt](t, a.as("root", "POST", inDefault+"other/receive", `{}`))
	wants(t, a.as("root", "POST", inDefault+"other/settle", `{"lockTokens": ["`+r.Messages[0].LockToken+`"], "outcome": "deadLetter", "reason": "poison"}`), 204)
	wants(t, a.as("root", "POST", all+"?wait=10s", `{"kind": "resubmit", "entity": "other", "target": "sessions"}`), 201,
		`"failed":1,"skipped":0,"errors":[{"sequenceNumber":1,"detail":"The message has no session id, which 'sessions' requires."}]`)
	wants(t, a.as("root", "POST", all+"?wait=10s", `{"kind": "resubmit", "entity": "other", "filter": {"reason": "poison", "sql": "DeadLetterReason = 'poison'"},
		"edit": {"properties": {"again": true}, "subject": "again", "body": "better", "removeProperties": ["x"]}}`), 201, `"kind":"resubmit","entity":"other/$DeadLetterQueue","target":"other","state":"done"`, `"done":1`)
	wants(t, a.as("root", "POST", inDefault+"other/receive", `{"max": 9, "mode": "receiveAndDelete"}`), 200, `"subject":"again"`, `"applicationProperties":{"again":true},"body":"better"`)
	wants(t, a.as("root", "GET", all, ""), 200, `{"items":[{"id":4,"kind":"resubmit",`, `"id":2,"kind":"move",`)
	wants(t, a.as("root", "GET", all+"/1?wait=1s", ""), 200, `"id":1,`)
	wants(t, a.as("root", "GET", all+"/1?wait=x", ""), 400)
	wants(t, a.as("root", "GET", all+"/99", ""), 404, "has no job 99")
	wants(t, a.as("root", "POST", all+"/1/cancel", ""), 200, `"state":"done"`)
	wants(t, a.as("root", "POST", all+"/1/cancel?wait=x", ""), 400)
	wants(t, a.as("root", "POST", all+"/99/cancel", ""), 404)
	for _, body := range []string{`{"kind": "burn", "entity": "work"}`, `{"kind": "move", "entity": "work"}`, `{"kind": "move", "entity": "work", "target": "work"}`,
		`{"kind": "purge", "entity": "work", "target": "other"}`, `{"kind": "purge", "entity": "work", "filter": {"sql": "="}}`, `{"kind": "purge", "entity": "work", "filter": {"states": ["lost"]}}`,
		`{"kind": "resubmit", "entity": "work", "edit": {"body": "x", "bodyBase64": "eA=="}}`, `{"kind": "resubmit", "entity": "work", "edit": {"properties": {"a": {}}}}`} {
		wants(t, a.as("root", "POST", all, body), 400, `"detail":"`)
	}
	wants(t, a.as("root", "POST", all+"?wait=61s", `{"kind": "purge", "entity": "work"}`), 400)
	wants(t, a.as("root", "POST", all, `{"kind": "purge", "entity": "nothing"}`), 404)
	wants(t, a.as("root", "POST", all, `{"kind": "move", "entity": "work", "target": "nothing"}`), 404)
	wants(t, a.as("root", "POST", all, `{"kind": "purge", "entity": "`+strings.Repeat("x", 1<<20)+`"}`), 413)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/jobs", ""), 404)
	a.bus.wantCounts("work", 1, 0)
	for i := range emulator.MaxJobs {
		a.queueWith(fmt.Sprint("busy", i), emulator.QueueOptions{}, "one")
	}
	a.bus.journal.Pause()
	defer a.bus.journal.Resume()
	for i := range emulator.MaxJobs {
		wants(t, a.as("root", "POST", all+"?wait=1ms", fmt.Sprintf(`{"kind": "purge", "entity": "busy%d"}`, i)), 201, `"state":"running"`, `"done":0`)
	}
	wants(t, a.as("root", "POST", all, `{"kind": "purge", "entity": "work"}`), 409, fmt.Sprint(emulator.MaxJobs)+" jobs of the namespace")
	a.covers("jobs")
}
