package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minibus/emulator"
)

// contents is what a number has, a line for each row, with ids that do not depend on the number.
type contents struct {
	lines  []string
	bodies []int64
}

func (c *contents) add(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// rowsOfNumber is the distance of the ids of a number to those of the next one.
const rowsOfNumber = 1 << 40

func plain(id int64) int64 { return id & (rowsOfNumber - 1) }

func (c *contents) LoadEntity(r emulator.EntityRecord) error {
	c.add("entity %d %s %v %s", plain(r.ID), r.Path, r.Last, r.Options)
	return nil
}

func (c *contents) LoadMessage(r *emulator.MessageRecord) error {
	c.bodies = append(c.bodies, r.Body)
	m := *r
	m.Row, m.Entity, m.Body = plain(m.Row), plain(m.Entity), plain(m.Body)
	c.add("message %+v", m)
	return nil
}

func (c *contents) LoadSession(entity int64, id string, state []byte, updated int64) error {
	c.add("session %d %s %q %d", plain(entity), id, state, updated)
	return nil
}

func (c *contents) LoadDuplicate(entity int64, key [16]byte, at int64) error {
	c.add("remembered %d %x %d", plain(entity), key, at)
	return nil
}

// contentsOf reads what is loaded, with the bodies.
func contentsOf(t *testing.T, s *Store, load func(l emulator.Loader) error) string {
	t.Helper()
	var c contents
	if err := load(&c); err != nil {
		t.Fatal(err)
	}
	read := &emulator.BodyRead{IDs: c.bodies}
	if err := tryNamespace(func(done emulator.Completion) { read.Done = done; s.ReadBodies(read) }); err != nil {
		t.Fatal(err)
	}
	for i, b := range read.Bodies {
		c.add("body %d %d bytes %08x missing: %t", plain(c.bodies[i]), len(b), checksum(b), b == nil)
	}
	if len(read.Damaged) > 0 {
		t.Errorf("damaged: %v", read.Damaged)
	}
	slices.Sort(c.lines)
	return strings.Join(slices.Compact(c.lines), "\n")
}

func namespaceContents(t *testing.T, s *Store, id int64) string {
	t.Helper()
	drain(s)
	return contentsOf(t, s, s.Journal(id).Load)
}

func copyContents(t *testing.T, s *Store, number int64) string {
	t.Helper()
	return contentsOf(t, s, func(l emulator.Loader) error { return s.LoadCopy(number, l) })
}

// saving begins a snapshot. The functions wait for it.
func saving(s *Store, namespace, number, instead int64) (begun, done func() error) {
	r := &emulator.SnapshotRecord{Number: number, Namespace: namespace, Name: fmt.Sprint("s", number), Saved: 1, Now: 2}
	first, last := make(chan error, 1), make(chan error, 1)
	s.SaveSnapshot(context.Background(), r, instead, emulator.CompletionFunc(func(err error) { first <- err }), emulator.CompletionFunc(func(err error) { last <- err }))
	return func() error { return <-first }, func() error { return <-last }
}

func restoreCopy(s *Store, namespace, from, to int64) error {
	err := tryNamespace(func(done emulator.Completion) { s.CopySnapshot(context.Background(), from, to, done) })
	if err == nil {
		r := s.journalOf(namespace).record
		err = tryNamespace(func(done emulator.Completion) { s.AdoptCopy(r, to, done) })
	}
	return err
}

// changer makes random changes in a namespace. As the domain does, it changes a message only when earlier changes of it and its body are completed.
type changer struct {
	t        *testing.T
	s        *Store
	entities []int64
	next     int64
	seq      int64
	live     []emulator.MessageRecord
	copies   map[int64]int // messages with a body
	held     bool          // nothing is committed meanwhile
	begun    []changing
}

// changing is a change that is not yet known to be completed.
type changing struct {
	bodies []int64
	result <-chan error
}

func newChanger(t *testing.T, s *Store, namespace int64) *changer {
	first := s.Journal(namespace).NextRow()
	c := &changer{t: t, s: s, next: first, copies: map[int64]int{}}
	for range 3 {
		c.addEntity()
	}
	return c
}

func (c *changer) draw() int64 { c.next++; return c.next - 1 }

func (c *changer) do(ops ...emulator.Op) {
	x := changing{result: begin(c.s, ops...)}
	for _, op := range ops {
		x.bodies = append(x.bodies, op.Record.Body)
	}
	c.begun = append(c.begun, x)
}

func (c *changer) addEntity() {
	id := c.draw()
	c.entities = append(c.entities, id)
	c.do(putQueue(id, fmt.Sprint("q", plain(id))))
}

func (c *changer) entity() int64 { return c.entities[rand.IntN(len(c.entities))] }

func (c *changer) insert(copies int) {
	size := rand.IntN(2000)
	if rand.IntN(60) == 0 {
		size = maxInline + rand.IntN(2*maxInline)
	}
	data := bytes.Repeat([]byte{byte(c.next)}, size)
	var ops []emulator.Op
	body := c.next
	for i := range copies {
		c.seq++
		op := into(c.entity(), insertOp(c.draw(), c.seq, data))
		if op.Record.Body = body; i > 0 {
			op.Data = nil
		}
		op.Record.Sub, op.Record.State, op.Record.Enqueued = emulator.SubQueue(rand.IntN(3)), emulator.State(rand.IntN(3)), c.seq
		op.Record.MessageID, op.Record.HasSession, op.Record.SessionID = fmt.Sprint("id", c.seq), true, "s"
		op.Record.Overlay, op.Record.DeliveryCount = []byte("overlay"), uint32(rand.IntN(9))
		ops, c.live = append(ops, op), append(c.live, op.Record)
	}
	c.copies[body] = copies
	c.do(ops...)
}

// publish stores copies of a message by one operation.
func (c *changer) publish(copies int) {
	c.seq++
	body := c.draw()
	op := into(c.entity(), insertOp(body, c.seq, bytes.Repeat([]byte{byte(body)}, 1+rand.IntN(2000))))
	op.Record.MessageID, op.Record.Enqueued = fmt.Sprint("id", c.seq), c.seq
	c.copies[op.Record.Body] = copies
	for i := range int64(copies) {
		r := op.Record
		if r.Row += i; i > 0 {
			c.draw()
			c.seq++
			r.Entity, r.Seq = c.entity(), c.seq
		}
		op.Copies, c.live = append(op.Copies, emulator.CopyRecord{Entity: r.Entity, Seq: r.Seq}), append(c.live, r)
	}
	c.do(op)
}

// atRest returns the place of a message that is not being changed, -1 if it finds none.
func (c *changer) atRest() int {
	c.t.Helper()
	c.begun = slices.DeleteFunc(c.begun, func(x changing) bool {
		select {
		case err := <-x.result:
			if err != nil {
				c.t.Fatal(err)
			}
			return true
		default:
			return false
		}
	})
	for range 10 {
		i := rand.IntN(len(c.live))
		if !slices.ContainsFunc(c.begun, func(x changing) bool { return slices.Contains(x.bodies, c.live[i].Body) }) {
			return i
		}
	}
	return -1
}

// take takes a message off the list.
func (c *changer) take(i int) emulator.MessageRecord {
	r := c.live[i]
	c.live = slices.Delete(c.live, i, i+1)
	return r
}

func (c *changer) remove(i int) {
	r := c.take(i)
	c.copies[r.Body]--
	last := c.copies[r.Body] == 0
	c.do(emulator.Op{Kind: emulator.OpDelete, Record: r, DropBody: last})
	if last && !c.held && rand.IntN(3) == 0 { // it was removed for a receiver that it did not reach
		drain(c.s)
		c.copies[r.Body] = 1
		r.DeliveryCount += 10
		c.live = append(c.live, r)
		data := bytes.Repeat([]byte{byte(r.Body)}, int(r.Size))
		c.do(emulator.Op{Kind: emulator.OpInsert, Record: r, Data: data})
	}
}

// handOn removes a message and stores others with its body.
func (c *changer) handOn(i int) {
	r := c.take(i)
	ops := []emulator.Op{{Kind: emulator.OpDelete, Record: r}}
	for range 2 {
		c.seq++
		n := r
		n.Row, n.Seq, n.Entity = c.draw(), c.seq, c.entity()
		ops, c.live = append(ops, emulator.Op{Kind: emulator.OpInsert, Record: n}), append(c.live, n)
	}
	c.copies[r.Body]++
	c.do(ops...)
}

func (c *changer) change() {
	switch n := rand.IntN(20); {
	case n < 2:
		c.publish(packedCopies - 1 + rand.IntN(20))
	case n < 6 || len(c.live) < 20:
		c.insert(1 + rand.IntN(2)*rand.IntN(3))
	case n < 15:
		i := c.atRest()
		switch {
		case i < 0: // all that it looked at are being changed
		case n < 10:
			c.remove(i)
		case n < 12:
			c.handOn(i)
		default:
			r := &c.live[i]
			r.DeliveryCount, r.Entity, r.Overlay = r.DeliveryCount+1, c.entity(), []byte("changed")
			c.do(emulator.Op{Kind: emulator.OpUpdate, Record: *r})
		}
	case n < 17:
		state := emulator.Op{Kind: emulator.OpSessionState, Record: emulator.MessageRecord{
			Entity: c.entity(), SessionID: fmt.Sprint("s", rand.IntN(9)), Enqueued: c.next}}
		if rand.IntN(3) > 0 {
			state.Data = fmt.Append(nil, "state ", c.next)
		}
		c.do(state)
	case n < 19:
		c.do(into(c.entity(), rememberOp(c.draw(), rand.Int64N(50))))
	case len(c.entities) > 2 && rand.IntN(3) == 0:
		c.dropEntity()
	default:
		c.addEntity()
	}
}

// dropEntity removes an entity, and then the shared bodies that only its messages had, as the domain does. The messages themselves are swept later.
func (c *changer) dropEntity() {
	id := c.entity()
	c.entities = slices.DeleteFunc(c.entities, func(x int64) bool { return x == id })
	var loose []int64
	c.live = slices.DeleteFunc(c.live, func(r emulator.MessageRecord) bool {
		if r.Entity != id {
			return false
		}
		if c.copies[r.Body]--; c.copies[r.Body] == 0 && r.Row != r.Body {
			loose = append(loose, r.Body)
		}
		return true
	})
	c.do(dropQueue(id))
	for _, body := range loose {
		c.do(emulator.Op{Kind: emulator.OpDelete, DropBody: true, Record: emulator.MessageRecord{Body: body}})
	}
}

// afterCommit waits for all changes.
func (c *changer) settle() {
	c.t.Helper()
	for _, x := range c.begun {
		if err := <-x.result; err != nil {
			c.t.Fatal(err)
		}
	}
	c.begun = nil
}

func inFileAndMemory(t *testing.T, f func(t *testing.T, o Options)) {
	for name, o := range map[string]Options{"file": {}, "memory": {Ephemeral: true}} {
		t.Run(name, func(t *testing.T) { f(t, o) })
	}
}

// TestSnapshotIsThatOfOneMoment: whatever clients change while it is made, the snapshot has what there was when it was asked for, bodies included, and nothing
// else. A restore gives the same, again and again.
func TestSnapshotIsThatOfOneMoment(t *testing.T) {
	t.Parallel()
	inFileAndMemory(t, func(t *testing.T, o Options) {
		s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), o)
		defer func() { _ = s.Close() }()
		number, live := int64(1), int64(1)
		for round := range 5 {
			onWriter(s, func() { s.writer.copier.size = 1 + rand.IntN(40) })
			c := newChanger(t, s, 1)
			for range 150 {
				c.change()
			}
			c.settle()
			want := namespaceContents(t, s, 1)
			number += 2
			var done func() error
			begin := func() {
				for range 3 {
					c.do(into(c.entity(), emulator.Op{Kind: emulator.OpPruneDuplicates}))
				}
				_, done = saving(s, 1, number, 0)
				c.held = true
				for range 20 {
					c.change()
				}
				c.held = false
			}
			hold(s, begin) // all of it is one batch
			for range 150 {
				c.change()
				if rand.IntN(5) == 0 {
					drain(s)
				}
			}
			if err := done(); err != nil {
				t.Fatal(err)
			}
			c.settle()
			if got := copyContents(t, s, number); got != want {
				t.Fatalf("round %d: the snapshot has%s", round, difference(got, want))
			}
			onWriter(s, func() { housekeep(s); s.writer.tombstones.remove() })
			wantNoOrphans(t, s, number)
			wantNoOrphans(t, s, live)
			if err := restoreCopy(s, 1, number, number+1); err != nil {
				t.Fatal(err)
			}
			live = number + 1
			if got := namespaceContents(t, s, 1); got != want {
				t.Fatalf("round %d: restored is%s", round, difference(got, want))
			}
			if err := tryNamespace(func(done emulator.Completion) { s.DropCopy(number, done) }); err != nil {
				t.Fatal(err)
			}
			sweepNow(s)
			wantNumbers(t, s, number+1)
		}
	})
}

