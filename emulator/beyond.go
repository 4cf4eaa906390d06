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

// beyondRules are the rules of notes.
var beyondRules = []string{"QUO-7", "QUO-8", "QUO-9"}

// of returns the notes of an entity, by rule.
func (b *beyondNotes) of(namespace, entity string) (list []Beyond) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rule := range beyondRules {
		if note := b.notes[beyondKey{namespace, entity, rule}]; note != nil {
			list = append(list, *note)
		}
	}
	return list
}

// list returns all notes, by namespace and entity.
func (b *beyondNotes) list() []Beyond {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Beyond
	for _, note := range b.notes {
		list = append(list, *note)
	}
	slices.SortFunc(list, func(x, y Beyond) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Entity, y.Entity),
			cmp.Compare(x.Rule, y.Rule))
	})
	return list
}
