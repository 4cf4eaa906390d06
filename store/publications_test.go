package store

import (
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"minibus/emulator"
)

// TestCopiesThatShareARowAreAsOthers: copies in one row, and copies in a row for each, have the same fields: as they are stored, when they change, move to
// another entity or are deleted, and after a restart by kill -9.
func TestCopiesThatShareARowAreAsOthers(t *testing.T) {
	const n, apart = 6, 1000
	for _, session := range []string{"none", "", "s1"} {
		s := newStore(t)
		wait(t, s, putQueue(2, "two"), putQueue(3, "three"))
		shared := insertOp(10, 1, []byte("shared"))
		r := &shared.Record
		r.MessageID, r.Enqueued, r.TTL, r.EnqueuedSeq, r.Hops = "id", 1234, 5000, 77, 3
		r.HasSession, r.SessionID = session != "none", session
		if !r.HasSession {
			r.SessionID = ""
		}
		for i := range int64(n) {
			shared.Copies = append(shared.Copies, emulator.CopyRecord{Entity: 1 + i%2, Seq: 1<<48*(i%3) - i})
		}
		alone := shared
		alone.Record.Row, alone.Record.Body = 10+apart, 10+apart
		wait(t, s, shared)
		if err := alone.Each(func(op *emulator.Op) error { wait(t, s, *op); return nil }); err != nil {
			t.Fatal(err)
		}
		if p, m := count(t, s, "publication"), count(t, s, "message"); p != 1 || m != n {
			t.Fatalf("stored are %d publications and %d messages", p, m)
		}
		both := func(kind emulator.OpKind, i int64, change func(*emulator.MessageRecord)) {
			for _, op := range []emulator.Op{shared, alone} {
				one := emulator.Op{Kind: kind, Record: op.Record}
				one.Record.Row += i
				one.Record.Entity, one.Record.Seq = op.Copies[i].Entity, op.Copies[i].Seq
				change(&one.Record)
				wait(t, s, one)
			}
		}
		compareCopies(t, s, n, apart)
		both(emulator.OpUpdate, 0, func(r *emulator.MessageRecord) { r.State, r.DeliveryCount = emulator.Deferred, 2 })
		both(emulator.OpUpdate, 1, func(r *emulator.MessageRecord) {
			r.Entity, r.Seq, r.Sub, r.Reason, r.Source, r.Overlay = 3, 9, emulator.DeadLetter, "r", "from", []byte{1}
		})
		both(emulator.OpUpdate, 0, func(r *emulator.MessageRecord) { r.DeliveryCount = 3 })
		both(emulator.OpDelete, 1, func(*emulator.MessageRecord) {})
		both(emulator.OpDelete, 2, func(*emulator.MessageRecord) {})
		compareCopies(t, s, n-2, apart)
		s = mustOpen(t, killed(t, s), Options{})
		compareCopies(t, s, n-2, apart)
		both(emulator.OpUpdate, 5, func(r *emulator.MessageRecord) { r.TTL, r.System = 1, []byte{2} })
		compareCopies(t, s, n-2, apart)
		for i := range int64(n) {
			both(emulator.OpDelete, i, func(*emulator.MessageRecord) {})
		}
		if p, m := count(t, s, "publication"), count(t, s, "message"); p != 0 || m != 0 {
			t.Errorf("left are %d publications and %d messages", p, m)
		}
		s.Close()
	}
}

// compareCopies wants n messages, and as many whose rows are greater by apart and that are the same otherwise.
func compareCopies(t *testing.T, s *Store, n int, apart int64) {
	t.Helper()
	all := stored(t, s)
	if len(all) != 2*n || count(t, s, "message_or_copy") != int64(2*n) {
		t.Errorf("stored are %d messages, %d for people, want %d", len(all), count(t, s, "message_or_copy"), 2*n)
	}
	for row, r := range all {
		if row >= apart {
			continue
		}
		r.Row, r.Body = r.Row+apart, r.Body+apart
		if other := all[row+apart]; !reflect.DeepEqual(r, other) {
			t.Errorf("row %d has\n%+v, a row of its own\n%+v", row, r, other)
		}
	}
	if d := count(t, s, `(SELECT entity, sub, seq, state, delivery_count, enqueued, ttl, scheduled, size, enqueued_seq, hops, session, message_id, reason, source
		FROM message_or_copy WHERE row<1000 EXCEPT SELECT entity, sub, seq, state, delivery_count, enqueued, ttl, scheduled, size, enqueued_seq, hops, session,
		message_id, reason, source FROM message_or_copy WHERE row>=1000)`); d != 0 {
		t.Errorf("people see %d differences", d)
	}
}

