package control_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/control"
	"minibus/mgmt/control/api"
)

// recorded is a part of the history as the tests read it.
type recorded struct {
	Items []struct {
		Number         int64
		Kind, Entity   string
		MessageID      string `json:"messageId"`
		SequenceNumber int64
		Text           string
		Client         *struct{ Remote, Product string }
	}
	Next, Oldest int64
}

// history gets a part of the history.
func (a *openAPI) history(query string) recorded {
	a.t.Helper()
	w := a.as("root", "GET", control.Prefix+"namespaces/$default/history"+query, "")
	wants(a.t, w, 200)
	var page recorded
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
		a.t.Fatal(err)
	}
	return page
}

func (r recorded) kinds() (kinds []string) {
	for _, e := range r.Items {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// message sends a message with an id over HTTP.
func (a *openAPI) message(queue, id string) {
	a.t.Helper()
	token := sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))
	wants(a.t, a.bus.do("POST", "/"+queue+"/messages", "x", authorization, token, "BrokerProperties", fmt.Sprintf(`{"MessageId": %q}`, id)), 201)
}

// receiveDelete receives a message.
func (a *openAPI) receiveDelete(queue string) {
	a.t.Helper()
	token := sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))
	wants(a.t, a.bus.do("DELETE", "/"+queue+"/messages/head?timeout=1", "", authorization, token), 200)
}

// TestControlAPITellsWhatHappened in pages, from both ends, filtered, and as the life of one message.
func TestControlAPITellsWhatHappened(t *testing.T) {
	a := controlAPI(t)
	for i := range 5 {
		a.message("q", fmt.Sprintf("m%d", i))
	}
	a.receiveDelete("q")
	same(t, a.history("").kinds(), []string{"sent", "sent", "sent", "sent", "sent", "receivedAndDeleted"})
	first := a.history("?limit=4")
	second := a.history(fmt.Sprintf("?limit=4&cursor=%d", first.Next))
	same(t, second.kinds(), []string{"sent", "receivedAndDeleted"})
	if third := a.history(fmt.Sprintf("?cursor=%d", second.Next)); len(third.Items) != 0 || third.Next != second.Next {
		t.Errorf("after the last page: %+v", third)
	}
	newest := a.history("?order=newest&limit=2")
	same(t, newest.kinds(), []string{"receivedAndDeleted", "sent"})
	if older := a.history(fmt.Sprintf("?order=newest&limit=2&cursor=%d", newest.Next)); older.Items[0].MessageID != "m3" || older.Items[1].MessageID != "m2" {
		t.Errorf("older: %+v", older)
	}
	if id := a.history("?messageId=m2&entity=Q"); len(id.Items) != 1 || id.Items[0].SequenceNumber != 3 || id.Items[0].Client == nil {
		t.Errorf("of m2: %+v", id)
	}
	same(t, a.history("?kind=receivedAndDeleted,completed").kinds(), []string{"receivedAndDeleted"})
	same(t, a.history("?entity=q/$DeadLetterQueue").kinds(), nil)
	same(t, a.history("?since="+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)).kinds(), nil)
	life := a.history("/life?messageId=m0")
	same(t, life.kinds(), []string{"sent", "receivedAndDeleted"})
	for _, page := range []recorded{life, a.history("?kind=receivedAndDeleted"), a.history("?order=newest&limit=1")} {
		if last := page.Items[len(page.Items)-1]; last.MessageID != "m0" {
			t.Errorf("a later event of m0 is %+v", last)
		}
	}
	if text := life.Items[1].Text; !strings.HasPrefix(text, "number 1 of q was delivered and deleted to an HTTP request from ") {
		t.Errorf("the text is %q", text)
	}
	same(t, a.history("/life?entity=q&sequenceNumber=2").kinds(), []string{"sent"})
	const path = control.Prefix + "namespaces/$default/history"
	wants(t, a.as("root", "GET", path+"/life", ""), 400, "Which message? Give messageId")
	wants(t, a.as("root", "GET", path+"?kind=lost", ""), 400, `There is no event \"lost\". There are sent, scheduled,`)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/history", ""), 404)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/nothing/history/life?messageId=x", ""), 404)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/orders/history", ""), 200, `"items":[]`)
	a.looksUp()
	a.streams()
	a.covers("history")
}

