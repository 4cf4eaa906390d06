package sbtest_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"

	"minibus/sbtest"
)

// The broker's time is that of the clock, and Advance adds to it.
func TestDEC35_WithClock(t *testing.T) {
	newYear := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.WithClock(func() time.Time { return newYear }), sbtest.Queue{Name: "q"})
	client := connect(t, bus)
	for _, want := range []time.Time{newYear, newYear.Add(time.Hour)} {
		send(t, client, "q", &azservicebus.Message{Body: []byte("x")})
		r := receiver(t, client, "q")
		m := one(t, r, 10*time.Second)
		if !m.EnqueuedTime.Equal(want) {
			t.Errorf("enqueued at %v, want %v", m.EnqueuedTime, want)
		}
		if err := r.CompleteMessage(t.Context(), m, nil); err != nil {
			t.Fatal(err)
		}
		bus.Advance(time.Hour)
	}
}

// An expired message stays until a receiver comes upon it (EXP-7).
func TestDEC22_WithLazyExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.WithLazyExpiry(), sbtest.Queue{Name: "q", DefaultMessageTimeToLive: time.Minute})
		client := connect(t, bus)
		send(t, client, "q", &azservicebus.Message{Body: []byte("expired")})
		time.Sleep(time.Hour)
		send(t, client, "q", &azservicebus.Message{Body: []byte("new")})
		wantCounts(t, bus, "q", sbtest.Counts{Active: 2})
		if m := one(t, receiver(t, client, "q"), time.Second); string(m.Body) != "new" {
			t.Errorf("received %q", m.Body)
		}
		synctest.Wait() // the removal is committed
		wantCounts(t, bus, "q", sbtest.Counts{Active: 1})
		_ = client.Close(context.Background())
	})
}

// dialed returns a session of an AMQP client that does not reconnect.
func dialed(t *testing.T, bus *sbtest.Server) *goamqp.Session {
	t.Helper()
	ctx := context.Background()
	c, err := bus.Dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := goamqp.NewConn(ctx, c, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous(), HostName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestDEC15_WithLinkIdleTimeout(t *testing.T) {
	for timeout, detached := range map[time.Duration]bool{time.Minute: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			bus := sbtest.Start(t, sbtest.WithLinkIdleTimeout(timeout), sbtest.Queue{Name: "q"})
			sender, err := dialed(t, bus).NewSender(context.Background(), "q", nil)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Minute)
			var gone *goamqp.LinkError
			if err = sender.Send(context.Background(), goamqp.NewMessage([]byte("x")), nil); errors.As(err, &gone) != detached {
				t.Errorf("idle for 30 minutes with a timeout of %v: %v", timeout, err)
			}
		})
	}
}

func TestDEC15_WithConnectionIdleTimeout(t *testing.T) {
	for timeout, closed := range map[time.Duration]bool{time.Minute: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			bus := sbtest.Start(t, sbtest.WithConnectionIdleTimeout(timeout), sbtest.Queue{Name: "q"})
			session := dialed(t, bus)
			sender, err := session.NewSender(context.Background(), "q", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := sender.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Minute)
			var gone *goamqp.ConnError
			if _, err = session.NewSender(context.Background(), "q", nil); errors.As(err, &gone) != closed {
				t.Errorf("without links for 30 minutes with a timeout of %v: %v", timeout, err)
			}
		})
	}
}

// Each profile has limits of its own for messages.
func TestDEC1_WithLimits(t *testing.T) {
	for limits, refuses := range map[sbtest.Limits]bool{
		sbtest.Relaxed: false, sbtest.Standard: true, sbtest.Premium: true, sbtest.MicrosoftEmulator: true,
	} {
		bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.WithLimits(limits), sbtest.Queue{Name: "q"})
		sender, err := dialed(t, bus).NewSender(t.Context(), "q", nil)
		if err != nil {
			t.Fatal(err)
		}
		m := &goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: strings.Repeat("x", 129)}}
		if err := sender.Send(t.Context(), m, nil); (err != nil) != refuses {
			t.Errorf("profile %q: %v", limits, err)
		}
	}
}

// buffer is a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestLogAndTrace(t *testing.T) {
	var log, trace buffer
	bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.WithTrace(&trace), sbtest.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	sender, err := connect(t, bus).NewSender("missing", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(context.Background(), &azservicebus.Message{}, nil); err == nil {
		t.Error("a queue that does not exist took a message")
	}
	if !strings.Contains(log.String(), "missing") {
		t.Errorf("log: %s", log.String())
	}
	if trace.String() == "" {
		t.Error("no frame was traced")
	}
}
