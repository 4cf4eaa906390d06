package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// worker is who receives in these tests.
var worker = &emulator.Client{Connection: "c7", Link: "link-of-worker", Number: 2, Container: "worker", Remote: "127.0.0.1:7777"}

// introduced is a receiver of worker.
func (b *broker) introduced(sub emulator.SubQueue) *receiver {
	r := b.receiver(sub, emulator.PeekLock)
	r.c.Introduce(worker)
	return r
}

// wantWhy compares the codes of the findings, of which those that block have a "!", and wants texts in them.
func (b *broker) wantWhy(ask emulator.Question, codes string, texts ...string) {
	b.t.Helper()
	before, stored := b.j.seen()
	d := b.q.Why(ask)
	var got []string
	for _, f := range d.Findings {
		code := string(f.Code)
		if f.Blocks {
			code += "!"
		}
		got = append(got, code)
		if f.Text == "" || f.Fix == "" && f.Code != emulator.FindReceiving {
			b.t.Errorf("%s has no text or no fix: %+v", f.Code, f)
		}
		if d.Has(f.Code) != true || f.Blocks && !d.Blocked() {
			b.t.Errorf("the diagnosis does not know its finding %s", f.Code)
		}
	}
	equal(b.t, "findings", strings.Join(got, " "), codes)
	for _, text := range texts {
		if !strings.Contains(d.String(), text) {
			b.t.Errorf("%q is missing in %s", text, &d)
		}
	}
	after, storedAfter := b.j.seen()
	equal(b.t, "changes and reads of a diagnosis", [2]int{after - before, storedAfter - stored}, [2]int{})
}