// looksUp finds messages by each id that people have of them.
func (a *openAPI) looksUp() {
	a.t.Helper()
	token := sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))
	wants(a.t, a.bus.do("POST", "/q/messages", "x", authorization, token, "BrokerProperties", `{"MessageId": "it's m9", "CorrelationId": "m3"}`), 201)
	const path = control.Prefix + "namespaces/$default/lookup?text="
	found := func(text string) (lines []string) {
		for _, f := range decoded[api.Lookup](a.t, a.as("root", "GET", path+url.QueryEscape(text), "")).Items {
			lines = append(lines, fmt.Sprintf("%s %s#%d %s, held %t, %s", f.By, f.Entity, f.SequenceNumber, f.MessageID, f.Held, f.Last))
		}
		return lines
	}
	same(a.t, found("m0"), []string{"messageId q#1 m0, held false, receivedAndDeleted"})
	same(a.t, found("m3"), []string{"messageId q#4 m3, held true, sent", "correlationId q#6 it's m9, held true, "})
	same(a.t, found("it's m9"), []string{"messageId q#6 it's m9, held true, sent"})
	const id = "0a1b2c3d-0a1b-4c2d-8e3f-0a1b2c3d4e5f"
	wants(a.t, a.bus.do("POST", "/q/messages", "x", authorization, token, "BrokerProperties", fmt.Sprintf(`{"MessageId": %q}`, id)), 201)
	same(a.t, found(strings.ToUpper(id)), []string{"messageId q#7 " + id + ", held true, sent"})
	same(a.t, found("M0"), nil)
	same(a.t, found("Q#2"), []string{"sequenceNumber q#2 m1, held true, sent"})
	same(a.t, found("q#99"), nil)
	same(a.t, found("nothing#1"), nil)
	wants(a.t, a.as("root", "GET", path+"m3&limit=1", ""), 200, `"complete":false`)
	wants(a.t, a.as("root", "GET", path+"none", ""), 200, `{"items":[],"complete":true}`)
	wants(a.t, a.as("root", "GET", path, ""), 400)
	wants(a.t, a.as("root", "GET", control.Prefix+"namespaces/nothing/lookup?text=x", ""), 404)
}

// streams covers what a stream answers before it begins. TestControlAPIStreamsEvents has the stream itself.
func (a *openAPI) streams() {
	a.t.Helper()
	const path = control.Prefix + "namespaces/%s/events?%s"
	wants(a.t, a.as("root", "GET", fmt.Sprintf(path, "nothing", ""), ""), 404)
	wants(a.t, a.as("root", "GET", fmt.Sprintf(path, "$default", "kind=lost"), ""), 400)
	a.seen["GET "+control.Prefix+"namespaces/{namespace}/events 200"] = true
	a.seen["GET "+control.Prefix+"namespaces/{namespace}/events 409"] = true // TestControlAPIWithoutHistory
}

