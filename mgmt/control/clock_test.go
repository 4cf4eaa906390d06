package control_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"minibus/mgmt/control"
)

// shownClock is what the tests read of a clock.
type shownClock struct {
	Now    time.Time
	Offset string
	Frozen bool
	Due    []struct {
		At           time.Time
		Entity, Kind string
	}
}

// TestControlAPISteersAClock of one namespace: what falls due has happened when the answer comes.
func TestControlAPISteersAClock(t *testing.T) {
	a := controlAPI(t)
	a.bus.clock = nil
	a.bus.restart()
	wants(t, a.as("root", "POST", control.Prefix+"namespaces", `{"name": "timed-1", "Queues": [{"Name": "q", "Properties":
		{"DefaultMessageTimeToLive": "PT1H", "DeadLetteringOnMessageExpiration": true, "LockDuration": "PT1M"}}]}`), 201)
	const path = control.Prefix + "namespaces/timed-1/clock"
	clock := func(method, path, body string) (c shownClock) {
		t.Helper()
		w := a.as("root", method, path, body)
		wants(t, w, 200)
		if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	a.bus.at("timed-1.localhost", 5300, "POST", "/q/messages", "x", authorization, a.tokenTo("timed-1"))
	frozen := clock("POST", path+"/freeze", "")
	if !frozen.Frozen || len(frozen.Due) != 1 || frozen.Due[0].Kind != "expires" || frozen.Due[0].Entity != "q" || !strings.HasPrefix(frozen.Offset, "-PT0") && frozen.Offset != "PT0S" {
		t.Errorf("frozen: %+v", frozen)
	}
	if c := clock("GET", path, ""); c.Now != frozen.Now || !c.Frozen {
		t.Errorf("it goes on: %+v", c)
	}
	soon := frozen.Now.Add(time.Hour).Format(time.RFC3339Nano)
	wants(t, a.as("root", "GET", path+"?until="+soon, ""), 200, `"forecast":{"until":"`+soon+`","expire":{"messages":1,"entities":1},"deadLettered":1`)
	wants(t, a.as("root", "GET", path+"?until=soon", ""), 400, `"detail":"`)
	if c := clock("POST", path+"/advance", `{"by": "PT59M"}`); c.Now != frozen.Now.Add(59*time.Minute) || len(c.Due) != 1 {
		t.Errorf("59 minutes later: %+v", c)
	}
	end := frozen.Now.Add(time.Hour)
	if c := clock("PUT", path, `{"now": "`+end.Format(time.RFC3339Nano)+`"}`); c.Now != end || len(c.Due) != 0 {
		t.Errorf("an hour later: %+v", c)
	}
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/timed-1/entities/q", ""), 200, `"active":0`, `"deadLetter":1`)
	if c := clock("POST", path+"/resume", ""); c.Frozen || !strings.HasPrefix(c.Offset, "PT59M") && !strings.HasPrefix(c.Offset, "PT1H") {
		t.Errorf("resumed: %+v", c)
	}
	if c := clock("GET", control.Prefix+"namespaces/orders/clock?due=0", ""); c.Frozen || c.Due == nil || c.Offset != "PT0S" {
		t.Errorf("the clock of another namespace: %+v", c)
	}
	wants(t, a.as("root", "PUT", path, `{"now": "2001-01-01T00:00:00Z"}`), 409, "can't be set to 2001-01-01T00:00:00.000Z: it shows ", "and it never goes back")
	wants(t, a.as("root", "PUT", path, `{"now": "2999-01-01T00:00:00Z"}`), 400, "at most 100 years ahead")
	wants(t, a.as("root", "PUT", path, `{"now": "tomorrow"}`), 400, "body.now: expected string to be RFC 3339 date-time")
	for _, by := range []string{"1h", "-PT1H", "PT0S", ""} {
		wants(t, a.as("root", "POST", path+"/advance", `{"by": "`+by+`"}`), 400, `body.by: found `, "such as PT1H")
	}
	wants(t, a.as("root", "POST", path+"/advance", `{"by": "P200Y"}`), 400, "at most 100 years ahead")
	wants(t, a.as("root", "POST", path+"/advance", `{"for": "PT1H"}`), 400, "body")
	wants(t, a.as("root", "GET", path+"?due=1001", ""), 400, "query.due")
	large := `"` + strings.Repeat("x", 1<<20) + `"`
	wants(t, a.as("root", "POST", path+"/advance", `{"by": `+large+`}`), 413)
	wants(t, a.as("root", "PUT", path, `{"now": `+large+`}`), 413)
	const nothing = control.Prefix + "namespaces/nothing/clock"
	for path, method := range map[string]string{nothing: "GET", nothing + "/freeze": "POST", nothing + "/resume": "POST"} {
		wants(t, a.as("root", method, path, ""), 404)
	}
	wants(t, a.as("root", "PUT", nothing, `{"now": "2030-01-01T00:00:00Z"}`), 404)
	wants(t, a.as("root", "POST", nothing+"/advance", `{"by": "PT1H"}`), 404)
	a.covers("clock")
}

// TestControlAPIStopsAClock whose client goes away, and says where it stands.
func TestControlAPIStopsAClock(t *testing.T) {
	a := controlAPI(t)
	a.bus.clock = nil
	a.bus.restart()
	const path = control.Prefix + "namespaces/$default/clock"
	wants(t, a.as("root", "POST", path+"/freeze", ""), 200)
	before := decoded[shownClock](t, a.as("root", "GET", path, ""))
	gone, leave := context.WithCancel(t.Context())
	leave()
	for at, body := range map[string]string{"POST " + path + "/advance?timeoutSeconds=9": `{"by": "PT1H"}`, "PUT " + path: `{"now": "2099-01-01T00:00:00Z"}`} {
		method, target, _ := strings.Cut(at, " ")
		r := httptest.NewRequest(method, "http://localhost:5300"+target, strings.NewReader(body))
		r.Header.Set(authorization, a.root())
		w := httptest.NewRecorder()
		a.bus.handler.ServeHTTP(w, r.WithContext(gone))
		wants(t, w, 503, "was on its way to 20", ". It shows "+before.Now.Format("2006-01-02T15:04:05"))
	}
	wants(t, a.as("root", "POST", path+"/advance?timeoutSeconds=0", `{"by": "PT1H"}`), 400)
	wants(t, a.as("root", "POST", path+"/advance?timeoutSeconds=3600", `{"by": "PT1H"}`), 200)
	if after := decoded[shownClock](t, a.as("root", "GET", path, "")); after.Now.Sub(before.Now) != time.Hour {
		t.Errorf("the clock went from %v to %v", before.Now, after.Now)
	}
}
