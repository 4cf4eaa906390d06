package amqpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// topic makes a topic "t" with a subscription "s".
func (b *bench) topic() {
	b.t.Helper()
	o := emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "s"}}}
	if _, err := b.ns.Entities().CreateTopic("t", o); err != nil {
		b.t.Fatal(err)
	}
}

func TestTOP1_SendToATopicReceiveFromASubscription(t *testing.T) {
	for _, source := range []string{"t/Subscriptions/s", "T/subscriptions/S"} {
		bubble(t, func(t *testing.T, b *bench) {
			b.topic()
			s := b.client(t)
			b.send(t, s, "t", "a", "b")
			r, err := s.NewReceiver(t.Context(), source, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"a", "b"} {
				m, err := r.Receive(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(m.GetData()); got != want {
					t.Errorf("received %q, want %q", got, want)
				}
				if err := r.AcceptMessage(t.Context(), m); err != nil {
					t.Error(err)
				}
			}
			b.wantReceivable(t, "t/Subscriptions/s", 0)
		})
	}
}

func TestTOP1_ERR4_LinksThatTopicsAndSubscriptionsRefuse(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.topic()
		p := b.opened(t)
		wantRefused(t, p, amqptest.SenderAttach(0, "t/Subscriptions/s"), "amqp:not-allowed")
		wantRefused(t, p, amqptest.ReceiverAttach(0, "t"), "amqp:not-found")
		wantRefused(t, p, amqptest.ReceiverAttach(0, "t/$DeadLetterQueue"), "amqp:not-found")
		text := wantRefused(t, p, amqptest.ReceiverAttach(0, "t/Subscriptions/none"), "amqp:not-found")
		if !strings.Contains(text, "'sbemulatorns:Topic:t|none' could not be found") {
			t.Errorf("description %q", text)
		}
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "t/Subscriptions/s/$DeadLetterQueue"))
	})
}

func TestERR4_PutTokenForATopicAndItsSubscriptions(t *testing.T) {
	for path, status := range map[string]int32{
		"t": 202, "t/Subscriptions/s": 202, "T/subscriptions/S/$management": 202,
		"t/Subscriptions/none": 202, // the topic is enough; the attach fails later
		"none/Subscriptions/s": 404,
	} {
		bubble(t, func(t *testing.T, b *bench) {
			b.topic()
			p := b.opened(t)
			p.AttachSender(0, 0, "$cbs")
			replyLink(p, 0, 1, "$cbs", "cbs", "reply", 10)
			request(t, p, 0, 0, 0, putToken("sb://localhost/"+path, "reply", "1"))
			m, _, _ := wantReply(t, p)
			if got := m.ApplicationProperties["status-code"]; got != status {
				t.Errorf("%s: status-code %v, want %d", path, got, status)
			}
		})
	}
}

func TestTOP8_RulesThroughManagementDecideWhatIsReceived(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.topic()
		p := b.opened(t)
		p.AttachSender(0, 0, "t/Subscriptions/s/$management")
		replyLink(p, 0, 1, "t/Subscriptions/s/$management", "rules", "reply", 10)
		remove := goamqp.NewMessage(nil)
		remove.Data, remove.Value = nil, map[string]any{"rule-name": "$Default"}
		reply, id := "reply", any("1")
		remove.Properties = &goamqp.MessageProperties{MessageID: id, ReplyTo: &reply}
		remove.ApplicationProperties = map[string]any{"operation": "com.microsoft:remove-rule"}
		request(t, p, 0, 0, 0, remove)
		if m, _, _ := wantReply(t, p); m.ApplicationProperties["statusCode"] != int32(200) {
			t.Fatalf("reply %v", m.ApplicationProperties)
		}
		b.send(t, b.client(t), "t", "nobody's")
		b.wantReceivable(t, "t/Subscriptions/s", 0)
	})
}

// A connection whose messages become many rows each has few of them on their way to the journal: the changes of
// others stand behind those that are there. A batch of the reader, which is handled whole, is short then.
func TestTOP1_FewMessagesWithManyCopiesAreUnderWay(t *testing.T) {
	const subscriptions, sends = 100, 1000
	bubble(t, func(t *testing.T, b *bench) {
		o := emulator.TopicOptions{}
		for i := range subscriptions {
			o.Subscriptions = append(o.Subscriptions, emulator.SubscriptionOptions{
				Name:  fmt.Sprint("s", i),
				Rules: []emulator.RuleOptions{{Name: "r", SQL: "1=1", Action: fmt.Sprintf("SET copy = %d", i)}},
			})
		}
		if _, err := b.ns.Entities().CreateTopic("t", o); err != nil {
			t.Fatal(err)
		}
		p := b.sender(t, "t")
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		wantOutcome(t, p, 0, "")
		b.journal.Pause()
		for id := range uint32(sends) {
			p.Send(0, amqptest.Transfer(0, 1+id), amqptest.Message("x")...)
		}
		synctest.Wait()
		if n := b.journal.Queued(); n == 0 || n > 10 {
			t.Errorf("%d messages are on their way to the journal", n)
		}
		b.journal.Resume()
		for answered := 0; answered < sends; {
			if d, ok := p.Next().Body.(*frames.Disposition); ok {
				answered += int(d.Last-d.First) + 1
			}
		}
	})
}
