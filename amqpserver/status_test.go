package amqpserver_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// managementRequest returns a request whose reply goes to "r".
func managementRequest(operation string, body map[string]any) *goamqp.Message {
	replyTo := "r"
	return &goamqp.Message{
		Properties:            &goamqp.MessageProperties{MessageID: operation, ReplyTo: &replyTo},
		ApplicationProperties: map[string]any{"operation": "com.microsoft:" + operation}, Value: body,
	}
}

// scheduledMessage returns an encoded message that is due at an instant.
func scheduledMessage(t *testing.T, due time.Time) []byte {
	t.Helper()
	return encode(t, &goamqp.Message{Data: [][]byte{[]byte("later")},
		Annotations: goamqp.Annotations{"x-opt-scheduled-enqueue-time": due}})
}

func TestSTAT2_AttachesToDisabledEntities(t *testing.T) {
	const disabled = amqp.Symbol("com.microsoft:entity-disabled")
	for _, c := range []struct {
		status        emulator.Status
		send, receive amqp.Symbol
	}{
		{emulator.StatusActive, "", ""},
		{emulator.StatusDisabled, disabled, disabled},
		{emulator.StatusSendDisabled, disabled, ""},
		{emulator.StatusReceiveDisabled, "", disabled},
	} {
		for _, a := range []struct {
			name   string
			attach *frames.Attach
			want   amqp.Symbol
		}{
			{"sender", amqptest.SenderAttach(0, "e"), c.send},
			{"receiver", amqptest.ReceiverAttach(0, "e"), c.receive},
			{"dead letters", amqptest.ReceiverAttach(0, "e/$DeadLetterQueue"), c.receive},
			{"named session", sessionAttach(0, "es", "a"), c.receive},
			{"next session", sessionAttach(0, "es", nil), c.receive},
		} {
			t.Run(string(c.status)+" "+a.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					b.queue("e", emulator.QueueOptions{Status: c.status})
					b.queue("es", emulator.QueueOptions{Status: c.status, RequiresSession: true})
					p := b.opened(t)
					switch {
					case a.want != "":
						wantRefused(t, p, a.attach, a.want)
					case a.name == "next session":
						p.Send(0, a.attach)
						p.WantSilence(time.Second)
					default:
						p.Send(0, a.attach)
						if answer := amqptest.Want[*frames.Attach](p); answer.Source == nil {
							t.Error("the attach was refused")
						}
					}
				})
			})
		}
	}
}

func TestSTAT2_OperationsOfExistingLinks(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.put(t, "q", "", "x")
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
		p.Send(0, amqptest.Flow(1, 0, 1))
		amqptest.Want[*frames.Transfer](p)
		if _, err := b.ns.Entities().UpdateQueue("q",
			emulator.QueueOptions{Status: emulator.StatusDisabled}); err != nil {
			t.Fatal(err)
		}
		// LOCK-17
		if d := amqptest.Want[*frames.Detach](p); d.Error == nil || d.Error.Condition != "amqp:link:detach-forced" {
			t.Errorf("detached with %v", d.Error)
		}
		p.Send(0, &frames.Detach{Handle: 1, Closed: true})
		p.AttachSender(0, 8, "q/$management")
		replyLink(p, 0, 9, "q/$management", "r", "r", 10)
		request(t, p, 0, 8, 0, managementRequest("receive-by-sequence-number",
			map[string]any{"sequence-numbers": []int64{1}, "receiver-settle-mode": uint32(1)}))
		m, _, _ := wantReply(t, p)
		if m.ApplicationProperties["errorCondition"] != "com.microsoft:entity-disabled" {
			t.Errorf("reply %v", m.ApplicationProperties)
		}
	})
}

func TestDLQ2_NobodySendsToADeadLetterQueue(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for _, address := range []string{"q/$DeadLetterQueue", "q/$deadletterqueue", "q/$Transfer/$DeadLetterQueue"} {
			wantRefused(t, p, amqptest.SenderAttach(0, address), "amqp:not-allowed")
		}
	})
}

func TestFWD4_DLQ15_NobodyReceivesWhatIsForwarded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("source", emulator.QueueOptions{ForwardTo: "q"})
		b.queue("dead", emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "q"})
		p := b.opened(t)
		for _, address := range []string{"source", "dead/$DeadLetterQueue"} {
			text := wantRefused(t, p, amqptest.ReceiverAttach(0, address), "amqp:not-allowed")
			if !strings.HasPrefix(text, "Cannot create a message receiver on an entity with auto-forwarding enabled.") {
				t.Errorf("refused with %q", text)
			}
		}
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "source/$DeadLetterQueue"))
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "dead"))
		p.AttachSender(0, 2, "source")
		p.Send(0, amqptest.Transfer(2, 0), amqptest.Message("x")...)
		wantOutcome(t, p, 0, "")
		synctest.Wait()
		b.wantReceivable(t, "q", 1)
	})
}

func TestQUO7_DEC17_MessagesInABatch(t *testing.T) {
	messages := make([][]byte, 4501)
	for i := range messages {
		messages[i] = amqptest.Message("x")
	}
	for _, c := range []struct {
		limits    emulator.Profile
		n         int
		condition amqp.Symbol
	}{
		{emulator.ProfileRelaxed, 4501, ""},
		{emulator.ProfileStandard, 4500, ""},
		{emulator.ProfileStandard, 4501, "amqp:not-allowed"},
		{emulator.ProfileEmulator, 4501, "amqp:not-allowed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newBenchFor(t, emulator.Options{Limits: c.limits}).opened(t)
			p.AttachSender(0, 0, "q")
			p.Send(0, batchTransfer(0, 0), batchOf(messages[:c.n]...)...)
			wantOutcome(t, p, 0, c.condition)
		})
	}
}

func TestPRE1_PRE2_LockLostInTheClientsBuffer(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("short", emulator.QueueOptions{LockDuration: 5 * time.Second, MaxDeliveryCount: 3})
		b.put(t, "short", "", "1", "2")
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "short"))
		p.Send(0, amqptest.Flow(0, 0, 100))
		for count := range uint32(3) { // locked and sent at once, and again when the locks have ended
			for _, body := range []string{"1", "2"} {
				_, payload := amqptest.WantPayload[*frames.Transfer](p.Within(6 * time.Second))
				if m := decode(t, payload); string(m.GetData()) != body || m.Header.DeliveryCount != count {
					t.Errorf("received %q, delivery count %d; want %q, %d", m.GetData(),
						m.Header.DeliveryCount, body, count)
				}
			}
		}
		p.WantSilence(time.Minute)
		q, _ := b.ns.Entity("short")
		if n := q.Counts().DeadLetter; n != 2 {
			t.Errorf("%d dead letters", n)
		}
	})
}

func TestPRE3_ClosingAPrefetchingReceiver(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.put(t, "q", "", "1", "2", "3")
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.Send(0, amqptest.Flow(0, 0, 100))
		for range 3 {
			amqptest.Want[*frames.Transfer](p)
		}
		p.Send(0, amqptest.Flow(0, 3, 0))
		settle(p, 2, 2, true, &frames.Released{}) // one is given back
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
		q, _ := b.ns.Entity("q")
		c, err := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n := len(c.Take(nil, 10)); n != 1 {
			t.Errorf("%d messages are free at once", n)
		}
		time.Sleep(emulator.DefaultLockDuration)
		synctest.Wait()
		if n := len(c.Take(nil, 10)); n < 2 {
			t.Errorf("%d messages after the locks' end", n)
		}
	})
}