func TestWhyNothingIsReceivedFromAQueue(t *testing.T) {
	all, dead := emulator.Question{}, emulator.Question{Sub: emulator.DeadLetter}
	for _, c := range []struct {
		what  string
		o     emulator.QueueOptions
		setup func(b *broker)
		ask   emulator.Question
		codes string
		texts []string
	}{
		{"empty", emulator.QueueOptions{}, func(b *broker) {}, all, "no-receiver! empty!", []string{"No receiver is attached to q.", "nothing has been sent since Minibus started"}},
		{"all received", emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("1", "2")
			b.settle(emulator.Complete, b.receive(2)...)
			b.introduced(emulator.Main).c.Take(nil, 1)
		}, all, "empty!", []string{"2 messages arrived, 2 completed"}},
		{"no receiver", emulator.QueueOptions{}, func(b *broker) { b.sendTexts("1") }, all, "no-receiver!", []string{"1 message available, 0 receivers attached"}},
		{"no credit", emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("1")
			b.introduced(emulator.Main)
		}, all, "no-credit!", []string{"1 message is available, and no receiver takes any: link 2 of connection c7 (worker, 127.0.0.1:7777): it asks for no messages now"}},
		{"no credit, as the front end knows", emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("1")
			b.introduced(emulator.Main)
		}, emulator.Question{Hindrance: func(w *emulator.Client) string { return w.Container + " sleeps" }}, "no-credit!", []string{"worker sleeps"}},
		{"about to take", emulator.QueueOptions{}, func(b *broker) {
			b.introduced(emulator.Main).c.Take(nil, 1)
			b.sendTexts("1") // the receiver was told of it
		}, all, "receiving", []string{"Nothing stands in the way: 1 message is available, and a receiver asks for messages."}},
		{"locked", emulator.QueueOptions{LockDuration: time.Minute}, func(b *broker) {
			b.sendTexts("1", "2", "3")
			r := b.introduced(emulator.Main)
			r.pull(2)
			b.receive(1) // has gone
			r.c.Take(nil, 1)
		}, all, "locked!", []string{"locked: 3 messages are locked", "2 by link 2 of connection c7 (worker, 127.0.0.1:7777), until 2000-01-01T00:01:00.000Z (in 1m0s)", "1 by a receiver inside the process, which has closed without settling"}},
		{"some locked", emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("1", "2")
			b.receive(1)
			b.introduced(emulator.Main)
		}, emulator.Question{Hindrance: func(*emulator.Client) string { return "" }}, "locked receiving", nil},
		{"scheduled", emulator.QueueOptions{}, func(b *broker) {
			b.schedule(at("b", now().Add(2*time.Hour)), at("a", now().Add(time.Hour)))
			b.introduced(emulator.Main).c.Take(nil, 1)
		}, all, "scheduled!", []string{"2 messages are scheduled; the first one is due at 2000-01-01T01:00:00.000Z (in 1h0m0s)."}},
		{"deferred", emulator.QueueOptions{}, func(b *broker) {
			b.deferOne(text("1"))
			b.deferOne(text("2"))
			b.introduced(emulator.Main).c.Take(nil, 1)
		}, all, "deferred!", []string{"2 messages are deferred", "such as 1, 2."}},
		{"deferred, and received by number", emulator.QueueOptions{}, func(b *broker) {
			b.fetch(b.deferOne(text("1")))
			b.introduced(emulator.Main).c.Take(nil, 1)
		}, all, "locked! deferred!", []string{"1 by a request for deferred messages"}},
		{"disabled", emulator.QueueOptions{Status: emulator.StatusReceiveDisabled}, func(b *broker) { b.sendTexts("1") }, all, "disabled!", []string{"status ReceiveDisabled"}},
		{"nothing can be sent", emulator.QueueOptions{Status: emulator.StatusSendDisabled}, func(*broker) {}, all, "no-receiver! empty! send-disabled", []string{"status SendDisabled"}},
		{"forwards", emulator.QueueOptions{ForwardTo: "target"}, func(b *broker) {
			b.create("target", emulator.QueueOptions{})
			b.sendTexts("1")
		}, all, "forwards!", []string{"q forwards to target: it keeps no messages", "Receive from target"}},
		{"cannot forward", emulator.QueueOptions{ForwardTo: "target", Status: emulator.StatusReceiveDisabled}, func(b *broker) {
			b.create("target", emulator.QueueOptions{Status: emulator.StatusDisabled})
			b.sendTexts("1")
		}, all, "disabled! forwards! forward-waits", []string{"1 message is waiting to be forwarded, and the target refuses messages: Messaging entity 'target' is currently disabled"}},
		{"parked", emulator.QueueOptions{MaxDeliveryCount: 1, ForwardDeadLetteredMessagesTo: "target"}, func(b *broker) {
			b.create("target", sessionful)
			b.kill(text("1"), text("2"))
			synctest.Wait()
		}, dead, "forwards! parked", []string{"2 messages are set aside in the dead-letter queue, since target can never accept the messages"}},
		{"dead letters", emulator.QueueOptions{MaxDeliveryCount: 1}, func(b *broker) {
			b.kill(text("1"), text("2"))
			b.send(text("3"))
			b.settleWith(emulator.DeadLetterOutcome, b.properties(emulator.DeadLetterReason, "spoilt"), b.one())
			b.introduced(emulator.Main).c.Take(nil, 1)
		}, all, "empty! dead-lettered", []string{"3 messages are in the dead-letter queue: 2 MaxDeliveryCountExceeded; 1 spoilt", "Peek at q/$DeadLetterQueue"}},
		{"wrong sub-queue", emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("1")
			b.introduced(emulator.DeadLetter).c.Take(nil, 1)
		}, all, "wrong-sub-queue!", []string{"link 2 of connection c7 (worker, 127.0.0.1:7777) at q/$DeadLetterQueue"}},
		{"messages are in the main queue", emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("1")
			b.introduced(emulator.DeadLetter).c.Take(nil, 1)
		}, dead, "empty! wrong-sub-queue", []string{"1 message is in q."}},
		{"expired", emulator.QueueOptions{}, func(b *broker) {
			b.send(withTTL("1", time.Second))
			wait(2 * time.Second)
			b.introduced(emulator.Main).c.Take(nil, 1)
		}, all, "empty! expired", []string{"1 message expired since Minibus started.", "To keep expired messages, dead-letter them."}},
		{"being written", emulator.QueueOptions{}, func(b *broker) {
			b.introduced(emulator.Main).c.Take(nil, 1)
			b.j.Pause()
			if err := b.q.Send(b.encodeAll(texts("1")), newOutcome()); err != nil {
				t.Fatal(err)
			}
		}, all, "empty! being-written", []string{"1 message is being written"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			bubble(t, c.o, func(b *broker) {
				c.setup(b)
				b.wantWhy(c.ask, c.codes, c.texts...)
			})
		})
	}
}

