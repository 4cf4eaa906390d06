package emulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"minibus/emulator/clock"
	"minibus/internal/entitypath"
)

// FaultKind says what a [Fault] does to the operations that it strikes.
type FaultKind string

// The kinds of faults.
const (
	FaultThrottle    FaultKind = "throttle"    // the operation is refused with server-busy
	FaultRefuse      FaultKind = "refuse"      // the operation is refused with a condition
	FaultDetach      FaultKind = "detach"      // the link is detached instead
	FaultDrop        FaultKind = "drop"        // the connection is cut instead, without a word
	FaultClose       FaultKind = "close"       // the connection is closed instead, with a condition
	FaultLoseLock    FaultKind = "loseLock"    // the locks of the messages end before the operation
	FaultLoseSession FaultKind = "loseSession" // the lock of the session ends before the operation
	FaultDelay       FaultKind = "delay"       // the outcome comes later
	FaultStarve      FaultKind = "starve"      // senders get no credit, receivers no messages
	FaultFailJournal FaultKind = "failJournal" // the change can't be written
	FaultExpireToken FaultKind = "expireToken" // the connection's tokens are over
)

// Operation is what a client asks for.
type Operation string

// The operations that faults strike.
const (
	OperationAttachSender   Operation = "attachSender"
	OperationAttachReceiver Operation = "attachReceiver" // the accept of a session too
	OperationSend           Operation = "send"           // to be scheduled too
	OperationReceive        Operation = "receive"        // a message that is about to be delivered; over HTTP the request
	OperationSettle         Operation = "settle"
	OperationRenew          Operation = "renew"        // the lock of a message or of a session
	OperationManage         Operation = "manage"       // another request to $management
	OperationAuthenticate   Operation = "authenticate" // a token that is put to $cbs
	OperationNow            Operation = "now"          // nothing: the fault strikes at once what is connected
)

// FaultOptions say what a fault does, and to whom.
type FaultOptions struct {
	Kind       FaultKind
	Operations []Operation // none: those that the kind usually strikes

	Entity string // path, such as orders or orders/$DeadLetterQueue; empty: any
	Client string // as of [Client.Is]; empty: any

	Condition string        // of the error, such as not-found; empty: that of the service
	Delay     time.Duration // real time
	After     bool          // the operation is carried out first, and only its answer is lost

	Skip        int     // so many operations go well first
	Count       int     // so many are struck; 0: all
	Probability float64 // that an operation is struck; 0: always
	Seed        int64   // of the choice; 0: a new one

	For time.Duration // how long, by the namespace's clock; 0: until it is removed
}

// FaultState says whether a fault still strikes.
type FaultState string

// The states of faults.
const (
	FaultActive  FaultState = "active"
	FaultSpent   FaultState = "spent" // it has struck as often as it was to
	FaultOver    FaultState = "over"  // its time is over
	FaultRemoved FaultState = "removed"
)

// Fault is an error that a test injects into a namespace. It lives in memory: a restart forgets it, and a reset of the namespace removes it.
type Fault struct {
	// immutable, once it is injected
	id      int64
	ns      *Namespace
	options FaultOptions
	path    string // of Entity, without its sub-queue
	sub     SubQueue
	until   int64       // ms; 0: none
	timer   clock.Timer // nil: none

	// guarded by the table's mutex
	random *rand.Rand
	seen   int
	hits   int
	state  FaultState
}

// newFault checks options and makes a fault of them.
func newFault(ns *Namespace, o FaultOptions) (*Fault, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(o.Operations) == 0 {
		o.Operations = faultKinds[o.Kind].usual
	}
	if o.Probability > 0 && o.Seed == 0 {
		o.Seed = 1 + rand.Int64N(maxSeed)
	}
	f := &Fault{ns: ns, options: o, state: FaultActive, random: rand.New(rand.NewPCG(uint64(o.Seed), 0))}
	f.path, f.sub = entitypath.CutSubQueue(o.Entity)
	if o.Entity != "" {
		q, err := ns.Entity(f.path)
		if err != nil {
			return nil, err
		}
		f.path, f.options.Entity = q.path, f.sub.Join(q.path)
	}
	if o.For > 0 {
		f.until = ns.Now() + o.For.Milliseconds()
	}
	return f, nil
}

// ID returns the number of the fault in its namespace.
func (f *Fault) ID() int64 { return f.id }

// Options returns what the fault was made with, with the operations and the seed that were chosen.
func (f *Fault) Options() FaultOptions { return f.options }

// Until returns when the fault is over, in milliseconds of the namespace's clock; 0: when it is removed.
func (f *Fault) Until() int64 { return f.until }

// Hits returns how many operations the fault has struck, of a starve how many links.
func (f *Fault) Hits() int {
	f.ns.faults.mu.Lock()
	defer f.ns.faults.mu.Unlock()
	return f.hits
}

// State says whether the fault still strikes.
func (f *Fault) State() FaultState {
	f.ns.faults.mu.Lock()
	defer f.ns.faults.mu.Unlock()
	return f.state
}

// String names the fault, for people.
func (f *Fault) String() string { return fmt.Sprintf("fault %d (%s)", f.id, f.options.Kind) }

// Attempt is an operation that a client is about to do.
type Attempt struct {
	Operation Operation
	Entity    *Entity // nil: Path names none, or does not exist
	Path      string  // unless Entity is set
	Sub       SubQueue
	Client    *Client
	HTTP      bool        // it is a request, without a link
	Locks     bool        // it concerns locks of messages
	Tokens    []LockToken // of those locks, as far as they are known; Entity's mutex is free then
	Session   bool        // its client holds a session
}

// fits reports whether the fault concerns an attempt.
func (f *Fault) fits(a *Attempt) bool {
	path := a.Path
	if a.Entity != nil {
		path = a.Entity.path
	}
	switch {
	case f.state != FaultActive || !slices.Contains(f.options.Operations, a.Operation):
		return false
	case f.options.Entity != "" && (!strings.EqualFold(f.path, path) || f.sub != a.Sub):
		return false
	case a.HTTP && !faultKinds[f.options.Kind].http:
		return false
	case f.options.Kind == FaultLoseLock && !a.Locks, f.options.Kind == FaultLoseSession && !a.Session:
		return false
	}
	return f.options.Client == "" || a.Client.Is(f.options.Client)
}

// strikes counts an attempt that fits, and reports whether the fault strikes it. The table's mutex is held.
func (f *Fault) strikes() bool {
	o := &f.options
	if f.seen++; f.seen <= o.Skip || o.Probability > 0 && f.random.Float64() >= o.Probability {
		return false
	}
	if f.hits++; o.Count > 0 && f.hits == o.Count {
		f.state = FaultSpent
	}
	return true
}
