package emulator

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestRecordKeepsToItsBytes, also those of the clients and entities that its events name: each message may be
// received over a connection of its own, and from an entity that is gone.
func TestRecordKeepsToItsBytes(t *testing.T) {
	const most = 4 << 20
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	text := func(i int) string { return strings.Clone(fmt.Sprintf("a-name-as-clients-and-entities-have-%09d", i)) }
	for name, c := range map[string]struct {
		entities, clients bool // another one for each event
		text              int
	}{
		"one client": {}, "clients": {clients: true}, "entities": {entities: true}, "both": {entities: true, clients: true},
		"long texts": {text: 3000},
	} {
		t.Run(name, func(t *testing.T) {
			ns := &Namespace{}
			q, client := &Entity{ns: ns, path: text(0)}, &Client{}
			before := heap()
			r := NewRecord(most)
			for i := range 300_000 {
				if c.entities {
					q = &Entity{ns: ns, id: int64(i), path: text(i)}
				}
				if c.clients {
					client = &Client{Connection: text(i), Link: text(i + 1), Remote: text(i + 2)}
				}
				r.add(q, int64(i), &happened{
					kind: EventDelivered, seq: int64(i), body: int64(i), client: client, text: strings.Repeat("x", c.text),
				})
			}
			if got := heap() - before; got > most*9/8 || got < most/2 {
				t.Errorf("the record takes %d bytes, not about %d", got, most)
			}
			if r.Oldest() < 2 || r.next != 300_001 {
				t.Errorf("it has events from %d to %d", r.Oldest(), r.next)
			}
			runtime.KeepAlive(r)
		})
	}
}
