package amqpserver

import (
	"net"
	"testing"
	"time"
	"unsafe"

	"minibus/emulator"
	"minibus/store/storetest"
)

// afterAJump returns t after the wall clock has jumped: the time of day has changed, the monotonic clock has not.
// Package time offers no way to make such an instant.
func afterAJump(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	after := at
	*(*uint64)(unsafe.Pointer(&after)) += uint64(by/time.Second) << 30 // seconds stand above 30 bits of nanoseconds
	if after.Sub(at) != 0 || after.Unix()-at.Unix() != int64(by/time.Second) {
		t.Fatalf("%v is not %v after a jump of %v", after, at, by)
	}
	return after
}

// No bubble: its instants have no monotonic part. The test does not wait.
func TestDEC35_JumpsOfTheWallClockMakeNobodyIdle(t *testing.T) {
	server, client := net.Pipe()
	defer client.Close()
	defer server.Close()
	idle := 2 * time.Minute
	broker, err := emulator.OpenBroker(storetest.NewMemory(), emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []time.Duration{8 * time.Hour, 0, -8 * time.Hour} {
		c := newConn(New(broker, Options{IdleTimeout: idle}), server, "1")
		c.timer = time.NewTimer(time.Hour)
		c.sessions.linked = 1 // so that the silence alone counts
		c.reader.noteRead()
		heard := time.Now()
		for _, silence := range []time.Duration{0, 2*idle - time.Minute, 2 * idle} {
			c.checkIdle(afterAJump(t, heard.Add(silence), by))
			if closed := c.state >= stateClosing; closed != (silence >= 2*idle) {
				t.Errorf("after a jump of %v and a silence of %v it is closed: %t", by, silence, closed)
			}
		}
	}
}
