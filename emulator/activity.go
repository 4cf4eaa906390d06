package emulator

import (
	"slices"
	"time"
)

// ActivityStep and ActivitySteps say how an [Activity] divides the last hour.
const (
	ActivityStep  = 20 * time.Second
	ActivitySteps = 180
)

// activity is what an entity needs to tell what came and went in the last hour: the steps in which a change took
// effect, and how many messages the entity held at the end of each. A step in which nothing happened takes no room, so
// an idle entity costs nothing, and one that is never idle about 5 KiB. Steps are those of the machine's time, whatever
// the clock of the namespace shows. Nothing of it is stored.
type activity struct {
	step   uint32  // that is running, by number since the Unix epoch; 0: nothing has happened yet
	before Traffic // when it began
	ended  []activityStep
}

// activityStep is a step that is over. The counts stay as they are until the next one.
type activityStep struct {
	step                          uint32
	stored, completed             uint32
	active, deadLetter, scheduled uint32 // at its end
}

// activityStepOf returns the number of the step of an instant in milliseconds.
func activityStepOf(at int64) uint32 { return uint32(at / ActivityStep.Milliseconds()) }

// noteActivityLocked is called before a change takes effect, now. It ends the step of the change before, if that is
// over.
func (q *Entity) noteActivityLocked(now int64) {
	step := activityStepOf(q.ns.Clock().machineTimeOf(now))
	a := &q.activity
	if step <= a.step { // it may be less: the machine's clock was set back
		return
	}
	old := 0
	for old+1 < len(a.ended) && a.ended[old+1].step+ActivitySteps <= step {
		old++ // the last one that is too old has the counts with which the hour begins
	}
	a.ended = append(slices.Delete(a.ended, 0, old), q.activityStepLocked())
	a.step, a.before = step, q.traffic
}

// activityStepLocked returns the step that is running as it is now.
func (q *Entity) activityStepLocked() activityStep {
	a, t, c := &q.activity, q.traffic, q.countsLocked()
	return activityStep{step: a.step, stored: uint32(t.Stored - a.before.Stored),
		completed: uint32(t.Completed - a.before.Completed), active: uint32(c.Active),
		deadLetter: uint32(c.DeadLetter), scheduled: uint32(c.Scheduled)}
}

// Activity is what came and went in the last hour, in steps of the machine's time, the oldest first. The last step is
// still running. There is no step from before the namespace was opened, since the counts are not stored.
type Activity struct {
	From  time.Time // when the first step began
	To    time.Time // now
	Steps []ActivityOfStep
}

// ActivityOfStep is what happened in one step.
type ActivityOfStep struct {
	Stored, Completed             int64 // meanwhile, as in Traffic
	Active, DeadLetter, Scheduled int64 // at its end, as in Counts
}

// Activity returns what came and went.
func (q *Entity) Activity() Activity {
	a := q.ns.noActivity()
	a.add(q, true)
	return a
}

// LastMinute returns what came and went in the last three steps and the one that is running.
func (q *Entity) LastMinute() (minute ActivityOfStep) {
	step := activityStepOf(q.ns.Clock().machineTime())
	q.mu.Lock()
	defer q.mu.Unlock()
	add := func(s activityStep) bool {
		if s.step+3 < step {
			return false
		}
		minute.Stored += int64(s.stored)
		minute.Completed += int64(s.completed)
		return true
	}
	more := add(q.activityStepLocked())
	for i := len(q.activity.ended) - 1; more && i >= 0; i-- {
		more = add(q.activity.ended[i])
	}
	return minute
}

// Activity returns what came and went in all entities. What is sent to a topic counts once, without its copies.
func (ns *Namespace) Activity() Activity {
	a := ns.noActivity()
	for _, q := range ns.catalog.entities(anyKind) {
		a.add(q, q.kind != KindSubscription)
	}
	return a
}

// noActivity returns the steps since an hour ago, or since the namespace was opened.
func (ns *Namespace) noActivity() Activity {
	at := ns.Clock().machineTime()
	now := activityStepOf(at)
	first := max(now-ActivitySteps+1, min(activityStepOf(ns.opened), now))
	from := instant(int64(first) * ActivityStep.Milliseconds())
	return Activity{From: from.UTC(), To: instant(at).UTC(), Steps: make([]ActivityOfStep, now-first+1)}
}

// add adds the steps of an entity, and what was stored in it if that counts.
func (a *Activity) add(q *Entity, stored bool) {
	q.mu.Lock()
	steps := append(slices.Clone(q.activity.ended), q.activityStepLocked())
	q.mu.Unlock()
	first := int(activityStepOf(a.From.UnixMilli()))
	for i, s := range steps {
		from, until := int(s.step)-first, len(a.Steps)
		if i+1 < len(steps) {
			until = min(until, int(steps[i+1].step)-first)
		}
		if from >= 0 && from < until {
			a.Steps[from].Completed += int64(s.completed)
			if stored {
				a.Steps[from].Stored += int64(s.stored)
			}
		}
		for n := max(from, 0); n < until; n++ {
			a.Steps[n].Active += int64(s.active)
			a.Steps[n].DeadLetter += int64(s.deadLetter)
			a.Steps[n].Scheduled += int64(s.scheduled)
		}
	}
}
