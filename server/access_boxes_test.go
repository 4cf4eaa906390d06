package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

// webClient sends requests over one transport.
type webClient struct {
	*http.Client
	t    *testing.T
	host string
}

func newWebClient(t *testing.T, way transport) webClient {
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return way.Dial(ctx) }}}
	t.Cleanup(c.CloseIdleConnections)
	return webClient{c, t, way.host}
}

// try sends a request with a token, or without one, and returns the address in the answer; the error is errRefused for 401.
func (c webClient) try(method, path, body, token string) (location string, err error) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://"+c.host+"/"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	if strings.HasPrefix(body, "[{") {
		r.Header.Set("Content-Type", "application/vnd.microsoft.servicebus.json")
	}
	w, err := c.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	text, _ := io.ReadAll(w.Body)
	if _, signature, ok := strings.Cut(token, "sig="); ok && strings.Contains(string(text), signature[:20]) {
		c.t.Errorf("%s %s: the answer shows the token: %s", method, path, text)
	}
	if w.StatusCode == http.StatusUnauthorized {
		return "", errRefused
	}
	return w.Header.Get("Location"), nil
}

// stateOf returns everything that an operation could change in any namespace, with the numbers of messages received and stored so far.
func stateOf(t *testing.T, a *place) string {
	t.Helper()
	a.Broker().Quiesce()
	var b strings.Builder
	for _, ns := range a.Broker().Namespaces() {
		tellState(t, &b, ns)
	}
	return b.String()
}

func tellState(t *testing.T, b *strings.Builder, ns *emulator.Namespace) {
	t.Helper()
	tell := func(q *emulator.Entity, options any) {
		fmt.Fprintf(b, "%s %+v %+v %d %+v %+v\n", q.Path(), q.Counts(), q.Traffic(), q.LastSequenceNumber(), q.Options(), options)
	}
	for _, q := range ns.Entities().Queues() {
		tell(q.Entity, nil)
	}
	for _, topic := range ns.Entities().Topics() {
		tell(topic.Entity, topic.Options())
		list, err := ns.Entities().Subscriptions(topic.Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			tell(s.Entity, s.Options())
		}
	}
}

// box is a queue, subscription or sub-queue from which clients receive.
type box struct {
	entity, path string
	sub          emulator.SubQueue
}

// boxes has one box of each kind.
var boxes = []box{
	{"q", "q/$Transfer/$DeadLetterQueue", emulator.TransferDeadLetter},
	{"q", "q/$DeadLetterQueue", emulator.DeadLetter},
	{"q", "q", emulator.Main},
	{"t/Subscriptions/sub", "t/Subscriptions/sub/$DeadLetterQueue", emulator.DeadLetter},
	{"t/Subscriptions/sub", "t/Subscriptions/sub", emulator.Main},
}

func (b box) queue(t *testing.T, a *place) *emulator.Entity { return entity(t, a, b.entity) }

func entity(t *testing.T, a *place, path string) *emulator.Entity {
	t.Helper()
	q, err := a.Namespace().Entity(path)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// oneMessage returns a message, in a session if group is not empty.
func oneMessage(t *testing.T, group string) []message.Message {
	t.Helper()
	m := goamqp.NewMessage([]byte("m"))
	if group != "" {
		m.Properties = &goamqp.MessageProperties{GroupID: &group}
	}
	raw, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	scanned, err := message.Scan(raw)
	if err != nil {
		t.Fatal(err)
	}
	return []message.Message{scanned}
}

// commit waits for an operation.
func commit(t *testing.T, do func(emulator.Completion) error) {
	t.Helper()
	done := make(chan error, 1)
	err := do(emulator.CompletionFunc(func(err error) { done <- err }))
	if err == nil {
		err = <-done
	}
	if err != nil {
		t.Fatal(err)
	}
}

func send(t *testing.T, a *place, path, group string) {
	t.Helper()
	commit(t, func(c emulator.Completion) error { return entity(t, a, path).Send(oneMessage(t, group), c) })
}

func stockSession(t *testing.T, a *place) { t.Helper(); send(t, a, "s", "a session") }

// stock puts a message into the box. The queue or topic above it must be empty.
func (b box) stock(t *testing.T, a *place) {
	t.Helper()
	if b.sub == emulator.TransferDeadLetter {
		if _, err := a.Namespace().Entities().UpdateQueue("shut", emulator.QueueOptions{Status: emulator.StatusSendDisabled}); err != nil {
			t.Fatal(err)
		}
		tx := a.Namespace().Begin(true, b.entity)
		if err := tx.Send(entity(t, a, "shut"), oneMessage(t, "")); err != nil {
			t.Fatal(err)
		}
		commit(t, tx.Commit)
		return
	}
	topic, _, _ := strings.Cut(b.entity, "/")
	send(t, a, topic, "")
	if b.sub == emulator.DeadLetter {
		main := box{b.entity, b.entity, emulator.Main}
		main.settle(t, a, main.lock(t, a), emulator.DeadLetterOutcome)
	}
}

// lock takes the message in the box.
func (b box) lock(t *testing.T, a *place) emulator.LockToken {
	t.Helper()
	token, ok := b.take(t, a)
	if !ok {
		t.Fatalf("%s: nothing to lock", b.path)
	}
	return token
}

func (b box) take(t *testing.T, a *place) (emulator.LockToken, bool) {
	t.Helper()
	c, err := b.queue(t, a).NewConsumer(b.sub, emulator.PeekLock, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ds := c.Take(nil, 1)
	if len(ds) == 0 {
		return emulator.LockToken{}, false
	}
	return ds[0].Token(), true
}

func (b box) settle(t *testing.T, a *place, token emulator.LockToken, o emulator.Outcome) {
	t.Helper()
	commit(t, func(c emulator.Completion) error {
		return b.queue(t, a).Settle([]emulator.LockToken{token}, emulator.Settlement{Outcome: o}, c)
	})
}

func (b box) count(t *testing.T, a *place) int64 {
	t.Helper()
	c := b.queue(t, a).Counts()
	return [...]int64{emulator.Main: c.Active, emulator.DeadLetter: c.DeadLetter, emulator.TransferDeadLetter: c.TransferDeadLetter}[b.sub]
}

// holds reports whether the box has the message, and whether the lock is the one given, some other one, or none.
func (b box) holds(t *testing.T, a *place, token emulator.LockToken) string {
	t.Helper()
	if b.count(t, a) == 0 {
		return "gone"
	}
	err := b.queue(t, a).Settle([]emulator.LockToken{token}, emulator.Settlement{Outcome: emulator.Release}, emulator.CompletionFunc(func(error) {}))
	a.Namespace().Quiesce()
	var lost *emulator.Error
	switch again, ok := b.take(t, a); {
	case err == nil && ok:
		b.settle(t, a, again, emulator.Complete)
		return "locked"
	case ok:
		b.settle(t, a, again, emulator.Complete)
		return "free"
	case errors.As(err, &lost) && lost.Code == emulator.CodeMessageLockLost:
		return "locked by another"
	}
	t.Fatalf("%s: %v", b.path, err)
	return ""
}
