package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"

	"minibus/emulator"
)

// crashBody returns the body of a row. Some are stored in parts.
func crashBody(row int64) []byte {
	n := 200
	if row%97 == 0 {
		n = maxInline + 5
	}
	return bytes.Repeat([]byte(strconv.FormatInt(row, 10)+","), n/8+1)
}

// crashText and crashKey encode a number.
func crashText(seq int64) []byte { return strconv.AppendInt(nil, seq, 10) }

func crashKey(seq int64) (key [16]byte) {
	copy(key[:], crashText(seq))
	return key
}

// crashWorker is the child: it inserts, updates and deletes until it is killed. Any failure ends it.
type crashWorker struct {
	s      *Store
	state  *crashState
	next   map[int64]int64             // id of a row, by entity
	slots  chan struct{}               // changes in flight
	stored chan emulator.MessageRecord // acknowledged
	ready  []emulator.MessageRecord    // stored and not yet deleted
	copies map[int64]int               // messages with a body
}

func crashChild(path string) {
	s, err := Open(path, Options{})
	if err != nil {
		panic(err)
	}
	w := &crashWorker{
		s: s, state: newCrashState(), next: map[int64]int64{},
		slots: make(chan struct{}, 64), stored: make(chan emulator.MessageRecord, 4096), copies: map[int64]int{},
	}
	if err := w.state.load(s); err != nil {
		panic(err)
	}
	for _, entity := range crashEntities {
		w.next[entity] = s.Journal(emulator.NamespaceOf(entity)).NextRow()
	}
	for {
		for len(w.stored) > 0 {
			w.ready = append(w.ready, <-w.stored)
		}
		switch {
		case rand.IntN(100) == 0:
			w.passBy()
		case len(w.ready) > 20 && rand.IntN(3) == 0:
			w.change()
		default:
			w.insert()
		}
	}
}

// insert stores a message, or copies of one that share a body.
func (w *crashWorker) insert() {
	entity, n := crashEntities[rand.IntN(len(crashEntities))], 1
	if rand.IntN(5) == 0 {
		n = packedCopies - 1 + rand.IntN(20)
	}
	op := emulator.Op{Kind: emulator.OpInsert, DrawsNumber: true, Data: crashBody(w.next[entity])}
	ops := []emulator.Op{{}, {}}
	var records []emulator.MessageRecord
	for range n {
		w.state.last[entity]++
		r := emulator.MessageRecord{Row: w.next[entity], Body: w.next[entity] - int64(len(records)), Entity: entity, Seq: w.state.last[entity]}
		w.next[entity]++
		key := crashKey(r.Seq)
		ops = append(ops, emulator.Op{Kind: emulator.OpDuplicate, Data: key[:], Record: emulator.MessageRecord{Entity: entity, Enqueued: r.Seq / 10}})
		records = append(records, r)
		if n > 1 {
			op.Copies = append(op.Copies, emulator.CopyRecord{Entity: entity, Seq: r.Seq})
		}
	}
	op.Record = records[0]
	last := w.state.last[entity]
	ops[0] = op
	ops[1] = emulator.Op{Kind: emulator.OpSessionState, Data: crashText(last), Record: emulator.MessageRecord{Entity: entity, SessionID: "s"}}
	w.copies[op.Record.Body] = n
	w.send('i', records, ops...)
}

// passingEntities is how many a namespace of passBy has, by one change.
const passingEntities = 40

// passBy makes a namespace with entities and some messages, and deletes it again.
func (w *crashWorker) passBy() {
	id := w.s.NextNamespace()
	done := emulator.CompletionFunc(func(err error) {
		if err != nil {
			panic(err)
		}
		<-w.slots
	})
	for range 3 {
		w.slots <- struct{}{}
	}
	first, _ := emulator.RowsOf(id)
	entities := []emulator.EntityRecord{putQueue(first, "q").Entity}
	for i := range int64(passingEntities - 1) {
		entities = append(entities, putQueue(first+200+i, fmt.Sprint("q", i)).Entity)
	}
	w.s.PutNamespace(emulator.NamespaceRecord{ID: id, Name: "passing"}, entities, done)
	var ops []emulator.Op
	for i := range int64(100) {
		ops = append(ops, into(first, insertOp(first+1+i, 1+i, crashBody(i+1))))
	}
	w.s.Append(&emulator.Change{Ops: ops, Done: done})
	w.s.DeleteNamespace(id, done)
	drain(w.s) // so that the next one has another id
}

// change updates or deletes one of the stored messages.
func (w *crashWorker) change() {
	i, last := rand.IntN(len(w.ready)), len(w.ready)-1
	r := w.ready[i]
	w.ready[i] = w.ready[last]
	w.ready = w.ready[:last]
	if r.DeliveryCount < 3 && rand.IntN(2) == 0 {
		r.DeliveryCount++
		w.send('u', []emulator.MessageRecord{r}, emulator.Op{Kind: emulator.OpUpdate, Record: r})
		return
	}
	w.copies[r.Body]--
	w.send('d', []emulator.MessageRecord{r}, emulator.Op{Kind: emulator.OpDelete, DropBody: w.copies[r.Body] == 0, Record: r})
}

// send reports what happens to messages by a change in small letters, appends it, and reports its commit in capital
// letters.
func (w *crashWorker) send(kind byte, records []emulator.MessageRecord, ops ...emulator.Op) {
	w.slots <- struct{}{}
	report := func(kind byte) {
		for _, r := range records {
			fmt.Printf("%c %d %d %d %d\n", kind, r.Row, r.Entity, r.Seq, r.DeliveryCount)
		}
	}
	report(kind)
	w.s.Append(&emulator.Change{Ops: ops, Done: emulator.CompletionFunc(func(err error) {
		if err != nil {
			panic(err)
		}
		report(kind - 'a' + 'A')
		if kind != 'd' {
			for _, r := range records {
				w.stored <- r
			}
		}
		<-w.slots
	})})
}
