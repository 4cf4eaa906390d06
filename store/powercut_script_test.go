package store

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"minibus/emulator"
)

// The test of power cuts runs the test binary as a process that makes a script of changes, over several lives. The
// script follows from its seed alone, so the parent knows each change. The process reports each answer as "a 17".
const powerChildEnv = "MINIBUS_POWER_CHILD"

const (
	powerLife   = 500 // changes of a life
	powerFlight = 64  // changes on their way at most
	powerCopies = 6   // subscriptions
	powerRows   = 2 * rowBlock
)

// Entities of the script: two queues, the subscriptions of a topic, and from powerPassing on queues that are made and
// deleted.
const (
	powerQueues  = 2
	powerTopic   = 10
	powerPassing = 100
)

// powerSpec is what the child is told.
type powerSpec struct {
	path, mode string
	seed       uint64
	life       int
	stops      bool // the life ends in order, else by kill -9
}

func (p powerSpec) String() string {
	return fmt.Sprintf("%d %d %t %s %s", p.seed, p.life, p.stops, p.mode, p.path)
}

func powerChild(text string) {
	var p powerSpec
	if _, err := fmt.Sscan(text, &p.seed, &p.life, &p.stops, &p.mode, &p.path); err != nil {
		panic(err)
	}
	s, err := Open(p.path, Options{Synchronous: p.mode})
	if err != nil {
		panic(err)
	}
	if err := newPowerModel().load(s); err != nil {
		panic(err)
	}
	onWriter(s, func() { s.writer.wal.checkpoint, s.writer.wal.longest = 64, 256 })
	changes := powerScript(p.seed, p.life+1)
	w := powerWorker{s: s, answered: make([]bool, len(changes))}
	w.some.L = &w.mu
	for i := p.life * powerLife; i < len(changes); i++ {
		w.make(i, changes[i])
	}
	w.wait(len(changes))
	if p.stops {
		if err := s.Close(); err != nil {
			panic(err)
		}
		return
	}
	self, _ := os.FindProcess(os.Getpid())
	_ = self.Kill()
	select {}
}

type powerWorker struct {
	s        *Store
	mu       sync.Mutex
	some     sync.Cond
	answered []bool
}

// wait waits until all changes of this life before one are answered.
func (w *powerWorker) wait(before int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for first := (before - 1) / powerLife * powerLife; slices.Contains(w.answered[first:before], false); {
		w.some.Wait()
	}
}

// make appends a change when those that it may build on are answered.
func (w *powerWorker) make(i int, c powerChange) {
	if first := i / powerLife * powerLife; i-c.flight >= first {
		w.wait(i - c.flight + 1)
	}
	if c.rest {
		onWriter(w.s, func() { w.s.writer.vacuum.running = true })
		time.Sleep(20 * time.Millisecond) // for the housekeeping
	}
	w.s.BeginBatch()
	w.s.Append(&emulator.Change{Ops: c.ops, Done: emulator.CompletionFunc(func(err error) {
		if err != nil {
			panic(fmt.Sprint("change ", i, ": ", err))
		}
		fmt.Printf("a %d\n", i)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answered[i] = true
		w.some.Broadcast()
	})})
	w.s.EndBatch()
}

// powerChange is a change of the script. It builds on changes that are at least flight before it.
type powerChange struct {
	ops    []emulator.Op
	flight int
	rest   bool // the process rests before it
}

// powerMaker makes a script.
type powerMaker struct {
	r       *rand.Rand
	i       int
	row     int64
	last    map[int64]int64
	live    []powerMessage // messages that there are after all changes
	bodies  map[int64]int  // messages by body
	passing int64          // id of the queue that is there for some time; 0: none
}

type powerMessage struct {
	emulator.MessageRecord
	since int // change that wrote it last
}

func powerScript(seed uint64, lives int) (changes []powerChange) {
	m := &powerMaker{r: rand.New(rand.NewPCG(seed, 1)), last: map[int64]int64{}, bodies: map[int64]int{}}
	for m.i = 0; m.i < lives*powerLife; m.i++ {
		if m.i%powerLife == 0 {
			m.row = int64(m.i/powerLife)*powerRows + 10 // as a start skips ids
		}
		changes = append(changes, m.change())
	}
	return changes
}

