package amqpserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
	"minibus/internal/tlsca"
)

// stop ends the server and the namespace like the process does, and returns the namespace of the next process.
func (b *bench) stop(t *testing.T) *emulator.Namespace {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	if err := b.server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shut down: %v", err)
	}
	b.broker.Close()
	journal := b.journal.Reopen()
	ns, err := emulator.Open(journal, emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ns.Close()
		_ = journal.Close()
	})
	return ns
}

// labelled returns n messages of a session, of size bytes each, whose bodies begin with their numbers.
func labelled(n, size int) []string {
	list := numbered(n)
	for i := range list {
		list[i] += ":" + strings.Repeat("x", size)
	}
	return list
}

// label returns the number of a labelled message.
func label(t *testing.T, encoded []byte) string {
	t.Helper()
	number, _, _ := strings.Cut(string(decode(t, encoded).GetData()), ":")
	return number
}

// labelsOf returns the numbers of all whole messages that a peer can still read until its connection ends.
func labelsOf(t *testing.T, read func() (amqptest.Frame, bool)) (labels []string) {
	t.Helper()
	var partial []byte
	for {
		f, ok := read()
		if !ok {
			return labels
		}
		tr, ok := f.Body.(*frames.Transfer)
		if !ok {
			continue
		}
		if partial = append(partial, f.Payload...); !tr.More {
			labels = append(labels, label(t, partial))
			partial = nil
		}
	}
}

// left returns the numbers of an entity's messages, in order. All must be as they were before they were received.
func left(t *testing.T, ns *emulator.Namespace, path string) (labels []string) {
	t.Helper()
	q, err := ns.Entity(path)
	if err != nil {
		t.Fatal(err)
	}
	for from := int64(0); ; {
		list := make(chan [][]byte, 1)
		if err := q.Peek(emulator.Peek{From: from, Max: 250}, func(ds []*emulator.Delivery, err error) {
			if err != nil {
				t.Error(err)
			}
			var found [][]byte
			for _, d := range ds {
				found = append(found, d.Append(nil))
			}
			list <- found
		}); err != nil {
			t.Fatal(err)
		}
		page := <-list
		if len(page) == 0 {
			return labels
		}
		for _, raw := range page {
			m := decode(t, raw)
			if m.Header != nil && m.Header.DeliveryCount != 0 {
				t.Errorf("delivery count %d", m.Header.DeliveryCount)
			}
			from = m.Annotations["x-opt-sequence-number"].(int64) + 1
			labels = append(labels, label(t, raw))
		}
	}
}

// wantEachOnce fails the test unless every message is either at the client or in the entity.
func wantEachOnce(t *testing.T, n int, client, entity []string) {
	t.Helper()
	all := append(slices.Clone(client), entity...)
	slices.Sort(all)
	want := numbered(n)
	slices.Sort(want)
	if !slices.Equal(all, want) {
		t.Errorf("at the client %v, in the entity %v, of %d", client, entity, n)
	}
}

// stopEntities has an entity of each kind that clients receive from.
var stopEntities = []string{"q", "s", "t/Subscriptions/one"}

// fillFor makes an entity and sends the messages to it.
func (b *bench) fillFor(t *testing.T, path string, bodies []string) {
	t.Helper()
	target := path
	switch path {
	case "s":
		b.queue("s", emulator.QueueOptions{RequiresSession: true})
	case "t/Subscriptions/one":
		target = "t"
		if _, err := b.ns.Entities().CreateTopic("t", emulator.TopicOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"one", "two"} {
			if _, err := b.ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.put(t, target, "a", bodies...)
}

// receiverOf attaches a receiver with credit.
func receiverOf(p *amqptest.Peer, path string, remove bool, credit uint32) {
	a := amqptest.ReceiverAttach(0, path)
	if path == "s" {
		a = sessionAttach(0, "s", "a")
	}
	if remove {
		deleting(a)
	}
	p.AttachReceiver(0, a)
	p.Send(0, amqptest.Flow(0, 0, credit))
}

// TestRAD5_DEC21_StopLosesNothing shuts down while removals, or locks, are on their way to a client that reads
// everything.
func TestRAD5_DEC21_StopLosesNothing(t *testing.T) {
	for _, path := range stopEntities {
		for _, remove := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, removed %v", path, remove), func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					b.fillFor(t, path, labelled(1000, 10))
					p := b.opened(t)
					receiverOf(p, path, remove, 600)
					var client []string
					for range 100 {
						_, payload := amqptest.WantPayload[*frames.Transfer](p)
						client = append(client, label(t, payload))
					}
					b.journal.Pause()
					synctest.Wait()
					p.Send(0, amqptest.Flow(0, 100, 800))
					synctest.Wait()
					time.AfterFunc(3*time.Second, b.journal.Resume) // after the connections have ended
					go func() { client = append(client, labelsOf(t, p.Rest)...) }()
					ns := b.stop(t)
					synctest.Wait()
					entity := left(t, ns, path)
					if !remove {
						client = nil // a client with a lock on a message does not own it
					}
					wantEachOnce(t, 1000, client, entity)
					if remove && len(client) == 0 || len(entity) == 0 {
						t.Errorf("%d at the client, %d in the entity: the test proves nothing",
							len(client), len(entity))
					}
				})
			})
		}
	}
}

