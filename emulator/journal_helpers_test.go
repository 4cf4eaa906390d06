package emulator_test

import (
	"errors"
	"slices"
	"sync"

	"minibus/emulator"
	"minibus/store/storetest"
)

// errDisk is the answer of a failing journal in these tests.
var errDisk = errors.New("disk on fire")

// journal is a journal in memory that also notes what it is asked, and whose reads can fail.
type journal struct {
	*storetest.Memory
	mu       sync.Mutex
	appended [][]emulator.Op
	restores int // changes that only bring back what was taken out
	reads    int
	readErr  error                   // what all reads answer, if not nil
	lose     int64                   // the body that reads do not find
	harmed   int64                   // the body that reads find damaged
	garbled  int64                   // the body that is read as something else
	hook     func(ops []emulator.Op) // called before each change is appended
	readHook func()                  // called before each read
	reading  int                     // reads that are not completed
	together int                     // the most reads at a time
	most     int                     // the most bytes of bodies of a read
}

func (j *journal) Append(c *emulator.Change) {
	j.mu.Lock()
	j.appended = append(j.appended, slices.Clone(c.Ops))
	if c.Requeues {
		j.restores++
	}
	hook := j.hook
	j.mu.Unlock()
	if hook != nil {
		hook(c.Ops)
	}
	j.Memory.Append(c)
}

// forget lets go of the changes that were appended.
func (j *journal) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.appended = nil
}

func (j *journal) ReadBodies(r *emulator.BodyRead) {
	j.mu.Lock()
	j.reads++
	err, lost, harmed, garbled, hook := j.readErr, j.lose, j.harmed, j.garbled, j.readHook
	j.mu.Unlock()
	if hook != nil {
		hook()
	}
	switch {
	case err != nil:
		go r.Done.Completed(err)
		return
	default:
		j.mu.Lock()
		j.reading++
		j.together = max(j.together, j.reading)
		j.mu.Unlock()
		done := r.Done
		r.Done = emulator.CompletionFunc(func(err error) {
			j.mu.Lock()
			j.reading--
			j.most = max(j.most, len(slices.Concat(r.Bodies...)))
			j.mu.Unlock()
			for i, id := range r.IDs {
				if id == lost || id == harmed {
					r.Bodies[i] = nil
				}
				if id == garbled {
					r.Bodies[i] = []byte("no message")
				}
				if id == harmed {
					r.Damaged = map[int]emulator.Damage{i: {Why: "a bit turned", Rest: []byte("rest")}}
				}
			}
			done.Completed(err)
		})
	}
	j.Memory.ReadBodies(r)
}

func (j *journal) setReads(err error, lose int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.readErr, j.lose = err, lose
}

func (j *journal) harm(body int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.harmed = body
}

func (j *journal) garble(body int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.garbled = body
}

func (j *journal) onRead(f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.readHook = f
}

// on calls f before each change with an operation of that kind.
func (j *journal) on(kind emulator.OpKind, f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.hook = func(ops []emulator.Op) {
		if slices.ContainsFunc(ops, func(o emulator.Op) bool { return o.Kind == kind }) {
			f()
		}
	}
}

// onTransfer calls f before each change that moves a message to the queue with that id.
func (j *journal) onTransfer(id int64, f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.hook = func(ops []emulator.Op) {
		if slices.ContainsFunc(ops, func(o emulator.Op) bool { return o.Kind == emulator.OpUpdate && o.DrawsNumber && o.Record.Entity == id }) {
			f()
		}
	}
}

// seen returns how many changes were appended and how many reads were asked for.
func (j *journal) seen() (changes, reads int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.appended), j.reads
}

// last returns the number of the change that was appended last.
func (j *journal) last() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.appended) - 1
}

// since returns the operations of all changes from the n-th on.
func (j *journal) since(n int) []emulator.Op {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Concat(j.appended[n:]...)
}

// outcome is a completion that can be waited for.
type outcome chan error

func newOutcome() outcome { return make(outcome, 1) }

func (o outcome) Completed(err error) { o <- err }
