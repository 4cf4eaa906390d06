package amqpserver_test

import (
	"fmt"
	"testing"

	goamqp "github.com/Azure/go-amqp"
)

func TestClientSendsReceivesAndSettles(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		s := b.client(t)
		b.send(t, s, "q", numbered(200)...)
		receiver, err := s.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{
			SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr(), Credit: 100,
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			m, err := receiver.Receive(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(m.GetData()); got != fmt.Sprint(i) {
				t.Fatalf("message %d has body %q", i, got)
			}
			if err := receiver.AcceptMessage(ctx, m); err != nil {
				t.Fatal(err)
			}
		}
		q, _ := b.ns.Entity("q")
		if c := q.Counts(); c.Active != 0 {
			t.Errorf("%d messages are left", c.Active)
		}
	})
}
