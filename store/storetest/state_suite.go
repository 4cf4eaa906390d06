package storetest

import (
	"bytes"
	"encoding/binary"
	"maps"
	"reflect"
	"testing"

	"minibus/emulator"
)

func sessionState(entity int64, id string, state []byte, at int64) emulator.Op {
	return emulator.Op{
		Kind: emulator.OpSessionState, Data: state,
		Record: emulator.MessageRecord{Entity: entity, SessionID: id, Enqueued: at},
	}
}

func keyOf(entity, n int64) duplicateKey {
	k := duplicateKey{entity: entity}
	binary.BigEndian.PutUint64(k.key[8:], uint64(n))
	return k
}

// duplicateOp remembers the key that the number n stands for.
func duplicateOp(entity, n, at int64) emulator.Op {
	k := keyOf(entity, n)
	r := emulator.MessageRecord{Entity: entity, Enqueued: at}
	return emulator.Op{Kind: emulator.OpDuplicate, Data: k.key[:], Record: r}
}

func pruneDuplicates(entity, before int64) emulator.Op {
	r := emulator.MessageRecord{Entity: entity, Enqueued: before}
	return emulator.Op{Kind: emulator.OpPruneDuplicates, Record: r}
}

func testSessions(t *testing.T, h *harness) {
	q, other := h.queue("q"), h.queue("other")
	h.must(sessionState(q, "a", []byte("one"), 1), sessionState(q, "", []byte("of the empty id"), 2))
	h.must(sessionState(other, "a", []byte{0, 0xff}, 3))
	h.must(sessionState(q, "a", []byte("two"), 4))
	h.must(sessionState(q, "b", []byte("gone"), 5))
	h.must(sessionState(q, "b", nil, 6), sessionState(q, "never set", nil, 7))
	h.must(sessionState(q, "c", []byte("first"), 8), sessionState(q, "c", nil, 9),
		sessionState(q, "c", []byte("again"), 10))
	want := map[sessionKey]memorySession{
		{q, "a"}: {[]byte("two"), 4}, {q, ""}: {[]byte("of the empty id"), 2}, {other, "a"}: {[]byte{0, 0xff}, 3},
		{q, "c"}: {[]byte("again"), 10},
	}
	if got := h.restart().sessions; !reflect.DeepEqual(got, want) {
		t.Errorf("sessions are %+v, want %+v", got, want)
	}
	for _, id := range []string{"a", "", "b", "c", "never set"} {
		if got := h.state(q, id); !bytes.Equal(got, want[sessionKey{q, id}].state) {
			t.Errorf("the state of session %q is read as %q", id, got)
		}
	}
}

func testSessionSizes(t *testing.T, h *harness) {
	q := h.queue("q")
	for i, size := range []int{0, 1, 300_000, 1 << 20, 5<<20 + 17, 10} {
		want := bytes.Repeat([]byte{byte(i + 1)}, size)
		h.must(sessionState(q, "s", want, 1))
		if got := h.restart().sessions[sessionKey{q, "s"}].state; got == nil || !bytes.Equal(got, want) {
			t.Errorf("the state has %d bytes (nil: %t), want %d", len(got), got == nil, size)
		}
		if got := h.state(q, "s"); got == nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes of the state were read (nil: %t), want %d", len(got), got == nil, size)
		}
	}
}

func testDuplicates(t *testing.T, h *harness) {
	q, other := h.queue("q"), h.queue("other")
	want := map[duplicateKey]int64{}
	for n := range int64(300) { // many in the same millisecond, in turn
		for _, entity := range []int64{q, other} {
			h.begin(duplicateOp(entity, n, 1000+n/100))
			want[keyOf(entity, n)] = 1000 + n/100
		}
	}
	h.must(duplicateOp(q, 5, 2000)) // once more, later
	want[keyOf(q, 5)] = 2000
	h.must(duplicateOp(q, 6, 2001), duplicateOp(q, 6, 2001))
	want[keyOf(q, 6)] = 2001
	if got := h.restart().duplicates; !maps.Equal(got, want) {
		t.Errorf("%d keys came back, want %d", len(got), len(want))
	}
}

func testPrune(t *testing.T, h *harness) {
	q, other := h.queue("q"), h.queue("other")
	for n := range int64(10) {
		h.must(duplicateOp(q, n, 1000+n), duplicateOp(other, n, 1000+n))
	}
	h.must(pruneDuplicates(q, 1004), duplicateOp(q, 20, 1020))
	h.must(pruneDuplicates(q, 1002)) // of the past: changes nothing
	c := h.restart()
	for n := range int64(10) {
		if _, ok := c.duplicates[keyOf(q, n)]; ok != (n >= 4) {
			t.Errorf("key %d is remembered: %t", n, ok)
		}
	}
	if len(c.duplicates) != 7+10 {
		t.Errorf("%d keys are left, want 17", len(c.duplicates))
	}
	h.must(pruneDuplicates(q, 1<<62))
	h.must(duplicateOp(q, 30, 1030)) // the clock was far ahead and went back
	c = h.restart()
	if at := c.duplicates[keyOf(q, 30)]; at != 1030 {
		t.Errorf("what was remembered after the clock went back is lost: %+v", c.duplicates)
	}
}

func testPruneDeep(t *testing.T, h *harness) {
	q := h.queue("q")
	const many = 20_000
	for n := range int64(many) {
		h.begin(duplicateOp(q, n, 1000+n))
	}
	h.must(pruneDuplicates(q, 1000+many-10))
	if got := h.restart().duplicates; len(got) != 10 {
		t.Errorf("%d keys are left, want 10", len(got))
	}
}

func testDuplicatesOfFailed(t *testing.T, h *harness) {
	q := h.queue("q")
	taken := h.message(q, 1, "x")
	h.must(taken)
	results := []<-chan error{
		h.begin(duplicateOp(q, 1, 1000)), h.begin(duplicateOp(q, 2, 1000), pruneDuplicates(q, 5000), taken),
		h.begin(duplicateOp(q, 3, 1000)),
	}
	for i, res := range results {
		if err := <-res; (err != nil) != (i == 1) {
			t.Errorf("change %d: %v", i, err)
		}
	}
	want := map[duplicateKey]int64{keyOf(q, 1): 1000, keyOf(q, 3): 1000}
	if got := h.restart().duplicates; !maps.Equal(got, want) {
		t.Errorf("remembered is %v, want %v", got, want)
	}
}
