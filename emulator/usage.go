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

// usage is when an entity was made, changed and used, and when it has been idle for too long. The entity's mutex guards it.
type usage struct {
	q                          *Entity
	created, updated, accessed int64 // ms (CNT-8, CNT-9)
	opened                     int64 // ms; when the namespace was loaded: idle clocks start there (DEC-21)
}

// touch notes a use of the queue (CNT-9). Uses of a subscription keep its topic from being idle (IDLE-2).
func (u *usage) touch(now int64) {
	u.accessed = now
	if u.q.subscription != nil {
		u.q.subscription.topic.touched.Store(now)
	}
}

// Times returns when the entity was created, updated and last used.
func (q *Entity) Times() Times {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Times{Created: q.usage.created, Updated: q.usage.updated, Accessed: q.usage.accessed}
}

// storedTimes are the times that the journal keeps, as further members of the JSON of an entity's settings.
type storedTimes struct {
	Created int64 `json:"createdAt,omitempty"` // ms
	Updated int64 `json:"updatedAt,omitempty"` // ms
}

// encode returns what the journal keeps of the entity: its settings, when it was created, and when it was updated.
func (u *usage) encode(options any, updated int64) ([]byte, error) {
	b, err := encodeOptions(options)
	if err != nil {
		return nil, err
	}
	t, err := encodeOptions(storedTimes{Created: u.created, Updated: updated})
	if err != nil || len(b) <= len("{}") {
		return t, err
	}
	return append(append(b[:len(b)-1], ','), t[1:]...), nil
}

// restore takes the times, none of them later than now, from what the journal kept. An entity that was stored without them is
// as old as the process.
func (u *usage) restore(stored []byte, now int64) error {
	var t storedTimes
	if err := json.Unmarshal(stored, &t); err != nil {
		return fmt.Errorf("read the times of %q: %w", u.q.path, err)
	}
	if t.Created != 0 {
		u.created, u.updated = min(t.Created, now), min(max(t.Updated, t.Created), now)
	}
	return nil
}
