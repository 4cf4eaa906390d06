package emulator

import (
	"crypto/sha256"

	"minibus/internal/amqp/message"
)

// duplicateKey is a digest of a message id, so that a million ids have a small and fixed size.
type duplicateKey [16]byte

// duplicates remembers the ids of messages for the window of duplicate detection (DUP). The entity's mutex guards it.
type duplicates struct {
	q      *Entity                // whose messages they are
	seen   map[duplicateKey]int64 // when it was first accepted, ms (DUP-5)
	order  []remembered           // by ascending at
	head   int                    // order[:head] has been forgotten
	pruned int64                  // the journal was told to forget what is older

	writing map[duplicateKey]*dependency // of the changes that are being written, by the keys that are new with them
}

type remembered struct {
	key duplicateKey
	at  int64
}

// keyOf returns the key of a message; ok is false for one that is never a duplicate (DUP-10). On a partitioned entity
// the partition key belongs to it (DUP-4).
func (d *duplicates) keyOf(info *message.Info) (k duplicateKey, ok bool) {
	if !info.HasMessageID || info.MessageID == "" {
		return k, false
	}
	text := info.MessageID
	if d.q.counters.partitioned() {
		switch {
		case info.HasGroupID:
			text += "\x00" + info.GroupID
		case info.HasPartitionKey:
			text += "\x00" + info.PartitionKey
		}
	}
	sum := sha256.Sum256([]byte(text))
	return duplicateKey(sum[:16]), true
}

// has reports whether the key was remembered at or after the instant since.
func (d *duplicates) has(k duplicateKey, since int64) bool {
	at, ok := d.seen[k]
	return ok && at > since
}

func (d *duplicates) add(k duplicateKey, at int64) {
	if d.seen == nil {
		d.seen = make(map[duplicateKey]int64)
	}
	d.seen[k] = at
	d.order = append(d.order, remembered{k, at})
}

// await notes that a key is only as good as the change that is being written.
func (d *duplicates) await(k duplicateKey, f *dependency) {
	if d.writing == nil {
		d.writing = make(map[duplicateKey]*dependency)
	}
	d.writing[k] = f
}

// written ends await.
func (d *duplicates) written(k duplicateKey) {
	if delete(d.writing, k); len(d.writing) == 0 {
		d.writing = nil
	}
}

// forget takes back an add whose commit failed.
func (d *duplicates) forget(k duplicateKey, at int64) {
	if d.seen[k] == at {
		delete(d.seen, k)
	}
}

// prune forgets what was remembered at or before the instant until, a bounded number of keys per call, and returns
// how many.
func (d *duplicates) prune(until int64) int {
	n := 0
	for ; n < 1024 && d.head < len(d.order) && d.order[d.head].at <= until; n++ {
		x := d.order[d.head]
		d.forget(x.key, x.at)
		d.head++
	}
	if d.head == len(d.order) {
		d.order, d.head = nil, 0
		if len(d.seen) == 0 {
			d.seen = nil // a map does not shrink by itself
		}
	} else if d.head > 4096 && d.head > len(d.order)/2 {
		d.order, d.head = append([]remembered(nil), d.order[d.head:]...), 0
	}
	return n
}

// dedupWindow is the length of the window in milliseconds.
func (o QueueOptions) dedupWindow() int64 {
	if o.DuplicateDetectionWindow <= 0 {
		return DefaultDedupWindow.Milliseconds()
	}
	return o.DuplicateDetectionWindow.Milliseconds()
}

// check says whether a message is a duplicate (DUP-2) and, if not, whether it is to be remembered.
func (d *duplicates) check(in *incoming, now int64) (k duplicateKey, remember, duplicate bool) {
	if !d.q.options.RequiresDuplicateDetection {
		return k, false, false
	}
	k, ok := d.keyOf(&in.info)
	if !ok {
		return k, false, false
	}
	duplicate = d.has(k, now-d.q.options.dedupWindow())
	return k, !duplicate, duplicate
}

// checkAndAdd checks, and adds the key with the change that stores the message.
func (d *duplicates) checkAndAdd(in *incoming, now int64) (k duplicateKey, remember, duplicate bool) {
	if k, remember, duplicate = d.check(in, now); remember {
		d.add(k, now)
		d.q.alarm.set(now + d.q.options.dedupWindow() + duplicateGrain)
	}
	return k, remember, duplicate
}

// duplicateGrain is how long, in milliseconds, a key may stay beyond the window, so that a busy queue's timer does not
// ring for each.
const duplicateGrain = 1000

// pruneDue forgets what has left the window, in memory and, now and then, in the journal, and reports
// whether there is more.
func (d *duplicates) pruneDue(now int64) bool {
	if len(d.order) == 0 {
		return false
	}
	until := now - d.q.options.dedupWindow()
	n := d.prune(until)
	if n == 1024 {
		return true
	}
	if until-d.pruned > 10*duplicateGrain || len(d.order) == 0 {
		d.pruned = until
		c := &Change{}
		c.Ops = append(c.Single[:0], Op{Kind: OpPruneDuplicates, Record: MessageRecord{Entity: d.q.id,
			Enqueued: until + 1}})
		d.q.ns.journal.Append(c)
	}
	return false
}

// next returns when the keys should be looked at again.
func (d *duplicates) next() (at int64, ok bool) {
	if d.head >= len(d.order) {
		return 0, false
	}
	return d.order[d.head].at + d.q.options.dedupWindow() + duplicateGrain, true
}

// newIDs are message ids that a change adds to the keys of duplicate detection.
type newIDs struct {
	dependency dependency // of the change
	keys       []remembered
	one        [1]remembered
}

// end keeps the ids, or takes them out.
func (ids *newIDs) end(d *duplicates, err error) {
	for _, k := range ids.keys {
		d.written(k.key)
		if err != nil {
			d.forget(k.key, k.at)
		}
	}
}
