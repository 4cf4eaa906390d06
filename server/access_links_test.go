package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

// put is a token to put to $cbs: its audience, its policy, and the resource that it names.
type put struct{ audience, policy, resource string }

// link is an attach: to send or else to receive; if via is not empty, to send through that entity.
type link struct {
	send         bool
	address, via string
}

func sendTo(address string) link      { return link{send: true, address: address} }
func receiveFrom(address string) link { return link{address: address} }

// through sends to an entity through another.
func through(via, to string) link { return link{send: true, address: via, via: to} }

// attach opens a connection, puts tokens, and then attaches.
func attach(t *testing.T, a *place, puts []put, l link) (refusedPuts int, err error) {
	t.Helper()
	err = tryAMQP(t.Context(), t, a, "", noToken, func(ctx context.Context, s *goamqp.Session, _ string) error {
		for _, p := range puts {
			if err := putToken(ctx, s, p, a.good(p.policy)(p.resource)); err != nil {
				refusedPuts++
			}
		}
		var err error
		switch {
		case l.via != "":
			_, err = s.NewSender(ctx, l.address, &goamqp.SenderOptions{Properties: map[string]any{"com.microsoft:transfer-destination-address": l.via}})
		case l.send:
			_, err = s.NewSender(ctx, l.address, nil)
		default:
			_, err = s.NewReceiver(ctx, l.address, nil)
		}
		return err
	})
	return refusedPuts, err
}

// putToken puts a token; a connection has one sender to $cbs, which is closed before the next.
func putToken(ctx context.Context, s *goamqp.Session, p put, token string) error {
	sender, err := s.NewSender(ctx, "$cbs", nil)
	if err != nil {
		return err
	}
	defer func() { _ = sender.Close(ctx) }()
	replyTo := "reply"
	receiver, err := s.NewReceiver(ctx, "$cbs", &goamqp.ReceiverOptions{TargetAddress: replyTo})
	if err != nil {
		return err
	}
	defer func() { _ = receiver.Close(ctx) }()
	m := &goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: "1", ReplyTo: &replyTo}, Value: token,
		ApplicationProperties: map[string]any{"operation": "put-token", "type": "servicebus.windows.net:sastoken", "name": p.audience}}
	if err := sender.Send(ctx, m, nil); err != nil {
		return err
	}
	reply, err := receiver.Receive(ctx, nil)
	if err != nil {
		return err
	}
	return refusal(reply.ApplicationProperties["status-code"], nil)
}

const ns = "sb://localhost/"

