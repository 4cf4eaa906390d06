package emulator

import (
	"encoding/json"
	"fmt"
)

// Times are the instants of an entity, in milliseconds since the Unix epoch (CNT-8, CNT-9).
type Times struct {
	Created  int64
	Updated  int64
	Accessed int64 // 0: never; it is not stored, so "never" also after a restart
}

// Times returns when the entity was created, updated and last used.
func (q *Entity) Times() Times {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Times{Created: q.created, Updated: q.updated, Accessed: q.accessed}
}

// storedTimes are the times that the journal keeps, as further members of the JSON of an entity's settings.
type storedTimes struct {
	Created int64 `json:"createdAt,omitempty"` // ms
	Updated int64 `json:"updatedAt,omitempty"` // ms
}

// encode returns what the journal keeps of the entity: its settings, when it was created, and when it was updated.
func (q *Entity) encode(options any, updated int64) ([]byte, error) {
	b, err := encodeOptions(options)
	if err != nil {
		return nil, err
	}
	t, err := encodeOptions(storedTimes{Created: q.created, Updated: updated})
	if err != nil || len(b) <= len("{}") {
		return t, err
	}
	return append(append(b[:len(b)-1], ','), t[1:]...), nil
}

// restoreTimes takes the times, none of them later than now, from what the journal kept. An entity that was stored without them is
// as old as the process.
func (q *Entity) restoreTimes(stored []byte, now int64) error {
	var t storedTimes
	if err := json.Unmarshal(stored, &t); err != nil {
		return fmt.Errorf("read the times of %q: %w", q.path, err)
	}
	if t.Created != 0 {
		q.created, q.updated = min(t.Created, now), min(max(t.Updated, t.Created), now)
	}
	return nil
}