// TestRAD5_StopTakesBackWhatTheSocketDidNotTake shuts down with a client that does not read until the end: the
// messages are large, so that some stand in the buffers, and take several frames.
func TestRAD5_StopTakesBackWhatTheSocketDidNotTake(t *testing.T) {
	for _, path := range stopEntities {
		for _, size := range []int{1000, 30_000, 200_000} {
			t.Run(fmt.Sprintf("%s, %d bytes", path, size), func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					n := 4_000_000 / size
					b.fillFor(t, path, labelled(n, size))
					p := b.opened(t)
					receiverOf(p, path, true, 10_000)
					synctest.Wait()
					ns := b.stop(t)
					client, entity := labelsOf(t, p.Rest), left(t, ns, path)
					wantEachOnce(t, n, client, entity)
					if len(client) == 0 || len(entity) == 0 {
						t.Errorf("%d at the client, %d in the entity: the test proves nothing",
							len(client), len(entity))
					}
				})
			})
		}
	}
}

// TestRAD5_SESS20_LostConnectionTakesBackWhatTheSocketDidNotTake: the next holder of the session gets all of it, in
// order.
func TestRAD5_SESS20_LostConnectionTakesBackWhatTheSocketDidNotTake(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		const n = 100
		b.fillFor(t, "s", labelled(n, 30_000))
		p := b.opened(t)
		receiverOf(p, "s", true, 10_000)
		synctest.Wait()
		b.journal.Pause()
		p.Close()
		synctest.Wait()
		next := b.opened(t)
		receiverOf(next, "s", true, 10_000)
		synctest.Wait()
		b.journal.Resume()
		_, payload := amqptest.WantPayload[*frames.Transfer](next)
		first, err := strconv.Atoi(label(t, payload))
		if err != nil || first == 0 || first > 10 {
			t.Errorf("the first message that comes again is %d; the socket had room for about 8", first)
		}
		for i := first + 1; i < n; i++ {
			if _, payload = amqptest.WantPayload[*frames.Transfer](next); label(t, payload) != fmt.Sprint(i) {
				t.Fatalf("received %s, want %d", label(t, payload), i)
			}
		}
	})
}

// TestRAD5_StopOverTLSAndWebSockets: over TLS nothing is lost either. Over a WebSocket the server can't know how much
// of the last write the client has: it counts as delivered, and nothing comes twice.
func TestRAD5_StopOverTLSAndWebSockets(t *testing.T) {
	const n, size = 130, 30_000
	for name, connect := range map[string]func(t *testing.T, b *bench) net.Conn{
		"TLS": func(t *testing.T, b *bench) net.Conn {
			authority, err := tlsca.InMemory()
			if err != nil {
				t.Fatal(err)
			}
			client, server := amqptest.Pipe()
			go b.server.ServeConn(tls.Server(server, authority.TLSConfig()))
			return tls.Client(client, &tls.Config{InsecureSkipVerify: true})
		},
		"WebSocket": func(t *testing.T, b *bench) net.Conn { return b.webSocket(t) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				b.fillFor(t, "q", labelled(n, size))
				p := amqptest.NewPeer(t, connect(t, b))
				p.Open()
				p.Begin(0)
				receiverOf(p, "q", true, 10_000)
				synctest.Wait()
				begin := time.Now()
				ns := b.stop(t)
				if took := time.Since(begin); took > 5*time.Second {
					t.Errorf("the stop took %v", took)
				}
				client, entity := labelsOf(t, p.Rest), left(t, ns, "q")
				if name == "TLS" {
					wantEachOnce(t, n, client, entity)
				}
				for _, l := range client {
					if slices.Contains(entity, l) {
						t.Errorf("message %s is at the client and in the entity", l)
					}
				}
				const oneWrite = 256<<10/size + 1
				if lost := n - len(client) - len(entity); lost > oneWrite || len(entity) == 0 {
					t.Errorf("%d messages are at the client, %d in the entity, %d nowhere",
						len(client), len(entity), lost)
				}
			})
		})
	}
}