// TestControlAPIWithoutHistory refuses what needs one, and waits for counts all the same.
func TestControlAPIWithoutHistory(t *testing.T) {
	a := controlAPI(t)
	broker, err := emulator.OpenBroker(a.bus.journal, emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	a.bus.broker, a.bus.ns = broker, broker.Default()
	same(t, a.history("").kinds(), nil)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/$default/events", ""), 409, "No history is kept. Start Minibus without --history off.")
	const wait = control.Prefix + "namespaces/$default/wait"
	wants(t, a.as("root", "POST", wait, `{"events": {}}`), 409, "No history is kept")
	wants(t, a.as("root", "POST", wait, `{"entity": "q", "counts": [{"of": "active", "most": 0}]}`), 200, `"met":true`)
}

// TestControlAPIStreamsEvents as they come, and from where a client left off.
func TestControlAPIStreamsEvents(t *testing.T) {
	a := controlAPI(t)
	server := httptest.NewServer(a.bus.handler)
	t.Cleanup(server.Close)
	a.message("q", "before")
	open := func(query string, headers ...string) *bufio.Scanner {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+control.Prefix+"namespaces/$default/events"+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(authorization, sas.Sign(server.URL+"/", "root", "root-key", time.Now().Add(time.Hour)))
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%s: %v", answer.Status, answer.Header)
		}
		lines := bufio.NewScanner(answer.Body)
		if !lines.Scan() || lines.Text() != ": what happens in sbemulatorns" {
			t.Fatalf("the stream begins with %q", lines.Text())
		}
		return lines
	}
	next := func(lines *bufio.Scanner) string {
		var event []string
		for lines.Scan() && (lines.Text() != "" || len(event) == 0) {
			if lines.Text() != "" {
				event = append(event, lines.Text())
			}
		}
		return strings.Join(event, "\n")
	}
	live, only := open(""), open("?kind=receivedAndDeleted")
	a.message("q", "after")
	if got := next(live); !strings.HasPrefix(got, "id: 2\nevent: event\ndata: {\"number\":2,") || !strings.Contains(got, `"messageId":"after"`) {
		t.Errorf("the stream has %q", got)
	}
	a.receiveDelete("q")
	if got := next(only); !strings.Contains(got, `"kind":"receivedAndDeleted"`) || !strings.Contains(got, `"messageId":"before"`) {
		t.Errorf("the stream of one kind has %q", got)
	}
	if got := next(open("?from=1")); !strings.Contains(got, `"messageId":"before"`) {
		t.Errorf("the stream from the beginning has %q", got)
	}
	if got := next(open("", "Last-Event-ID", "1")); !strings.Contains(got, `"messageId":"after"`) {
		t.Errorf("the stream from event 1 on has %q", got)
	}
	for range 60_000 { // more than the record holds
		a.bus.send("q", time.Time{})
	}
	if got := next(open("?from=1")); !strings.HasPrefix(got, "event: missed\ndata: {\"count\":") {
		t.Errorf("the stream from a forgotten event on has %q", got)
	}
}

