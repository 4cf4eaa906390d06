package emulator_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/emulator/clock"
	"minibus/store/storetest"
)

// broker is a namespace under test with one queue, over a journal in memory that can fail.
type broker struct {
	t       *testing.T
	options emulator.Options
	j       *journal
	ns      *emulator.Namespace
	q       *emulator.Entity
}

// bubble runs f in a synctest bubble with a broker whose queue "q" has the settings o.
func bubble(t *testing.T, o emulator.QueueOptions, f func(b *broker)) {
	t.Helper()
	bubbleWith(t, emulator.Options{}, o, f)
}

// bubbleWith is bubble with options for the namespace too.
func bubbleWith(t *testing.T, no emulator.Options, o emulator.QueueOptions, f func(b *broker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if no.Clock == nil {
			no.Clock = &clock.System{Recheck: math.MaxInt64}
		}
		b := &broker{t: t, options: no, j: &journal{Memory: storetest.NewMemory()}}
		b.open()
		defer func() {
			b.j.Resume() // what f has left waiting
			b.close()
		}()
		b.ns.Plan(o.ForwardTo, o.ForwardDeadLetteredMessagesTo)
		q, err := b.ns.Entities().CreateQueue("q", o)
		if err != nil {
			t.Fatalf("create queue: %v", err)
		}
		b.q = q.Entity
		f(b)
	})
}

func (b *broker) open() {
	b.t.Helper()
	ns, err := emulator.Open(b.j, b.options)
	if err != nil {
		b.t.Fatalf("open namespace: %v", err)
	}
	b.ns = ns
}

func (b *broker) close() {
	b.ns.Close()
	b.j.Close()
}

// stop ends the process, so to speak; start brings it up again over the same journal.
func (b *broker) stop() { b.close() }

func (b *broker) start() {
	b.t.Helper()
	b.j.Memory = b.j.Reopen()
	b.open()
	q, err := b.ns.Entity("q")
	if err != nil {
		b.t.Fatalf("find queue after restart: %v", err)
	}
	b.q = q
}

// restart is stop and start without a pause.
func (b *broker) restart() {
	b.t.Helper()
	b.stop()
	b.start()
}

// failOnce makes the next commit fail.
// A test that goes on afterwards waits first: until the failure's completions have run, it takes what is appended behind it along.
func (b *broker) failOnce() { b.j.FailNext(1, errDisk) }

// update changes the queue's settings.
func (b *broker) update(change func(o *emulator.QueueOptions)) {
	b.t.Helper()
	o := b.q.Options()
	change(&o)
	if _, err := b.ns.Entities().UpdateQueue("q", o); err != nil {
		b.t.Fatalf("update queue: %v", err)
	}
}

// wait lets time pass.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// now is the bubble's time at the broker's resolution.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func equal[T comparable](t *testing.T, what string, have, want T) {
	t.Helper()
	if have != want {
		t.Errorf("%s: %v, want %v", what, have, want)
	}
}

func equalSlices[T comparable](t *testing.T, what string, have []T, want ...T) {
	t.Helper()
	if !slices.Equal(have, want) {
		t.Errorf("%s: %v, want %v", what, have, want)
	}
}

// wantCode checks that an error is the domain's and has that code.
func wantCode(t *testing.T, what string, err error, code emulator.Code) {
	t.Helper()
	var e *emulator.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: error %v, want one of the domain with code %d", what, err, code)
	}
	equal(t, what+": code", e.Code, code)
}

// verify counts again what the broker counts as it goes, and compares it with what the journal has if stored says so. Nothing
// may be under way.
func (b *broker) verify(stored bool) {
	b.t.Helper()
	faults := b.ns.Verify()
	if stored {
		faults = append(faults, b.ns.VerifyStored(b.j)...)
	}
	for _, fault := range faults {
		b.t.Error(fault)
	}
}

// wantTransfer checks how many messages wait to be forwarded, and that nothing else is there.
func (b *broker) wantTransfer(n int64) {
	b.t.Helper()
	c := b.q.Counts()
	c.SizeBytes = 0
	equal(b.t, "counts", c, emulator.Counts{Transfer: n})
}

// wantCounts compares the numbers of active, dead-lettered, scheduled and deferred messages.
func (b *broker) wantCounts(active, dead, scheduled, deferred int64) {
	b.t.Helper()
	c := b.q.Counts()
	equal(b.t, "counts of active, dead-lettered, scheduled and deferred messages",
		[4]int64{c.Active, c.DeadLetter, c.Scheduled, c.Deferred}, [4]int64{active, dead, scheduled, deferred})
}
