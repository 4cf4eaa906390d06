package amqpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
	"minibus/internal/sas"
)

// policies has the namespace's policies for tests that check tokens; each key is the name followed by -key.
var policies = []sas.Policy{
	{Name: "all", Primary: "all-key", Secondary: "all-second", Claims: sas.Manage | sas.Send | sas.Listen},
	{Name: "sender", Primary: "sender-key", Claims: sas.Send},
	{Name: "listener", Primary: "listener-key", Claims: sas.Listen},
}

// checked makes a server check tokens. The queue q has its own policy for listening.
func checked(o *amqpserver.Options) {
	ring := sas.NewRing(policies, func(path string) []sas.Policy {
		if strings.EqualFold(path, "q") {
			return []sas.Policy{{Name: "own", Primary: "own-key", Claims: sas.Listen}}
		}
		return nil
	})
	o.Access = func(*emulator.Namespace) *sas.Ring { return ring }
}

// signedBy returns put-token with a policy's token for the audience, which expires at until.
func signedBy(policy, audience string, until time.Time, id any) *goamqp.Message {
	m := putToken(audience, "r", id)
	m.Value = sas.Sign(audience, policy, policy+"-key", until)
	return m
}

// signedToken returns put-token with a token for everything that expires in an hour.
func signedToken(audience, replyTo string, id any) *goamqp.Message {
	m := signedBy("all", audience, time.Now().Add(time.Hour), id)
	m.Properties.ReplyTo = &replyTo
	return m
}

// authorized is opened plus links to $cbs, with handles 0 and 1.
func (b *bench) authorized(t *testing.T) *amqptest.Peer {
	t.Helper()
	p := b.opened(t)
	p.AttachSender(0, 0, "$cbs")
	replyLink(p, 0, 1, "$cbs", "r", "r", 1000)
	return p
}

// wantPut puts a token and checks the status and the text of the reply.
func wantPut(t *testing.T, p *amqptest.Peer, delivery uint32, m *goamqp.Message, status int32, text string) {
	t.Helper()
	request(t, p, 0, 0, delivery, m)
	reply, _, _ := wantReply(t, p)
	got := reply.ApplicationProperties
	if got["status-code"] != status || !strings.HasPrefix(fmt.Sprint(got["status-description"]), text) {
		t.Errorf("reply %v, want %d %s", got, status, text)
	}
}

func in(d time.Duration) time.Time { return time.Now().Add(d) }

func TestERR1_TheAttachNeedsTheRightOfItsDirection(t *testing.T) {
	const text = "Unauthorized access. '%s' claim(s) are required to perform this operation. Resource: 'sb://sbemulatorns/q'."
	bubble(t, func(t *testing.T, b *bench) {
		for _, tt := range []struct{ policy, refused string }{{"listener", "Send"}, {"sender", "Listen"},
			{"own", "Send"}, {"all", ""}, {"", "Send"}} {
			p := b.authorized(t)
			if tt.policy != "" {
				wantPut(t, p, 0, signedBy(tt.policy, "sb://localhost/q", in(time.Hour), "1"), 202, "Accepted")
			}
			attaches := map[string]*frames.Attach{"Send": amqptest.SenderAttach(2, "q"),
				"Listen": amqptest.ReceiverAttach(3, "q")}
			for right, a := range attaches {
				if right != tt.refused && tt.policy != "" {
					p.Send(0, a)
					if a := amqptest.Want[*frames.Attach](p); a.Source == nil {
						t.Errorf("%s may not %s", tt.policy, right)
					}
					if right == "Send" {
						amqptest.Want[*frames.Flow](p)
					}
				} else if got := wantRefused(t, p, a, "amqp:unauthorized-access"); !strings.HasPrefix(got,
					fmt.Sprintf(text, right)) {
					t.Errorf("%s: refused with %s", tt.policy, got)
				}
			}
			p.Close()
		}
	}, checked)
}