// difference shows the lines that only one of two contents has.
func difference(have, want string) (text string) {
	a, b := strings.Split(have, "\n"), strings.Split(want, "\n")
	for _, line := range a {
		if !slices.Contains(b, line) {
			text += "\n+ " + line
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			text += "\n- " + line
		}
	}
	return text
}

// wantNoOrphans fails if a number has bodies without messages, or parts without bodies.
func wantNoOrphans(t *testing.T, s *Store, number int64) {
	t.Helper()
	for _, table := range []string{
		"body WHERE ns=%[1]d AND id NOT IN (SELECT body FROM message_or_copy WHERE ns=%[1]d)",
		"body_part WHERE ns=%[1]d AND body NOT IN (SELECT id FROM body WHERE ns=%[1]d)",
	} {
		if n := count(t, s, fmt.Sprintf(table, number)); n != 0 {
			t.Errorf("%d rows of %s are left over", n, table[:9])
		}
	}
}

// wantNumbers fails if rows of other numbers are stored.
func wantNumbers(t *testing.T, s *Store, numbers ...int64) {
	t.Helper()
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]")
	for _, table := range tables {
		if n := count(t, s, table+" WHERE ns NOT IN ("+list+")"); n != 0 {
			t.Errorf("%s has %d rows of other numbers", table, n)
		}
	}
	if n := count(t, s, "namespace WHERE owner IS NOT NULL AND id NOT IN ("+list+")"); n != 0 {
		t.Errorf("%d other numbers are stored", n)
	}
}

