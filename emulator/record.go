package emulator

import (
	"bytes"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"minibus/internal/amqp/message"
)

// Record keeps in memory what happened to messages, for people who look for one: an [Event] for each committed step of
// a message, each delivery, and each refusal. All namespaces of a process share it. It is bounded in bytes, including
// the clients and entities that events name, and forgets the oldest events first. It is not stored, so it begins with
// the process.
//
// Events lie in chunks, encoded, without pointers of their own: half a million of them cost the garbage collector
// nothing. A chunk is only ever appended to, so readers go through a copy of its header without a lock, and never hold
// up writers.
//
// The lock is a leaf. A nil Record records nothing.
type Record struct {
	most     int64 // bytes of all chunks
	contexts bool  // events have the trace contexts of senders

	mu      sync.Mutex
	size    int64            // bytes of all chunks
	chunks  []*chunkOfEvents // oldest first; the last one is being written
	next    int64            // number of the next event
	changed chan struct{}    // closed when an event is added; nil while no goroutine waits
	tally   Tally

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
	size   int64 // bytes, including entities and clients

	entities []eventEntity
	clients  []*Client

	// while the chunk is being written
	entityNumbers map[int64]uint64 // by id of the entity
	clientNumbers map[*Client]uint64
}

// eventEntity is the entity in which something happened.
type eventEntity struct {
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

// KeepContexts makes the record keep the trace context of the sender with each message that is sent. Call it before the
// first event.
func (r *Record) KeepContexts() { r.contexts = true }

// sentText returns the text of the event of a message that is sent: its id, and the trace context where it is kept.
func (r *Record) sentText(id string, m *message.Message) string {
	if r == nil || !r.contexts {
		return id
	}
	if c := traceContext(m); c != "" {
		return id + contextMark + c
	}
	return id
}

// contextMark stands between the id of a message and its trace context.
const contextMark = "\x00"

// contextLength is the length of a trace context [W3C Trace Context 3.2.2].
const contextLength = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

// traceContext returns the trace context that the SDK of the sender put into the application properties; empty if there
// is none.
func traceContext(m *message.Message) (found string) {
	for e := m.UserProperties(); e.Next(); {
		key := string(e.Key())
		if key != "traceparent" && key != "Diagnostic-Id" {
			continue
		}
		if v := e.Value(); v.Type == message.TypeString && len(v.Text) == contextLength && v.Text[2] == '-' {
			if found = v.Text; key == "traceparent" {
				break
			}
		}
	}
	return found
}

// cutContext cuts what sentText has put together.
func cutContext(text string) (id, context string) {
	if at := len(text) - contextLength - len(contextMark); at >= 0 && text[at:at+1] == contextMark {
		return text[:at], text[at+1:]
	}
	return text, ""
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

// happenedTo returns an event of a message.
func happenedTo(e *entry, kind EventKind, client *Client) happened {
	return happened{kind: kind, sub: e.sub, seq: e.seq, first: e.first, body: e.body.id, count: e.count, client: client}
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
	r.tally.count(q, h)
	changed := r.changed
	if r.waiting.Load() > 0 && changed != nil {
		r.changed = nil
		close(changed)
	}
	r.mu.Unlock()
}

// Tally counts the events since the process began, also those that are forgotten.
type Tally struct {
	Events      [LastEventKind + 1]int64
	DeadLetters map[DeadLetterGroup]int64 // what was dead-lettered; without a path from [maxDeadLetterGroups] on
}

// DeadLetterGroup is where messages were dead-lettered, and why.
type DeadLetterGroup struct{ Namespace, Entity, Reason string }

// maxDeadLetterGroups bounds the memory of a tally.
const maxDeadLetterGroups = 200

func (t *Tally) count(q *Entity, h *happened) {
	t.Events[h.kind]++
	if h.kind != EventDeadLettered && (h.kind != EventExpired || h.text == "") {
		return // or an expired message that went nowhere
	}
	group := DeadLetterGroup{q.ns.name, q.path, strings.Clone(h.text[:min(len(h.text), 256)])}
	if _, known := t.DeadLetters[group]; !known && len(t.DeadLetters) >= maxDeadLetterGroups {
		group = DeadLetterGroup{}
	}
	if t.DeadLetters == nil {
		t.DeadLetters = make(map[DeadLetterGroup]int64)
	}
	t.DeadLetters[group]++
}

// Tally returns the counts so far.
func (r *Record) Tally() Tally {
	if r == nil {
		return Tally{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tally
	t.DeadLetters = maps.Clone(t.DeadLetters)
	return t
}

// maxEvent is the most bytes that an event takes, without its text.
const maxEvent = 96

// chunk returns a chunk that an event fits in.
func (r *Record) chunk(text int, now int64) *chunkOfEvents {
	if n := len(r.chunks); n > 0 {
		c := r.chunks[n-1]
		if len(c.buf)+text+maxEvent <= cap(c.buf) && c.size < 2*eventChunk {
			return c
		}
		c.entityNumbers = nil
		c.clientNumbers = nil
		c.entities = slices.Clip(slices.Clone(c.entities))
		c.clients = slices.Clip(slices.Clone(c.clients))
	}
	c := &chunkOfEvents{
		first: r.next, base: now, buf: make([]byte, 0, max(eventChunk, text+maxEvent)), clients: []*Client{nil},
		entityNumbers: map[int64]uint64{}, clientNumbers: map[*Client]uint64{nil: 0},
	}
	c.size = int64(cap(c.buf))
	r.size += c.size
	r.chunks = append(r.chunks, c)
	return c
}

// forget drops the oldest chunks until the others fit in the bytes.
func (r *Record) forget() {
	n := 0
	for ; r.size > r.most && n < len(r.chunks)-2; n++ {
		r.size -= r.chunks[n].size
	}
	if n > 0 {
		r.chunks = slices.Clone(r.chunks[n:]) // readers have the old list
	}
}

// delivered records that a message was locked for a consumer, or for a client that asks for deferred messages.
func (r *Record) delivered(q *Entity, e *entry, client *Client, now int64) {
	h := happenedTo(e, EventDelivered, client)
	h.value = e.lock.expires()
	r.add(q, now, &h)
}

// append writes an event: its fields, most of them as varints.
func (c *chunkOfEvents) append(q *Entity, now int64, h *happened) {
	at, ok := c.entityNumbers[q.id]
	if !ok {
		at = uint64(len(c.entities))
		c.entityNumbers[q.id] = at
		c.entities = append(c.entities, eventEntity{q.ns.id, q.path})
		c.size += int64(unsafe.Sizeof(eventEntity{})) + textSize(q.path)
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

// Events returns the events from a number on, oldest first, without those that come meanwhile, and the number from
// which to go on.
func (r *Record) Events(from int64) (iter.Seq[Event], int64) {
	if r == nil {
		return func(func(Event) bool) {}, from
	}
	chunks, next := r.since(from)
	return func(yield func(Event) bool) {
		for i := range chunks {
			if !chunks[i].each(from, yield) {
				return
			}
		}
	}, next
}

// since returns copies of the chunks that have events from a number on, and the number of the next event.
func (r *Record) since(from int64) (chunks []chunkOfEvents, next int64) {
	if r == nil {
		return nil, from
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.chunks) - 1; i >= 0 && r.chunks[i].first+int64(r.chunks[i].events) > from; i-- {
		chunks = append(chunks, *r.chunks[i]) // with the lengths of this moment
	}
	slices.Reverse(chunks)
	return chunks, r.next
}

// Oldest returns the number of the oldest event that is kept, or would be.
func (r *Record) Oldest() int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.chunks) == 0 {
		return r.next
	}
	return r.chunks[0].first
}

// Next returns the number of the next event.
func (r *Record) Next() int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Changed returns a channel that is closed once there is an event with the number or a later one. The caller calls
// done when it no longer waits.
func (r *Record) Changed(number int64) (changed <-chan struct{}, done func()) {
	if r == nil {
		return nil, func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next > number {
		now := make(chan struct{})
		close(now)
		return now, func() {}
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	r.waiting.Add(1)
	return r.changed, func() { r.waiting.Add(-1) }
}

// each yields the events of a chunk and reports whether to go on.
func (c *chunkOfEvents) each(from int64, yield func(Event) bool) bool {
	d := eventReader{c.buf}
	for number := c.first; number < c.first+int64(c.events); number++ {
		e := d.event(c)
		e.Number = number
		if number >= from && !yield(e) {
			return false
		}
	}
	return true
}

// eachBack is each for all events, the last one first.
func (c *chunkOfEvents) eachBack(yield func(Event) bool) bool {
	starts := make([]int, c.events) // the events have no fixed length
	d := eventReader{c.buf}
	for i := range starts {
		starts[i] = len(c.buf) - len(d.b)
		d.event(c)
	}
	for i := len(starts) - 1; i >= 0; i-- {
		d.b = c.buf[starts[i]:]
		e := d.event(c)
		e.Number = c.first + int64(i)
		if !yield(e) {
			return false
		}
	}
	return true
}

// eventReader reads what append wrote.
type eventReader struct{ b []byte }

func (d *eventReader) int() int64 {
	v, n := binary.Varint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *eventReader) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *eventReader) event(c *chunkOfEvents) Event {
	e := Event{Kind: EventKind(d.b[0]), Sub: SubQueue(d.b[1])}
	d.b = d.b[2:]
	e.At = c.base + d.int()
	at := c.entities[d.uint()]
	e.Namespace = at.namespace
	e.Entity = at.entity
	e.Sequence = d.int()
	e.FirstSequence = d.int()
	e.Body = d.int()
	e.DeliveryCount = uint32(d.uint())
	switch value := d.int(); {
	case value < 0:
		e.Topic = true
		e.Copies = int(-value - 1)
	case e.Kind == EventActivated:
		e.NextSequence = value
	default:
		e.Until = value
	}
	e.Client = c.clients[d.uint()]
	n := d.uint()
	e.setText(unsafe.String(unsafe.SliceData(d.b), n)) // what is in a chunk never changes
	d.b = d.b[n:]
	return e
}

// comes reports whether a message comes with the event, which has its message id then.
func (e *Event) comes() bool { return e.Topic || e.Kind == EventSent || e.Kind == EventScheduled }

func (e *Event) setText(text string) {
	switch {
	case e.comes(), e.Kind == EventDuplicate:
		e.MessageID, e.TraceParent = cutContext(text)
	case e.Kind == EventRefusedSend:
		e.MessageID, e.Text, _ = strings.Cut(text, refusedFor)
	default:
		e.Text = text
	}
}

// refusedFor stands between the id of a refused message and the reason.
const refusedFor = "\x00"

// History finds what happened to the messages of a namespace.
type History struct{ ns *Namespace }

// History returns the part that finds what happened to messages.
func (ns *Namespace) History() History { return History{ns} }

// Record returns the record of all namespaces; nil: no history is kept.
func (h History) Record() *Record { return h.ns.common.record }

// Events returns the events of the namespace from a number on that a filter selects, oldest first, and the number from
// which to go on.
func (h History) Events(from int64, f EventFilter) (iter.Seq[Event], int64) {
	ns := h.ns
	chunks, next := ns.common.record.since(from)
	return func(yield func(Event) bool) {
		for i := range chunks {
			c := &chunks[i]
			if !f.mayBeIn(c, ns.id) {
				continue
			}
			if !c.each(from, func(e Event) bool { return e.Namespace != ns.id || !f.selects(&e) || yield(e) }) {
				return
			}
		}
	}, next
}

// EventsBack returns the events before a number, 0: all, that a filter selects, newest first.
func (h History) EventsBack(before int64, f EventFilter) iter.Seq[Event] {
	ns := h.ns
	chunks, _ := ns.common.record.since(0)
	return func(yield func(Event) bool) {
		for i := len(chunks) - 1; i >= 0; i-- {
			c := &chunks[i]
			if before != 0 && c.first >= before || !f.mayBeIn(c, ns.id) {
				continue
			}
			if !c.eachBack(func(e Event) bool {
				return before != 0 && e.Number >= before || e.Namespace != ns.id || !f.selects(&e) || yield(e)
			}) {
				return
			}
		}
	}
}

// mayBeIn reports whether a chunk may have events of a namespace that the filter selects. It searches the bytes, which
// costs far less than to decode the events: when somebody looks for one message, most chunks have none.
func (f *EventFilter) mayBeIn(c *chunkOfEvents, namespace int64) bool {
	if !slices.ContainsFunc(c.entities, func(p eventEntity) bool {
		return p.namespace == namespace && (f.Entity == "" || strings.EqualFold(p.entity, f.Entity))
	}) {
		return false
	}
	if f.MessageID != "" && !bytes.Contains(c.buf, []byte(f.MessageID)) {
		return false
	}
	return f.Sequence == 0 || c.hasNumber(f.Sequence)
}

// hasNumber reports whether the bytes of a number are in the chunk, possibly as part of something else.
func (c *chunkOfEvents) hasNumber(n int64) bool {
	var b [binary.MaxVarintLen64]byte
	return bytes.Contains(c.buf, binary.AppendVarint(b[:0], n))
}

const (
	// fewLives is for how many messages Life searches the bytes of a chunk, to spare decoding its events.
	fewLives = 8
	// maxLives is how many messages Life follows: many may have the same id.
	maxLives = 1000
)

// Life returns what happened to the messages that a filter selects, from one entity to the next, and to their copies,
// oldest first. With a message id these are all messages that were sent with it, with a number all that had it in the
// entity. It follows the last thousand at most. It begins after the last reset of the namespace, since ids and numbers
// come again then.
func (h History) Life(f EventFilter) []Event {
	ns := h.ns
	var lives []int64 // bodies, which the copies of a message share, and which forwards keep
	begin := ns.fresh.Load()
	selected, _ := h.Events(begin, f)
	for e := range selected {
		if e.Body == 0 || slices.Contains(lives, e.Body) {
			continue
		}
		if lives = append(lives, e.Body); len(lives) > maxLives {
			lives = lives[1:]
		}
	}
	alive := make(map[int64]bool, len(lives))
	for _, body := range lives {
		alive[body] = true
	}
	var life []Event
	chunks, _ := ns.common.record.since(begin)
	for i := range chunks {
		c := &chunks[i]
		if !f.mayBeIn(c, ns.id) && len(lives) <= fewLives && !slices.ContainsFunc(lives, c.hasNumber) {
			continue
		}
		c.each(begin, func(e Event) bool {
			if e.Namespace == ns.id && (alive[e.Body] || e.Body == 0 && f.selects(&e)) {
				life = append(life, e)
			}
			return true
		})
	}
	return life
}

// Name gives events the id of their message, which only its first event has, and those of a topic's copies too. It
// looks back for it as far as the record goes.
func (h History) Name(events []Event) {
	nameless := make(map[int64][]*Event) // by body
	last := int64(0)
	for i := range events {
		if e := &events[i]; e.Body != 0 && e.MessageID == "" && !e.comes() {
			nameless[e.Body] = append(nameless[e.Body], e)
			last = max(last, e.Number)
		}
	}
	chunks, _ := h.ns.common.record.since(0)
	if len(chunks) > 0 && chunks[0].first > 1 {
		oldest := int64(0) // body that came in the oldest chunk: what came before it is forgotten
		chunks[0].eachBack(func(e Event) bool {
			if e.Namespace == h.ns.id && e.comes() {
				oldest = e.Body
			}
			return true
		})
		maps.DeleteFunc(nameless, func(body int64, _ []*Event) bool { return body < oldest })
	}
	for i := len(chunks) - 1; i >= 0 && len(nameless) > 0; i-- {
		if c := &chunks[i]; c.first < last {
			c.eachBack(func(first Event) bool {
				if first.Namespace == h.ns.id && first.comes() {
					for _, e := range nameless[first.Body] {
						e.MessageID = first.MessageID
					}
					delete(nameless, first.Body)
				}
				return len(nameless) > 0
			})
		}
	}
}
