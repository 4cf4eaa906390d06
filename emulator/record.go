package emulator

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Record keeps in memory what happened to messages, for people who look for one: an [Event] for each committed step
// of a message, each delivery, and each refusal. It is bounded in bytes, with the clients and entities that events
// name, and forgets the oldest events first. It is not stored, so it begins with the process.
//
// Events lie in chunks, encoded, without pointers of their own: half a million of them cost the garbage collector nothing. A chunk is only
// ever appended to, so readers go through what they have taken without a lock, and never hold up those who add.
//
// The lock is a leaf. A nil Record records nothing.
type Record struct {
	most int64 // bytes of all chunks

	mu      sync.Mutex
	size    int64            // bytes of all chunks
	chunks  []*chunkOfEvents // oldest first; the last one is being written
	next    int64            // number of the next event
	changed chan struct{}    // closed when an event is added; nil while no goroutine waits

	waiting atomic.Int32
}

// eventChunk is how many bytes of events are forgotten together, fewer if they name many clients and entities.
const eventChunk = 128 << 10

// chunkOfEvents has neighbouring events. What they share, such as the paths of entities, stands in it once.
type chunkOfEvents struct {
	first  int64 // number of its first event
	events int
	base   int64 // ms; time of its first event
	buf    []byte
	size   int64 // bytes with the places and clients

	places  []place
	clients []*Client

	// while the chunk is being written
	placeOf       map[int64]uint64 // by id of the entity
	clientNumbers map[*Client]uint64
}

// place is where something happened.
type place struct {
	namespace int64  // id
	entity    string // path
}

// NewRecord returns a record of about so many bytes, at least two chunks; nil for none.
func NewRecord(bytes int64) *Record {
	if bytes <= 0 {
		return nil
	}
	return &Record{most: bytes, next: 1}
}

// happened is an event that is added.
type happened struct {
	kind   EventKind
	sub    SubQueue
	seq    int64
	first  int64 // number at its first submission, if it is another one
	body   int64 // id: the same for copies and after forwards
	count  uint32
	value  int64 // what [Event.Until] or [Event.NextSequence] say; negative: the copies that a topic made, and one more
	client *Client
	text   string // what [Event.Text] says
}

// add adds an event of an entity. The caller may hold any mutex.
func (r *Record) add(q *Entity, now int64, h *happened) {
	if r == nil {
		return
	}
	r.mu.Lock()
	c := r.chunk(len(h.text), now)
	before := c.size
	c.append(q, now, h)
	r.size += c.size - before
	r.forget()
	r.next++
	changed := r.changed
	if r.waiting.Load() > 0 && changed != nil {
		r.changed = nil
		close(changed)
	}
	r.mu.Unlock()
}

// maxEvent is how many bytes an event takes at most, without its text.
const maxEvent = 96

// chunk returns one with room for an event.
func (r *Record) chunk(text int, now int64) *chunkOfEvents {
	if n := len(r.chunks); n > 0 {
		c := r.chunks[n-1]
		if len(c.buf)+text+maxEvent <= cap(c.buf) && c.size < 2*eventChunk {
			return c
		}
		c.placeOf, c.clientNumbers = nil, nil
		c.places, c.clients = append(c.places[:0:0], c.places...), append(c.clients[:0:0], c.clients...)
	}
	c := &chunkOfEvents{first: r.next, base: now, buf: make([]byte, 0, max(eventChunk, text+maxEvent)),
		placeOf: map[int64]uint64{}, clientNumbers: map[*Client]uint64{nil: 0}, clients: []*Client{nil}}
	c.size = int64(cap(c.buf))
	r.size += c.size
	r.chunks = append(r.chunks, c)
	return c
}

// forget drops the oldest chunks until the rest keeps to the bytes.
func (r *Record) forget() {
	n := 0
	for ; r.size > r.most && n < len(r.chunks)-2; n++ {
		r.size -= r.chunks[n].size
	}
	if n > 0 {
		r.chunks = append(r.chunks[:0:0], r.chunks[n:]...) // readers have the old list
	}
}

// delivered records that an entry was locked for a consumer, or for who asks for deferred messages.
func (r *Record) delivered(q *Entity, e *entry, client *Client, now int64) {
	r.add(q, now, &happened{kind: EventDelivered, sub: e.sub, seq: e.seq, first: e.first, body: e.body.id, count: e.count, value: e.lockedUntil(), client: client})
}

// append writes an event: its length, and then its fields, most of them as varints.
func (c *chunkOfEvents) append(q *Entity, now int64, h *happened) {
	at, ok := c.placeOf[q.id]
	if !ok {
		at = uint64(len(c.places))
		c.placeOf[q.id] = at
		c.places = append(c.places, place{q.ns.id, q.path})
		c.size += int64(unsafe.Sizeof(place{})) + textSize(q.path)
	}
	client, ok := c.clientNumbers[h.client]
	if !ok {
		client = uint64(len(c.clients))
		c.clientNumbers[h.client] = client
		c.clients = append(c.clients, h.client)
		c.size += int64(unsafe.Sizeof(h.client)) + h.client.size()
	}
	b := append(c.buf, byte(h.kind), byte(h.sub))
	b = binary.AppendVarint(b, now-c.base)
	b = binary.AppendUvarint(b, at)
	b = binary.AppendVarint(b, h.seq)
	b = binary.AppendVarint(b, h.first)
	b = binary.AppendVarint(b, h.body)
	b = binary.AppendUvarint(b, uint64(h.count))
	b = binary.AppendVarint(b, h.value)
	b = binary.AppendUvarint(b, client)
	b = binary.AppendUvarint(b, uint64(len(h.text)))
	c.buf = append(b, h.text...)
	c.events++
}
