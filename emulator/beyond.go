package emulator

import (
	"cmp"
	"slices"
	"sync"
)

// Beyond is something that the profile relaxed takes and Azure refuses in every tier: a limit on messages. What
// Azure refuses of entities shows in their settings.
type Beyond struct {
	Namespace, Entity string
	Rule              string // of the reference, such as QUO-8
	Text              string // how the service would refuse the first one
	Count             int64
}

// beyondKey tells the kinds of [Beyond] apart.
type beyondKey struct{ namespace, entity, rule string }

// maxBeyond bounds how many kinds are remembered, of all entities.
const maxBeyond = 500

// beyondNotes are kept until the process ends, also of entities that are deleted. The mutex is a leaf.
type beyondNotes struct {
	mu    sync.Mutex
	notes map[beyondKey]*Beyond
}

// add counts an operation that Azure would refuse, and reports whether it is the first one of its kind.
func (b *beyondNotes) add(key beyondKey, refusal error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	note := b.notes[key]
	if note != nil {
		note.Count++
		return false
	}
	if len(b.notes) >= maxBeyond {
		return false
	}
	if b.notes == nil {
		b.notes = make(map[beyondKey]*Beyond)
	}
	b.notes[key] = &Beyond{Namespace: key.namespace, Entity: key.entity, Rule: key.rule, Text: refusal.Error(),
		Count: 1}
	return true
}

// list returns the notes that are chosen, by namespace and entity.
func (b *beyondNotes) list(chosen func(beyondKey) bool) []Beyond {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Beyond
	for key, note := range b.notes {
		if chosen(key) {
			list = append(list, *note)
		}
	}
	slices.SortFunc(list, func(x, y Beyond) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Entity, y.Entity),
			cmp.Compare(x.Rule, y.Rule))
	})
	return list
}