// TestSnapshotThatFailsLeavesNothing, and the namespace goes on.
func TestSnapshotThatFailsLeavesNothing(t *testing.T) {
	inFileAndMemory(t, func(t *testing.T, o Options) {
		s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), o)
		defer func() { _ = s.Close() }()
		newNamespace(t, s, 1, 50)
		want := namespaceContents(t, s, 1)
		broken := errors.New("the disk is on fire")
		for n := int64(1); ; n++ {
			commits := int64(0)
			onWriter(s, func() {
				s.writer.copier.size = 7
				s.beforeCommit = func() error {
					if commits++; commits == n {
						return broken
					}
					return nil
				}
			})
			begun, done := saving(s, 1, 1+n, 0)
			err := begun()
			if err == nil {
				err = done()
			}
			onWriter(s, func() { s.beforeCommit = nil })
			if err == nil {
				if n < 5 {
					t.Errorf("the snapshot was made by %d commits", n)
				}
				if got := copyContents(t, s, 1+n); got != want {
					t.Errorf("the snapshot has %s, want %s", got, want)
				}
				return
			}
			if !errors.Is(err, broken) {
				t.Errorf("commit %d: %v", n, err)
			}
			sweepNow(s)
			wantNumbers(t, s, 1)
			if len(s.Snapshots(1)) != 0 || namespaceContents(t, s, 1) != want {
				t.Errorf("after a failure of commit %d there are %v", n, s.Snapshots(1))
			}
		}
	})
}