func TestWhyNothingIsReceivedBySession(t *testing.T) {
	bubble(t, emulator.QueueOptions{RequiresSession: true, LockDuration: time.Minute}, func(b *broker) {
		b.sendSession("a:1", "a:2", "b:1")
		b.wantWhy(emulator.Question{}, "no-receiver! session-required", "No receiver with a session is attached to q", "Accept the next available session", "3 messages available")
		h := &holder{receiver: &receiver{b: b}}
		a := h.accept()
		a.Client = worker
		var err error
		if h.c, err = b.q.Sessions().Accept("a", a); err != nil {
			t.Fatal(err)
		}
		h.pull(10)
		b.wantWhy(emulator.Question{}, "other-session sessions-held receiving", "holds the session 'a', which has no more messages for it; free sessions with messages: 1.",
			"'a' with 2 messages, by link 2 of connection c7 (worker, 127.0.0.1:7777), until 2000-01-01T00:01:00.000Z (in 1m0s)")
		b.accept("b").pull(1)
		b.wantWhy(emulator.Question{}, "sessions-held!", "Receivers hold 2 sessions")
		b.wantWhy(emulator.Question{Client: "WORKER"}, "sessions-held!", "1 receiver attached")
		w := b.next()
		d := b.q.Why(emulator.Question{})
		equal(t, "receivers with an accept that waits", d.Receivers, 3)
		if attached := b.q.Attached(); !slices.ContainsFunc(attached, func(a emulator.Attached) bool { return a.Accepting && a.Asking && a.Session == nil }) {
			t.Errorf("an accept that waits is missing in %+v", attached)
		}
		h.c.Close()
		equal(t, "granted", w.granted(), 1)
		equal(t, "receivers when it has got a session", len(b.q.Attached()), 2)
	})
}

func TestWhyNamesTheClient(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("1")
		other := b.create("other", emulator.QueueOptions{})
		r := other.introduced(emulator.DeadLetter)
		b.introducedAs(&emulator.Client{Connection: "c8", Number: 1, Remote: "127.0.0.1:8"})
		for _, name := range []string{"c7", "C7/2", "LINK-of-worker", "worker", "127.0.0.1:7777"} {
			b.wantWhy(emulator.Question{Client: name}, "no-receiver!", "No receiver of '"+name+"' is attached to q; of other clients 1 receiver is. It receives from other/$DeadLetterQueue.")
		}
		b.wantWhy(emulator.Question{Client: "c8/2"}, "no-receiver!", "No receiver of 'c8/2' is attached to q; of other clients 1 receiver is.")
		b.wantWhy(emulator.Question{Client: "c8"}, "receiving")
		r.c.Close()
		r.c.Close()
		equal(t, "receivers after one has closed", len(other.q.Attached()), 0)
		http := &emulator.Client{Remote: "127.0.0.1:80"}
		equal(t, "name of an HTTP request", http.String(), "an HTTP request from 127.0.0.1:80")
		equal(t, "nobody is somebody", (*emulator.Client)(nil).Is("c7"), false)
	})
}

// introducedAs attaches a receiver that asks for a message without being told of any.
func (b *broker) introducedAs(w *emulator.Client) {
	r := b.receiver(emulator.Main, emulator.PeekLock)
	r.c.Introduce(w)
	r.c.Return(r.c.Take(nil, 2)) // which waits for a second one, and is told of the first when it is back
}

func TestWhyNothingIsReceivedFromATopic(t *testing.T) {
	subs := []emulator.SubscriptionOptions{withRules("large", sql("big", "amount > 1000"), emulator.RuleOptions{Name: "vip",
		Correlation: &emulator.CorrelationFilter{Label: new("vip"), Properties: emulator.Values{"tier": int32(1)}}}), withRules("none", sql("x", "1=0")), {Name: "all"}}
	topicBubble(t, emulator.TopicOptions{}, subs, func(b *broker) {
		b.wantWhy(emulator.Question{}, "topic!", "t is a topic: receive from its subscriptions", "t/Subscriptions/large got 0 of 0")
		b.sub("large").wantWhy(emulator.Question{}, "no-receiver! empty!", "nothing has arrived")
		b.send(props("1", "amount", int64(5)), props("2", "amount", "5000"))
		b.sub("large").wantWhy(emulator.Question{}, "rules-match-nothing! no-receiver! empty!",
			"selected none of 2 messages sent to the topic since 2000-01-01T00:00:00.000Z: 'big' amount > 1000; 'vip' correlation of Subject = \"vip\", tier = int32 1.",
			"the text '5' is not the number 5")
		b.send(props("3", "amount", int64(5000)))
		b.sub("large").wantWhy(emulator.Question{}, "no-receiver! rules-leave-out", "selected 1 of 3 messages")
		b.sub("all").wantWhy(emulator.Question{}, "no-receiver!", "3 messages available")
		b.schedule(at("later", now().Add(time.Hour)))
		b.wantWhy(emulator.Question{}, "topic! scheduled", "t/Subscriptions/none got 0 of 3; t/Subscriptions/all got 3 of 3")
		none := b.sub("none")
		none.addRule(sql("y", "2=3"))
		none.wantWhy(emulator.Question{}, "no-receiver! empty!") // since the rules were changed nothing was sent
		for _, rule := range none.ruleNames() {
			if err := none.tryRemoveRule(rule); err != nil {
				t.Fatal(err)
			}
		}
		none.wantWhy(emulator.Question{}, "no-rules! no-receiver! empty!", "t/Subscriptions/none has no rules")
	})
}

