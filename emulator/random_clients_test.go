package emulator_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/store/storetest"
)

// clients is senders, workers and an unlucky administrator on a whole namespace at once, while commits fail and the
// process dies now and then. Every message has a body of its own, by which it is followed:
//
//	in (duplicate detection) ──forward──► work (sessions) ──transaction──► out (partitions)
//	   └── dead letters ──┐                  └── dead letters ──┐
//	plain (time to live, schedules) ── dead letters ──► dead ◄──┘
type clients struct {
	t     *testing.T
	seed  uint64
	limit int64
	sends atomic.Int64 // up to limit
	ops   atomic.Int64
	now   atomic.Pointer[generation]
	calm  atomic.Bool // nothing goes wrong any more

	products atomic.Int64 // messages sent in transactions, from which they have their names

	mu       sync.Mutex
	accepted map[string]bool        // sends that were acknowledged
	removed  map[string]int         // how often a message was completed, or received and deleted
	back     map[string]*generation // given back after it was removed: lost if that process dies meanwhile (RAD-1)
	last     map[string]int         // the last message of each session that was completed
	states   map[string]string      // of sessions
}

// generation is the broker between two restarts.
type generation struct {
	ns   *emulator.Namespace
	j    *mortal
	over chan struct{} // closed when it goes down

	crashed bool // guarded by the mutex of the clients
}

// mortal is a journal that is not read after its process died.
type mortal struct {
	*storetest.Memory
	mu   sync.Mutex
	dead bool
}

func (m *mortal) ReadBodies(r *emulator.BodyRead) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		go r.Done.Completed(storetest.ErrClosed)
		return
	}
	m.Memory.ReadBodies(r)
}

func (m *mortal) die() {
	m.mu.Lock()
	m.dead = true
	m.mu.Unlock()
	m.Close()
}

// clientsQueues are the queues of the clients.
var clientsQueues = map[string]emulator.QueueOptions{
	"in": {RequiresDuplicateDetection: true, DuplicateDetectionWindow: 24 * time.Hour, ForwardTo: "work",
		DeadLetteringOnExpiration: true, ForwardDeadLetteredMessagesTo: "dead"},
	"work": {RequiresSession: true, LockDuration: 5 * time.Second, MaxDeliveryCount: 8, DeadLetteringOnExpiration: true,
		ForwardDeadLetteredMessagesTo: "dead"},
	"plain": {LockDuration: 5 * time.Second, MaxDeliveryCount: 4, DeadLetteringOnExpiration: true, ForwardDeadLetteredMessagesTo: "dead"},
	"out":   {EnablePartitioning: true, LockDuration: 5 * time.Second, MaxDeliveryCount: 1 << 30},
	"dead": {LockDuration: 5 * time.Second, MaxDeliveryCount: 1 << 30, DeadLetteringOnExpiration: true,
		ForwardDeadLetteredMessagesTo: "dead"}, // what expires there comes back
}

// operations returns how many operations a random history should have: MINIBUS_OPS, or 4000.
func operations(t *testing.T) int {
	t.Helper()
	s := os.Getenv("MINIBUS_OPS")
	if s == "" {
		return 4000
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("MINIBUS_OPS: %v", err)
	}
	return n
}

// TestRandom_ManyClientsLoseAndDoubleNothing drives a namespace with every feature from many goroutines and checks at the end
// that nothing was lost or doubled, that sessions kept their order, and that all counts are exact.
func TestRandom_ManyClientsLoseAndDoubleNothing(t *testing.T) {
	r := emulator.NewRandom(t)
	for i, no := range []emulator.Options{{}, small} {
		synctest.Test(t, func(t *testing.T) {
			s := &clients{
				t: t, seed: r.Uint64(), limit: int64(operations(t) / 2), accepted: map[string]bool{}, removed: map[string]int{},
				back: map[string]*generation{}, last: map[string]int{}, states: map[string]string{},
			}
			s.begin(storetest.NewMemory(), no)
			for path, o := range clientsQueues {
				s.gen().ns.Plan(o.ForwardTo, o.ForwardDeadLetteredMessagesTo)
				if _, err := s.gen().ns.Entities().CreateQueue(path, o); err != nil {
					t.Fatalf("create queue %s: %v", path, err)
				}
			}
			s.run(no)
			s.check(no)
			// Which sends the disturbances refuse is not the same for the same seed: goroutines of a bubble run in any order at an instant. But every
			// send is tried until it is accepted, and has a message at least.
			if n := len(s.accepted); int64(n) < s.limit {
				t.Errorf("run %d sent %d messages, want %d at least", i, n, s.limit)
			}
		})
	}
}

func (s *clients) gen() *generation { return s.now.Load() }

// queue returns a queue as it is now.
func (s *clients) queue(path string) *emulator.Entity { return s.gen().queue(s.t, path) }

func (g *generation) queue(t *testing.T, path string) *emulator.Entity {
	q, err := g.ns.Entity(path)
	if err != nil {
		t.Errorf("find queue %s: %v", path, err)
	}
	return q
}

// random returns the choices of one party.
func (s *clients) random(party int) *rand.Rand { return rand.New(rand.NewPCG(s.seed, uint64(party))) }

