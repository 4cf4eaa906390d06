package storetest

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"minibus/emulator"
)

// ErrClosed is the error of changes that are appended to a [Memory] after its Close.
var ErrClosed = errors.New("the journal is closed")

// Memory is a store that keeps everything in maps: fast, and failing on demand. It is meant for tests of the domain.
// As a journal it is that of the default namespace. Its goroutine exists only while there is something to do, so that
// a test that forgets Close leaks nothing.
type Memory struct {
	mu       sync.Mutex
	idle     *sync.Cond // running became false
	queue    []memoryItem
	running  bool
	paused   bool
	closed   bool
	failNext int
	pass     int // commits that come before those that fail
	failErr  error
	alone    error // makes only the next change fail
	readErr  error // makes only the next read fail
	commits  int
	lingered int // how often a fault has lingered
	content  *memoryContent
	batches  atomic.Int64
	changing map[int64]int // rows by how many of their changes are not yet completed; nil: not checked
}

// memoryItem is one thing to do, in order. Exactly one of the first four fields is set.
type memoryItem struct {
	change    *emulator.Change
	read      *emulator.BodyRead
	flush     emulator.Completion
	namespace *namespaceChange
	late      bool // it came after Close
}

// NewMemory returns an empty journal. It panics if a change breaks the contract of [emulator.Journal].
func NewMemory() *Memory { return newMemory(newMemoryContent(), true) }

// NewUncheckedMemory returns an empty journal for benchmarks, in which the checks of [NewMemory] would count.
func NewUncheckedMemory() *Memory { return newMemory(newMemoryContent(), false) }

func newMemory(c *memoryContent, checked bool) *Memory {
	m := &Memory{content: c}
	if checked {
		m.changing = map[int64]int{}
	}
	m.idle = sync.NewCond(&m.mu)
	return m
}

// FailNext makes the next n commits fail with err, each with all changes that are queued behind it.
func (m *Memory) FailNext(n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failNext, m.failErr = n, err
}

// FailAfter makes one commit fail with err, after n that do not.
func (m *Memory) FailAfter(n int, err error) {
	m.FailNext(1, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pass = n
}

// FailAlone makes the next change fail with err, and no other except those that need it.
func (m *Memory) FailAlone(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alone = err
}

// FailRead makes the next read of bodies fail with err.
func (m *Memory) FailRead(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readErr = err
}

// WaitUntilWhole returns when a fault is over. Until then it takes along what is appended behind it.
func (m *Memory) WaitUntilWhole() {
	over := make(flushed)
	m.Flush(over)
	<-over
}

// flushed is closed when a flush is completed.
type flushed chan struct{}

// Completed implements [emulator.Completion].
func (f flushed) Completed(error) { close(f) }

// Pause holds everything back until Resume: changes stay uncommitted and body reads unanswered.
func (m *Memory) Pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = true
}

// Resume ends a Pause.
func (m *Memory) Resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = false
	m.startLocked()
}

// Queued returns how many changes wait to be committed.
func (m *Memory) Queued() (changes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, it := range m.queue {
		if it.isChange() {
			changes++
		}
	}
	return changes
}

// Commits returns how many transactions were committed.
func (m *Memory) Commits() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.commits
}

// Stored returns how many messages and how many bodies are committed.
func (m *Memory) Stored() (messages, bodies int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.content.rows), len(m.content.bodies)
}

// Close commits what is queued, even while paused. Changes that are appended later fail, even those that completions
// of queued changes append.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused, m.closed = false, true
	m.startLocked()
	for m.running {
		m.idle.Wait()
	}
	return nil
}

// Reopen closes m and returns a journal with the same content, as after a restart of the process.
func (m *Memory) Reopen() *Memory {
	_ = m.Close() // never fails
	return newMemory(m.content, m.changing != nil)
}

// Load implements [emulator.Journal].
func (m *Memory) Load(l emulator.Loader) error {
	return m.load(m.number(emulator.DefaultNamespaceID), l)
}

// load streams what has the ids of a number.
func (m *Memory) load(number int64, l emulator.Loader) error {
	m.mu.Lock()
	c := m.content.of(number)
	m.mu.Unlock()
	for _, e := range c.entities {
		for k, seq := range c.last {
			if k.entity == e.ID {
				e.Last = append(e.Last, emulator.CounterRecord{Partition: k.partition, Seq: seq})
			}
		}
		if err := l.LoadEntity(e); err != nil {
			return err
		}
	}
	for _, r := range c.rows {
		if err := l.LoadMessage(&r); err != nil {
			return err
		}
	}
	for k, s := range c.sessions {
		if err := l.LoadSession(k.entity, k.id, s.state, s.updated); err != nil {
			return err
		}
	}
	return loadDuplicates(l, c.duplicates)
}

// loadDuplicates streams the keys of duplicate detection, the oldest first.
func loadDuplicates(l emulator.Loader, all map[duplicateKey]int64) error {
	keys := slices.SortedFunc(maps.Keys(all), func(a, b duplicateKey) int { return cmp.Compare(all[a], all[b]) })
	for _, k := range keys {
		if err := l.LoadDuplicate(k.entity, k.key, all[k]); err != nil {
			return err
		}
	}
	return nil
}

// NextRow implements [emulator.Journal].
func (m *Memory) NextRow() int64 { return m.nextRow(m.number(emulator.DefaultNamespaceID)) }

func (m *Memory) nextRow(number int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, _ := emulator.RowsOf(number)
	return max(first, m.content.next[number])
}

// Secret implements [emulator.Journal].
func (m *Memory) Secret() [16]byte { return m.record(emulator.DefaultNamespaceID).Secret }

// Created implements [emulator.Journal].
func (m *Memory) Created() int64 { return m.record(emulator.DefaultNamespaceID).Created }

// SetCreated changes what Created returns, for tests that compare texts.
func (m *Memory) SetCreated(ms int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.content.namespaces[emulator.DefaultNamespaceID]
	r.Created = ms
	m.content.namespaces[r.ID] = r
}

// Append implements [emulator.Journal].
func (m *Memory) Append(c *emulator.Change) { m.put(memoryItem{change: c}) }

// ReadBodies implements [emulator.Journal].
func (m *Memory) ReadBodies(r *emulator.BodyRead) { m.put(memoryItem{read: r}) }

// Flush implements [emulator.Journal].
func (m *Memory) Flush(done emulator.Completion) { m.put(memoryItem{flush: done}) }
