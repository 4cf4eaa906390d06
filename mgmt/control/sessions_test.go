package control_test

import (
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
	held := decoded[receipt](t, a.as("root", "POST", inDefault+"work/receive", `{"session": "b"}`)).Session.Token
	wants(t, a.as("root", "POST", all+"/b/renew", `{"token": "`+held+`"}`), 200, `{"lockedUntil":"`)
	wants(t, a.as("root", "POST", all+"/b/release", `{"token": "`+held+`"}`), 204)
	for _, do := range []string{"renew", "release"} {
		wants(t, a.as("root", "POST", all+"/b/"+do, `{"token": "`+held+`"}`), 409, "session lock has expired")
		wants(t, a.as("root", "POST", all+"/b/"+do, `{}`), 400)
		wants(t, a.as("root", "POST", inDefault+"nothing/sessions/b/"+do, `{"token": "`+held+`"}`), 404)
	}
	wants(t, a.as("root", "POST", inDefault+"work/receive", `{"session": "b"}`), 200, `"body":"2"`, `"deliveryCount":0`)
	wants(t, a.as("root", "POST", all+"/b/break", ""), 204)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/$default/history?kind=sessionBroken", ""), 200, `"kind":"sessionBroken"`, "the lock of session 'b', held by ", "was broken by an HTTP request from 192.0.2.1:1234")
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

// TestSESS35_TheControlAPITakesIDsInAnyCase: one session has one line, its messages their own spellings.
func TestSESS35_TheControlAPITakesIDsInAnyCase(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("work", emulator.QueueOptions{RequiresSession: true}, "ORDER/1", "order/2", "x/3")
	const all = inDefault + "work/sessions"
	wants(t, a.as("root", "GET", all+"?limit=1", ""), 200, `{"items":[{"id":"ORDER","active":2,"locked":0,"deferred":0,"scheduled":0}],"next":"ORDER"}`)
	wants(t, a.as("root", "GET", all+"?cursor=order", ""), 200, `{"items":[{"id":"x",`)
	wants(t, a.as("root", "PUT", all+"/order/state", `{"text": "one"}`), 204)
	wants(t, a.as("root", "GET", all+"/Order/state", ""), 200, `{"text":"one"}`)
	wants(t, a.as("root", "GET", inDefault+"work/messages?sessionId=oRDER", ""), 200, `"sessionId":"ORDER"`, `"sessionId":"order"`)
	held := decoded[receipt](t, a.as("root", "POST", inDefault+"work/receive", `{"session": "order"}`)).Session.Token
	wants(t, a.as("root", "POST", inDefault+"work/receive", `{"session": "ORDER"}`), 409, "cannot be accepted")
	wants(t, a.as("root", "POST", all+"/ORDER/renew", `{"token": "`+held+`"}`), 200)
	wants(t, a.as("root", "POST", inDefault+"work/receive", `{"session": "Order", "sessionToken": "`+held+`"}`), 200, `"body":"2"`)
	wants(t, a.as("root", "POST", all+"/oRder/break", ""), 204)
	wants(t, a.as("root", "POST", control.Prefix+"namespaces/$default/jobs?wait=10s", `{"kind": "purge", "entity": "work", "filter": {"sessionId": "X"}}`), 201, `"done":1`)
	wants(t, a.as("root", "GET", all+"/order", ""), 200, `"active":2`)
}

// TestSESS13_AHolderOverTheControlAPI can do what one over AMQP can: renew the lock, receive more, fetch deferred
// messages, and give the session up.
func TestSESS13_AHolderOverTheControlAPI(t *testing.T) {
	timed(t, emulator.QueueOptions{LockDuration: 30 * time.Second, RequiresSession: true}, func(t *testing.T, b *bus) {
		b.handler = mgmt.New(mgmt.Options{Broker: b.Broker, Control: controlled{b}})
		b.makeQueue("other", emulator.QueueOptions{RequiresSession: true})
		post := func(body string) { b.post("q", body, "BrokerProperties", `{"SessionId": "a"}`) }
		post("one")
		post("two")
		receiving := func(more string) *httptest.ResponseRecorder {
			return b.do("POST", inDefault+"q/receive", `{"session": "a"`+more+`}`)
		}
		first := decoded[receipt](t, receiving(""))
		token := `"` + first.Session.Token + `"`
		mine := `, "sessionToken": ` + token
		lock := func(do string) *httptest.ResponseRecorder {
			return b.do("POST", inDefault+"q/sessions/a/"+do, `{"token": `+token+`}`)
		}
		for range 3 {
			time.Sleep(29 * time.Second)
			wants(t, lock("renew"), 200, time.Now().Add(30*time.Second).UTC().Format(time.RFC3339Nano))
		}
		wants(t, b.do("POST", inDefault+"q/settle", `{"lockTokens": ["`+first.Messages[0].LockToken+`"], "outcome": "defer"}`), 204)
		wants(t, receiving(""), 409, "cannot be accepted")
		wants(t, receiving(mine), 200, `"body":"two"`, `"session":{"id":"a","token":`+token)
		wants(t, receiving(mine+`, "sequenceNumbers": [1]`), 200, `"body":"one"`)
		wants(t, receiving(mine), 200, `{"messages":[],"session":`)
		wants(t, receiving(mine+`, "mode": "receiveAndDelete"`), 400, "peekLock")
		wants(t, b.do("POST", inDefault+"other/receive", `{"session": "a"`+mine+`}`), 409)
		wants(t, b.do("POST", inDefault+"q/receive", `{"session": "b"`+mine+`}`), 409)
		wants(t, b.do("POST", inDefault+"q/receive", `{"sessionToken": `+token+`}`), 400)

		waits, answer := make(chan struct{}), (*httptest.ResponseRecorder)(nil)
		go func() {
			defer close(waits)
			answer = receiving(mine + `, "wait": "60s"`)
		}()
		synctest.Wait()
		wants(t, receiving(mine), 409, "Another request is receiving")
		wants(t, lock("renew"), 200)
		post("three")
		<-waits
		wants(t, answer, 200, `"body":"three"`)

		broken := httptest.NewRequest(http.MethodPost, inDefault+"q/receive", strings.NewReader(`{"session": "a"`+mine+`}`))
		post("four")
		b.handler.ServeHTTP(brokenWriter{httptest.NewRecorder()}, broken)
		synctest.Wait()
		wants(t, receiving(mine), 200, `"body":"four"`)

		waits = make(chan struct{})
		go func() {
			defer close(waits)
			answer = receiving(mine + `, "wait": "60s"`)
		}()
		synctest.Wait()
		wants(t, lock("release"), 204)
		<-waits
		wants(t, answer, 409, "session lock has expired")
		wants(t, lock("renew"), 409)
		again := decoded[receipt](t, receiving(`, "max": 9`))
		if len(again.Messages) != 3 || again.Messages[0].DeliveryCount != 0 {
			t.Errorf("after the release: %+v", again)
		}
		time.Sleep(31 * time.Second)
		wants(t, b.do("POST", inDefault+"q/sessions/a/renew", `{"token": "`+again.Session.Token+`"}`), 409)
	})
}
