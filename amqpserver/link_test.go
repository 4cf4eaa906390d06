package amqpserver

import (
	"math/rand/v2"
	"testing"
)

func TestLinkTable_IsAMapInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var table linkTable
	model := make(map[uint32]*link)
	for range 20_000 {
		handle := rng.Uint32N(64)
		if rng.IntN(50) == 0 {
			handle += 1<<32 - 64
		}
		if l := table.get(handle); l != model[handle] {
			t.Fatalf("handle %d has %v, want %v", handle, l, model[handle])
		} else if l != nil {
			table = table.without(handle)
			delete(model, handle)
		} else {
			l := &link{handle: handle}
			table, model[handle] = table.with(l), l
		}
		if len(table) != len(model) {
			t.Fatalf("%d links, want %d", len(table), len(model))
		}
		for i, l := range table {
			if i > 0 && l.handle <= table[i-1].handle {
				t.Fatal("the links are out of order")
			}
		}
	}
}

func TestLinkTable_ALoopMayRemoveLinks(t *testing.T) {
	var table linkTable
	for h := range uint32(10) {
		table = table.with(&link{handle: h})
	}
	want := uint32(0)
	for _, l := range table {
		if l == nil || l.handle != want {
			t.Fatalf("the loop comes to %v, want %d", l, want)
		}
		table = table.without(want)
		want++
	}
	if len(table) != 0 {
		t.Errorf("%d links are left", len(table))
	}
}
