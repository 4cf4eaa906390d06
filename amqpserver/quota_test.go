package amqpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// limited is a bubble with a bench under the profile of Microsoft's emulator.
func limited(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newBenchFor(t, emulator.Options{Limits: emulator.LimitsEmulator})) })
}

func TestQUO12_ConnectionsOfANamespace(t *testing.T) {
	limited(t, func(t *testing.T, b *bench) {
		var idle []*amqptest.Peer
		for range 5 { // connections that were never opened don't count: a health check makes them
			idle = append(idle, b.peer(t))
		}
		var peers []*amqptest.Peer
		for range 10 {
			peers = append(peers, b.opened(t))
		}
		p := b.peer(t)
		p.Open()
		c := amqptest.Want[*frames.Close](p)
		if c.Error == nil || c.Error.Condition != "amqp:resource-limit-exceeded" ||
			!strings.HasPrefix(c.Error.Description, "ConnectionsQuotaExceeded for namespace: sbemulatorns.") {
			t.Errorf("the eleventh connection was closed with %+v", c.Error)
		}
		p.Send(0, &frames.Close{})
		p.WantEOF()
		peers[3].Close() // without a word
		time.Sleep(time.Second)
		b.opened(t)
		for _, p := range idle {
			p.Close()
		}
		time.Sleep(time.Second)
		p = b.peer(t)
		p.Open()
		amqptest.Want[*frames.Close](p)
	})
}

func TestQUO12_RelaxedTakesAnyNumberOfConnections(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		for range 200 {
			b.opened(t)
		}
	})
}

func TestQUO12_ReceiversOfAnEntity(t *testing.T) {
	limited(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for h := range uint32(200) {
			p.AttachReceiver(0, named(amqptest.ReceiverAttach(h, "q"), h))
		}
		p.Send(0, named(amqptest.ReceiverAttach(200, "q/$deadletterqueue"), 200))
		amqptest.Want[*frames.Attach](p)
		if d := amqptest.Want[*frames.Detach](p); d.Error == nil || d.Error.Condition != "amqp:resource-limit-exceeded" {
			t.Errorf("the receiver too many was detached with %+v", d.Error)
		}
		p.Send(0, &frames.Detach{Handle: 200, Closed: true})
		p.Send(0, &frames.Detach{Handle: 7, Closed: true})
		amqptest.Want[*frames.Detach](p)
		p.AttachReceiver(0, named(amqptest.ReceiverAttach(201, "q"), 201))
		p.Close()
		time.Sleep(time.Second)
		p = b.opened(t)
		for h := range uint32(200) {
			p.AttachReceiver(0, named(amqptest.ReceiverAttach(h, "q"), h))
		}
	})
}

// named gives an attach a link name of its own.
func named(a *frames.Attach, n uint32) *frames.Attach {
	a.LinkName = fmt.Sprint("receiver ", n)
	return a
}

func TestLog_AFloodOfRefusalsIsCounted(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		refused := func() int { return strings.Count(b.log.String(), "attach refused") }
		p := b.opened(t)
		attach := func(n int) {
			for range n {
				p.Send(0, amqptest.SenderAttach(0, "missing"))
				amqptest.Want[*frames.Attach](p)
				amqptest.Want[*frames.Detach](p)
				p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			}
		}
		attach(50)
		if n := refused(); n != 10 {
			t.Errorf("%d lines for 50 refusals in a second, want 10", n)
		}
		time.Sleep(time.Second)
		attach(1)
		if n := refused(); n != 11 || !strings.Contains(b.log.String(), "leftOut=40") {
			t.Errorf("%d lines and no count of 40 a second later:\n%s", n, b.log.String())
		}
		time.Sleep(2 * time.Second)
		attach(15)
		p.Close()
		time.Sleep(time.Second)
		if !strings.Contains(b.log.String(), "leftOut=5") {
			t.Error("what was left out last was not told at the end")
		}
		if n := strings.Count(b.log.String(), "leftOut"); n != 2 {
			t.Errorf("%d counts, want 2", n)
		}
	})
}
