package control_test

import (
	"strings"
	"testing"

	"minibus/mgmt/control"
)

// TestControlAPIOfFaults compares every answer with the document.
func TestControlAPIOfFaults(t *testing.T) {
	a := controlAPI(t)
	const all = control.Prefix + "namespaces/$default/faults"
	wants(t, a.as("root", "GET", all, ""), 200, `{"items":[]}`)
	wants(t, a.as("root", "POST", all, `{"kind": "throttle", "entity": "q", "count": 2, "skip": 1}`), 201,
		`"id":1,"kind":"throttle","operations":["send"],"entity":"q","condition":"server-busy","skip":1,"count":2,"state":"active","hits":0`)
	wants(t, a.as("root", "POST", all, `{"kind": "delay", "operations": ["settle", "renew"], "delayMilliseconds": 500, "client": "worker", "probability": 0.5, "seed": 7, "for": "PT1M"}`), 201,
		`"id":2,"kind":"delay","operations":["settle","renew"],"client":"worker","delayMilliseconds":500,"probability":0.5,"seed":7,"for":"PT1M","until":"`)
	wants(t, a.as("root", "POST", all, `{"kind": "drop", "operations": ["send"], "after": true}`), 201, `"after":true`)
	wants(t, a.as("root", "GET", all, ""), 200, `{"items":[{"id":1,`, `},{"id":2,`, `},{"id":3,`)
	wants(t, a.as("root", "GET", all+"/2", ""), 200, `"id":2`)
	wants(t, a.as("root", "DELETE", all+"/2", ""), 204)
	wants(t, a.as("root", "GET", all+"/2", ""), 404, "There is no fault 2 in the namespace 'sbemulatorns'. A restart and a reset remove all.")
	wants(t, a.as("root", "DELETE", all+"/2", ""), 404)
	wants(t, a.as("root", "GET", all+"/x", ""), 400)
	wants(t, a.as("root", "DELETE", all+"/x", ""), 400)
	for body, want := range map[string]string{
		`{}`:                                           "expected required property kind",
		`{"kind": "explode"}`:                          "body.kind",
		`{"kind": "throttle", "count": -1}`:            "body.count",
		`{"kind": "throttle", "typo": 1}`:              "body.typo",
		`{"kind": "throttle", "for": "1m"}`:            `body.for: found \"1m\"; give an ISO 8601 duration of more than zero, such as PT30S or PT1H.`,
		`{"kind": "throttle", "for": "PT0S"}`:          "body.for",
		`{"kind": "delay"}`:                            "needs a delay",
		`{"kind": "refuse", "condition": "x"}`:         `There is no condition \"x\". There are argument-error, connection-forced, `,
		`{"kind": "loseLock", "operations": ["send"]}`: "A fault of the kind loseLock can't hit the operation \\\"send\\\". It can hit settle, renew.",
	} {
		wants(t, a.as("root", "POST", all, body), 400, want)
	}
	wants(t, a.as("root", "POST", all, `{"kind": "throttle", "entity": "nothing"}`), 404, "The messaging entity 'nothing' could not be found.")
	wants(t, a.as("root", "POST", all, `{"kind": "`+strings.Repeat("x", 1<<20)+`"}`), 413)
	for range 98 {
		wants(t, a.as("root", "POST", all, `{"kind": "starve"}`), 201)
	}
	wants(t, a.as("root", "POST", all, `{"kind": "starve"}`), 409, "100 active faults, the most that there may be. Remove some.")
	wants(t, a.as("root", "DELETE", all, ""), 204)
	wants(t, a.as("root", "GET", all, ""), 200, `{"items":[]}`)
	const nothing = control.Prefix + "namespaces/nothing/faults"
	wants(t, a.as("root", "GET", nothing, ""), 404)
	wants(t, a.as("root", "POST", nothing, `{"kind": "starve"}`), 404)
	wants(t, a.as("root", "DELETE", nothing, ""), 404)
	a.covers("faults")
}
