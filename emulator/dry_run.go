package emulator

import (
	"fmt"
	"time"

	"minibus/emulator/clock"
)

// dryRun reports whether a plan can be carried out. It makes the list true in a copy of the namespace without
// messages and without the entities that the plan deletes, and keeps nothing of it. So every check there is counts,
// and a list that is refused changes nothing.
func (c Configuration) dryRun(list []EntityConfig, plan []Planned) error {
	stage := &dryRunJournal{}
	leaving := make(map[*Entity]bool)
	for _, p := range plan {
		leaving[p.entity] = p.Action == ActionDelete
	}
	for _, q := range c.ns.catalog.entities(anyKind) {
		if leaving[q] {
			continue
		}
		settings, err := encodeOptions(q.Settings().stored())
		if err != nil {
			return err
		}
		stage.entities = append(stage.entities, EntityRecord{ID: q.id, Kind: q.kind, Path: q.path, Options: settings})
	}
	trial, err := Open(stage, Options{Name: c.ns.name, Limits: c.ns.Profile(), Clock: stoppedClock(c.ns.clock.Now())})
	if err != nil {
		return fmt.Errorf("try the configuration: %w", err)
	}
	defer trial.Close()
	return trial.Configuration().ensure(list)
}

// stored returns what the journal keeps of these settings: options of the entity's kind.
func (s Settings) stored() any {
	switch {
	case s.Topic != nil:
		return *s.Topic
	case s.Subscription != nil:
		return *s.Subscription
	}
	return *s.Queue
}

// dryRunJournal is the journal of such a copy. It accepts everything and stores nothing.
type dryRunJournal struct{ entities []EntityRecord }

func (r *dryRunJournal) Load(l Loader) error {
	for _, e := range r.entities {
		if err := l.LoadEntity(e); err != nil {
			return err
		}
	}
	return nil
}

// Append completes the change on another goroutine, since its caller may hold mutexes that the completion takes.
// Changes of entities are waited for one after another, so their order is kept.
func (r *dryRunJournal) Append(c *Change) {
	if c.Done != nil {
		go c.Done.Completed(nil)
	}
}

func (r *dryRunJournal) NextRow() int64          { return 1 } // the loader knows the ids of the entities
func (r *dryRunJournal) Secret() (none [16]byte) { return none }
func (r *dryRunJournal) Created() int64          { return 0 }
func (r *dryRunJournal) ReadBodies(b *BodyRead)  { b.Done.Completed(nil) }
func (r *dryRunJournal) Flush(done Completion)   { done.Completed(nil) }

// stoppedClock stands still, so that nothing falls due.
type stoppedClock time.Time

func (c stoppedClock) Now() time.Time                   { return time.Time(c) }
func (c stoppedClock) At(time.Time, func()) clock.Timer { return c }
func (c stoppedClock) Stop() bool                       { return true }
