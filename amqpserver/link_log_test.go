package amqpserver_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
	"minibus/internal/loglimit"
)

func TestOneLineForEachLink(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		s := b.client(t)
		b.send(t, s, "q", "a", "b", "c")
		r, err := s.NewReceiver(t.Context(), "q", &goamqp.ReceiverOptions{Credit: 3})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := r.Receive(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		stats := b.server.Stats()
		if stats.Connections != 1 || stats.Links != 1 || stats.LinksTotal != 2 {
			t.Errorf("while receiving: %+v", stats)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if stats = b.server.Stats(); stats.Links != 0 {
			t.Errorf("after the detach: %+v", stats)
		}
		if _, err := s.NewSender(t.Context(), "missing", nil); err == nil {
			t.Error("attached to a queue that does not exist")
		}
		if stats = b.server.Stats(); stats.Links != 0 || stats.LinksTotal != 2 {
			t.Errorf("a refused link counts: %+v", stats)
		}
		log := b.log.String()
		for _, part := range []string{"entity=q client=sends messages=3", "entity=q client=receives messages=3"} {
			if strings.Count(log, part) != 1 {
				t.Errorf("want one %q:\n%s", part, log)
			}
		}
	})
}

// TestLog_AFloodOfLinksIsCounted: each link that ends well has a line, up to the limit.
func TestLog_AFloodOfLinksIsCounted(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for range loglimit.AccessPerSecond + 50 {
			p.AttachSender(0, 0, "q")
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			amqptest.Want[*frames.Detach](p)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		log := b.log.String()
		if n := strings.Count(log, "msg=link "); n != loglimit.AccessPerSecond {
			t.Errorf("%d lines about links, want %d", n, loglimit.AccessPerSecond)
		}
		if !strings.Contains(log, `level=INFO msg="dropped log lines of this kind" kind=link leftOut=50`) {
			t.Errorf("nothing is said of those left out:\n%s", log)
		}
	}, bounded)
}
