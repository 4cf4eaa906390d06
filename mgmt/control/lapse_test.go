package control_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/control"
)

// TestControlAPIEndsWithTheToken whatever waits longer than that lasts: streams, waits, receiving. What comes until
// then is answered as ever.
func TestControlAPIEndsWithTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := controlAPI(t)
		const ns = control.Prefix + "namespaces/$default/"
		begin := time.Now()
		until := begin.Add(time.Minute + sas.Skew)
		ask := func(method, path, body string) <-chan *httptest.ResponseRecorder {
			answer := make(chan *httptest.ResponseRecorder, 1)
			token := sas.Sign("http://localhost:5300/", "root", "root-key", begin.Add(time.Minute))
			go func() {
				answer <- a.bus.at("localhost:5300", 5300, method, ns+path, body, authorization, token)
				if late := time.Since(until); late > time.Second || late < 0 {
					t.Errorf("%s %s is answered %v after its token's end", method, path, late)
				}
			}()
			return answer
		}
		for name, o := range map[string]emulator.QueueOptions{"s": {RequiresSession: true}, "other": {}} {
			if _, err := a.bus.broker.Default().Entities().CreateQueue(name, o); err != nil {
				t.Fatal(err)
			}
		}
		stream := ask("GET", "events", "")
		wait := ask("POST", "wait", `{"entity": "q", "counts": [{"of": "deadLetter", "least": 1}], "timeoutSeconds": 3600}`)
		time.Sleep(time.Until(until) - 30*time.Second) // receiving waits for a minute at most
		receive := ask("POST", "entities/q/receive", `{"wait": "60s"}`)
		session := ask("POST", "entities/s/receive", `{"wait": "60s", "nextSession": true}`)
		time.Sleep(time.Until(until) - time.Second)
		a.message("other", "in time")
		if w := <-stream; w.Code != 200 || !strings.Contains(w.Body.String(), `"messageId":"in time"`) || !strings.HasSuffix(w.Body.String(), ": the token has expired\n\n") {
			t.Errorf("the stream: %d %s", w.Code, w.Body)
		}
		for what, answer := range map[string]<-chan *httptest.ResponseRecorder{"wait": wait, "receive": receive, "receive of a session": session} {
			if w := <-answer; w.Code != 401 || !strings.Contains(w.Body.String(), "The token expired while the request waited.") {
				t.Errorf("%s: %d %s", what, w.Code, w.Body)
			}
		}
	})
}
