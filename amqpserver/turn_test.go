package amqpserver

import (
	"testing"
	"time"
)

// The loop may have a batch in hand and wait for the turn. The read goroutine must not overtake it.
func TestTurn_TheReadGoroutineDoesNotOvertakeTheLoop(t *testing.T) {
	server, _ := tcpPair(t)
	c := socketConn(t, server)
	c.begin()
	defer c.timer.Stop()
	first, second := &batch{frames: []inFrame{{kind: frameEmpty}}}, &batch{frames: []inFrame{{kind: frameEmpty}}}
	if !c.takeTurn(first) {
		t.Fatal("the read goroutine takes no turn although nobody else does")
	}
	<-c.reader.free
	c.reader.handed.Add(1) // as it does before it hands a batch over
	if c.takeTurn(second) {
		t.Error("a batch was handled before the one that the loop has in hand")
	}
	c.turnLock.Lock()
	c.handleHanded(first)
	c.turnLock.Unlock()
	<-c.reader.free
	if !c.takeTurn(second) {
		t.Error("the read goroutine takes no turn any more")
	}
}

func TestTurn_OneAtATime(t *testing.T) {
	server, _ := tcpPair(t)
	c := socketConn(t, server)
	c.begin()
	defer c.timer.Stop()
	c.turnLock.Lock()
	if c.takeTurn(&batch{}) {
		t.Error("two turns were under way")
	}
	c.turnLock.Unlock()
}

// A peer that receives without a pause settles while earlier settlements are being committed. The read goroutine
// collects what it settles.
func TestTurn_TheLoopSettlesWhileOperationsAreUnderWay(t *testing.T) {
	server, _ := tcpPair(t)
	c := socketConn(t, server)
	c.begin()
	defer c.timer.Stop()
	settlement := func() *batch { return &batch{frames: []inFrame{{kind: frameDisposition}}} }
	c.outstanding = 1
	if c.takeTurn(settlement()) {
		t.Error("the read goroutine settles although an operation is under way")
	}
	if !c.takeTurn(&batch{frames: []inFrame{{kind: frameEmpty}}}) {
		t.Error("the read goroutine leaves to the loop what is no settlement")
	}
	<-c.reader.free
	c.outstanding = 0
	if !c.takeTurn(settlement()) {
		t.Error("the read goroutine takes no turn for a settlement although nothing is under way")
	}
}

// The timer is heard while links can send more: its only tick would be lost.
func TestTurn_BusyLinksDoNotDelayTheTimer(t *testing.T) {
	server, _ := tcpPair(t)
	c := socketConn(t, server)
	c.begin()
	defer c.timer.Stop()
	due := make(chan time.Time, 1)
	due <- time.Now()
	c.timer.C = due
	c.runQueue.links = make([]runnable, 1)
	if c.next(); c.dead == nil {
		t.Error("the connection outlives the time for its handshake")
	}
}
