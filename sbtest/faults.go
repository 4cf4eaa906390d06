package sbtest

import (
	"testing"
	"time"

	"minibus/emulator"
)

// Fault is an error that a test injects with [Namespace.Inject]: its kind, and which operations it hits. Only Kind is
// needed.
//
//	sbtest.Fault{Kind: sbtest.Throttle, Entity: "orders", Count: 2}
//	sbtest.Fault{Kind: sbtest.Refuse, Operations: []sbtest.Operation{sbtest.AttachReceiver}, Condition: "not-found"}
//	sbtest.Fault{Kind: sbtest.Drop, Operations: []sbtest.Operation{sbtest.Send}, After: true, Count: 1}
type Fault struct {
	Kind       FaultKind
	Operations []Operation // none: those that the kind usually hits

	Entity string // path, such as orders or orders/$DeadLetterQueue; empty: any
	Client string // the id of a [Connection], its container or address, or the name of a [Link]; empty: any

	Condition string        // of the error, such as not-found; empty: that of the service
	Delay     time.Duration // real time
	After     bool          // the operation is carried out first, and only its answer is lost

	Skip        int     // so many operations go well first
	Count       int     // so many are hit; 0: all
	Probability float64 // that an operation is hit; 0: always
	Seed        int64   // of the choice; 0: a new one

	For time.Duration // how long, by the namespace's clock; 0: until it is removed
}

// FaultKind says what a [Fault] does.
type FaultKind string

// The kinds of a [Fault].
const (
	Throttle    = FaultKind(emulator.FaultThrottle)    // the operation is refused with server-busy
	Refuse      = FaultKind(emulator.FaultRefuse)      // the operation, usually an attach, is refused with Condition
	Detach      = FaultKind(emulator.FaultDetach)      // the link is detached
	Drop        = FaultKind(emulator.FaultDrop)        // the connection is cut
	Close       = FaultKind(emulator.FaultClose)       // the connection is closed
	LoseLock    = FaultKind(emulator.FaultLoseLock)    // the message's lock ends before it is settled or renewed
	LoseSession = FaultKind(emulator.FaultLoseSession) // the session's lock ends before the operation
	Delay       = FaultKind(emulator.FaultDelay)       // the outcome comes later
	Starve      = FaultKind(emulator.FaultStarve)      // senders get no credit, receivers no messages
	FailJournal = FaultKind(emulator.FaultFailJournal) // nothing can be written, as on a broken disk
	ExpireToken = FaultKind(emulator.FaultExpireToken) // the connection's tokens are over
)

// Operation is a kind of request by clients.
type Operation string

// The operations that a [Fault] hits.
const (
	AttachSender   = Operation(emulator.OperationAttachSender)
	AttachReceiver = Operation(emulator.OperationAttachReceiver)
	Send           = Operation(emulator.OperationSend)
	Receive        = Operation(emulator.OperationReceive)
	Settle         = Operation(emulator.OperationSettle)
	Renew          = Operation(emulator.OperationRenew)
	Manage         = Operation(emulator.OperationManage)
	Authenticate   = Operation(emulator.OperationAuthenticate)
	Now            = Operation(emulator.OperationNow) // what is connected is hit at once
)

// Injected is a fault that hits clients.
type Injected struct{ fault *emulator.Fault }

// Hits returns how many operations the fault has hit, of a [Starve] how many links.
func (f *Injected) Hits() int { return f.fault.Hits() }

// String says what the fault does and to what, in a sentence.
func (f *Injected) String() string { return f.fault.String() }

// Remove ends the fault.
func (f *Injected) Remove() { f.fault.Remove() }

// Inject lets operations of clients go wrong, until the test ends or the fault is removed: "Azure throttles the worker
// twice, and the worker tries again". It fails the test if the fault makes no sense.
func (n *Namespace) Inject(t testing.TB, f Fault) *Injected {
	t.Helper()
	o := emulator.FaultOptions{
		Kind: emulator.FaultKind(f.Kind), Entity: f.Entity, Client: f.Client,
		Condition: f.Condition, Delay: f.Delay, After: f.After,
		Skip: f.Skip, Count: f.Count, Probability: f.Probability, Seed: f.Seed, For: f.For,
	}
	for _, op := range f.Operations {
		o.Operations = append(o.Operations, emulator.Operation(op))
	}
	fault, err := n.ns.Faults().Inject(o)
	check(t, "inject a fault", err)
	t.Cleanup(fault.Remove)
	return &Injected{fault}
}
