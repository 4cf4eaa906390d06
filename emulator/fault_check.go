package emulator

import (
	"slices"
	"strings"
	"time"
)

// Bounds of faults.
const (
	// MaxFaults is how many faults a namespace remembers.
	MaxFaults = 100
	// MaxFaultDelay is the longest delay of an outcome.
	MaxFaultDelay = 10 * time.Minute

	maxSeed        = 1<<31 - 1
	maxFaultClient = 255 // bytes
)

// faultKind is what a kind of fault can do.
type faultKind struct {
	usual, possible []Operation // the first that are struck unless others are named
	condition       string      // of the error, unless another one is named; empty: there is none
	only            []string    // the conditions that may be named; none: any
	after           bool        // it can follow the operation
	http            bool        // it strikes requests over HTTP too
}

// Operations of several kinds of faults.
var (
	whatIsRefused = []Operation{OperationAttachSender, OperationAttachReceiver, OperationSend, OperationReceive, OperationSettle, OperationRenew, OperationManage,
		OperationAuthenticate}
	whatEndsLinks = append(slices.Clone(whatIsRefused), OperationNow)
	onMessages    = []Operation{OperationSend, OperationReceive, OperationSettle}
)

var faultKinds = map[FaultKind]faultKind{
	FaultThrottle:    {usual: []Operation{OperationSend}, possible: whatIsRefused, condition: "server-busy", only: []string{"server-busy"}, http: true},
	FaultRefuse:      {usual: []Operation{OperationAttachSender, OperationAttachReceiver}, possible: whatIsRefused, condition: "internal-error", http: true},
	FaultDetach:      {usual: onMessages, possible: whatEndsLinks, condition: "detach-forced", after: true},
	FaultDrop:        {usual: onMessages, possible: whatEndsLinks, after: true, http: true},
	FaultClose:       {usual: onMessages, possible: whatEndsLinks, condition: "connection-forced", after: true, http: true},
	FaultLoseLock:    {usual: []Operation{OperationSettle, OperationRenew}, possible: []Operation{OperationSettle, OperationRenew}, http: true},
	FaultLoseSession: {usual: []Operation{OperationSettle, OperationRenew}, possible: []Operation{OperationSettle, OperationRenew, OperationManage}},
	FaultDelay: {usual: []Operation{OperationSend, OperationSettle},
		possible: []Operation{OperationSend, OperationSettle, OperationRenew, OperationManage}, http: true},
	FaultStarve: {usual: []Operation{OperationSend, OperationReceive}, possible: []Operation{OperationSend, OperationReceive}},
	FaultFailJournal: {usual: []Operation{OperationSend, OperationSettle}, possible: []Operation{OperationSend, OperationReceive, OperationSettle, OperationManage},
		condition: "internal-error", only: []string{"internal-error", "resource-limit-exceeded"}, http: true},
	FaultExpireToken: {usual: []Operation{OperationNow}, possible: []Operation{OperationSend, OperationReceive, OperationSettle, OperationManage, OperationNow}},
}

// check fails with what is wrong, as CodeArgument.
func (o *FaultOptions) check() error {
	k, known := faultKinds[o.Kind]
	if !known {
		return errorf(CodeArgument, "", "There is no kind of fault %q.", clipped(string(o.Kind)))
	}
	for _, op := range o.Operations {
		if !slices.Contains(k.possible, op) {
			return errorf(CodeArgument, "", "A fault of the kind %s can't strike the operation %q. It can strike %s.", o.Kind, clipped(string(op)), listOf(k.possible))
		}
	}
	if err := o.checkCondition(k); err != nil {
		return err
	}
	switch {
	case (o.Kind == FaultDelay) != (o.Delay > 0) || o.Delay < 0 || o.Delay > MaxFaultDelay:
		return errorf(CodeArgument, "", "A fault of the kind delay, and no other, needs a delay, of at most %v; found %v with the kind %s.", MaxFaultDelay, o.Delay, o.Kind)
	case o.After && (!k.after || slices.ContainsFunc(o.Operations, func(op Operation) bool { return op != OperationSend && op != OperationSettle })):
		return errorf(CodeArgument, "", "Only a fault of the kind detach, drop or close can come after the operation, and only after send and settle. Name those operations.")
	case o.After && len(o.Operations) == 0:
		return errorf(CodeArgument, "", "A fault that comes after the operation needs the operations: send, settle or both.")
	case o.Skip < 0 || o.Count < 0 || o.Probability < 0 || o.Probability > 1 || o.Probability != o.Probability || o.Seed < 0 || o.Seed > maxSeed:
		return errorf(CodeArgument, "", "Skip and count can't be negative, a probability is from 0 to 1, and a seed from 1 to %d.", maxSeed)
	case o.Kind == FaultStarve && (o.Skip != 0 || o.Count != 0 || o.Probability != 0):
		return errorf(CodeArgument, "", "A fault of the kind starve has no skip, count and probability: it lasts until it is removed, or for a time.")
	case o.For < 0 || o.For > maxAhead:
		return errorf(CodeArgument, "", "A fault lasts for a positive time of at most 100 years; found %v.", o.For)
	case o.For > 0 && o.For < time.Millisecond:
		return errorf(CodeArgument, "", "A fault lasts for a millisecond at least; found %v.", o.For)
	case len(o.Client) > maxFaultClient:
		return errorf(CodeArgument, "", "The client has %d bytes; at most %d are allowed.", len(o.Client), maxFaultClient)
	}
	return nil
}

func (o *FaultOptions) checkCondition(k faultKind) error {
	if o.Condition == "" {
		return nil
	}
	_, known := faultConditions[conditionName(o.Condition)]
	switch {
	case k.condition == "":
		return errorf(CodeArgument, "", "A fault of the kind %s has no condition.", o.Kind)
	case len(k.only) > 0 && !slices.Contains(k.only, conditionName(o.Condition)):
		return errorf(CodeArgument, "", "The condition of a fault of the kind %s can't be %q; it can be %s.", o.Kind, clipped(o.Condition), strings.Join(k.only, ", "))
	case !known:
		return errorf(CodeArgument, "", "There is no condition %q. There are %s.", clipped(o.Condition), strings.Join(FaultConditions(), ", "))
	}
	return nil
}

func clipped(s string) string { return s[:min(len(s), 60)] }

func listOf[T ~string](list []T) string {
	return strings.Join(mapped(list, func(x T) string { return string(x) }), ", ")
}