func TestWhyATopicHasNoSubscriptions(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{Status: emulator.StatusSendDisabled}, nil, func(b *broker) {
		b.wantWhy(emulator.Question{}, "no-subscriptions! send-disabled", "it drops every message (0 messages so far)")
	})
}

func TestWhyNamesWhatWasRefused(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("1")
		at := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
		refusal := func(entity string, client *emulator.Client, operation, condition string) emulator.Refusal {
			return emulator.Refusal{At: at, Client: client, Operation: operation, Entity: entity, Condition: condition, Text: "It may not."}
		}
		stranger := &emulator.Client{Connection: "c9", Remote: "127.0.0.1:9"}
		refusals := []emulator.Refusal{
			refusal("Q", worker, "attach", "amqp:not-allowed"), refusal("", stranger, "put-token", "amqp:unauthorized-access"), refusal("other", worker, "attach", "amqp:not-allowed"),
			refusal("q", nil, "attach", "amqp:not-allowed"), refusal("q", worker, "attach", "amqp:not-allowed"),
			{At: at, Operation: "attach", Entity: "q", Sub: emulator.DeadLetter, Text: "Elsewhere."},
		}
		b.wantWhy(emulator.Question{Refusals: refusals}, "no-receiver! refused", "Minibus refused 4 attempts lately",
			"at 12:00:00.000Z the attach of connection c7 (worker, 127.0.0.1:7777): It may not (amqp:not-allowed)", "and 1 more", "Listen right for q")
		b.wantWhy(emulator.Question{Refusals: refusals, Client: "worker"}, "no-receiver! refused", "Minibus refused 2 attempts lately", "Each refusal says what to change")
		b.wantWhy(emulator.Question{Refusals: refusals, Client: "c1"}, "no-receiver!")
		refused := refusal("q", worker, "attach", "amqp:unauthorized-access")
		refused.Identity = "11111111-2222-3333-4444-555555555555"
		b.wantWhy(emulator.Question{Refusals: []emulator.Refusal{refused, refused}}, "no-receiver! refused",
			"Assign Azure Service Bus Data Receiver on q to the identity with the object id 11111111-2222-3333-4444-555555555555.")
		d := b.q.Why(emulator.Question{Refusals: []emulator.Refusal{refused}})
		if text := d.String(); strings.Contains(text, "Give the client a key") {
			t.Errorf("an identity is told of keys: %s", text)
		}
		token := refusal("q", worker, "put-token", "amqp:unauthorized-access")
		token.Fix = "Ask for another token."
		d = b.q.Why(emulator.Question{Refusals: []emulator.Refusal{token, token}})
		if text := d.String(); !strings.HasSuffix(text, "-> Ask for another token.") {
			t.Errorf("a refused token: %s", text)
		}
	})
}

// TestWhyCountsWhatIsLocked to the end, in a queue of several chunks too.
func TestWhyCountsWhatIsLocked(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts(strings.Split(strings.Repeat("x", 150), "")...)
		equal(t, "locked", len(b.introduced(emulator.Main).pull(150)), 150)
		b.wantWhy(emulator.Question{}, "locked!", "locked: 150 messages are locked: 150 by link 2 of connection c7")
	})
}

// TestWhyLooksAtTheFrontOfADeepQueue alone.
func TestWhyLooksAtTheFrontOfADeepQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for range 50 {
			b.send(texts(slices.Collect(func(yield func(string) bool) {
				for i := 0; i < 100 && yield(fmt.Sprint(i)); i++ {
				}
			})...)...)
		}
		r := b.introduced(emulator.Main)
		equal(t, "locked", len(r.pull(4500)), 4500)
		b.wantWhy(emulator.Question{}, "no-credit! locked", "At least 4,096 messages are locked: 4,096 by link 2 of connection c7")
	})
}