// TestControlAPIWaits until counts, events and idleness hold, or the time is over.
func TestControlAPIWaits(t *testing.T) {
	a := controlAPI(t)
	const wait = control.Prefix + "namespaces/$default/wait"
	wants(t, a.as("root", "POST", wait, `{"entity": "q", "counts": [{"of": "active", "least": 1}], "timeoutSeconds": 0.05}`), 200, `"met":false`, `"text":"no messages"`,
		`"wanted":"at least 1 active in q"`, `"why":{"entity":"q"`, `"code":"empty"`)
	wants(t, a.as("root", "POST", wait, `{"entity": "q", "idle": true}`), 200, `"met":true`)
	if w := a.as("root", "POST", wait, `{"entity": "q", "idle": true}`); strings.Contains(w.Body.String(), "wanted") || strings.Contains(w.Body.String(), "why") {
		t.Errorf("a wait that is met answers %s", w.Body)
	}
	for body, wanted := range map[string]string{
		`{"entity": "q", "counts": [{"of": "deadLetter", "least": 1, "most": 1}, {"of": "active", "most": 3}], "idle": true}`: "exactly 1 dead letter in q, and at most 3 active in q, and q without a message that is available, locked or to be forwarded",
		`{"events": {"kinds": ["completed", "abandoned"], "times": 2, "entity": "q", "client": "worker"}}`:                    "2 events completed or abandoned in q by worker",
		`{"message": {"entity": "q/$DeadLetterQueue", "filter": {"reason": "poison", "sql": "a = 1"}}}`:                       "a message in q/$DeadLetterQueue where \"a = 1\" with the reason \"poison\"",
	} {
		var got struct {
			Wanted string
			Why    *struct{ Entity string }
		}
		w := a.as("root", "POST", wait, strings.TrimSuffix(body, "}")+`, "timeoutSeconds": 0.05}`)
		wants(t, w, 200, `"met":false`)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Wanted != wanted || got.Why == nil || !strings.HasPrefix(got.Why.Entity, "q") {
			t.Errorf("%s: %v, %+v, want %s", body, err, got, wanted)
		}
	}
	answer := make(chan *httptest.ResponseRecorder)
	go func() {
		answer <- a.bus.at("localhost:5300", 5300, "POST", wait, `{"entity": "q", "counts": [{"of": "active", "least": 2, "most": 2}], "events": {"kinds": ["sent"], "times": 2, "from": 1}}`,
			authorization, a.root())
	}()
	a.message("q", "a")
	a.message("q", "b")
	wants(t, <-answer, 200, `"met":true`, `"active":2`, `"events":2`, `"text":"2 active, 2 matching events"`)
	wants(t, a.as("root", "POST", wait, `{"entity": "q", "idle": true, "timeoutSeconds": 0.05}`), 200, `"met":false`)
	wants(t, a.as("root", "POST", wait, `{"events": {"messageId": "b", "from": 1}}`), 200, `"met":true`, `"next":3`)
	wants(t, a.as("root", "POST", wait, `{"message": {"entity": "q", "filter": {"text": "x"}}}`), 200, `"met":true`, `"sequenceNumber":1`)
	wants(t, a.as("root", "POST", wait, `{"message": {"entity": "q/$DeadLetterQueue"}, "timeoutSeconds": 0.05}`), 200, `"met":false`)
	wants(t, a.as("root", "POST", wait, `{"message": {"entity": "q", "filter": {"sql": "="}}}`), 400, "SQL filter is wrong")
	wants(t, a.as("root", "POST", wait, `{"message": {"entity": "q", "filter": {"sequenceNumbers": [1]}}}`), 400, "leave it out")
	wants(t, a.as("root", "POST", wait, `{"message": {"entity": "none"}}`), 404)
	wants(t, a.as("root", "POST", wait, `{}`), 400, "What to wait for?")
	wants(t, a.as("root", "POST", wait, `{"idle": true}`), 400, "Whose counts?")
	wants(t, a.as("root", "POST", wait, `{"entity": "q", "idle": true, "timeoutSeconds": 9999}`), 400, "body.timeoutSeconds: expected number <= 3600")
	wants(t, a.as("root", "POST", wait, `{"entity": "none", "idle": true}`), 404)
	a.seen["POST "+control.Prefix+"namespaces/{namespace}/wait 409"] = true // TestControlAPIWithoutHistory
	a.covers("wait")
}

// TestEveryKindOfEventHasAName by which clients can ask for it: those that the error lists are all different, and all
// are taken.
func TestEveryKindOfEventHasAName(t *testing.T) {
	a := controlAPI(t)
	const path = control.Prefix + "namespaces/$default/history?kind="
	w := a.as("root", "GET", path+"nothing", "")
	_, list, _ := strings.Cut(w.Body.String(), "There are ")
	list, _, _ = strings.Cut(list, ".")
	names := strings.Split(list, ", ")
	if len(names) != int(emulator.LastEventKind) || !slices.Contains(names, "fault") || !slices.Contains(names, "rescheduled") {
		t.Errorf("%d kinds: %q", len(names), names)
	}
	for i, name := range names {
		wants(t, a.as("root", "GET", path+name, ""), 200)
		if slices.Contains(names[:i], name) {
			t.Errorf("%s stands for two kinds", name)
		}
	}
}
