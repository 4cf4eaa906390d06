package sbtest

import (
	"testing"

	"minibus/emulator"
)

// Fault is an error that a test injects with [Server.Inject]: its kind, and which operations it strikes. Only Kind is needed.
//
//	sbtest.Fault{Kind: sbtest.Throttle, Entity: "orders", Count: 2}
//	sbtest.Fault{Kind: sbtest.Refuse, Operations: []sbtest.Operation{sbtest.AttachReceiver}, Condition: "not-found"}
//	sbtest.Fault{Kind: sbtest.Drop, Operations: []sbtest.Operation{sbtest.Send}, After: true, Count: 1}
type Fault = emulator.FaultOptions

// The kinds of a [Fault].
const (
	Throttle    = emulator.FaultThrottle    // the operation is refused with server-busy
	Refuse      = emulator.FaultRefuse      // the operation, usually an attach, is refused with Condition
	Detach      = emulator.FaultDetach      // the link is detached
	Drop        = emulator.FaultDrop        // the connection is cut
	Close       = emulator.FaultClose       // the connection is closed
	LoseLock    = emulator.FaultLoseLock    // the message's lock ends before it is settled or renewed
	LoseSession = emulator.FaultLoseSession // the session's lock ends before the operation
	Delay       = emulator.FaultDelay       // the outcome comes later
	Starve      = emulator.FaultStarve      // senders get no credit, receivers no messages
	FailJournal = emulator.FaultFailJournal // nothing can be written, as on a broken disk
	ExpireToken = emulator.FaultExpireToken // the connection's tokens are over
)

// Operation is what a client asks for.
type Operation = emulator.Operation

// The operations that a [Fault] strikes.
const (
	AttachSender   = emulator.OperationAttachSender
	AttachReceiver = emulator.OperationAttachReceiver
	Send           = emulator.OperationSend
	Receive        = emulator.OperationReceive
	Settle         = emulator.OperationSettle
	Renew          = emulator.OperationRenew
	Manage         = emulator.OperationManage
	Authenticate   = emulator.OperationAuthenticate
	Now            = emulator.OperationNow // what is connected is struck at once
)

// Injected is a fault that strikes clients. Its Hits method says how often it has, and Remove ends it.
type Injected = emulator.Fault

// Inject lets operations of clients go wrong in the server's own namespace, until the test ends or the fault is removed: "Azure throttles the worker twice, and the worker tries
// again". It fails the test if the fault makes no sense.
func (s *Server) Inject(t testing.TB, f Fault) *Injected {
	t.Helper()
	return inject(t, s.Default(), f)
}

// Inject is [Server.Inject] for the namespace.
func (n *Namespace) Inject(t testing.TB, f Fault) *Injected {
	t.Helper()
	return inject(t, n.Namespace, f)
}

func inject(t testing.TB, ns *emulator.Namespace, o Fault) *Injected {
	t.Helper()
	f, err := ns.Faults().Inject(o)
	if err != nil {
		t.Fatalf("sbtest: inject a fault: %v", err)
	}
	t.Cleanup(f.Remove)
	return f
}