func TestERR1_EachRequestNeedsItsRight(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		for _, tt := range []struct{ policy, operation, refused string }{
			{"listener", "com.microsoft:schedule-message", "Send"},
			{"listener", "com.microsoft:cancel-scheduled-message", "Send"},
			{"sender", "com.microsoft:peek-message", "Listen"}, {"sender", "com.microsoft:renew-lock", "Listen"},
			{"sender", "com.microsoft:update-disposition", "Listen"},
			{"sender", "com.microsoft:receive-by-sequence-number", "Listen"},
			{"sender", "com.microsoft:batch-delete-messages", "Listen"},
			{"sender", "com.microsoft:get-session-state", "Listen"},
			{"sender", "com.microsoft:set-session-state", "Listen"},
			{"sender", "com.microsoft:renew-session-lock", "Listen"},
			{"sender", "com.microsoft:get-message-sessions", "Listen"},
			{"sender", "com.microsoft:add-rule", "Listen,Manage,SubscriptionRuleRead"},
			{"sender", "com.microsoft:remove-rule", "Listen,Manage,SubscriptionRuleRead"},
			{"sender", "com.microsoft:enumerate-rules", "Listen,Manage,SubscriptionRuleRead"},
			{"listener", "com.microsoft:peek-message", ""}, {"sender", "com.microsoft:unknown", ""},
		} {
			p := b.authorized(t)
			wantPut(t, p, 0, signedBy(tt.policy, "sb://localhost/q", in(time.Hour), "1"), 202, "Accepted")
			p.AttachSender(0, 2, "q/$management")
			replyLink(p, 0, 3, "q/$management", "m", "m", 10)
			m := peekRequest("m", "2")
			m.ApplicationProperties["operation"] = tt.operation
			request(t, p, 0, 2, 1, m)
			reply, _, _ := wantReply(t, p)
			got := reply.ApplicationProperties
			if unauthorized := got["statusCode"] == int32(401); unauthorized != (tt.refused != "") {
				t.Errorf("%s by %s: %v", tt.operation, tt.policy, got)
			} else if unauthorized && (!strings.Contains(fmt.Sprint(got), "'"+tt.refused+"' claim(s) are required") ||
				fmt.Sprint(got["errorCondition"]) != "amqp:unauthorized-access") {
				t.Errorf("%s by %s: %v", tt.operation, tt.policy, got)
			}
			p.Close()
		}
	}, checked)
}

func TestERR2_WhatIsWrongWithATokenIsSaidAtPutToken(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.authorized(t)
		at := "sb://localhost/q"
		changed := func(change func(string) string) *goamqp.Message {
			m := signedToken(at, "r", "1")
			m.Value = change(m.Value.(string))
			return m
		}
		old := time.Date(1999, 12, 31, 23, 0, 0, 0, time.UTC)
		tests := []struct {
			name string
			m    *goamqp.Message
			text string
		}{
			{"expired", signedBy("all", at, old, "1"),
				"ExpiredToken: The token is expired. Expiration time: '1999-12-31 23:00:00Z'."},
			{"wrong key", changed(func(string) string { return sas.Sign(at, "all", "other", in(time.Hour)) }),
				"InvalidSignature: "},
			{"unknown policy", signedBy("nobody", at, in(time.Hour), "1"), "InvalidSignature: "},
			{"another queue's policy", signedBy("own", "sb://localhost/second", in(time.Hour), "1"),
				"InvalidSignature: "},
			{"tampered", changed(func(s string) string { return strings.Replace(s, "localhost", "Localhost", 1) }),
				"InvalidSignature: "},
			{"another resource", changed(func(string) string {
				return sas.Sign("sb://localhost/second", "all",
					"all-key", in(time.Hour))
			}), "InvalidAudience: "},
			{"an entity's policy for the namespace",
				changed(func(string) string { return sas.Sign("sb://localhost", "own", "own-key", in(time.Hour)) }),
				"InvalidAudience: "},
			{"no token", changed(func(string) string { return "" }), "MissingToken: "},
			{"web token", changed(func(string) string { return "eyJhbGciOiJub25lIn0.e30." }), "MalformedToken: "},
		}
		b.queue("second", emulator.QueueOptions{})
		for i, tt := range tests {
			t.Log(tt.name)
			wantPut(t, p, uint32(i), tt.m, 401, tt.text)
		}
		wantRefused(t, p, amqptest.SenderAttach(2, "q"), "amqp:unauthorized-access")
		if !strings.Contains(b.log.String(), `policy=nobody token="unknown key name"`) ||
			!strings.Contains(b.log.String(), `token="bad signature"`) {
			t.Error("the log does not say why")
		}
		if log := b.log.String(); strings.Contains(log, "-key") || strings.Contains(log, "sig=") {
			t.Error("a key or a signature is in the log")
		}
	}, checked)
}

