package emulator

import (
	"fmt"
	"slices"
	"strings"
)

// messages says where the messages are that nobody can have now.
func (w *why) messages() {
	if w.d.Has(FindTopic) || w.d.Has(FindNoSubscriptions) || w.d.Has(FindForwards) {
		return
	}
	none := w.available == 0 // so that what holds messages back is the reason that nothing comes
	if none && w.total[w.ask.Sub] == 0 {
		w.empty()
	}
	if w.scheduled > 0 {
		due := "later"
		if w.seen.due > 0 {
			due = w.when(w.seen.due)
		}
		w.find(FindScheduled, none, "Wait, let the broker's time pass, cancel them, or send without a time of enqueueing.",
			"%s scheduled; the first one comes at %s.", isAre(int64(w.scheduled), "message"), due)
	}
	w.locks(none)
	if w.deferred > 0 {
		numbers := ""
		if len(w.seen.numbers) > 0 {
			numbers = ", such as " + strings.ReplaceAll(strings.Trim(fmt.Sprint(w.seen.numbers), "[]"), " ", ", ")
		}
		w.find(FindDeferred, none, "Receive deferred messages by their sequence numbers.",
			"%s deferred, and can be received only by sequence number%s.", isAre(int64(w.deferred), "message"), numbers)
	}
	if w.writing > 0 && none {
		w.find(FindBeingWritten, false, "Wait a moment; if it stays so, the disk is slow or full: see /health.",
			"%s being written, and can be received after that.", isAre(int64(w.writing), "message"))
	}
	if w.ask.Sub == DeadLetter && w.parked > 0 {
		w.park()
	}
}

// empty says that there is nothing, and what became of what there was.
func (w *why) empty() {
	t := w.traffic
	was := "nothing was sent to it since Minibus started"
	if w.q.subscription != nil {
		was = "nothing came to it since Minibus started"
	}
	if t.Stored > 0 {
		was = fmt.Sprintf("since Minibus started %s came, %d were completed, %d dead-lettered, %d expired", count(t.Stored, "message"), t.Completed, t.DeadLettered, t.Expired)
	}
	if w.ask.Sub != Main {
		was = "no message was moved there, or all were received"
	}
	cure := "Send a message to it, and compare the name of the entity and the namespace that the sender uses with these."
	if w.q.subscription != nil {
		cure = "Send a message to the topic that the subscription's rules select."
	}
	w.find(FindEmpty, true, cure, "%s has no messages; %s.", w.path, was)
}

// locks says who holds messages or sessions.
func (w *why) locks(none bool) {
	if w.sessions() {
		w.heldSessions(none)
		return
	}
	total := 0
	var held []string
	for _, h := range w.seen.locked {
		total += h.messages
		held = append(held, w.held1(h))
	}
	if total == 0 {
		return
	}
	amount := isAre(int64(total), "message")
	if !w.seen.whole {
		amount = "At least " + amount
	}
	w.find(FindLocked, none, "Settle them where they were received, or wait until the locks end: then they are available again, with one more delivery counted.",
		"%s locked: %s.", amount, listed(held))
}

// held1 says what one receiver has locked.
func (w *why) held1(h holding) string {
	by := "by " + h.client.String()
	switch {
	case h.broker:
		by = "by the broker, which tries again what failed"
	case !h.known:
		by = "by a request for deferred messages"
	case h.gone:
		by += ", which has gone without settling them"
	}
	until := w.when(h.first)
	if h.last != h.first {
		until = fmt.Sprintf("between %s and %s", until, w.when(h.last))
	} else {
		until = "until " + until
	}
	return fmt.Sprintf("%d %s, %s", h.messages, by, until)
}

// heldSessions says who holds the sessions that have messages.
func (w *why) heldSessions(none bool) {
	var held []string
	for _, h := range w.held {
		if h.messages == 0 || slices.ContainsFunc(w.here, func(a Attached) bool { return a.Session != nil && *a.Session == h.session && a.Available > 0 }) {
			continue
		}
		held = append(held, fmt.Sprintf("'%s' with %s, by %s, until %s", h.session, count(int64(h.messages), "message"), h.client, w.when(h.first)))
	}
	if len(held) == 0 {
		return
	}
	w.find(FindSessionsHeld, none && w.free == 0, "Close the receivers that hold them, or wait until their locks end; a receiver of a held session settles its messages first.",
		"Receivers hold %s that messages are in: %s.", count(int64(len(held)), "session"), listed(held))
}

// elsewhere says where messages went.
func (w *why) elsewhere() {
	t := w.traffic
	if n := w.total[DeadLetter]; w.ask.Sub == Main && n > 0 && w.q.topic == nil {
		w.find(FindDeadLettered, false, "Receive from "+DeadLetter.Join(w.q.path)+" to see them with the reason and its description; then resubmit or purge them.",
			"%s in the dead-letter queue: %s.", isAre(int64(n), "message"), w.countedReasons())
	}
	if w.ask.Sub == Main && t.Expired > 0 {
		cure := "Receive sooner, or give messages and entity a longer time to live."
		if !w.options.DeadLetteringOnExpiration {
			cure += " With dead-lettering on expiration they would be kept."
		}
		w.find(FindExpired, false, cure, "%s expired since Minibus started.", count(t.Expired, "message"))
	}
	for i, n := range w.total {
		if sub := SubQueue(i); w.ask.Sub != Main && sub != w.ask.Sub && n > 0 && w.total[w.ask.Sub] == 0 {
			w.find(FindWrongSubQueue, false, "Receive from "+sub.Join(w.q.path)+" if those are the ones that you mean.",
				"%s in %s.", isAre(int64(n), "message"), sub.Join(w.q.path))
		}
	}
}

// countedReasons names the reasons of dead letters, the most frequent ones first.
func (w *why) countedReasons() string {
	var reasons []string
	for r := range w.reasons {
		reasons = append(reasons, r)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		if w.reasons[a] != w.reasons[b] {
			return w.reasons[b] - w.reasons[a]
		}
		return strings.Compare(a, b)
	})
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = fmt.Sprintf("%d %s", w.reasons[r], firstText(r, "without a reason"))
	}
	return listed(texts)
}
