package emulator

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"minibus/emulator/clock"
	"minibus/internal/entitypath"
)

const (
	// MaxFaults is how many faults a namespace remembers.
	MaxFaults = 100
	// MaxFaultDelay is the longest delay of an outcome.
	MaxFaultDelay = 10 * time.Minute

	maxSeed        = 1<<31 - 1
	maxFaultClient = 255 // bytes
)

// FaultKind says what a [Fault] does to the operations that it hits.
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
	FaultExpireToken FaultKind = "expireToken" // the connection's tokens expire
)

// Operation is a kind of request by clients.
type Operation string

// The operations that faults hit.
const (
	OperationAttachSender   Operation = "attachSender"
	OperationAttachReceiver Operation = "attachReceiver" // the accept of a session too
	OperationSend           Operation = "send"           // to be scheduled too
	OperationReceive        Operation = "receive"        // a message before it is delivered; over HTTP the request
	OperationSettle         Operation = "settle"
	OperationRenew          Operation = "renew"        // the lock of a message or of a session
	OperationManage         Operation = "manage"       // another request to $management
	OperationAuthenticate   Operation = "authenticate" // a token that is put to $cbs
	OperationNow            Operation = "now"          // nothing: the fault hits at once what is connected
)

// FaultOptions say what a fault does, and to whom.
type FaultOptions struct {
	Kind       FaultKind
	Operations []Operation // none: those that the kind usually hits

	Entity string // path, such as orders or orders/$DeadLetterQueue; empty: any
	Client string // as of [Client.Is]; empty: any

	Condition string        // of the error, such as not-found; empty: that of the service
	Delay     time.Duration // real time
	After     bool          // the operation is carried out first, and only its answer is lost

	Skip        int     // so many operations go well first
	Count       int     // so many are hit; 0: all
	Probability float64 // that an operation is hit; 0: always
	Seed        int64   // of the choice; 0: a new one

	For time.Duration // how long, by the namespace's clock; 0: until it is removed
}

// FaultState says whether a fault still hits operations.
type FaultState string

// The states of faults.
const (
	FaultActive  FaultState = "active"
	FaultSpent   FaultState = "spent" // it has hit as many operations as it was to
	FaultOver    FaultState = "over"  // its time is over
	FaultRemoved FaultState = "removed"
)

