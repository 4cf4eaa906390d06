package emulator

import "sync/atomic"

// payload is the encoded message as the sender sent it, as one copy of the message has it. The copies that a topic makes
// stand in different entities, each with its own mutex, so each has a payload of its own; the stored body is one.
//
// What counts against the budget of the namespace is the bytes that are in memory, once, however many copies have them. The
// data is never a part of something larger, which would stay in memory with it.
type payload struct {
	id     int64
	data   []byte  // nil when it is only on disk
	size   uint32  // bytes of the message
	copies *copies // nil if no other copy has the body
}

// newPayload makes the payload of a message of which there is no other copy.
func newPayload(id int64, data []byte) *payload {
	return &payload{id: id, data: data, size: uint32(len(data))}
}

// copies counts the copies of a message that share a body.
type copies struct {
	stored *atomic.Int32 // copies anywhere; the last one to go takes the stored body with it
	shown  *atomic.Int32 // copies that have the same bytes in memory, which count once; nil if none ever had
	here   atomic.Int32  // of the stored ones, those in the subscriptions of the topic that made them (QUO-4)
}

// newCopies counts n copies in the subscriptions of one topic.
func newCopies(n int32) *copies {
	counts := new(struct{ stored, shown atomic.Int32 })
	c := &copies{stored: &counts.stored, shown: &counts.shown}
	c.stored.Store(n)
	c.here.Store(n)
	return c
}

// last reports whether no other copy has the body, so that it goes with this one. The caller, and no other
// goroutine, is about to remove the copy.
//
// Of two last copies that are being removed at once neither takes the body along: whichever was removed later drops it
// then, in a change of its own. To decide earlier, the changes of both would have to be appended in the order of the
// decisions, although they belong to different entities.
func (p *payload) last() bool {
	if p.copies != nil && p.copies.stored.Load() == 1 {
		p.copies = nil
	}
	return p.copies == nil
}

// count changes the count of the stored copies that have the body. A copy that is being made counts already, until its change
// fails; so does one that is handed on, until that is committed.
func (p *payload) count(by int32) {
	if p.copies != nil {
		p.copies.stored.Add(by)
	}
}

// hereAdd changes the count of the copies in the subscriptions of a topic, and returns it.
func (p *payload) hereAdd(by int32) int {
	if p.copies == nil {
		return int(max(by, 0)) // this one alone
	}
	return int(p.copies.here.Add(by))
}

// largeBody is the size above which a body counts once more with each copy (QUO-3).
const largeBody = 1 << 20

// counted returns the bytes that the message counts against the size of its entity: a large one counts twice (QUO-3).
func (p *payload) counted() int64 {
	if p.size > largeBody {
		return 2 * int64(p.size)
	}
	return int64(p.size)
}

// joint returns the bytes that n copies count together against the size of a topic: the body once, a large one n times
// more (QUO-3, QUO-4).
func (p *payload) joint(n int) int64 {
	switch {
	case n == 0:
		return 0
	case p.size > largeBody:
		return int64(n+1) * int64(p.size)
	}
	return int64(p.size)
}
