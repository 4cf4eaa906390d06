package control_test

import (
	"fmt"
	"strings"
	"testing"

	"minibus/emulator"
)

// messagesPage is what the tests read of a list of messages.
type messagesPage struct {
	Items []struct {
		SequenceNumber int64
		State          string
		Body           any
		BodyBytes      int64
		BodyCut        bool
		LockedBy       string
	}
	Next     string
	Examined int
}

func (p messagesPage) numbers() string {
	var list []string
	for _, m := range p.Items {
		list = append(list, fmt.Sprint(m.SequenceNumber))
	}
	return strings.Join(list, " ")
}

// everything is a message with all that a sender can set, as it is shown again.
const everySection = `"messageId":{"uuid":"00112233-4455-6677-8899-aabbccddeeff"},"correlationId":{"ulong":"7"},"partitionKey":"p","subject":"s","contentType":"text/plain","contentEncoding":"utf-8",` +
	`"to":"t","replyTo":"r","replyToSessionId":"rs","userId":{"binary":"AQI="},"groupSequence":4,"timeToLive":"PT1H"`

// TestControlAPISendsAndShowsMessages with every section and type.
func TestControlAPISendsAndShowsMessages(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("work", emulator.QueueOptions{})
	const all = inDefault + "work/messages"
	wants(t, a.as("root", "POST", all, `{`+everySection+`,"durable":true,"priority":9,"firstAcquirer":true,
		"applicationProperties":{"long":5,"double":5.0,"text":"x","yes":true,"none":null,"int":{"int":-5},"when":{"timestamp":"2026-01-31T12:00:00.5Z"},
			"span":{"described":{"descriptor":{"symbol":"com.microsoft:timespan"},"value":600}},"c":{"char":"é"},"d":{"decimal32":"AAAAAQ=="},"m":{"decimal128":"-12.50"}},
		"annotations":{"x-opt-mine":{"ubyte":1}},"deliveryAnnotations":{"x-trace":"y"},"footer":{"f":{"short":2}},"body":{"id":7}}`), 201, `{"sequenceNumbers":[1]}`)
	wants(t, a.as("root", "GET", all+"/1", ""), 200, everySection[:len(everySection)-len(`,"timeToLive":"PT1H"`)], `"timeToLive":"PT1H"`, `"durable":true`, `"priority":9`, `"firstAcquirer":true`,
		`"long":5`, `"double":{"double":5}`, `"none":null`, `"int":{"int":-5}`, `"when":{"timestamp":"2026-01-31T12:00:00.5Z"}`,
		`"span":{"described":{"descriptor":{"symbol":"com.microsoft:timespan"},"value":600}}`, `"c":{"char":"é"}`, `"d":{"decimal32":"AAAAAQ=="}`, `"m":{"decimal128":"-12.50"}`,
		`"annotations":{"x-opt-mine":{"ubyte":1}}`, `"deliveryAnnotations":{"x-trace":"y"}`, `"footer":{"f":{"short":2}}`, `"body":"{\"id\":7}"`, `"bodyBytes":8`, `"state":"active"`, `"expiresAt":"`)
	wants(t, a.as("root", "POST", all, `[{"bodyBase64":"AP8="},{"bodySections":["YQ==","Yg=="]},{"bodyValue":{"map":[["k",{"uint":1}]]}},{"bodySequence":[[1,"two"],[null]]},{"bodyValue":"text"},{}]`),
		201, `{"sequenceNumbers":[2,3,4,5,6,7]}`)
	for n, body := range map[int][2]string{2: {`"bodyBase64":"AP8="`, "\x00\xff"}, 3: {`"bodySections":["YQ==","Yg=="]`, "ab"}, 4: {`"bodyValue":{"map":[["k",{"uint":1}]]}`, ""},
		5: {`"bodySequence":[[1,"two"],[null]]`, ""}, 6: {`"bodyValue":"text"`, "text"}, 7: {`"body":""`, ""}} {
		wants(t, a.as("root", "GET", fmt.Sprint(all, "/", n), ""), 200, body[0])
		w := a.as("root", "GET", fmt.Sprint(all, "/", n, "/body"), "")
		if body[1] != "" && w.Body.String() != body[1] || w.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
			t.Errorf("the body of message %d is %q, as long as %s says", n, w.Body, w.Header().Get("Content-Length"))
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(w.Header().Get("Content-Disposition"), "attachment") {
			t.Errorf("a browser may run a body: %v", w.Header())
		}
	}
	wants(t, a.as("root", "GET", all+"/1?body=3", ""), 200, `"body":"{\"i"`, `"bodyCut":true`)
	r := decoded[receipt](t, a.as("root", "POST", inDefault+"work/receive", `{}`))
	if p := r.Messages[0].Properties; fmt.Sprint(p["int"], p["long"]) != "map[int:-5] 5" {
		t.Errorf("received %v", p)
	}
	wants(t, a.as("root", "GET", all+"/1", ""), 200, `"state":"locked"`, `"lockedUntil":"`, `"lockedBy":"an HTTP request from `)
	for _, body := range []string{``, `[]`, `5`, `null`, `[null]`, `{"applicationProperties":{"a":{"char":1114112}}}`, `{"boddy":1}`, `{"body":"a","bodyBase64":"AA=="}`, `{"bodyBase64":"?"}`, `{"bodyCut":true}`, `{"applicationProperties":{"a":{"int":"x"}}}`, `{"timeToLive":"1h"}`,
		`{"messageId":{"int":1}}`, `[{},{"contentType":"é"}]`, `{"bodyValue":{"array":{"type":"int","values":["x"]}}}`, `{"bodyValue":` + strings.Repeat(`{"list":[`, 40) + strings.Repeat(`]}`, 40) + `}`,
		`[` + strings.Repeat(`{},`, 1000) + `{}]`} {
		wants(t, a.as("root", "POST", all, body), 400, `"detail":"`)
	}
	wants(t, a.as("root", "POST", inDefault+"work%2F$DeadLetterQueue/messages", `{}`), 400)
	wants(t, a.as("root", "POST", inDefault+"nothing/messages", `{}`), 404)
	a.queueWith("sessions", emulator.QueueOptions{RequiresSession: true})
	wants(t, a.as("root", "POST", inDefault+"sessions/messages", `[{"sessionId":"a"},{}]`), 409, "SessionId was not set")
	a.bus.wantCounts("sessions", 0, 0)
	wants(t, a.as("root", "POST", all, `{"body":"`+strings.Repeat("x", 2<<20)+`"}`), 413, "exceeds the limit of")
	for _, path := range []string{"/99", "/99/body"} {
		wants(t, a.as("root", "GET", all+path, ""), 404, "no message with the sequence number 99")
		wants(t, a.as("root", "GET", all+strings.Replace(path, "99", "x", 1), ""), 400)
	}
	a.puts()
	a.browses(all)
	a.changes(all)
	a.schedules()
	a.covers("messages")
}