// Fault is an error that a test injects into a namespace. It is in memory only: a restart forgets it, and a reset of
// the namespace removes it.
type Fault struct {
	// immutable, once it is injected
	id      int64
	ns      *Namespace
	options FaultOptions
	path    string // of Entity, without its sub-queue
	sub     SubQueue
	until   int64       // ms; 0: none
	timer   clock.Timer // nil: none

	// guarded by the mutex of Faults
	random *rand.Rand
	fitted int // attempts so far
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
		f.path = q.path
		f.options.Entity = f.sub.Join(q.path)
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

// Hits returns how many operations the fault has hit, of a starve how many links.
func (f *Fault) Hits() int {
	f.ns.faults.mu.Lock()
	defer f.ns.faults.mu.Unlock()
	return f.hits
}

// State says whether the fault still hits operations.
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

// fitsLocked reports whether the fault concerns an attempt.
func (f *Fault) fitsLocked(a *Attempt) bool {
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

// countLocked counts an attempt that fits, and reports whether the fault hits it.
func (f *Fault) countLocked() bool {
	o := &f.options
	if f.fitted++; f.fitted <= o.Skip || o.Probability > 0 && f.random.Float64() >= o.Probability {
		return false
	}
	if f.hits++; o.Count > 0 && f.hits == o.Count {
		f.state = FaultSpent
	}
	return true
}

// faultKind describes the effects of a kind of fault.
type faultKind struct {
	usual     []Operation // that are hit unless others are named
	possible  []Operation
	condition string   // of the error, unless another one is named; empty: there is none
	only      []string // the conditions that may be named; none: any
	after     bool     // it can follow the operation
	http      bool     // it hits requests over HTTP too
}

// Operations of several kinds of faults.
var (
	requests = []Operation{OperationAttachSender, OperationAttachReceiver, OperationSend, OperationReceive,
		OperationSettle, OperationRenew, OperationManage, OperationAuthenticate}
	requestsOrNow = append(slices.Clone(requests), OperationNow)
	onMessages    = []Operation{OperationSend, OperationReceive, OperationSettle}
	onLocks       = []Operation{OperationSettle, OperationRenew}
)

var faultKinds = map[FaultKind]faultKind{
	FaultThrottle: {
		usual: []Operation{OperationSend}, possible: requests,
		condition: "server-busy", only: []string{"server-busy"}, http: true,
	},
	FaultRefuse: {
		usual: []Operation{OperationAttachSender, OperationAttachReceiver}, possible: requests,
		condition: "internal-error", http: true,
	},
	FaultDetach: {usual: onMessages, possible: requestsOrNow, condition: "detach-forced", after: true},
	FaultDrop:   {usual: onMessages, possible: requestsOrNow, after: true, http: true},
	FaultClose: {
		usual: onMessages, possible: requestsOrNow,
		condition: "connection-forced", after: true, http: true,
	},
	FaultLoseLock:    {usual: onLocks, possible: onLocks, http: true},
	FaultLoseSession: {usual: onLocks, possible: append(slices.Clone(onLocks), OperationManage)},
	FaultDelay: {
		usual:    []Operation{OperationSend, OperationSettle},
		possible: []Operation{OperationSend, OperationSettle, OperationRenew, OperationManage}, http: true,
	},
	FaultStarve: {
		usual:    []Operation{OperationSend, OperationReceive},
		possible: []Operation{OperationSend, OperationReceive},
	},
	FaultFailJournal: {
		usual:     []Operation{OperationSend, OperationSettle},
		possible:  append(slices.Clone(onMessages), OperationManage),
		condition: "internal-error", only: []string{"internal-error", "resource-limit-exceeded"}, http: true,
	},
	FaultExpireToken: {
		usual:    []Operation{OperationNow},
		possible: append(slices.Clone(onMessages), OperationManage, OperationNow),
	},
}

// badFault returns the error of options that make no fault.
func badFault(format string, args ...any) error { return errorf(CodeArgument, "", format, args...) }

// check fails with what is wrong, as CodeArgument.
func (o *FaultOptions) check() error {
	k, known := faultKinds[o.Kind]
	if !known {
		return badFault("There is no kind of fault %q.", clipped(string(o.Kind)))
	}
	answered := true // by an outcome, which can be lost
	for _, op := range o.Operations {
		if !slices.Contains(k.possible, op) {
			return badFault("A fault of the kind %s can't hit the operation %q. It can hit %s.",
				o.Kind, clipped(string(op)), listOf(k.possible))
		}
		answered = answered && (op == OperationSend || op == OperationSettle)
	}
	name := conditionName(o.Condition)
	_, conditionKnown := faultConditions[name]
	switch {
	case o.Condition == "":
	case k.condition == "":
		return badFault("A fault of the kind %s has no condition.", o.Kind)
	case len(k.only) > 0 && !slices.Contains(k.only, name):
		return badFault("The condition of a fault of the kind %s can't be %q; it can be %s.",
			o.Kind, clipped(o.Condition), strings.Join(k.only, ", "))
	case !conditionKnown:
		return badFault("There is no condition %q. There are %s.",
			clipped(o.Condition), strings.Join(FaultConditions(), ", "))
	}
	switch {
	case (o.Kind == FaultDelay) != (o.Delay > 0) || o.Delay < 0 || o.Delay > MaxFaultDelay:
		return badFault("A fault of the kind delay, and no other, needs a delay, of at most %v; found %v with the "+
			"kind %s.", MaxFaultDelay, o.Delay, o.Kind)
	case o.After && (!k.after || !answered):
		return badFault("Only a fault of the kind detach, drop or close can come after the operation, " +
			"and only after send and settle. Name those operations.")
	case o.After && len(o.Operations) == 0:
		return badFault("A fault that comes after the operation needs the operations: send, settle or both.")
	case o.Skip < 0, o.Count < 0, !(o.Probability >= 0 && o.Probability <= 1), o.Seed < 0, o.Seed > maxSeed:
		return badFault("Skip and count can't be negative, a probability is from 0 to 1, and a seed from 1 to "+
			"%d.", maxSeed)
	case o.Kind == FaultStarve && (o.Skip != 0 || o.Count != 0 || o.Probability != 0):
		return badFault("A fault of the kind starve has no skip, count and probability: " +
			"it lasts until it is removed, or for a time.")
	case o.For < 0 || o.For > maxAhead:
		return badFault("A fault lasts for a positive time of at most 100 years; found %v.", o.For)
	case o.For > 0 && o.For < time.Millisecond:
		return badFault("A fault lasts for a millisecond at least; found %v.", o.For)
	case len(o.Client) > maxFaultClient:
		return badFault("The client has %d bytes; at most %d are allowed.", len(o.Client), maxFaultClient)
	}
	return nil
}

func clipped(s string) string { return s[:min(len(s), 60)] }

func listOf[T ~string](list []T) string {
	return strings.Join(mapped(list, func(x T) string { return string(x) }), ", ")
}

// faultCondition is an error that a fault can give.
type faultCondition struct {
	code Code
	text string // with %[1]s for the entity and %[2]s for the claim that the operation needs
}

// faultConditions has the service's errors, with its words where they are known, by the names of their AMQP conditions
// without the prefix.
var faultConditions = map[string]faultCondition{
	"server-busy": {CodeServerBusy, "The request was terminated because the entity is being throttled. " +
		"Error code : 50009. Please wait 2 seconds and try again. " +
		"To know more visit https://aka.ms/ServiceBusThrottling."},
	"unauthorized-access": {CodeUnauthorized, "Unauthorized access. '%[2]s' claim(s) are required to perform this " +
		"operation. Resource: '%[1]s'."},
	"not-found":       {CodeNotFound, "The messaging entity '%[1]s' could not be found."},
	"entity-disabled": {CodeEntityDisabled, "Messaging entity '%[1]s' is currently disabled."},
	"resource-limit-exceeded": {CodeQuotaExceeded, "The maximum entity size has been reached or exceeded for " +
		"'%[1]s'."},
	"internal-error":  {CodeInternal, "The service was unable to process the request; please retry the operation."},
	"timeout":         {CodeTimeout, "The operation did not complete within the allotted time."},
	"not-allowed":     {CodeNotAllowed, "The operation is not allowed on the entity '%[1]s'."},
	"argument-error":  {CodeArgument, "The request for the entity '%[1]s' has an argument that is not valid."},
	"not-implemented": {CodeNotImplemented, "The operation is not implemented."},
	"message-size-exceeded": {CodeMessageTooLarge, "The message exceeds the limit currently allowed on the link to " +
		"'%[1]s'."},
	"message-lock-lost": {CodeMessageLockLost, LockLostText},
	"message-not-found": {CodeMessageNotFound, "The message could not be found in '%[1]s'."},
	"session-lock-lost": {CodeSessionLockLost, "The session lock has expired on the MessageSession. " +
		"Accept a new MessageSession."},
	"session-cannot-be-locked": {CodeSessionLocked, "The requested session of '%[1]s' cannot be accepted. " +
		"It may be locked by another receiver."},
	"detach-forced":     {CodeDetached, "The link to '%[1]s' is force detached. Code: Fault."},
	"connection-forced": {CodeDetached, "The connection was closed by the service."},
}

// FaultConditions returns the names of the conditions that a fault can have, in alphabetical order.
func FaultConditions() []string { return slices.Sorted(maps.Keys(faultConditions)) }

// conditionName returns the name of an AMQP condition without the prefix: amqp:not-found is not-found.
func conditionName(symbol string) string { return symbol[strings.LastIndexByte(symbol, ':')+1:] }

// Condition returns the name of the condition of the fault's error; empty: it has none.
func (f *Fault) Condition() string {
	if f.options.Condition != "" {
		return conditionName(f.options.Condition)
	}
	return faultKinds[f.options.Kind].condition
}

// Error returns the error that an attempt gets. It tells people which fault it comes from.
func (f *Fault) Error(a *Attempt) *Error {
	path, claim := a.Path, "Listen"
	if a.Entity != nil {
		path = a.Entity.path
	}
	if a.Operation == OperationSend || a.Operation == OperationAttachSender {
		claim = "Send"
	}
	c, known := faultConditions[f.Condition()]
	if !known { // a fault without a condition where there must be one, such as a drop over HTTP
		c = faultConditions["internal-error"]
	}
	text := c.text
	if strings.Contains(text, "%[") {
		text = fmt.Sprintf(text+"%.0[1]s%.0[2]s", path, claim)
	}
	return &Error{Code: c.code, Entity: path, Text: text + " (" + f.Source() + ")"}
}

// Source says where an error comes from, for people who read it.
func (f *Fault) Source() string { return fmt.Sprintf("by fault %d of Minibus", f.id) }

// journalError returns the error of a change that can't be written, as the store words it.
func (f *Fault) journalError() *Error {
	e := &Error{Code: CodeInternal, Text: "The message store could not be written", Err: errors.New("disk I/O error")}
	if faultConditions[f.Condition()].code == CodeQuotaExceeded {
		e = &Error{Code: CodeQuotaExceeded, Text: "The disk is full", Err: errors.New("database or disk is full")}
	}
	e.Text += " (" + f.Source() + ")"
	return e
}
