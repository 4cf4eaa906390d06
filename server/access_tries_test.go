package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/sas"
)

// This file has the tricks of clients without rights, or with rights elsewhere. Each try is a line; none may get anything, and
// nothing may change.

const upgradeLines = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: amqp\r\n"

func authorizationLine(token string) string { return "Authorization: " + token + "\r\n" }

// dialler is a [Server], or a place at one.
type dialler interface {
	Dial(ctx context.Context) (net.Conn, error)
}

// raw sends a request as it is written and returns the status and the whole answer.
func raw(t *testing.T, a dialler, requestLine, lines, body string) (int, string) {
	t.Helper()
	nc, err := a.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	method, _, _ := strings.Cut(requestLine, " ")
	if _, err := fmt.Fprintf(nc, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n%s", requestLine, len(body), lines, body); err != nil {
		t.Fatal(err)
	}
	w, err := http.ReadResponse(bufio.NewReader(nc), &http.Request{Method: method})
	if err != nil {
		return dropped, "" // an upgrade with a body is cut off
	}
	defer func() { _ = w.Body.Close() }()
	if w.StatusCode == http.StatusSwitchingProtocols {
		return w.StatusCode, ""
	}
	text, _ := io.ReadAll(w.Body)
	return w.StatusCode, fmt.Sprint(w.Header, string(text))
}

// dropped stands for the status of a connection that ended without an answer.
const dropped = 499

// wantNothing sends a request that the server must refuse.
func wantNothing(t *testing.T, a *place, requestLine, lines, body string) {
	t.Helper()
	before := stateOf(t, a)
	status, text := raw(t, a, requestLine, lines, body)
	if status < 400 || status >= 500 {
		t.Errorf("%s\n%s: status %d: %s", requestLine, lines, status, text)
	}
	for _, leak := range []string{"Description", "<entry", "foreign", "-key", "BrokerProperties"} {
		if strings.Contains(text, leak) && !strings.Contains(requestLine, "foreign") {
			t.Errorf("%s\n%s: the answer has %s: %s", requestLine, lines, leak, text)
		}
	}
	if after := stateOf(t, a); after != before {
		t.Errorf("%s\n%s: something happened:\n%s\nbefore:\n%s", requestLine, lines, after, before)
	}
}

// anonymous are requests without valid credentials.
var anonymous = []string{
	"GET /q", "HEAD /q", "OPTIONS /q", "TRACE /q", "PATCH /q", "CONNECT /q", "PROPFIND /q", "get /q", "DELETE /q", "POST /q", "PUT /q",
	"GET /Q", "GET /q/", "GET /q//", "GET //q", "GET ///q", "GET /./q", "GET /../q", "GET /x/../q", "GET /%71", "GET /%2571", "GET /%2Fq", "GET /q%2F",
	"GET /q;x", "GET /q?x", "GET /%2e%2e/q", "GET /%5Cq", "GET /q%00", "GET /q%20",
	"GET http://localhost/q", "GET http://elsewhere/q", "GET https://elsewhere:443/$Resources/queues", "DELETE http://localhost/q", "CONNECT localhost:80", "OPTIONS *",
	"GET /$Resources/queues", "HEAD /$Resources/queues", "OPTIONS /$Resources/topics", "GET /$resources/QUEUES", "GET /$Resources%2Fqueues", "GET /%24Resources/queues",
	"GET /$Resources/queues/", "GET //$Resources/queues", "GET /$namespaceinfo", "HEAD /$NamespaceInfo", "PUT /", "POST /", "DELETE /", "OPTIONS /", "PUT //",
	"GET /t/Subscriptions", "GET /t/Subscriptions/sub", "GET /t%2FSubscriptions%2Fsub", "GET /t/Subscriptions/sub/Rules", "DELETE /t/subscriptions/sub/rules/$Default",
	"DELETE /t%2fsubscriptions%2fsub", "GET /q/$management", "GET /q/$DeadLetterQueue", "DELETE /q/$DeadLetterQueue", "GET /$cbs", "POST /$cbs/messages",
	"POST /q/messages", "POST /q/Messages/", "POST /q%2Fmessages", "POST //q/messages", "POST /q/./messages", "DELETE /q/messages/head", "DELETE /q/messages%2Fhead", "POST /q/messages/head",
	"DELETE /q/$deadletterqueue/messages/head", "DELETE /q/%24DeadLetterQueue/messages/head", "DELETE /q/$Transfer/$DeadLetterQueue/messages/head", "DELETE /q/MESSAGES/HEAD",
	"DELETE /q/messages/1/7f3c7c41-2f4a-4d3e-9a0f-3d8e0b3f2a10", "PUT /q/messages/1/7f3c7c41-2f4a-4d3e-9a0f-3d8e0b3f2a10", "GET /q/messages/head", "PATCH /q/messages/head",
	"GET /metrics", "HEAD /metrics", "POST /health", "PUT /metrics", "DELETE /livez", "POST /minibus/ca.pem", "DELETE /minibus/ca.pem", "GET /health/../q", "GET /metrics/../q", "GET /health%2F..%2Fq",
	"GET /health/q", "GET /metrics/", "GET /minibus/ca.pem/../../q", "GET /minibus/ca.key", "GET /minibus/", "GET /minibus/../q", "GET /$servicebus/websocket/../../q",
	"GET /$servicebus/websocket/q", "GET /$servicebus", "GET /debug/pprof/", "GET /q?api-version=2021-05&X-HTTP-Method-Override=DELETE",
}