// puts has messages where clients can't send.
func (a *openAPI) puts() {
	t := a.t
	none := emulator.SubscriptionOptions{Name: "none", Rules: []emulator.RuleOptions{{Name: "r", SQL: "1=0"}}}
	if _, err := a.bus.ns.Entities().CreateTopic("puts", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{none}}); err != nil {
		t.Fatal(err)
	}
	dead := inDefault + "sessions%2F$DeadLetterQueue"
	wants(t, a.as("root", "POST", dead+"/messages?put=true", `[{"body":"x","sequenceNumber":99,"applicationProperties":{"a":1,"DeadLetterReason":"poison","DeadLetterErrorDescription":"bad"}},
		{"deadLetterReason":"shown","sessionId":"s"}]`), 201, `[1,2]`)
	wants(t, a.as("root", "GET", dead+"/messages?properties=true", ""), 200, `"deadLetterReason":"poison"`, `"DeadLetterErrorDescription":"bad"`, `"a":1`, `"DeadLetterReason":"shown"`)
	wants(t, a.as("root", "POST", dead+"/messages?put=true", `[{},{"applicationProperties":{"DeadLetterReason":{"char":1114112}}}]`), 400, "message 2", "DeadLetterReason")
	wants(t, a.as("root", "DELETE", dead+"/messages?sequenceNumbers=1,2,3", ""), 204)
	wants(t, a.as("root", "POST", inDefault+"sessions/messages?put=true", `{}`), 409, "SessionId was not set")
	wants(t, a.as("root", "POST", inDefault+"puts%2FSubscriptions%2Fnone/messages?put=true", `{"body":"in"}`), 201, `[1]`)
	wants(t, a.as("root", "POST", inDefault+"puts%2FSubscriptions%2Fnone/messages", `{"body":"in"}`), 409, "send them to its topic")
	wants(t, a.as("root", "POST", inDefault+"sessions%2F$Transfer%2F$DeadLetterQueue/messages?put=true", `{}`), 409, "can be placed in a subscription or a dead-letter queue")

	a.queueWith("far", emulator.QueueOptions{}) // beyond what Azure takes
	wants(t, a.as("root", "POST", inDefault+"far/messages", `{"applicationProperties":{"a":"`+strings.Repeat("x", 40_000)+`"}}`), 201)
	wants(t, a.as("root", "GET", strings.TrimSuffix(inDefault, "/")+"?text=far", ""), 200, `"beyondAzure":[{"rule":"QUO-8","text":"`, `"count":1}]`)
}

