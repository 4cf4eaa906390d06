package control_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/mgmt/control"
)

// TestControlAPIOfSnapshots saves, lists, shows, restores and deletes them, in one namespace while another stays as
// it is.
func TestControlAPIOfSnapshots(t *testing.T) {
	a := controlAPI(t)
	a.bus.clock = nil
	a.bus.restart()
	wants(t, a.as("root", "POST", control.Prefix+"namespaces", `{"name": "stock-1", "Queues": [{"Name": "q"}]}`), 201)
	const all = control.Prefix + "namespaces/stock-1/snapshots"
	send := func(host, token string) {
		t.Helper()
		wants(t, a.bus.at(host, 5300, "POST", "/q/messages", "x", authorization, token), 201)
	}
	token := a.tokenTo("stock-1")
	send("stock-1.localhost", token)
	wants(t, a.as("root", "GET", all, ""), 200, `{"items":[]}`)
	wants(t, a.as("root", "POST", all, `{"name": "Seeded"}`), 201, `"name":"Seeded","saved":"`, `"frozen":false,"entities":1,"messages":1,"bytes":`)
	wants(t, a.as("root", "POST", all, `{"name": "seeded"}`), 409, "has a snapshot 'Seeded' already")
	wants(t, a.as("root", "GET", all, ""), 200, `{"items":[{"name":"Seeded"`)
	var shown struct{ Now time.Time }
	w := a.as("root", "GET", all+"/SEEDED", "")
	wants(t, w, 200, `"name":"Seeded"`)
	if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil || shown.Now.IsZero() {
		t.Errorf("shown is %s: %v", w.Body, err)
	}
	send("stock-1.localhost", token)
	send("localhost", a.root())
	wants(t, a.as("root", "POST", all+"/seeded/restore", ""), 200, `"name":"Seeded"`)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/stock-1/entities/q", ""), 200, `"active":1`)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/$default/entities/q", ""), 200, `"active":1`)
	send("stock-1.localhost", token)
	wants(t, a.as("root", "POST", all, `{"name": "seeded", "replace": true}`), 201, `"messages":2`)
	for i := range emulator.MaxSnapshots - 1 {
		wants(t, a.as("root", "POST", all, fmt.Sprintf(`{"name": "s%d"}`, i)), 201)
	}
	wants(t, a.as("root", "POST", all, `{"name": "more"}`), 409, "has 100 snapshots")
	for _, failing := range []func() *httptest.ResponseRecorder{
		func() *httptest.ResponseRecorder { return a.as("root", "POST", all+"/seeded/restore", "") },
		func() *httptest.ResponseRecorder {
			return a.as("root", "POST", all, `{"name": "seeded", "replace": true}`)
		},
	} {
		a.bus.journal.FailNext(1, &emulator.Error{Code: emulator.CodeQuotaExceeded, Text: "The disk is full."})
		wants(t, failing(), 409, "The disk is full.")
		a.bus.journal.WaitUntilWhole()
	}
	wants(t, a.as("root", "DELETE", all+"/seeded", ""), 204)
	for method, path := range map[string]string{"GET": "/seeded", "DELETE": "/seeded", "POST": "/seeded/restore"} {
		wants(t, a.as("root", method, all+path, ""), 404, "has no snapshot 'seeded'")
		wants(t, a.as("root", method, all+strings.Replace(path, "seeded", strings.Repeat("s", 51), 1), ""), 400)
		wants(t, a.as("root", method, control.Prefix+"namespaces/nothing/snapshots"+path, ""), 404)
	}
	for _, body := range []string{`{}`, `{"name": ""}`, `{"name": "a b"}`, `{"name": 1}`, `{"name": "x", "more": 1}`} {
		wants(t, a.as("root", "POST", all, body), 400)
	}
	wants(t, a.as("root", "POST", all, `{"name": "`+strings.Repeat("x", 1<<20)+`"}`), 413)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/snapshots", ""), 404)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces/nothing/snapshots", `{"name": "x"}`), 404)
	a.covers("snapshots")
}

// TestControlAPIEndsASnapshotWithItsRequest leaves nothing for a client that goes away.
func TestControlAPIEndsASnapshotWithItsRequest(t *testing.T) {
	a := controlAPI(t)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces", `{"name": "stock-1", "Queues": [{"Name": "q"}]}`), 201)
	const all = control.Prefix + "namespaces/stock-1/snapshots"
	wants(t, a.as("root", "POST", all, `{"name": "one"}`), 201)
	for path, body := range map[string]string{all: `{"name": "two"}`, all + "/one/restore": ""} {
		a.bus.journal.Pause()
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)).WithContext(ctx)
		r.Header.Set(authorization, a.root())
		ended := make(chan *httptest.ResponseRecorder)
		go func() {
			w := httptest.NewRecorder()
			a.bus.handler.ServeHTTP(w, r)
			ended <- w
		}()
		cancel()
		a.bus.journal.Resume()
		wants(t, <-ended, 503, "the client has gone")
	}
	w := a.as("root", "GET", all, "")
	if wants(t, w, 200, `"name":"one"`); strings.Contains(w.Body.String(), `"two"`) {
		t.Errorf("the snapshots are %s", w.Body)
	}
}
