package store

import (
	"runtime/debug"
	"strings"
	"testing"

	"minibus/emulator"
)

func TestCompany(t *testing.T) {
	var c company
	alone := func(rounds int) {
		for range rounds {
			c.committed(1)
		}
	}
	if alone(100); c.is() {
		t.Error("one alone has company")
	}
	for range 100 { // two whose ways cross now and then
		c.seen()
		alone(2)
	}
	if c.is() {
		t.Error("two that hardly meet are company")
	}
	for range 2 * someCompany { // two that meet mostly
		c.seen()
		c.seen()
		alone(1)
	}
	if !c.is() {
		t.Error("two that mostly meet are no company")
	}
	if alone(fullCompany); c.is() {
		t.Error("company that has gone still counts")
	}
	if c.committed(joined); !c.is() {
		t.Error("changes that come together are no company")
	}
	if alone(fullCompany - someCompany); !c.is() {
		t.Error("company ends at once")
	}
	if alone(1); c.is() {
		t.Error("company does not end")
	}
}

// In company the writer's goroutine commits, and alone the caller of Release.
func TestRelease_InCompany(t *testing.T) {
	s := newStore(t)
	byCaller := func(row int64, changes int) bool {
		atRest(s)
		s.company.committed(changes)
		stack := make(chan string, 1)
		s.Hold()
		s.Append(&emulator.Change{
			Ops:  []emulator.Op{insertOp(row, row, []byte("x"))},
			Done: emulator.CompletionFunc(func(error) { stack <- string(debug.Stack()) }),
		})
		s.Release()
		return strings.Contains(<-stack, ").Release(")
	}
	some := false
	for row := range int64(50) {
		some = byCaller(row+1, 1) || some
	}
	if !some {
		t.Error("one alone never committed itself")
	}
	for row := range int64(50) {
		if byCaller(row+100, joined) {
			t.Fatal("one in company committed itself")
		}
	}
}
