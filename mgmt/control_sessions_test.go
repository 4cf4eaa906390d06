package mgmt

import (
	"strings"
	"testing"

	"minibus/emulator"
)

// TestControlAPIOfSessions lists them, writes their state and breaks their locks.
func TestControlAPIOfSessions(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("work", emulator.QueueOptions{RequiresSession: true}, "a/1", "b/2", "b/3", "/4")
	const all = inDefault + "work/sessions"
	wants(t, a.as("root", "GET", all+"?limit=1", ""), 200, `"id":"","active":1,"locked":0`, `"next":"$empty"`)
	wants(t, a.as("root", "GET", all+"?limit=1&cursor=$empty", ""), 200, `"id":"a"`, `"next":"a"`)
	wants(t, a.as("root", "GET", all+"?cursor=a", ""), 200, `{"items":[{"id":"b","active":2,"locked":0,"deferred":0,"scheduled":0}]}`)
	wants(t, a.as("root", "GET", all+"?limit=0", ""), 400)
	wants(t, a.as("root", "GET", all+"/$empty", ""), 200, `"id":"","active":1`)
	wants(t, a.as("root", "GET", all+"/nothing", ""), 404, "has no session 'nothing'")
	wants(t, a.as("root", "GET", all+"/a/state", ""), 404, "has no state")
	wants(t, a.as("root", "PUT", all+"/new%2Fone/state", `{"text": "step 2"}`), 204)
	wants(t, a.as("root", "GET", all+"/new%2Fone/state", ""), 200, `{"text":"step 2"}`)
	wants(t, a.as("root", "GET", all+"/new%2Fone", ""), 200, `"id":"new/one"`, `"stateBytes":6,"stateUpdated":"`)
	wants(t, a.as("root", "PUT", all+"/new%2Fone/state", `{"base64": "/wA="}`), 204)
	wants(t, a.as("root", "GET", all+"/new%2Fone/state", ""), 200, `{"base64":"/wA="}`)
	wants(t, a.as("root", "PUT", all+"/a/state", `{}`), 400)
	wants(t, a.as("root", "PUT", all+"/a/state", `{"text": "a", "base64": "/wA="}`), 400)
	wants(t, a.as("root", "PUT", all+"/a/state", `{"text": "`+strings.Repeat("x", 1<<20)+`"}`), 413)
	wants(t, a.as("root", "DELETE", all+"/new%2Fone/state", ""), 204)
	wants(t, a.as("root", "DELETE", all+"/new%2Fone/state", ""), 404)
	wants(t, a.as("root", "POST", inDefault+"work/receive", `{"session": "b"}`), 200, `"body":"2"`)
	wants(t, a.as("root", "POST", all+"/b/break", ""), 204)
	wants(t, a.as("root", "POST", all+"/b/break", ""), 409, "is not locked")
	wants(t, a.as("root", "POST", all+"/nothing/break", ""), 404)
	wants(t, a.as("root", "GET", all+"/b", ""), 200, `{"id":"b","active":2,"locked":0,"deferred":0,"scheduled":0}`)
	a.queueWith("plain", emulator.QueueOptions{})
	for _, plain := range []string{inDefault + "plain/sessions", inDefault + "work%2F$DeadLetterQueue/sessions"} {
		for path, method := range map[string]string{"": "GET", "/a": "GET", "/a/state": "GET", "/a/break": "POST"} {
			wants(t, a.as("root", method, plain+path, ""), 409, "no sessions")
		}
		wants(t, a.as("root", "PUT", plain+"/a/state", `{"text": "x"}`), 409)
		wants(t, a.as("root", "DELETE", plain+"/a/state", ""), 409)
	}
	wants(t, a.as("root", "GET", inDefault+"nothing/sessions", ""), 404)
	wants(t, a.as("root", "PUT", inDefault+"nothing/sessions/a/state", `{"text": "x"}`), 404)
	a.covers("sessions")
}
