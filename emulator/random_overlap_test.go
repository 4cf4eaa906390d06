package emulator_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// overlap does anything at any time: operations of every kind on entities of every kind, several of them before the journal has
// written the first, with changes failing alone or together, entities that are updated, deleted and made again in the middle,
// reads that fail, and restarts. There is no model: after each round everything that the broker counts is counted again, and
// what it has in memory is compared with what the journal has.
type overlap struct {
	*broker
	r       *rand.Rand
	poison  *poisoned
	log     []string
	round   int
	sent    int
	tokens  map[string][]lockToken
	seqs    map[string][]int64
	holders []*overlapHolder
	open    []*overlapReceiver
	works   []*overlapWork
	fetched map[string][]lockToken // by receives by number, since the last step
	mu      sync.Mutex             // of what completions note: log and fetched
	busy    sync.WaitGroup
	inAdmin atomic.Bool
}

type overlapWork struct {
	*emulator.Transaction
	path string // where most of its operations are
}

type overlapHolder struct {
	path string
	c    *emulator.Consumer
	ds   []*emulator.Delivery
}

type overlapReceiver struct {
	path string
	mode emulator.ReceiveMode
	c    *emulator.Consumer
	ds   []*emulator.Delivery
}

// poisoned makes chosen changes fail alone, once.
type poisoned struct {
	*journal
	mu    sync.Mutex
	rate  func() bool
	ops   map[*emulator.Change]int
	total int
}

func (p *poisoned) Append(c *emulator.Change) {
	p.mu.Lock()
	if n, again := p.ops[c]; again {
		c.Ops = c.Ops[:n]
	} else if p.rate != nil && p.rate() {
		p.ops[c] = len(c.Ops)
		c.Ops = append(slices.Clone(c.Ops), emulator.Op{Kind: 255})
		p.total++
	}
	p.mu.Unlock()
	p.journal.Memory.Append(c)
}

var overlapQueues = map[string]emulator.QueueOptions{
	"q": {RequiresDuplicateDetection: true, DuplicateDetectionWindow: 30 * time.Second, LockDuration: 6 * time.Second, MaxDeliveryCount: 3,
		DeadLetteringOnExpiration: true, ForwardDeadLetteredMessagesTo: "d"},
	"d":  {LockDuration: 6 * time.Second, MaxDeliveryCount: 3, DefaultMessageTimeToLive: 40 * time.Second},
	"s":  {RequiresSession: true, LockDuration: 6 * time.Second, MaxDeliveryCount: 3, DeadLetteringOnExpiration: true},
	"ps": {RequiresSession: true, EnablePartitioning: true, LockDuration: 6 * time.Second, MaxDeliveryCount: 3, DefaultMessageTimeToLive: time.Minute},
	"pq": {EnablePartitioning: true, RequiresDuplicateDetection: true, DuplicateDetectionWindow: 30 * time.Second, LockDuration: 6 * time.Second, ForwardDeadLetteredMessagesTo: "ps"},
	"f":  {ForwardTo: "t", MaxDeliveryCount: 2, ForwardDeadLetteredMessagesTo: "q"},
	"me": {ForwardTo: "me", DeadLetteringOnExpiration: true},
}

func overlapTopic(path string) emulator.TopicOptions {
	o := emulator.TopicOptions{RequiresDuplicateDetection: path == "t", DuplicateDetectionWindow: 30 * time.Second, EnablePartitioning: path == "pt"}
	o.Subscriptions = []emulator.SubscriptionOptions{
		{Name: "a", Queue: emulator.QueueOptions{LockDuration: 6 * time.Second, MaxDeliveryCount: 3}},
		{Name: "s", Queue: emulator.QueueOptions{RequiresSession: true, LockDuration: 6 * time.Second, DefaultMessageTimeToLive: time.Minute, DeadLetteringOnExpiration: true}},
		{Name: "f", Queue: emulator.QueueOptions{ForwardTo: "s", ForwardDeadLetteredMessagesTo: "pq"}},
		{Name: "x", Queue: emulator.QueueOptions{LockDuration: 6 * time.Second, ForwardDeadLetteredMessagesTo: "d"}, Rules: []emulator.RuleOptions{
			action("r1", "SET sys.SessionId = 'n'; SET x = 1"), action("r2", "SET sys.TimeToLive = '00:00:20'; REMOVE x"), sql("r3", "x / 0 = 1"),
		}},
	}
	return o
}

var overlapPaths = []string{"q", "d", "s", "ps", "pq", "f", "me", "t", "pt", "t/Subscriptions/a", "t/Subscriptions/s", "t/Subscriptions/f", "t/Subscriptions/x",
	"pt/Subscriptions/a", "pt/Subscriptions/s"}

func TestRandom_OverlappingChangesLeaveMemoryAsStored(t *testing.T) {
	r := emulator.NewRandom(t)
	for _, no := range []emulator.Options{{}, small} {
		bubbleWith(t, no, emulator.QueueOptions{}, func(b *broker) {
			b.ns.Close()
			w := &overlap{broker: b, r: r, tokens: map[string][]lockToken{}, seqs: map[string][]int64{}, fetched: map[string][]lockToken{}}
			w.begin()
			b.ns.Plan(overlapPaths...)
			if err := b.ns.Entities().Delete("q"); err != nil {
				t.Fatal(err)
			}
			for path := range overlapQueues {
				w.make(path)
				w.busy.Wait()
			}
			for _, path := range []string{"t", "pt"} {
				w.make(path)
				w.busy.Wait()
			}
			for range operations(t) / 8 {
				w.play()
				if t.Failed() {
					for _, line := range w.log[max(0, len(w.log)-60):] {
						t.Log(line)
					}
					return
				}
			}
			w.leave()
			t.Logf("%d messages, %d changes failed alone since the last restart", w.sent, w.poison.total)
		})
	}
}

