package amqpserver_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// stall is a log handler that blocks a loop when it refuses a link to "nosuch", so that a test decides what
// happens elsewhere meanwhile.
type stall struct {
	slog.Handler
	stalled, release chan struct{}
}

func (s *stall) Enabled(context.Context, slog.Level) bool { return true }

func (s *stall) WithAttrs([]slog.Attr) slog.Handler { return s }

func (s *stall) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "attach refused" {
		s.stalled <- struct{}{}
		<-s.release
	}
	return nil
}

// stalling runs f in a bubble with sessions. turn makes the connection of p take the frames in one turn, during which
// meanwhile runs.
func stalling(t *testing.T, f func(t *testing.T, b *bench,
	turn func(p *amqptest.Peer, meanwhile func(), frames ...frames.Performative))) {
	t.Helper()
	s := &stall{Handler: slog.DiscardHandler}
	bubble(t, func(t *testing.T, b *bench) {
		s.stalled, s.release = make(chan struct{}), make(chan struct{}) // of the bubble
		b.queue("s", emulator.QueueOptions{RequiresSession: true, LockDuration: sessionLock})
		f(t, b, func(p *amqptest.Peer, meanwhile func(), ps ...frames.Performative) {
			var raw bytes.Buffer
			raw.Write(frames.AppendFrame(nil, 0, amqptest.SenderAttach(99, "nosuch")))
			for _, f := range ps {
				raw.Write(frames.AppendFrame(nil, 0, f))
			}
			p.Raw(raw.Bytes())
			<-s.stalled
			meanwhile()
			synctest.Wait()
			s.release <- struct{}{}
			amqptest.Want[*frames.Attach](p)
			amqptest.Want[*frames.Detach](p)
		})
	}, func(o *amqpserver.Options) { o.Logger = slog.New(s) })
}

func TestSESS9_SessionGrantedWhileTheClientGivesUp(t *testing.T) {
	stalling(t, func(t *testing.T, b *bench, turn func(*amqptest.Peer, func(), ...frames.Performative)) {
		p := b.opened(t)
		p.Send(0, sessionAttach(0, "s", nil))
		synctest.Wait()
		turn(p, func() { b.put(t, "s", "a", "x") }, &frames.Detach{Handle: 0, Closed: true})
		wantNeverAttached(t, p)
		p.WantSilence(time.Minute)
		b.wantFree(t, "s", "a")
	})
}

func TestSESS8_SessionGrantedAsTheWaitEnds(t *testing.T) {
	stalling(t, func(t *testing.T, b *bench, turn func(*amqptest.Peer, func(), ...frames.Performative)) {
		p := b.opened(t)
		p.Send(0, waitingUpTo(sessionAttach(0, "s", nil), time.Second))
		synctest.Wait()
		turn(p, func() {
			b.put(t, "s", "a", "x")
			time.Sleep(2 * time.Second) // the wait ends before the loop has seen the grant
		})
		if a := amqptest.Want[*frames.Attach](p); a.Source == nil {
			t.Error("the accept was refused")
		}
		b.wantHeld(t, "s", "a")
	})
}

func TestSESS15_SettlementAsTheLockEnds(t *testing.T) {
	stalling(t, func(t *testing.T, b *bench, turn func(*amqptest.Peer, func(), ...frames.Performative)) {
		b.put(t, "s", "a", "x")
		p := b.holding(t, 1)
		wantBody(t, p, "x")
		turn(p, func() { time.Sleep(sessionLock + time.Second) },
			&frames.Disposition{Role: frames.RoleReceiver, First: 0, State: &frames.Accepted{}})
		wantRejected(t, wantSettled(t, p, 0, 0), "com.microsoft:session-lock-lost")
		amqptest.Want[*frames.Detach](p)
	})
}