func TestAnonymousRequestsGetNothing(t *testing.T) {
	inBothNamespaces(t, Config{}, wantNothingAnonymously)
}

func wantNothingAnonymously(t *testing.T, a *place) {
	t.Helper()
	good := sas.Sign("http://localhost/", "manage", a.key("manage"), time.Now().Add(time.Hour))
	bad := sas.Sign("http://localhost/", "manage", "wrong", time.Now().Add(time.Hour))
	for _, o := range anonymous {
		wantNothing(t, a, o, "", "")
		wantNothing(t, a, o, authorizationLine(bad), queueBody)
		wantNothing(t, a, o, upgradeLines, "")
	}
	query := strings.TrimPrefix(good, "SharedAccessSignature ")
	for _, o := range []string{"GET /q?" + query, "GET /q?Authorization=" + url.QueryEscape(good), "GET /q?token=" + url.QueryEscape(good),
		"DELETE /q/messages/head?" + query, "GET /$Resources/queues?" + query, "POST /q/messages?" + query} {
		wantNothing(t, a, o, "", "")
	}
	for _, lines := range []string{
		authorizationLine("Basic bWFuYWdlOm1hbmFnZS1rZXk="), "Proxy-" + authorizationLine(good), "X-" + authorizationLine(good), "Cookie: Authorization=" + good + "\r\n",
		"ServiceBus" + authorizationLine(good), "ServiceBusSupplementary" + authorizationLine(good), "ServiceBusDlqSupplementary" + authorizationLine(good),
		authorizationLine(bad) + authorizationLine(good), authorizationLine("") + authorizationLine(good), authorizationLine(bad + ", " + good),
		authorizationLine("Bearer " + query), authorizationLine(query), "X-HTTP-Method-Override: GET\r\nX-Forwarded-For: 127.0.0.1\r\nX-Original-URL: /health\r\n",
		authorizationLine(good + "&sr=x"), authorizationLine(good + "&skn=send"), authorizationLine(strings.Replace(good, "skn=manage", "skn=", 1)),
		authorizationLine(strings.Replace(good, "&se=", "&se=%20", 1)), authorizationLine(strings.Replace(good, "sr=http", "sr=https", 1)),
	} {
		for _, o := range []string{"GET /q", "PUT /q", "DELETE /q", "GET /$Resources/queues", "POST /q/messages", "DELETE /q/messages/head"} {
			wantNothing(t, a, o, lines, queueBody)
		}
	}
	for _, o := range []string{"GET /health", "HEAD /livez", "GET /readyz", "GET /"} { // open paths, to show that requests work
		if status, text := raw(t, a, o, "", ""); status != 200 || strings.Contains(text, "-key") {
			t.Errorf("%s: %d %s", o, status, text)
		}
	}
}

// A client without valid credentials gets the same answer whether an entity exists or not.
func TestRefusedAttachesTellNothingOfEntities(t *testing.T) {
	inBothNamespaces(t, Config{}, wantRefusalsAlike)
}