// begin opens the namespace over the journal.
func (w *overlap) begin() {
	w.poison = &poisoned{journal: w.j, ops: map[*emulator.Change]int{}}
	ns, err := emulator.Open(w.poison, w.options)
	if err != nil {
		w.t.Fatalf("open: %v", err)
	}
	w.ns = ns
	ns.Plan(overlapPaths...)
}

func (w *overlap) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf("%d %s: ", w.round, now().Format("15:04:05"))+fmt.Sprintf(format, args...))
}

// play does a round.
func (w *overlap) play() {
	w.round++
	paused := w.r.IntN(3) > 0
	if paused {
		w.j.Pause()
	}
	if w.r.IntN(2) == 0 {
		w.poison.mu.Lock()
		r := rand.New(rand.NewPCG(w.r.Uint64(), 0)) // changes are appended by all kinds of goroutines
		w.poison.rate = func() bool { return r.IntN(4) == 0 }
		w.poison.mu.Unlock()
	}
	for range 1 + w.r.IntN(8) {
		w.step()
		if w.r.IntN(3) == 0 {
			synctest.Wait()
		}
	}
	if w.r.IntN(6) == 0 {
		w.note("commits fail")
		w.j.FailNext(1+w.r.IntN(2), errDisk)
	}
	w.j.Resume()
	w.busy.Wait()
	synctest.Wait()
	w.poison.mu.Lock()
	w.poison.rate = nil
	w.poison.mu.Unlock()
	w.j.FailNext(0, nil)
	w.j.setReads(nil, 0)
	synctest.Wait()
	w.verify(true)
	if w.r.IntN(40) == 0 {
		w.again()
	}
}

// leave closes everything that is open, so that the counts show no receiver.
func (w *overlap) leave() {
	for _, x := range w.open {
		x.c.Close()
	}
	for _, h := range w.holders {
		h.c.Close()
	}
	for _, t := range w.works {
		t.Rollback()
	}
	synctest.Wait()
	w.verify(true)
	for _, path := range overlapPaths {
		if q, err := w.ns.Entity(path); err == nil {
			equal(w.t, "receivers of "+path, q.InMemory().Receivers(), 0)
		}
	}
	w.holders, w.open, w.works = nil, nil, nil
}

// again is a restart, with everything open or closed.
func (w *overlap) again() {
	w.note("restart")
	if w.r.IntN(2) == 0 {
		w.leave()
	}
	for _, t := range w.works {
		t.Rollback()
	}
	w.ns.Close()
	w.j.Close()
	w.j.Memory = w.j.Reopen()
	w.holders, w.open, w.works = nil, nil, nil
	w.begin()
	synctest.Wait()
	w.verify(true)
}

func (w *overlap) any() (string, *emulator.Entity) {
	path := overlapPaths[w.r.IntN(len(overlapPaths))]
	q, err := w.ns.Entity(path)
	if err != nil {
		return path, nil
	}
	return path, q
}

func (w *overlap) anySub() emulator.SubQueue {
	return []emulator.SubQueue{0, 0, 0, 1, 1, 2}[w.r.IntN(6)]
}

// admin does something that waits for the journal, one thing at a time.
func (w *overlap) admin(f func()) {
	if w.inAdmin.CompareAndSwap(false, true) {
		w.busy.Go(func() {
			f()
			w.inAdmin.Store(false)
		})
	}
}

// make creates a queue or a topic.
func (w *overlap) make(path string) {
	w.admin(func() {
		var err error
		if o, ok := overlapQueues[path]; ok {
			_, err = w.ns.Entities().CreateQueue(path, o)
		} else {
			_, err = w.ns.Entities().CreateTopic(path, overlapTopic(path))
		}
		w.note("create %s: %v", path, err)
	})
}

func (w *overlap) message() *goamqp.Message {
	w.sent++
	m := text(fmt.Sprintf("m%d", w.sent))
	m.Properties = &goamqp.MessageProperties{}
	m.Annotations = goamqp.Annotations{}
	m.ApplicationProperties = map[string]any{"x": int32(w.r.IntN(3))}
	if w.r.IntN(2) == 0 {
		m.Properties.MessageID = fmt.Sprint("id", w.r.IntN(12))
	}
	if w.r.IntN(4) > 0 {
		m.Properties.GroupID = new([]string{"", "a", "b"}[w.r.IntN(3)])
	}
	if w.r.IntN(4) == 0 {
		m.Header = &goamqp.MessageHeader{TTL: time.Duration(1+w.r.IntN(60)) * time.Second}
	}
	if w.r.IntN(4) == 0 {
		m.Annotations["x-opt-scheduled-enqueue-time"] = now().Add(time.Duration(w.r.IntN(30)-3) * time.Second)
	}
	return m
}

func (w *overlap) messages() []*goamqp.Message {
	ms := []*goamqp.Message{w.message()}
	for range w.r.IntN(3) {
		m := w.message()
		if w.r.IntN(2) == 0 {
			m.Properties.GroupID = ms[0].Properties.GroupID
		}
		ms = append(ms, m)
	}
	return ms
}