// browses lists messages.
func (a *openAPI) browses(all string) {
	t := a.t
	list := func(query string) messagesPage {
		t.Helper()
		return decoded[messagesPage](t, a.as("root", "GET", all+"?"+query, ""))
	}
	if p := list(""); p.numbers() != "1 2 3 4 5 6 7" || p.Examined != 7 || p.Next != "" || p.Items[0].State != "locked" || p.Items[0].LockedBy == "" {
		t.Errorf("the list is %+v", p)
	}
	p := list("order=newest&limit=3&body=1")
	if p.numbers() != "7 6 5" || p.Next != "4" || p.Items[0].BodyCut || list("order=newest&limit=9&cursor="+p.Next).numbers() != "4 3 2 1" {
		t.Errorf("the newest ones are %+v", p)
	}
	for query, want := range map[string]string{"state=locked": "1", "state=active&from=5": "5 6 7", "sql=sys.Label%20%3D%20's'": "1", "text=TWO": "5", "reason=$empty": "1 2 3 4 5 6 7", "reason=x": "", "sessionId=$empty": "",
		"enqueuedBefore=2000-01-01T00:00:00Z": "", "enqueuedBefore=1970-01-01T00:00:00Z": "", "dueBefore=1970-01-01T00:00:00Z": "", "enqueuedAfter=2000-01-01T00:00:00Z&limit=1": "1", "state=deferred,scheduled": ""} {
		if p := list(query); p.numbers() != want {
			t.Errorf("%s: %s, want %s", query, p.numbers(), want)
		}
	}
	if w := a.as("root", "GET", all+"?properties=true&limit=1", ""); !strings.Contains(w.Body.String(), `"footer"`) {
		t.Errorf("with properties: %s", w.Body)
	}
	for _, query := range []string{"sql=%3D", "cursor=x", "limit=0", "state=lost", "enqueuedAfter=x"} {
		wants(t, a.as("root", "GET", all+"?"+query, ""), 400)
	}
	wants(t, a.as("root", "GET", inDefault+"nothing/messages", ""), 404)
}

// changes removes and reschedules messages.
func (a *openAPI) changes(all string) {
	t := a.t
	wants(t, a.as("root", "POST", all, `{"body":"later","scheduledEnqueueTime":"2050-01-01T00:00:00Z"}`), 201, `[8]`)
	wants(t, a.as("root", "GET", all+"?state=scheduled", ""), 200, `"state":"scheduled"`, `"scheduledEnqueueTime":"2050-01-01T00:00:00Z"`)
	wants(t, a.as("root", "PATCH", all+"/8", `{"scheduledEnqueueTime":"2060-01-01T00:00:00Z"}`), 200, `{"sequenceNumber":8,"scheduledEnqueueTime":"2060-01-01T00:00:00Z"}`)
	wants(t, a.as("root", "GET", all+"/8", ""), 200, `"scheduledEnqueueTime":"2060-01-01T00:00:00Z"`)
	wants(t, a.as("root", "PATCH", all+"/7", `{"scheduledEnqueueTime":"2060-01-01T00:00:00Z"}`), 409, "is not scheduled")
	wants(t, a.as("root", "PATCH", all+"/99", `{"scheduledEnqueueTime":"2060-01-01T00:00:00Z"}`), 404)
	wants(t, a.as("root", "PATCH", all+"/8", `{"scheduledEnqueueTime":"soon"}`), 400)
	wants(t, a.as("root", "PATCH", inDefault+"work%2F$DeadLetterQueue/messages/8", `{"scheduledEnqueueTime":"2060-01-01T00:00:00Z"}`), 400)
	wants(t, a.as("root", "DELETE", all+"/1", ""), 409, "is locked by an HTTP request from", " until 2")
	wants(t, a.as("root", "DELETE", all+"?sequenceNumbers=2,1", ""), 409)
	wants(t, a.as("root", "DELETE", all+"?sequenceNumbers=2,99", ""), 404, "number 99")
	wants(t, a.as("root", "DELETE", all, ""), 400)
	wants(t, a.as("root", "DELETE", all+"/x", ""), 400)
	wants(t, a.as("root", "DELETE", all+"/99", ""), 404)
	wants(t, a.as("root", "DELETE", all+"/8", ""), 204)
	wants(t, a.as("root", "DELETE", all+"?sequenceNumbers=2,3,3", ""), 204)
	a.bus.wantCounts("work", 5, 0)
}