// TestCopiesLeaveTogether removes and changes copies of several publications in the same transactions, in any order, with bad changes among them.
func TestCopiesLeaveTogether(t *testing.T) {
	const publications, each = 12, 9
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newStore(t)
		want := map[int64]emulator.MessageRecord{}
		for p := range int64(publications) {
			op := insertOp(10+p*each, p*each, []byte("shared")) // rows follow each other without a gap
			for i := range int64(each) {
				op.Copies = append(op.Copies, emulator.CopyRecord{Entity: 1, Seq: op.Record.Seq + i})
				m := op.Record
				m.Row, m.Seq = m.Row+i, m.Seq+i
				want[m.Row] = m
			}
			wait(t, s, op)
		}
		left := slices.Sorted(maps.Keys(want))
		r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		for len(left) > 0 {
			n := min(1+r.IntN(40), len(left))
			var results []<-chan error
			hold(s, func() {
				for i, row := range left[:n] {
					m := want[row]
					switch {
					case r.IntN(4) == 0:
						m.DeliveryCount++
						want[row] = m
						results = append(results, begin(s, emulator.Op{Kind: emulator.OpUpdate, Record: m}))
					case i == 5 && r.IntN(2) == 0: // it takes the copy and fails
						results = append(results, failing(begin(s, emulator.Op{Kind: emulator.OpDelete, Record: m}, insertOp(9, 999, nil), insertOp(9, 999, nil))))
					default:
						delete(want, row)
						for range 1 + r.IntN(2) { // the second finds nothing, which is no error
							results = append(results, begin(s, emulator.Op{Kind: emulator.OpDelete, Record: m}))
						}
					}
				}
			})
			left = left[n:]
			for _, res := range results {
				if err := <-res; err != nil {
					t.Fatal(err)
				}
			}
			if got := stored(t, s); !reflect.DeepEqual(got, rows(want)) {
				t.Fatalf("seed %d, with %d rows left: stored are\n%v, want\n%v", seed, len(left), got, want)
			}
		}
		if got := stored(t, mustOpen(t, killed(t, s), Options{})); !reflect.DeepEqual(got, rows(want)) {
			t.Errorf("seed %d: after a restart there are\n%v, want\n%v", seed, got, want)
		}
	}
}

// failing wants an error, and returns a result without one.
func failing(res <-chan error) <-chan error {
	none := make(chan error, 1)
	go func() {
		if err := <-res; err == nil {
			none <- errors.New("a bad change succeeded")
			return
		}
		none <- nil
	}()
	return none
}

// TestCopiesOfAPublicationAreRead with place, entity and number, those that are there. What is no list of pairs is damage.
func TestCopiesOfAPublicationAreRead(t *testing.T) {
	type copied struct {
		i           int
		entity, seq int64
	}
	read := func(text string, there uint64) (all []copied, err error) {
		err = eachCopy([]byte(text), there, 7, func(i int, entity, seq int64) error {
			all = append(all, copied{i, entity, seq})
			return nil
		})
		return all, err
	}
	got, err := read("[[2,10],[3,-11],[4,12]]", 0b110)
	if want := []copied{{1, 3, -11}, {2, 4, 12}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the copies are %v, %v, want %v", got, err, want)
	}
	for text, there := range map[string]uint64{"[[2,-]]": 1, "[[2,1-0]]": 1, "[[2,99999999999999999999]]": 1, "[[2,10,3]]": 1, "[[2,10]]": 0b10, "": 1} {
		if got, err := read(text, there); !errors.Is(err, errMalformed) || len(got) != 0 {
			t.Errorf("%q with the bits %b gives %v, %v", text, there, got, err)
		}
	}
	stop := errors.New("stop")
	if err := eachCopy([]byte("[[2,10],[3,11]]"), 0b11, 7, func(int, int64, int64) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of a copy becomes %v", err)
	}
}
