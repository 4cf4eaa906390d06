package amqpserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqptest"
)

// setAside defers all messages of "q" and returns their numbers.
func (b *bench) setAside(t *testing.T) (seqs []int64) {
	t.Helper()
	q, err := b.ns.Entity("q")
	if err != nil {
		t.Fatal(err)
	}
	c, err := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, d := range c.Take(nil, 64) {
		seqs = append(seqs, d.Seq())
		if err := c.Settle(d.Lock(), emulator.Settlement{Outcome: emulator.Defer},
			emulator.CompletionFunc(func(error) {})); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait()
	return seqs
}

// TestRAD3_RAD5_ReplyThatDoesNotLeaveGivesBackItsMessages: a reply has deferred messages that are received and deleted
// by their numbers. If the reply does not reach the wire whole, they are deferred again as before.
func TestRAD3_RAD5_ReplyThatDoesNotLeaveGivesBackItsMessages(t *testing.T) {
	for name, do := range map[string]func(b *bench, p *amqptest.Peer, ask func(credit uint32)){
		"stopped while the reply waits for credit": func(_ *bench, _ *amqptest.Peer, ask func(uint32)) { ask(0) },
		"stopped while the client does not read":   func(_ *bench, _ *amqptest.Peer, ask func(uint32)) { ask(10) },
		"lost while the removal is being written": func(b *bench, p *amqptest.Peer, ask func(uint32)) {
			b.journal.Pause()
			time.AfterFunc(3*time.Second, b.journal.Resume)
			ask(10)
			p.Close()
		},
		"lost while the reply waits for credit": func(_ *bench, p *amqptest.Peer, ask func(uint32)) {
			ask(0)
			p.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				b.put(t, "q", "a", labelled(5, 200_000)...)
				seqs := b.setAside(t)
				p := b.opened(t)
				p.AttachSender(0, 0, "q/$management")
				do(b, p, func(credit uint32) {
					replyLink(p, 0, 1, "q/$management", "replies", "me", credit)
					to := "me"
					request(t, p, 0, 0, 0, &goamqp.Message{
						Properties:            &goamqp.MessageProperties{MessageID: "1", ReplyTo: &to},
						ApplicationProperties: map[string]any{"operation": "com.microsoft:receive-by-sequence-number"},
						Value: map[string]any{"sequence-numbers": seqs,
							"receiver-settle-mode": uint32(0)},
					})
					synctest.Wait()
				})
				ns := b.stop(t)
				q, err := ns.Entity("q")
				if err != nil {
					t.Fatal(err)
				}
				if n := q.Counts().Deferred; n != 5 {
					t.Errorf("%d deferred messages are there, want 5", n)
				}
			})
		})
	}
}