// TestSnapshotEndsWithItsNamespace, while it is being made.
func TestSnapshotEndsWithItsNamespace(t *testing.T) {
	s := newStore(t)
	newNamespace(t, s, 2, 50)
	onWriter(s, func() { s.writer.copier.size = 1 })
	var done func() error
	deleted := make(chan error, 1)
	hold(s, func() {
		_, done = saving(s, 2, 3, 0)
		s.DeleteNamespace(2, emulator.CompletionFunc(func(err error) { deleted <- err }))
	})
	if err := <-deleted; err != nil {
		t.Errorf("the deletion: %v", err)
	}
	var e *emulator.Error
	if err := done(); !errors.As(err, &e) || e.Code != emulator.CodeNotFound {
		t.Errorf("the snapshot: %v", err)
	}
	sweepNow(s)
	wantNumbers(t, s, 1)
}

// TestSnapshotOnAFullDisk fails and leaves nothing, and what clients do meanwhile goes on: they can take all messages.
func TestSnapshotOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	smallDisk(s, 12<<20)
	n := int64(0)
	for ; n < 1500; n++ {
		begin(s, insertOp(10+n, 1+n, make([]byte, 4000)))
	}
	want := namespaceContents(t, s, 1)
	_, done := saving(s, 1, 2, 0)
	if err := done(); !isRefused(err) {
		t.Fatalf("the snapshot: %v", err)
	}
	sweepNow(s)
	wantNumbers(t, s, 1)
	if got := namespaceContents(t, s, 1); got != want || len(s.Snapshots(1)) != 0 {
		t.Errorf("afterwards the namespace has%s, and there are %v", difference(got, want), s.Snapshots(1))
	}
	onWriter(s, func() { s.writer.copier.size = 5 })
	_, done = saving(s, 1, 3, 0)
	results := make([]<-chan error, 0, n)
	for i := range n {
		results = append(results, begin(s, emulator.Op{Kind: emulator.OpDelete, DropBody: true, Record: emulator.MessageRecord{Row: 10 + i, Body: 10 + i, Entity: 1}}))
		if i%50 == 0 {
			drain(s)
		}
	}
	for i, res := range results {
		if err := <-res; err != nil {
			t.Fatalf("delete message %d: %v", i, err)
		}
	}
	if err := done(); err != nil && !isRefused(err) {
		t.Errorf("the second snapshot: %v", err)
	}
	wait(t, s, insertOp(9000, 9000, make([]byte, 4000)))
}

// TestIdsUsedAfterASnapshotAreNotUsedAgain, once it is restored: message ids are made of them.
func TestIdsUsedAfterASnapshotAreNotUsedAgain(t *testing.T) {
	s := newStore(t)
	newNamespace(t, s, 2, 5)
	_, done := saving(s, 2, 3, 0)
	must(t, done())
	first, _ := emulator.RowsOf(2)
	const used = 100_000
	wait(t, s, into(first, insertOp(first+used, 100, []byte("later"))))
	must(t, restoreCopy(s, 2, 3, 4))
	firstNow, _ := emulator.RowsOf(4)
	path := s.Path()
	for _, when := range []string{"restored", "after a restart"} {
		if next := s.Journal(2).NextRow(); next <= firstNow+used {
			t.Errorf("%s: the next row is %d, and those to %d were used", when, next, firstNow+used)
		}
		if when == "restored" {
			must(t, s.Close())
			s = mustOpen(t, path, Options{})
			defer func() { _ = s.Close() }()
		}
	}
}