func (m *powerMaker) change() (c powerChange) {
	c.flight, c.rest = powerFlight, m.i%150 == 149
	if m.i/50%3 == 2 {
		c.flight = 1 // a client that is alone
	}
	at := m.i % powerLife
	switch n := m.r.IntN(100); {
	case m.i == 0:
		for id := int64(1); id <= powerQueues; id++ {
			c.ops = append(c.ops, putQueue(id, fmt.Sprint("q", id)))
		}
		for id := int64(powerTopic); id < powerTopic+powerCopies; id++ {
			c.ops = append(c.ops, putQueue(id, fmt.Sprint("s", id)))
		}
	case at == 100 || at == 300:
		m.passing = powerPassing + int64(m.i)
		c.ops = append(c.ops, putQueue(m.passing, fmt.Sprint("p", m.passing)))
	case at == 200 || at == 400:
		c.ops = append(c.ops, dropQueue(m.passing))
		m.live = slices.DeleteFunc(m.live, func(p powerMessage) bool { return p.Entity == m.passing })
		m.passing = 0
	case n < 8:
		c.ops = m.fanOut()
	case n < 45:
		c.ops = append(c.ops, m.send(c.flight)...)
	case n < 55: // in one transaction
		for range 1 + m.r.IntN(3) {
			c.ops = append(c.ops, slices.Concat(m.send(c.flight), m.remove(c.flight), m.update(c.flight))...)
		}
		c.ops = append(c.ops, m.state())
	case n < 62:
		c.ops = append(c.ops, m.state())
	case n < 70:
		c.ops = m.update(c.flight)
	default:
		c.ops = m.remove(c.flight)
	}
	key := crashKey(int64(m.i)) // says that the change is there
	entity := int64(1)
	if len(c.ops) > 0 && c.ops[0].Record.Entity == 2 {
		entity = 2
	}
	c.ops = append(c.ops, emulator.Op{
		Kind: emulator.OpDuplicate, Data: key[:], Record: emulator.MessageRecord{Entity: entity, Enqueued: int64(m.i / 7)},
	})
	return c
}

func (m *powerMaker) queue() int64 {
	if m.passing != 0 && m.r.IntN(2) == 0 {
		return m.passing
	}
	return 1 + m.r.Int64N(powerQueues)
}

func (m *powerMaker) body() []byte {
	switch n := m.r.IntN(200); {
	case n == 0:
		return powerBody(m.row, maxInline+m.r.IntN(maxInline))
	case n < 10:
		return powerBody(m.row, m.r.IntN(100_000))
	default:
		return powerBody(m.row, m.r.IntN(3000))
	}
}

func powerBody(id int64, size int) []byte {
	return bytes.Repeat([]byte(strconv.FormatInt(id, 10)+","), size/2+1)[:size]
}

func (m *powerMaker) send(int) []emulator.Op {
	entity, data := m.queue(), m.body()
	m.last[entity]++
	op := into(entity, insertOp(m.row, m.last[entity], data))
	m.row++
	m.live = append(m.live, powerMessage{op.Record, m.i})
	m.bodies[op.Record.Body] = 1
	return []emulator.Op{op}
}

// fanOut stores copies of a message for all subscriptions, which share a row and a body.
func (m *powerMaker) fanOut() []emulator.Op {
	op := insertOp(m.row, 0, m.body())
	for id := int64(powerTopic); id < powerTopic+powerCopies; id++ {
		m.last[id]++
		op.Copies = append(op.Copies, emulator.CopyRecord{Entity: id, Seq: m.last[id]})
	}
	first := op.Copies[0]
	op.Record.Entity, op.Record.Seq = first.Entity, first.Seq
	for i, c := range op.Copies {
		r := op.Record
		r.Row, r.Entity, r.Seq = m.row+int64(i), c.Entity, c.Seq
		m.live = append(m.live, powerMessage{r, m.i})
	}
	m.row += powerCopies
	m.bodies[op.Record.Body] = powerCopies
	return []emulator.Op{op}
}

// pick takes a message that the change may build on.
func (m *powerMaker) pick(flight int) (p powerMessage, ok bool) {
	for range 20 {
		if len(m.live) == 0 {
			break
		}
		i := m.r.IntN(len(m.live))
		if p = m.live[i]; p.since <= m.i-flight {
			m.live = slices.Delete(m.live, i, i+1)
			return p, true
		}
	}
	return p, false
}

func (m *powerMaker) remove(flight int) []emulator.Op {
	p, ok := m.pick(flight)
	if !ok {
		return nil
	}
	m.bodies[p.Body]--
	return []emulator.Op{{Kind: emulator.OpDelete, DropBody: m.bodies[p.Body] == 0, Record: p.MessageRecord}}
}

// update counts a delivery, or moves a message to the dead-letter queue or to another queue.
func (m *powerMaker) update(flight int) []emulator.Op {
	p, ok := m.pick(flight)
	if !ok {
		return nil
	}
	op := emulator.Op{Kind: emulator.OpUpdate}
	switch m.r.IntN(3) {
	case 0:
		p.DeliveryCount++
	case 1:
		p.Sub = emulator.DeadLetter
	default:
		p.Entity, p.Sub, op.DrawsNumber = 1+m.r.Int64N(powerQueues), emulator.Main, true
		m.last[p.Entity]++
		p.Seq = m.last[p.Entity]
	}
	op.Record, p.since = p.MessageRecord, m.i
	m.live = append(m.live, p)
	return []emulator.Op{op}
}

