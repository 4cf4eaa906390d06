package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/ledger"
)

func sessionName(i int) string { return fmt.Sprintf("s%d", i) }

// sendInSession sends the messages of one session one after another, so that their numbers give the order in which
// they must come.
func (w *worker) sendInSession(session string) error {
	sender, err := w.client.NewSender("sessions", nil)
	if err != nil {
		return err
	}
	for !w.over() {
		id := fmt.Sprintf("%s.%d", session, w.order.next(session))
		key := "sessions/" + id
		w.book.Sending(key, ledger.InQueue)
		m := &azservicebus.Message{Body: body(id, 50), MessageID: &id, SessionID: &session}
		if err := w.try(func(ctx context.Context) error { return sender.SendMessage(ctx, m, nil) }); err != nil {
			return err
		}
		w.book.Sent(key)
		w.order.stored(session, id)
		w.tally.sent.Add(1)
		time.Sleep(pause + 5*time.Millisecond)
	}
	return nil
}

// holdSession takes one session after another and works on each for a while.
func (w *worker) holdSession() error {
	for !w.over() {
		w.began = time.Now()
		ctx, cancel := context.WithTimeout(w.l.ctx, time.Second)
		holder, err := w.client.AcceptNextSessionForQueue(ctx, "sessions", nil)
		cancel()
		var refused *azservicebus.Error
		if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &refused) && refused.Code == azservicebus.CodeTimeout {
			continue // all sessions are held
		}
		if err != nil {
			return err
		}
		err = w.workOnSession(holder)
		closing, done := context.WithTimeout(w.l.ctx, closeWait)
		_ = holder.Close(closing)
		done()
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) workOnSession(holder *azservicebus.SessionReceiver) error {
	session, hold, accepted := holder.SessionID(), new(hold), time.Now()
	for n := 0; n < 60 && !w.over(); n++ {
		if time.Since(accepted) >= slowSettlement/2 {
			return nil // the session's lock is short, and is not renewed
		}
		messages, err := w.take(holder, 1)
		if err != nil || len(messages) == 0 {
			return err
		}
		m, got := messages[0], time.Now()
		key := w.key(m, "sessions", "sessions")
		w.book.Delivered(key)
		if fault := w.order.delivered(session, strings.TrimPrefix(key, "sessions/"), hold); fault != "" {
			w.find("%s", fault)
		}
		if n%7 == 3 {
			err = w.settle(key, 0, time.Now(), func(ctx context.Context) error { return holder.AbandonMessage(ctx, m, nil) })
			hold.back()
		} else {
			err = w.noteAndComplete(holder, m, key, session, n)
		}
		if isLockLost(err) && time.Since(accepted) >= slowSettlement {
			return nil // the machine is slow, or the broker's clock was set forward
		}
		if err != nil {
			return err
		}
		if time.Since(got) >= slowSettlement {
			return nil // the session's lock may be lost, and the SDK may have accepted the session again behind this receiver
		}
	}
	return nil
}

func (w *worker) noteAndComplete(holder *azservicebus.SessionReceiver, m *azservicebus.ReceivedMessage, key, session string, n int) error {
	if n%4 == 0 {
		w.book.SettingState(session, key)
		if err := w.try(func(ctx context.Context) error { return holder.SetSessionState(ctx, []byte(key), nil) }); err != nil {
			return err
		}
		w.book.StateSet(session, key)
	}
	w.order.gone(session, strings.TrimPrefix(key, "sessions/")) // from here on it may be gone
	return w.settle(key, ledger.Nowhere, time.Now(), func(ctx context.Context) error { return holder.CompleteMessage(ctx, m, nil) })
}

// sessionOrder records which messages of a session are certainly stored, in the order of their numbers.
type sessionOrder struct {
	mu      sync.Mutex
	last    map[string]int
	waiting map[string][]int
	early   map[string]bool // taken before the send was answered
}

func newSessionOrder() *sessionOrder {
	return &sessionOrder{last: make(map[string]int), waiting: make(map[string][]int), early: make(map[string]bool)}
}

// hold records which messages one holder of a session got.
type hold struct{ last, before int }

// back notes that the holder gave the last message back: it comes again.
func (h *hold) back() { h.last = h.before }

func (o *sessionOrder) next(session string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last[session]++
	return o.last[session]
}

func (o *sessionOrder) stored(session, id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.early[id] {
		delete(o.early, id)
		return
	}
	o.waiting[session] = append(o.waiting[session], indexOf(id))
}

func indexOf(id string) int {
	_, text, _ := strings.Cut(id, ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// delivered checks that a holder gets messages in order and without gaps.
func (o *sessionOrder) delivered(session, id string, h *hold) (fault string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := indexOf(id)
	switch {
	case n <= h.last:
		fault = fmt.Sprintf("session %s: %s came after number %d to one holder", session, id, h.last)
	case len(o.waiting[session]) > 0 && o.waiting[session][0] < n:
		fault = fmt.Sprintf("session %s: %s came, and number %d, which is before it, did not", session, id, o.waiting[session][0])
	}
	h.before, h.last = h.last, n
	return fault
}

// gone forgets a message that is about to be completed.
func (o *sessionOrder) gone(session, id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := indexOf(id)
	for i, waiting := range o.waiting[session] {
		if waiting == n {
			o.waiting[session] = append(o.waiting[session][:i], o.waiting[session][i+1:]...)
			return
		}
	}
	o.early[id] = true
}

// rest forgets the waiting messages: an audit took them.
func (o *sessionOrder) rest() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.waiting)
	clear(o.early)
}