func wantRefusalsAlike(t *testing.T, a *place) {
	t.Helper()
	tracking := regexp.MustCompile(`TrackingId:[^,]*|Expiration time: '[^']*'|Timestamp:.*|'sb://[^']*'`)
	for name, do := range map[string]func(context.Context, *goamqp.Session, string) error{
		"send": attachSender, "receive": attachReceiver, "session": acceptSession, "request": manage("peek-message"),
	} {
		for credential, token := range a.worthless() {
			answers := map[string][]string{}
			for _, path := range []string{"q", "t", "s", "t/Subscriptions/sub", "missing", "t/Subscriptions/missing", "missing/Subscriptions/sub"} {
				err := tryAMQP(t.Context(), t, a, path, token, do)
				if !errors.Is(err, errRefused) {
					t.Errorf("%s at %s with %s: %v, want it refused", name, path, credential, err)
				}
				text := tracking.ReplaceAllString(fmt.Sprint(err), "")
				answers[text] = append(answers[text], path)
			}
			if len(answers) > 1 {
				t.Errorf("%s with %s: %q", name, credential, answers)
			}
		}
	}
}

// TestATokenForAnEntityOpensNoOther over HTTP: its policy is the queue's own, or the namespace's with a token for the queue only.
func TestATokenForAnEntityOpensNoOther(t *testing.T) {
	inBothNamespaces(t, Config{}, wantNoOtherEntity)
}