func (m *powerMaker) state() emulator.Op {
	op := sessionOp(1+m.r.Int64N(powerQueues), fmt.Sprint("s", m.r.IntN(5)), powerBody(int64(m.i), m.r.IntN(500)))
	if m.r.IntN(4) == 0 {
		op.Data = nil
	}
	return op
}

// powerModel is what a store has, or should have.
type powerModel struct {
	entities map[int64]bool
	rows     map[int64]emulator.MessageRecord
	last     map[int64]int64
	states   map[string]string
	keys     map[[16]byte]int
}

func newPowerModel() *powerModel {
	return &powerModel{
		entities: map[int64]bool{}, rows: map[int64]emulator.MessageRecord{}, last: map[int64]int64{},
		states: map[string]string{}, keys: map[[16]byte]int{},
	}
}

func (m *powerModel) load(s *Store) error { return s.Journal(emulator.DefaultNamespaceID).Load(m) }

func (m *powerModel) LoadEntity(e emulator.EntityRecord) error {
	m.entities[e.ID] = true
	for _, l := range e.Last {
		m.last[e.ID] = l.Seq
	}
	return nil
}

func (m *powerModel) LoadMessage(r *emulator.MessageRecord) error {
	if _, twice := m.rows[r.Row]; twice {
		return fmt.Errorf("row %d is there twice", r.Row)
	}
	m.rows[r.Row] = *r
	return nil
}

func (m *powerModel) LoadSession(entity int64, id string, state []byte, _ int64) error {
	m.states[fmt.Sprint(entity, id)] = string(state)
	return nil
}

func (m *powerModel) LoadDuplicate(_ int64, key [16]byte, _ int64) error {
	m.keys[key]++
	return nil
}

// apply does to the model what a change does to a store.
func (m *powerModel) apply(ops []emulator.Op) {
	for i := range ops {
		switch op := &ops[i]; op.Kind {
		case emulator.OpPutEntity:
			m.entities[op.Entity.ID] = true
		case emulator.OpDeleteEntity:
			delete(m.entities, op.Entity.ID)
			delete(m.last, op.Entity.ID)
			maps.DeleteFunc(m.rows, func(_ int64, r emulator.MessageRecord) bool { return r.Entity == op.Entity.ID })
		case emulator.OpInsert:
			m.insert(op)
		case emulator.OpUpdate:
			m.rows[op.Record.Row] = op.Record
			if op.DrawsNumber {
				m.last[op.Record.Entity] = op.Record.Seq
			}
		case emulator.OpDelete:
			delete(m.rows, op.Record.Row)
		case emulator.OpSessionState:
			name := fmt.Sprint(op.Record.Entity, op.Record.SessionID)
			if m.states[name] = string(op.Data); op.Data == nil {
				delete(m.states, name)
			}
		case emulator.OpDuplicate:
			m.keys[[16]byte(op.Data)]++
		}
	}
}

func (m *powerModel) insert(op *emulator.Op) {
	copies := op.Copies
	if len(copies) == 0 {
		copies = []emulator.CopyRecord{{Entity: op.Record.Entity, Seq: op.Record.Seq}}
	}
	for i, c := range copies {
		r := op.Record
		r.Row, r.Entity, r.Seq = r.Row+int64(i), c.Entity, c.Seq
		m.rows[r.Row], m.last[r.Entity] = r, r.Seq
	}
}

// differs returns how another model differs from this one; nil: not at all.
func (m *powerModel) differs(got *powerModel) error {
	for row, want := range m.rows {
		if r, ok := got.rows[row]; !ok {
			return fmt.Errorf("row %d is gone: %+v", row, want)
		} else if !equalRows(r, want) {
			return fmt.Errorf("row %d is %+v, want %+v", row, r, want)
		}
	}
	for row, r := range got.rows {
		if _, ok := m.rows[row]; !ok {
			return fmt.Errorf("row %d is there: %+v", row, r)
		}
	}
	if !maps.Equal(m.entities, got.entities) || !maps.Equal(m.states, got.states) || !maps.Equal(m.keys, got.keys) ||
		!maps.Equal(m.last, got.last) {
		return fmt.Errorf("there are entities %v, numbers %v, states %v; want %v, %v, %v",
			got.entities, got.last, got.states, m.entities, m.last, m.states)
	}
	return nil
}

func equalRows(a, b emulator.MessageRecord) bool {
	return a.Entity == b.Entity && a.Seq == b.Seq && a.Body == b.Body && a.Size == b.Size && a.Sub == b.Sub &&
		a.State == b.State && a.DeliveryCount == b.DeliveryCount
}