func TestLog_AFloodOfRefusedTokens(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		for range 2 {
			p := b.authorized(t)
			for id := range uint32(10) {
				wantPut(t, p, id, signedBy("nobody", "sb://localhost/q", in(time.Hour), "1"), 401, "InvalidSignature")
			}
			wantPut(t, p, 10, signedBy("all", "sb://localhost/q", in(-time.Hour), "1"), 401, "ExpiredToken")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		log := b.log.String()
		if strings.Count(log, `token="unknown key name"`) != 10 ||
			!strings.Contains(log, `kind="token unknown key name" leftOut=10`) {
			t.Errorf("20 tokens with an unknown key name:\n%s", log)
		}
		if strings.Count(log, "token=expired") != 2 {
			t.Errorf("the expired tokens are hidden:\n%s", log)
		}
	}, checked, bounded)
}

func TestERR3_NoTokenInTimeEndsTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		silent, refused, fine := b.authorized(t), b.authorized(t), b.authorized(t)
		wantPut(t, refused, 0, signedBy("nobody", "sb://localhost/q", in(time.Hour), "1"), 401, "InvalidSignature")
		wantPut(t, fine, 0, signedToken("sb://localhost/q", "r", "1"), 202, "Accepted")
		for _, p := range []*amqptest.Peer{silent, refused} {
			begin := time.Now()
			e := amqptest.Want[*frames.Close](p.Within(21 * time.Second)).Error
			if e == nil || e.Condition != "amqp:unauthorized-access" {
				t.Errorf("closed with %v", e)
			}
			if p == silent && time.Since(begin) != 20*time.Second {
				t.Errorf("closed after %v", time.Since(begin))
			}
		}
		fine.WantSilence(10 * time.Second)
		fine.AttachSender(0, 2, "q")
	}, checked)
}

func TestERR3_LinksEndWithTheirToken(t *testing.T) {
	const text = "The link '%s' is force detached. Code: RenewToken. Details: Unauthorized access. '%s' claim(s) are required"
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("second", emulator.QueueOptions{})
		p := b.authorized(t)
		begin := time.Now()
		wantPut(t, p, 0, signedToken("sb://localhost/second", "r", "1"), 202, "Accepted")
		wantPut(t, p, 1, signedBy("all", "sb://localhost/q", in(3*time.Second), "1"), 202, "Accepted")
		send, _ := p.AttachSender(0, 2, "q")
		receive := p.AttachReceiver(0, amqptest.ReceiverAttach(3, "q"))
		p.AttachSender(0, 4, "second")
		ends := map[string]string{send.LinkName: "Send", receive.LinkName: "Listen"}
		for range 2 {
			d := amqptest.Want[*frames.Detach](p.Within(sas.Skew + time.Minute))
			if time.Since(begin) != 3*time.Second+sas.Skew {
				t.Errorf("detached after %v", time.Since(begin))
			}
			name := send.LinkName
			if d.Handle == 3 {
				name = receive.LinkName
			}
			if d.Error == nil || d.Error.Condition != "amqp:link:detach-forced" ||
				!strings.HasPrefix(d.Error.Description, fmt.Sprintf(text, name, ends[name])) {
				t.Errorf("detached with %v", d.Error)
			}
			p.Send(0, &frames.Detach{Handle: d.Handle, Closed: true})
		}
		p.WantSilence(5 * time.Second)
		wantRefused(t, p, amqptest.SenderAttach(2, "q"), "amqp:unauthorized-access")
		wantPut(t, p, 2, signedToken("sb://localhost/q", "r", "1"), 202, "Accepted")
		p.AttachSender(0, 2, "q")
	}, checked)
}

func TestERR3_RenewalKeepsLinksAlive(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.authorized(t)
		wantPut(t, p, 0, signedBy("all", "sb://localhost/q", in(3*time.Second), "1"), 202, "Accepted")
		p.AttachSender(0, 2, "q")
		wantPut(t, p, 1, signedBy("all", "sb://localhost/Q", in(time.Hour), "2"), 202, "Accepted")
		// takes nothing away
		wantPut(t, p, 2, signedBy("nobody", "sb://localhost/q", in(time.Hour), "3"), 401, "InvalidSignature")
		p.WantSilence(9 * time.Minute)
	}, checked, func(o *amqpserver.Options) { o.IdleTimeout = time.Hour })
}

// A later token for the same audience replaces an earlier one, even a stronger one: open links stay open as long as
// the token lasts, new ones need the right.
func TestERR3_AWeakerTokenReplacesAStrongerOne(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.authorized(t)
		wantPut(t, p, 0, signedToken("sb://localhost/q", "r", "1"), 202, "Accepted")
		p.AttachSender(0, 2, "q")
		wantPut(t, p, 1, signedBy("listener", "sb://localhost/q", in(time.Hour), "2"), 202, "Accepted")
		wantRefused(t, p, amqptest.SenderAttach(3, "q"), "amqp:unauthorized-access")
		p.WantSilence(time.Second)
	}, checked)
}

