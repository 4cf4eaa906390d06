package mgmt

import (
	"net/http"
	"time"

	"minibus/emulator"
)

// hit applies the injected fault that fits the request before it is carried out: it returns the error to answer with,
// cuts the connection, or takes a lock. A fault that concerns the answer is returned for [runtimeCall.afterwards].
func (x *runtimeCall) hit(op emulator.Operation) (*emulator.Fault, error) {
	if !x.ns.Faults().Any() {
		return nil, nil
	}
	locks := op == emulator.OperationSettle || op == emulator.OperationRenew
	a := &emulator.Attempt{Operation: op, Entity: x.entity, Sub: x.sub, Client: x.client(), HTTP: true, Locks: locks}
	if locks {
		a.Tokens = x.token()
	}
	f := x.ns.Faults().Hit(a)
	if f == nil || f.Options().After {
		return f, nil
	}
	switch f.Options().Kind {
	case emulator.FaultThrottle, emulator.FaultRefuse:
		return nil, f.Error(a)
	case emulator.FaultDrop, emulator.FaultClose:
		panic(http.ErrAbortHandler) // net/http cuts the connection
	}
	if locks {
		f.TakeLocks(x.entity, a.Tokens)
	}
	return f, nil
}

// afterwards lets a fault keep back the answer for a while, or lose it.
func (x *runtimeCall) afterwards(f *emulator.Fault) {
	switch {
	case f == nil:
	case f.Options().After:
		panic(http.ErrAbortHandler)
	case f.Options().Delay > 0:
		_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(f.Options().Delay + answerTimeout))
		late := time.NewTimer(f.Options().Delay)
		defer late.Stop()
		select {
		case <-late.C:
		case <-x.r.Context().Done():
		}
	}
}
