package server

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/emulator/clock"
	"minibus/internal/sas"
)

// sends are those of the runtime API, with the number of messages that each stores.
var sends = []struct {
	name, body string
	messages   int64
}{
	{"one", "m", 1},
	{"batch", `[{"Body":"one"},{"Body":"two"}]`, 2},
}

func TestSendsOverHTTPNeedRights(t *testing.T) {
	inBothNamespaces(t, Config{}, func(t *testing.T, a *place) {
		for name, way := range a.transports() {
			if way.amqpOnly {
				continue
			}
			client := newWebClient(t, way)
			for path, counted := range map[string]string{"q": "q", "t": "t/Subscriptions/sub"} {
				q := entity(t, a, counted)
				for _, o := range sends {
					wantAccess(t, way.place, name+": send "+o.name+" to "+path, sas.Send, true, func(token shown) error {
						before := q.Counts().Active
						_, err := client.try("POST", path+"/messages", o.body, token(path+"/messages"))
						want := o.messages
						if errors.Is(err, errRefused) {
							want = 0
						}
						if got := q.Counts().Active - before; got != want {
							t.Errorf("send %s to %s, %v: %d messages more", o.name, path, err, got)
						}
						return err
					})
				}
			}
		}
	})
}

// receives are the other operations of the runtime API: the message that they need, and its state after an allowed
// operation.
var receives = []struct {
	name, method string
	locked       bool // the message is locked, and the path names its lock
	after        string
}{
	{"receive and delete", "DELETE", false, "gone"},
	{"peek-lock", "POST", false, "locked by another"},
	{"unlock", "PUT", true, "free"},
	{"complete", "DELETE", true, "gone"},
}

func TestReceivesOverHTTPNeedRights(t *testing.T) {
	inBothNamespaces(t, Config{}, func(t *testing.T, a *place) {
		for name, way := range a.transports() {
			if way.amqpOnly {
				continue
			}
			client := newWebClient(t, way)
			for _, b := range boxes {
				for _, o := range receives {
					wantAccess(t, way.place, name+": "+o.name+" at "+b.path, sas.Listen, true, func(token shown) error {
						b.stock(t, a)
						path, before, lock := b.path+"/messages/head", "free", emulator.LockToken{}
						if o.locked {
							lock, before = b.lock(t, a), "locked"
							path = fmt.Sprintf("%s/messages/1/%s", b.path, lock)
						}
						location, err := client.try(o.method, path+"?timeout=0", "", token(path))
						want := o.after
						if errors.Is(err, errRefused) {
							want = before
						}
						if got := b.holds(t, a, lock); got != want {
							t.Errorf("%s at %s, %v: the message is %s, want %s", o.name, b.path, err, got, want)
						}
						if location != "" {
							b.settle(t, a, tokenOf(t, location), emulator.Complete)
						}
						return err
					})
				}
			}
		}
	})
}

// tokenOf returns the lock token in the address of a message.
func tokenOf(t *testing.T, location string) emulator.LockToken {
	t.Helper()
	id, err := uuid.Parse(location[strings.LastIndexByte(location, '/')+1:])
	if err != nil {
		t.Fatal(err)
	}
	return emulator.LockToken(id)
}

// TestRenewingOverHTTPNeedsRights: after the lock duration a renewed lock still holds and another does not.
func TestRenewingOverHTTPNeedsRights(t *testing.T) {
	clock := &handClock{now: time.Now()}
	inBothNamespaces(t, Config{Broker: emulator.Options{Clock: clock}}, func(t *testing.T, a *place) {
		for name, way := range a.transports() {
			if way.amqpOnly {
				continue
			}
			client := newWebClient(t, way)
			for _, b := range boxes {
				wantAccess(t, way.place, name+": renew at "+b.path, sas.Listen, true, func(token shown) error {
					b.stock(t, a)
					lock := b.lock(t, a)
					clock.advance(40 * time.Second)
					path := fmt.Sprintf("%s/messages/1/%s", b.path, lock)
					_, err := client.try("POST", path, "", token(path))
					clock.advance(40 * time.Second)
					a.Namespace().Quiesce()
					want := "locked"
					if errors.Is(err, errRefused) {
						want = "free"
					}
					if got := b.holds(t, a, lock); got != want {
						t.Errorf("renew at %s, %v: the message is %s, want %s", b.path, err, got, want)
					}
					return err
				})
			}
		}
	})
}

// handClock is the broker's time, moved by hand.
type handClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*handTimer]time.Time
}

type handTimer struct {
	c *handClock
	f func()
}

// Now implements clock.Clock.
func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// At implements clock.Clock.
func (c *handClock) At(at time.Time, f func()) clock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &handTimer{c, f}
	if c.timers == nil {
		c.timers = make(map[*handTimer]time.Time)
	}
	c.timers[t] = at
	return t
}

// Stop implements clock.Timer.
func (t *handTimer) Stop() bool {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	_, pending := t.c.timers[t]
	delete(t.c.timers, t)
	return pending
}

// advance moves the time and calls the timers that are due.
func (c *handClock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for t, at := range c.timers {
		if !at.After(c.now) {
			due = append(due, t.f)
			delete(c.timers, t)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}
