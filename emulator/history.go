package emulator

import (
	"crypto/sha256"

	"minibus/internal/amqp/message"
)

// historyKey stands for a message id in the history of duplicate detection: a digest, so that a million ids have a
// small and fixed size.
type historyKey [16]byte

// history remembers the ids of messages for the window of duplicate detection (DUP). The entity's mutex guards it.
type history struct {
	q      *Entity              // whose messages they are
	seen   map[historyKey]int64 // when it was first accepted, ms (DUP-5)
	order  []remembered         // by ascending at
	head   int                  // order[:head] has been forgotten
	pruned int64                // the journal was told to forget what is older

	writing map[historyKey]*fate // of the changes that are being written, by the keys that are new with them
}

type remembered struct {
	key historyKey
	at  int64
}

// keyOf returns the key of a message; ok is false for one that is never a duplicate (DUP-10). On a partitioned entity
// the partition key belongs to it (DUP-4).
func (h *history) keyOf(info *message.Info) (k historyKey, ok bool) {
	if !info.HasMessageID || info.MessageID == "" {
		return k, false
	}
	text := info.MessageID
	if h.q.counters.partitioned() {
		switch {
		case info.HasGroupID:
			text += "\x00" + info.GroupID
		case info.HasPartitionKey:
			text += "\x00" + info.PartitionKey
		}
	}
	sum := sha256.Sum256([]byte(text))
	return historyKey(sum[:16]), true
}

// has reports whether the key was remembered at or after the instant since.
func (h *history) has(k historyKey, since int64) bool {
	at, ok := h.seen[k]
	return ok && at > since
}

func (h *history) add(k historyKey, at int64) {
	if h.seen == nil {
		h.seen = make(map[historyKey]int64)
	}
	h.seen[k] = at
	h.order = append(h.order, remembered{k, at})
}

// await notes that a key is only as good as the change that is being written.
func (h *history) await(k historyKey, f *fate) {
	if h.writing == nil {
		h.writing = make(map[historyKey]*fate)
	}
	h.writing[k] = f
}

// written ends await.
func (h *history) written(k historyKey) {
	if delete(h.writing, k); len(h.writing) == 0 {
		h.writing = nil
	}
}

// forget takes back an add whose commit failed.
func (h *history) forget(k historyKey, at int64) {
	if h.seen[k] == at {
		delete(h.seen, k)
	}
}

// prune forgets what was remembered at or before the instant until, a bounded number of keys per call, and returns
// how many.
func (h *history) prune(until int64) int {
	n := 0
	for ; n < 1024 && h.head < len(h.order) && h.order[h.head].at <= until; n++ {
		x := h.order[h.head]
		h.forget(x.key, x.at)
		h.head++
	}
	if h.head == len(h.order) {
		h.order, h.head = nil, 0
		if len(h.seen) == 0 {
			h.seen = nil // a map does not shrink by itself
		}
	} else if h.head > 4096 && h.head > len(h.order)/2 {
		h.order, h.head = append([]remembered(nil), h.order[h.head:]...), 0
	}
	return n
}

// dedupWindow is the length of the history in milliseconds.
func (o QueueOptions) dedupWindow() int64 {
	if o.DuplicateDetectionWindow <= 0 {
		return DefaultDedupWindow.Milliseconds()
	}
	return o.DuplicateDetectionWindow.Milliseconds()
}

// look says whether a message is a duplicate (DUP-2) and, if not, whether it is to be remembered.
func (h *history) look(in *incoming, now int64) (k historyKey, remember, duplicate bool) {
	if !h.q.options.RequiresDuplicateDetection {
		return k, false, false
	}
	k, ok := h.keyOf(&in.info)
	if !ok {
		return k, false, false
	}
	duplicate = h.has(k, now-h.q.options.dedupWindow())
	return k, !duplicate, duplicate
}

// remember looks, and remembers with the change that stores the message.
func (h *history) remember(in *incoming, now int64) (k historyKey, remember, duplicate bool) {
	if k, remember, duplicate = h.look(in, now); remember {
		h.add(k, now)
		h.q.alarm.set(now + h.q.options.dedupWindow() + historyGrain)
	}
	return k, remember, duplicate
}

// historyGrain is how long, in milliseconds, a key may stay beyond the window, so that a busy queue's timer does not
// ring for each.
const historyGrain = 1000

// pruneDue forgets what has left the window, in memory and, now and then, in the journal, and reports
// whether there is more.
func (h *history) pruneDue(now int64) bool {
	if len(h.order) == 0 {
		return false
	}
	until := now - h.q.options.dedupWindow()
	n := h.prune(until)
	if n == 1024 {
		return true
	}
	if until-h.pruned > 10*historyGrain || len(h.order) == 0 {
		h.pruned = until
		c := &Change{}
		c.Ops = append(c.Single[:0], Op{Kind: OpPruneHistory, Record: MessageRecord{Entity: h.q.id, Enqueued: until + 1}})
		h.q.ns.append(c)
	}
	return false
}

// next returns when the history should be looked at again.
func (h *history) next() (at int64, ok bool) {
	if h.head >= len(h.order) {
		return 0, false
	}
	return h.order[h.head].at + h.q.options.dedupWindow() + historyGrain, true
}

// newIDs are message ids that a change adds to the history of duplicate detection.
type newIDs struct {
	fate fate // of the change
	keys []remembered
	one  [1]remembered
}

// end keeps the ids in the history, or takes them out.
func (ids *newIDs) end(h *history, err error) {
	for _, k := range ids.keys {
		h.written(k.key)
		if err != nil {
			h.forget(k.key, k.at)
		}
	}
}