func (s *clients) begin(m *storetest.Memory, no emulator.Options) {
	g := &generation{j: &mortal{Memory: m}, over: make(chan struct{})}
	var err error
	if g.ns, err = emulator.Open(g.j, no); err != nil {
		s.t.Errorf("open namespace: %v", err)
	}
	s.now.Store(g)
}

// end ends the process; if it crashes, what is being written is lost.
func (s *clients) end(crash bool) *storetest.Memory {
	g := s.gen()
	s.mu.Lock()
	g.crashed = crash
	s.mu.Unlock()
	close(g.over)
	if crash {
		g.j.FailNext(1<<30, errDisk)
	}
	g.ns.Close()
	g.j.die()
	return g.j.Reopen()
}

// run lets all parties play until enough was sent and everything was received.
func (s *clients) run(no emulator.Options) {
	var senders, workers, chaos sync.WaitGroup
	quit := make(chan struct{})
	for i := range 4 {
		senders.Go(func() { s.sendSessions(i, s.random(i)) })
		workers.Go(func() { s.workSessions(s.random(10+i), quit) })
	}
	for i := range 2 {
		senders.Go(func() { s.sendPlain(i, s.random(20+i)) })
		workers.Go(func() { s.workPlain(s.random(30+i), quit) })
	}
	for i, path := range []string{"plain", "out", "dead"} {
		workers.Go(func() { s.deletePlain(path, emulator.Main, s.random(40+i), quit) })
	}
	workers.Go(func() { s.deletePlain("work", emulator.TransferDeadLetter, s.random(45), quit) })
	workers.Go(func() { s.browse(s.random(50), quit) })
	chaos.Go(func() { s.disturb(s.random(60), no) })
	senders.Wait()
	s.calm.Store(true)
	chaos.Wait()
	for range 200 { // until all locks, schedules and retries are over
		time.Sleep(10 * time.Second)
		s.fetchDeferred()
		if s.total() == 0 {
			break
		}
	}
	close(quit)
	workers.Wait()
	synctest.Wait()
}

// total is how many messages there are.
func (s *clients) total() (n int64) {
	for path := range clientsQueues {
		c := s.queue(path).Counts()
		n += c.Active + c.DeadLetter + c.Scheduled + c.Transfer + c.TransferDeadLetter
	}
	return n
}

// disturb makes commits fail, restarts the broker, and updates and disables queues.
func (s *clients) disturb(r *rand.Rand, no emulator.Options) {
	paths := []string{"in", "work", "plain", "out", "dead"}
	for !s.calm.Load() {
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
		path := paths[r.IntN(len(paths))]
		switch r.IntN(30) {
		case 0:
			s.begin(s.end(r.IntN(2) == 0), no)
		case 1, 2, 3:
			s.update(path, []emulator.Status{emulator.StatusDisabled, emulator.StatusReceiveDisabled, emulator.StatusSendDisabled, ""}[r.IntN(4)])
			time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
			s.update(path, emulator.StatusActive)
		case 4, 5, 6, 7, 8:
			s.gen().j.FailAlone(errDisk)
		default:
			s.gen().j.FailNext(1+r.IntN(2), errDisk)
		}
	}
	s.gen().j.FailNext(0, nil)
	s.gen().j.FailAlone(nil)
	for _, path := range paths {
		s.update(path, emulator.StatusActive)
	}
}

// update sets the status of a queue, if need be several times.
func (s *clients) update(path string, status emulator.Status) {
	for {
		o := clientsQueues[path]
		o.Status = status
		_, err := s.gen().ns.Entities().UpdateQueue(path, o)
		if err == nil {
			return
		}
		if !errors.Is(err, errDisk) {
			s.t.Errorf("update queue %s: %v", path, err)
			return
		}
	}
}

// check compares what was sent with what was received.
func (s *clients) check(no emulator.Options) {
	for range 2 {
		states := int64(0)
		for _, state := range s.states {
			states += int64(len(state))
		}
		for path := range clientsQueues {
			want := emulator.Counts{}
			if path == "work" {
				want.SizeBytes = states
			}
			equal(s.t, "counts of "+path, s.queue(path).Counts(), want)
		}
		equal(s.t, "sessions that are left", s.queue("work").InMemory().Sessions(), len(s.states))
		for id, want := range s.states {
			state, err := s.queue("work").Sessions().BrowseState(id)
			if err != nil || string(state) != want {
				s.t.Errorf("state of session %s is %q, want %q (%v)", id, state, want, err)
			}
		}
		s.begin(s.end(false), no)
	}
	s.end(false)
	lost, doubled, ghosts := 0, 0, 0
	for id := range s.accepted {
		switch n := s.removed[id]; {
		case n == 0 && (s.back[id] == nil || !s.back[id].crashed):
			lost++
			s.t.Logf("lost: %s", id)
		case n > 1:
			doubled++
			s.t.Logf("received %d times: %s", n, id)
		}
	}
	for id := range s.removed {
		if !s.accepted[id] {
			ghosts++
			s.t.Logf("received though its send failed: %s", id)
		}
	}
	equal(s.t, "lost, doubled and ghost messages", fmt.Sprint(lost, doubled, ghosts), "0 0 0")
	s.t.Logf("%d operations, %d messages, %d given back", s.ops.Load(), len(s.accepted), len(s.back))
}