// strayLinks are attaches that the tokens do not allow.
var strayLinks = []struct {
	puts []put
	link link
}{
	// a token that was put for another audience, or names another resource
	{[]put{{ns + "q", "foreign", "other"}}, receiveFrom("q")}, {[]put{{ns + "other", "foreign", "other"}}, receiveFrom("q")},
	{[]put{{ns, "foreign", "other"}}, receiveFrom("q")}, {[]put{{ns + "q", "foreign", "q"}}, receiveFrom("q")}, {[]put{{ns, "foreign", ""}}, receiveFrom("other")},
	{[]put{{ns + "q", "manage", "other"}}, receiveFrom("q")}, {[]put{{ns, "manage", "other"}}, receiveFrom("q")}, {[]put{{ns, "own-manage", ""}}, receiveFrom("q")},
	{[]put{{ns + "q", "manage", "q/$management"}}, receiveFrom("q")}, {[]put{{ns + "q/$management", "own-listen", "q"}}, receiveFrom("q")},
	{[]put{{ns + "q/$DeadLetterQueue", "own-listen", "q"}}, receiveFrom("q")}, {[]put{{ns + "q/$DeadLetterQueue", "own-listen", "q"}}, receiveFrom("q/$Transfer/$DeadLetterQueue")},
	{[]put{{ns + "other?x=q", "own-manage", "q"}}, receiveFrom("other")}, {[]put{{ns + "q", "own-manage", "q"}, {ns + "other", "own-manage", "q"}}, receiveFrom("other")},
	{[]put{{ns + "q/../other", "own-manage", "q"}}, receiveFrom("other")}, {[]put{{"other", "own-manage", "q"}}, receiveFrom("other")},
	// a weaker token in place of a stronger one
	{[]put{{ns + "q", "own-manage", "q"}, {ns + "q", "own-listen", "q"}}, sendTo("q")},
	// addresses that begin like the allowed one, or lead away from it
	{[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("q2")}, {[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("q/below")}, {[]put{{ns + "q", "manage", "q"}}, receiveFrom("q2")},
	{[]put{{ns + "q", "own-manage", "q"}}, sendTo("q/below")}, {[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("q/../other")},
	{[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("q%2F..%2Fother")}, {[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("oth%65r")},
	{[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("OTHER/")}, {[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("amqps://q/other")},
	{[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("sb://localhost/q/../other")}, {[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("//other")},
	{[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("other/$management")}, {[]put{{ns + "q", "own-manage", "q"}}, sendTo("other/$DeadLetterQueue/$management")},
	{[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("other/$DeadLetterQueue")}, {[]put{{ns + "q", "own-manage", "q"}}, receiveFrom("$management")},
	// topics and their subscriptions
	{[]put{{ns + "t/Subscriptions/sub", "own-manage", "t/Subscriptions/sub"}}, sendTo("t")}, {[]put{{ns + "t/Subscriptions/sub", "manage", "t/Subscriptions/sub"}}, sendTo("t")},
	{[]put{{ns + "t", "own-manage", "t"}}, sendTo("t/Subscriptions/x/y")}, {[]put{{ns + "t", "own-manage", "t"}}, receiveFrom("t/Subscriptions/x/y/Subscriptions/s")},
	{[]put{{ns + "kka", "kka-own", "kka"}}, receiveFrom("kka/bcd/subscriptions/s")}, {[]put{{ns + "kka", "kka-own", "kka"}}, receiveFrom("\u212a\u212aa/bcd/subscriptions/s")},
	// sending through one entity to another needs rights at both
	{[]put{{ns + "q", "own-manage", "q"}}, through("q", "other")}, {[]put{{ns + "q", "own-manage", "q"}}, through("other", "q")}, {[]put{{ns + "q", "own-manage", "q"}}, through("q", "q/below")},
	{[]put{{ns + "q", "own-manage", "q"}, {ns + "other", "listen", "other"}}, through("q", "other")}, {[]put{{ns + "q", "own-listen", "q"}, {ns + "other", "foreign", "other"}}, through("q", "other")},
	{[]put{{ns + "q", "own-send", "q"}}, through("q", "sb://q/OTHER")},
}

func TestTokensOpenNoStrayLinks(t *testing.T) { inBothNamespaces(t, Config{}, wantNoStrayLinks) }

func wantNoStrayLinks(t *testing.T, a *place) {
	t.Helper()
	own := []emulator.AuthorizationRule{{KeyName: "kka-own", PrimaryKey: a.key("kka-own"), Rights: []string{"Listen"}}}
	made := []error{}
	for path, o := range map[string]emulator.QueueOptions{"q2": {}, "q/below": {}, "kka": {Admin: emulator.Admin{AuthorizationRules: own}}} {
		_, err := a.Namespace().Entities().CreateQueue(path, o)
		made = append(made, err)
	}
	for topic, names := range map[string]string{"t/Subscriptions/x/y": "s", "kka/bcd": "s"} {
		_, err := a.Namespace().Entities().CreateTopic(topic, emulator.TopicOptions{})
		made = append(made, err)
		_, err = a.Namespace().Entities().CreateSubscription(topic, emulator.SubscriptionOptions{Name: names})
		made = append(made, err)
	}
	if err := errors.Join(made...); err != nil {
		t.Fatal(err)
	}
	for _, tt := range strayLinks {
		before := stateOf(t, a)
		_, err := attach(t, a, tt.puts, tt.link)
		var refused *goamqp.Error
		if !errors.As(err, &refused) || refused.Condition != "amqp:unauthorized-access" && refused.Condition != "amqp:not-found" && refused.Condition != "amqp:invalid-field" {
			t.Errorf("%+v: %+v: %v", tt.puts, tt.link, err)
		}
		if after := stateOf(t, a); after != before {
			t.Errorf("%+v: %+v: something happened", tt.puts, tt.link)
		}
	}
	for _, tt := range []struct { // allowed links, to show that the test can attach
		puts []put
		link link
	}{
		{[]put{{ns + "q", "own-manage", "q"}, {ns + "other", "foreign", "other"}}, through("q", "other")}, {[]put{{ns + "q", "own-listen", "q"}}, receiveFrom("amqps://elsewhere:1/Q/")},
		{[]put{{ns, "own-listen", "q"}}, receiveFrom("q/$DeadLetterQueue")}, {[]put{{ns + "t", "own-listen", "t"}}, receiveFrom("t/Subscriptions/sub")},
		{[]put{{ns + "kka/bcd", "listen", ""}}, receiveFrom("\u212aKa/bcd/subscriptions/s")}, {[]put{{ns + "kka", "kka-own", "kka"}}, receiveFrom("kka")},
	} {
		if refused, err := attach(t, a, tt.puts, tt.link); refused != 0 || err != nil {
			t.Errorf("%+v: %+v: %v", tt.puts, tt.link, err)
		}
	}
}

// TestOddLettersCrashNothing: some letters have more bytes in lower case.
func TestOddLettersCrashNothing(t *testing.T) {
	var log output
	a := accessServerWith(t, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	path := strings.Repeat("\u023a", 60) + "/subscriptions/s"
	if _, err := attach(t, a, []put{{ns + path, "manage", path}, {ns, "manage", path}}, receiveFrom(path)); err == nil {
		t.Error("there is no such entity")
	}
	c := newWebClient(t, a.transports()["plain"])
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		_, _ = c.try(method, path, subscriptionBody, a.good("manage")(""))
		_, _ = c.try(method, path+"/messages/head?timeout=0", "", a.good("manage")(""))
	}
	if text := log.String(); strings.Contains(text, "panic") {
		t.Error(text)
	}
}

// TestTheLogShowsNoSecrets, wherever a client puts them: into the query, the path, an address, an audience, a reason. The trace
// shows none either.
func TestTheLogShowsNoSecrets(t *testing.T) {
	var log, trace output
	a := accessServerWith(t, Config{Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Trace: &trace})
	a.refusals.Close() // so that no line is dropped
	const secret = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U%3d"
	token := "SharedAccessSignature sr=sb%3a%2f%2fh%2fq&sig=" + secret + "&se=4102444800&skn=manage"
	query := "sr=q&sig=" + secret + "&se=4102444800&skn=manage"
	for _, line := range []string{"GET /q?" + query, "DELETE /q/messages/head?" + query, "GET /q%3F" + query, "POST /q&" + query + "/messages", "GET /health?" + query,
		"GET /$servicebus/websocket?" + query, "GET /q?Authorization=Bearer%20" + secret, "GET /q/sig%3D" + secret, "PUT /q%3FSharedAccessKey=" + secret} {
		for _, lines := range []string{"", authorizationLine(token), upgradeLines, "User-Agent: x " + token + "\r\n", authorizationLine("Bearer " + secret)} {
			_, text := raw(t, a, line, lines, queueBody)
			path, _, _ := strings.Cut(line, "?") // what it names is its own to see again, in the tail of the text
			if !strings.Contains(path, secret) && strings.Contains(text, "SystemTracker") && strings.Contains(text, secret) {
				t.Errorf("%s: the answer shows the secret: %s", line, text)
			}
		}
	}
	for _, l := range []link{receiveFrom("q?" + query), sendTo("sb://h/q?" + query), receiveFrom("q/" + token), through("q", "other?"+query)} {
		_, _ = attach(t, a, []put{{ns + "q?" + query, "manage", "q?" + query}, {token, "manage", "q"}, {ns + "none/" + query, "manage", ""}}, l)
	}
	for where, text := range map[string]string{"log": log.String(), "trace": trace.String()} {
		for _, shape := range []string{secret, secret[:43], "manage-key"} {
			if i := strings.Index(text, shape); i >= 0 {
				t.Errorf("the %s shows %s: %s", where, shape, text[max(0, i-300):i+50])
			}
		}
		if !strings.Contains(text, "sig=***") {
			t.Errorf("nothing was written to the %s", where)
		}
	}
	if !strings.Contains(log.String(), "token refused") {
		t.Error("no refusal was logged")
	}
}

func TestRedaction(t *testing.T) {
	const odd = `k"e\y&w'i t`
	hider := (&Config{Settings: config.Settings{RootKey: "root-" + odd}, Topology: &config.Topology{
		Entities: []emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{}}},
		Others:   []*config.Topology{{AuthorizationRules: []emulator.AuthorizationRule{{PrimaryKey: "other-" + odd, SecondaryKey: sas.DefaultKey}}}}}}).hider()
	var b bytes.Buffer
	log := slog.New(redacted{hider: hider, Handler: slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})}).With("w", "sig=a").WithGroup("g")
	log.Info("m sig=b", "n", 1, "e", errors.New("sig=c"), slog.Group("in", "s", "sig=d"), "l", slog.AnyValue([]string{"x"}),
		"known", fmt.Errorf("no %q", "other-"+odd), "shape", "SharedAccessKey=x"+odd+";y", "public", sas.DefaultKey)
	if got, want := b.String(), `level=INFO msg="m sig=***" w="sig=***" g.n=1 g.e="sig=***" g.in.s="sig=***" g.l=[x] `+
		`g.known="no \"***\"" g.shape="SharedAccessKey=***;y" g.public=SAS_KEY_VALUE`+"\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	b.Reset()
	if _, err := fmt.Fprintf(redactedLines{&b, hider}, "attach address=%q\nnext\n", "root-"+odd); err != nil || b.String() != "attach address=\"***\"\nnext\n" {
		t.Errorf("the trace has %q, %v", b.String(), err)
	}
}

// TestAFloodOfRefusedTokensIsCounted, over HTTP and AMQP together, and does not hide a token refused for another reason.
func TestAFloodOfRefusedTokensIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log output
		a := accessServerWith(t, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for range 12 {
			request(t, a.Server, http.MethodGet, "/q", "", sas.Sign(ns+"q", "nobody", "key", time.Now().Add(time.Hour)))
		}
		_, _ = attach(t, a, []put{{ns + "q", "nobody", "q"}}, receiveFrom("q"))
		request(t, a.Server, http.MethodGet, "/q", "", "")
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "token refused"); n != 10+1 || !strings.Contains(log.String(), `kind="token unknown key name" leftOut=3`) {
			t.Errorf("%d lines of 13 refused tokens and one missing:\n%s", n, log.String())
		}
		if !strings.Contains(log.String(), "reason=missing") {
			t.Errorf("the missing token is hidden:\n%s", log.String())
		}
	})
}
