package emulator

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// EventFilter selects events of a namespace. Its zero value selects all.
type EventFilter struct {
	Entity    string      // path, in letters of any case
	Sub       *SubQueue   // nil: any
	Sequence  int64       // a number that the message had or got; 0: any
	MessageID string      // of messages that come; their later events are found by [History.Life]
	Client    string      // as of [Client.Is]
	Kinds     []EventKind // none: any
	Since     int64       // ms
	Before    int64       // ms; 0: no end
}

// Selects reports whether the filter selects an event.
func (f *EventFilter) Selects(e *Event) bool {
	switch {
	case f.Entity != "" && !strings.EqualFold(f.Entity, e.Entity):
		return false
	case f.Sub != nil && *f.Sub != e.Sub:
		return false
	case f.Sequence != 0 && f.Sequence != e.Sequence && f.Sequence != e.NextSequence:
		return false
	case f.MessageID != "" && f.MessageID != e.MessageID:
		return false
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind):
		return false
	case e.At < f.Since || f.Before != 0 && e.At >= f.Before:
		return false
	}
	return f.Client == "" || e.Client.Is(f.Client)
}

// History finds what happened to the messages of a namespace.
type History struct{ ns *Namespace }

// History returns the part that finds what happened to messages.
func (ns *Namespace) History() History { return History{ns} }

// Record returns the record of what happened to messages, which all namespaces of a process share; nil: there is none.
func (h History) Record() *Record { return h.ns.common.record }

// Events returns the events of the namespace from a number on that a filter selects, oldest first, and the number from which to go on.
func (h History) Events(from int64, f EventFilter) (iter.Seq[Event], int64) {
	ns := h.ns
	chunks, next := ns.common.record.now(from)
	return func(yield func(Event) bool) {
		for i := range chunks {
			c := &chunks[i]
			if f.mayBeIn(c, ns.id) && !c.each(from, func(e Event) bool { return e.Namespace != ns.id || !f.Selects(&e) || yield(e) }) {
				return
			}
		}
	}, next
}

// EventsBack is Events from the newest one back to the oldest, of those before a number; 0: all.
func (h History) EventsBack(before int64, f EventFilter) iter.Seq[Event] {
	ns := h.ns
	chunks, _ := ns.common.record.now(0)
	return func(yield func(Event) bool) {
		for i := len(chunks) - 1; i >= 0; i-- {
			c := &chunks[i]
			if before != 0 && c.first >= before || !f.mayBeIn(c, ns.id) {
				continue
			}
			if !c.eachBack(func(e Event) bool {
				return before != 0 && e.Number >= before || e.Namespace != ns.id || !f.Selects(&e) || yield(e)
			}) {
				return
			}
		}
	}
}

// mayBeIn reports whether a chunk may have events of a namespace that the filter selects. It looks at the bytes, which costs far less than to read the
// events: most chunks have none when somebody looks for one message.
func (f *EventFilter) mayBeIn(c *chunkOfEvents, namespace int64) bool {
	if !slices.ContainsFunc(c.places, func(p place) bool {
		return p.namespace == namespace && (f.Entity == "" || strings.EqualFold(p.entity, f.Entity))
	}) {
		return false
	}
	if f.MessageID != "" && !bytes.Contains(c.buf, []byte(f.MessageID)) {
		return false
	}
	return f.Sequence == 0 || c.hasNumber(f.Sequence)
}

// hasNumber reports whether a number is among the fields of the chunk's events. It may also be something else that looks so.
func (c *chunkOfEvents) hasNumber(n int64) bool {
	var b [binary.MaxVarintLen64]byte
	return bytes.Contains(c.buf, binary.AppendVarint(b[:0], n))
}

// fewLives is how many messages are looked for in the bytes of a chunk before its events are read.
const fewLives = 8

// maxLives is how many messages [History.Life] follows: an id may come again and again.
const maxLives = 1000

// Life returns what happened to the messages that a filter selects, from one entity to the next, their copies included, oldest first. With a message
// id these are all messages that were sent with it, with a number all that had it in the entity. It follows the last thousand at most. It begins after the last reset
// of the namespace: ids and numbers come again then.
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
	chunks, _ := ns.common.record.now(begin)
	for i := range chunks {
		c := &chunks[i]
		if !f.mayBeIn(c, ns.id) && len(lives) <= fewLives && !slices.ContainsFunc(lives, c.hasNumber) {
			continue
		}
		c.each(begin, func(e Event) bool {
			if e.Namespace == ns.id && (alive[e.Body] || e.Body == 0 && f.Selects(&e)) {
				life = append(life, e)
			}
			return true
		})
	}
	return life
}