func wantNoOtherEntity(t *testing.T, a *place) {
	t.Helper()
	for _, path := range []string{"q2", "q/below", "qq"} {
		if _, err := a.Namespace().Entities().CreateQueue(path, emulator.QueueOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	forward := func(to string) string { return description("QueueDescription", "<ForwardTo>"+to+"</ForwardTo>") }
	letters := description("QueueDescription", "<ForwardDeadLetteredMessagesTo>other</ForwardDeadLetteredMessagesTo>")
	for _, tt := range []struct{ policy, resource, requestLine, body string }{
		{"own-manage", "q", "GET /q2", ""}, {"own-manage", "q", "GET /q/below", ""}, {"own-manage", "q", "GET /qq", ""}, {"own-manage", "q", "GET /other", ""},
		{"own-manage", "", "GET /q", ""}, {"own-manage", "q/below", "GET /q", ""}, {"own-manage", "q/below", "GET /q/below", ""},
		{"manage", "q", "GET /q2", ""}, {"manage", "q", "GET /other", ""}, {"manage", "q/below", "GET /q", ""}, {"manage", "q", "GET /$Resources/queues", ""},
		{"manage", "q", "GET /$namespaceinfo", ""}, {"own-manage", "$Resources/queues", "GET /$Resources/queues", ""}, {"own-manage", "q", "PUT /q/new", queueBody},
		{"own-manage", "q", "GET /q/../other", ""}, {"own-manage", "q", "GET /q%2F..%2Fother", ""}, {"own-manage", "q", "DELETE /q/../other", ""},
		{"own-manage", "q", "PUT /q/../other", queueBody}, {"own-manage", "q", "POST /q/../other/messages", "m"}, {"own-manage", "q", "POST /q%2f%2e%2e%2fother/messages", "m"},
		{"own-manage", "q", "POST /other/messages", "m"}, {"own-manage", "q", "POST /q/below/messages", "m"}, {"own-manage", "q", "DELETE /q2/messages/head", ""},
		{"own-manage", "q", "POST /q%2Fbelow/messages", "m"}, {"own-manage", "q", "DELETE /q/below/$DeadLetterQueue/messages/head", ""},
		{"own-manage", "q/$DeadLetterQueue", "DELETE /q/messages/head", ""}, {"own-manage", "q/messages", "DELETE /q", ""},
		{"own-listen", "q", "POST /q/messages/messages", "m"}, {"own-send", "q", "DELETE /q/messages/head/messages/head", ""},
		{"own-manage", "t/Subscriptions/sub", "DELETE /t", ""}, {"own-manage", "t/Subscriptions/sub", "POST /t/messages", "m"},
		{"own-manage", "t/Subscriptions/sub", "PUT /t/Subscriptions/new", subscriptionBody}, {"own-manage", "t", "PUT /t/new", queueBody},
		{"own-manage", "t", "PUT /t/Subscriptions/x/y", queueBody}, {"own-send", "t", "GET /t/Subscriptions/sub/Rules", ""}, {"own-listen", "t", "PUT /t/Subscriptions/sub/Rules/r", ruleBody},
		{"own-manage", "q", "PUT /q", forward("other")}, {"own-manage", "q", "PUT /q", forward("q/below")}, {"own-manage", "q", "PUT /q", forward("sb://localhost/Q%2Fbelow")},
		{"own-manage", "q", "PUT /q", forward("s")}, {"own-manage", "q", "PUT /q", letters}, {"manage", "q", "PUT /q", forward("other")}, {"manage", "q", "PUT /q", letters},
		{"own-manage", "q", "PUT /q", strings.Replace(forward("other"), "ForwardTo>", "x:ForwardTo>", 1)},
		{"own-manage", "t", "PUT /t/Subscriptions/sub", strings.ReplaceAll(forward("other"), "Queue", "Subscription")},
		{"own-manage", "t", "PUT /t/Subscriptions/sub", strings.ReplaceAll(letters, "Queue", "Subscription")},
		{"own-send", "q", "PUT /q", queueBody}, {"own-listen", "q", "DELETE /q", ""}, {"foreign", "q", "GET /q", ""}, {"foreign", "", "GET /$Resources/queues", ""},
	} {
		wantNothing(t, a, tt.requestLine, "If-Match: *\r\n"+authorizationLine(a.good(tt.policy)(tt.resource)), tt.body)
	}
}

// TestLocksAndNumbersOfAnotherEntity, in the same namespace or the other: they are useless at an entity at which the client has all rights.
func TestLocksAndNumbersOfAnotherEntity(t *testing.T) {
	inBothNamespaces(t, Config{}, func(t *testing.T, a *place) {
		wantLocksUseless(t, a, a)
		wantLocksUseless(t, a, a.other)
	})
}

// wantLocksUseless locks messages in one namespace, and tries the locks at a queue of a place.
func wantLocksUseless(t *testing.T, a, holder *place) {
	t.Helper()
	other := box{"other", "other", emulator.Main}
	send(t, holder, "other", "")
	send(t, holder, "other", "")
	send(t, holder, "other", "")
	other.settle(t, holder, other.lock(t, holder), emulator.Defer)
	lock := other.lock(t, holder)
	for _, method := range []string{"DELETE", "PUT", "POST"} {
		wantNothing(t, a, fmt.Sprintf("%s /q/messages/1/%s", method, lock), authorizationLine(a.good("own-manage")("q")), "")
		wantNothing(t, a, fmt.Sprintf("%s /q/$DeadLetterQueue/messages/1/%s", method, lock), authorizationLine(a.good("own-manage")("q")), "")
	}
	uuids := []goamqp.UUID{goamqp.UUID(lock)}
	for _, o := range []struct {
		operation string
		body      map[string]any
		status    int32 // 200: nothing was found
	}{
		{"update-disposition", map[string]any{"disposition-status": "completed", "lock-tokens": uuids}, 410},
		{"renew-lock", map[string]any{"lock-tokens": uuids}, 410},
		{"receive-by-sequence-number", map[string]any{"sequence-numbers": []int64{1}, "receiver-settle-mode": uint32(0)}, 404},
		{"cancel-scheduled-message", map[string]any{"sequence-numbers": []int64{3}}, 404},
		{"batch-delete-messages", map[string]any{"message-count": int32(10), "enqueued-time-utc": time.Now().Add(time.Hour)}, 204},
		{"peek-message", map[string]any{"from-sequence-number": int64(1), "message-count": int32(10)}, 204},
	} {
		before := stateOf(t, a)
		err := tryAMQP(t.Context(), t, a, "q", a.good("own-manage"), func(ctx context.Context, s *goamqp.Session, path string) error {
			reply, err := call(ctx, s, path+"/$management", map[string]any{"operation": "com.microsoft:" + o.operation}, o.body)
			if err != nil {
				return err
			}
			if got := reply.ApplicationProperties["statusCode"]; got != o.status {
				t.Errorf("%s: status %v, want %d: %v", o.operation, got, o.status, reply.ApplicationProperties)
			}
			return nil
		})
		if after := stateOf(t, a); err != nil || after != before {
			t.Errorf("%s: %v:\n%s\nbefore:\n%s", o.operation, err, after, before)
		}
	}
	if got := other.holds(t, holder, lock); got != "locked" {
		t.Errorf("the message of the other queue in %s is %s", holder.ns.Name(), got)
	}
}
