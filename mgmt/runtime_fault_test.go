package mgmt

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// inject adds a fault.
func (b *bus) inject(o emulator.FaultOptions) *emulator.Fault {
	b.t.Helper()
	f, err := b.ns.Faults().Inject(o)
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

// TestFaultsOverHTTP are answered with their status, and nothing has happened then.
func TestFaultsOverHTTP(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	once := func(o emulator.FaultOptions) { o.Count = 1; b.inject(o) }
	once(emulator.FaultOptions{Kind: emulator.FaultThrottle})
	wants(t, b.do("POST", "/q/messages", "x"), 503, "SubCode=50004. The request was terminated because the entity is being throttled. Error code : 50009.", "(by fault 1 of Minibus)")
	once(emulator.FaultOptions{Kind: emulator.FaultFailJournal})
	wants(t, b.do("POST", "/q/messages", "x"), 500, "The message store could not be written (by fault 2 of Minibus): disk I/O error")
	once(emulator.FaultOptions{Kind: emulator.FaultFailJournal, Condition: "resource-limit-exceeded"})
	wants(t, b.do("POST", "/q/messages", "x"), 403, "The disk is full")
	b.wantCounts("q", 0, 0)
	b.post("q", "x")
	for condition, status := range map[string]int{"unauthorized-access": 401, "entity-disabled": 403, "not-found": 404, "server-busy": 503, "not-allowed": 400} {
		once(emulator.FaultOptions{Kind: emulator.FaultRefuse, Operations: []emulator.Operation{emulator.OperationReceive}, Condition: condition})
		wants(t, b.do("POST", "/q/messages/head", ""), status)
	}
	b.inject(emulator.FaultOptions{Kind: emulator.FaultDetach}) // there is no link
	b.inject(emulator.FaultOptions{Kind: emulator.FaultStarve})
	at := location(t, b.do("POST", "/q/messages/head", ""))
	once(emulator.FaultOptions{Kind: emulator.FaultThrottle, Operations: []emulator.Operation{emulator.OperationSettle, emulator.OperationRenew}})
	wants(t, b.do("DELETE", at, ""), 503)
	wants(t, b.do("POST", at, ""), 200)
	f := b.inject(emulator.FaultOptions{Kind: emulator.FaultLoseLock, Count: 2})
	wants(t, b.do("DELETE", at, ""), 404, "The lock supplied is invalid.")
	w := b.do("POST", "/q/messages/head", "")
	if brokerProperties(t, w)["DeliveryCount"] != 2.0 {
		t.Errorf("received again: %v", brokerProperties(t, w))
	}
	wants(t, b.do("POST", location(t, w), ""), 404)
	if f.State() != emulator.FaultSpent {
		t.Errorf("%d hits", f.Hits())
	}
	at = location(t, b.do("POST", "/q/messages/head", ""))
	wants(t, b.do("DELETE", at, ""), 200)
	b.wantCounts("q", 0, 0)
}

// TestFaultsCutHTTP before the operation and after it.
func TestFaultsCutHTTP(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	p := serve(t, b.handler)
	c := p.client()
	defer c.CloseIdleConnections()
	for after, want := range map[bool]int64{false: 0, true: 1} {
		for _, kind := range []emulator.FaultKind{emulator.FaultDrop, emulator.FaultClose} {
			b.inject(emulator.FaultOptions{Kind: kind, Operations: []emulator.Operation{emulator.OperationSend}, After: after, Count: 1})
			r, err := http.NewRequest(http.MethodPost, "http://"+p.addr+"/q/messages", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := c.Do(r)
			if err == nil {
				_ = answer.Body.Close()
				t.Fatalf("%s: the answer is %d", kind, answer.StatusCode)
			}
			if !errors.Is(err, io.EOF) {
				t.Logf("%s: %v", kind, err)
			}
			b.wantCounts("q", want, 0)
			if want > 0 {
				wants(t, b.do("DELETE", "/q/messages/head", ""), 200)
			}
		}
	}
}

// TestFaultsDelayHTTP by real time, unless the client goes away.
func TestFaultsDelayHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTimedBus(t, emulator.ProfileRelaxed)
		b.makeQueue("q", emulator.QueueOptions{})
		b.inject(emulator.FaultOptions{Kind: emulator.FaultDelay, Delay: 20 * time.Second})
		begin := time.Now()
		b.post("q", "x")
		if took := time.Since(begin); took != 20*time.Second {
			t.Errorf("it took %v", took)
		}
		done, cancel := b.begin("POST", "/q/messages")
		synctest.Wait()
		b.wantCounts("q", 2, 0)
		cancel()
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Fatal("the request goes on without its client")
		}
		b.close()
	})
}