func TestTokensForTheNamespaceOpenWhatTheyName(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("second", emulator.QueueOptions{})
		whole, part := b.authorized(t), b.authorized(t)
		wantPut(t, whole, 0, signedToken("sb://localhost/", "r", "1"), 202, "Accepted")
		whole.AttachSender(0, 2, "q")
		whole.AttachSender(0, 3, "second")
		m := signedToken("sb://localhost/", "r", "1")
		m.Value = sas.Sign("sb://localhost/q", "own", "own-key", in(time.Hour))
		wantPut(t, part, 0, m, 202, "Accepted")
		part.AttachReceiver(0, amqptest.ReceiverAttach(3, "q/$DeadLetterQueue"))
		wantRefused(t, part, amqptest.ReceiverAttach(4, "second"), "amqp:unauthorized-access")
	}, checked)
}

func TestSASLPlainIsAKeyOfTheNamespace(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		for _, tt := range []struct {
			name, key string
			ok        bool
		}{{"all", "all-key", true}, {"ALL", "all-second", true}, {"all", "other", false}, {"nobody", "all-key", false},
			{"sender", "", false}, {"own", "own-key", false}, {"sender", "sender-key", true}} {
			p := b.peer(t)
			p.Raw([]byte{'A', 'M', 'Q', 'P', 3, 1, 0, 0})
			p.WantHeader([]byte{'A', 'M', 'Q', 'P', 3, 1, 0, 0})
			amqptest.Want[*frames.SASLMechanisms](p)
			p.SendSASL(&frames.SASLInit{Mechanism: amqp.Symbol("PLAIN"),
				InitialResponse: []byte("\x00" + tt.name + "\x00" + tt.key)})
			if o := amqptest.Want[*frames.SASLOutcome](p); (o.Code == 0) != tt.ok {
				t.Errorf("%s %s: outcome %d", tt.name, tt.key, o.Code)
			}
			if !tt.ok {
				p.WantEOF()
				continue
			}
			p.Open()
			p.Begin(0)
			p.AttachSender(0, 0, "q")
			if tt.name == "sender" {
				wantRefused(t, p, amqptest.ReceiverAttach(1, "q"), "amqp:unauthorized-access")
			}
			p.WantSilence(30 * time.Second) // no token is needed
			p.Close()
		}
	}, checked)
}

// TestSASLPlainTakesATokenAsThePassword: Azure's JMS client shows one so, with the user name $jwt.
func TestSASLPlainTakesATokenAsThePassword(t *testing.T) {
	for name, c := range map[string]struct {
		token   func() string
		refused bool
	}{
		"good":             {func() string { return sas.Sign("sb://sbemulatorns/", "listener", "listener-key", in(time.Hour)) }, false},
		"expired":          {func() string { return sas.Sign("sb://sbemulatorns/", "listener", "listener-key", in(-time.Hour)) }, true},
		"with a wrong key": {func() string { return sas.Sign("sb://sbemulatorns/", "listener", "other", in(time.Hour)) }, true},
		"no token":         {func() string { return "x" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.peer(t)
				p.Raw(amqptest.HeaderSASL)
				p.WantHeader(amqptest.HeaderSASL)
				p.Next()
				p.SendSASL(&frames.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00$jwt\x00" + c.token())})
				p.Next()
				p.Open()
				if c.refused {
					if e := amqptest.Want[*frames.Close](p).Error; e == nil || e.Condition != "amqp:unauthorized-access" {
						t.Errorf("closed with %v", e)
					}
					return
				}
				p.Begin(0)
				p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
				wantRefused(t, p, amqptest.SenderAttach(1, "q"), "amqp:unauthorized-access")
			}, checked)
		})
	}
}

func TestDEC10_WebTokensAreTakenAndNoted(t *testing.T) {
	noted := 0
	bubble(t, func(t *testing.T, b *bench) {
		p := b.authorized(t)
		m := putToken("sb://localhost/q", "r", "1")
		m.ApplicationProperties["type"], m.Value = "jwt", "eyJhbGciOiJub25lIn0.e30."
		wantPut(t, p, 0, m, 202, "Accepted")
		wantPut(t, p, 1, putToken("sb://localhost/q", "r", "1"), 202, "Accepted")
		p.AttachSender(0, 2, "q")
	}, func(o *amqpserver.Options) { o.Unverified = func() { noted++ } })
	if noted != 1 {
		t.Errorf("noted %d times", noted)
	}
}
