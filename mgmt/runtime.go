package mgmt

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/internal/sas"
	"minibus/mgmt/atom"
)

// runtimeAPI serves the runtime API: sending and receiving over HTTP (management-rest 7).
type runtimeAPI struct {
	authorize func(x *request, claim sas.Claims, entity string) error
	gone      bool // DEC-13
	reading   atomic.Int64
	batches   chan struct{}       // one for each large batch that is being read and stored
	writing   *semaphore.Weighted // bytes of large messages that are being received
	weight    *semaphore.Weighted // operations that the journal makes of what is sent to topics
}

func newRuntimeAPI(authorize func(x *request, claim sas.Claims, entity string) error, gone bool) *runtimeAPI {
	return &runtimeAPI{
		authorize: authorize,
		gone:      gone,
		batches:   make(chan struct{}, maxLargeBatches),
		writing:   semaphore.NewWeighted(maxWriting),
		weight:    semaphore.NewWeighted(maxWeight),
	}
}

// runtimeCall is one request to the runtime API.
type runtimeCall struct {
	*request
	api    *runtimeAPI
	path   string // of the entity, without its sub-queue
	sub    emulator.SubQueue
	entity *emulator.Entity

	spelling func(canonical string) string // returns a header's name as the client wrote it; nil: unknown
}

// runtimeOperation is an operation and the right that it needs.
type runtimeOperation struct {
	claim sas.Claims
	is    emulator.Operation                  // for faults
	do    func(*runtimeCall) (*answer, error) // nil, nil: it has written the answer itself
}

// runtimeOperations has the operations by the number of segments behind the entity and by method.
var runtimeOperations = map[int]map[string]runtimeOperation{
	1: {http.MethodPost: {sas.Send, emulator.OperationSend, (*runtimeCall).send}},
	2: {
		http.MethodPost:   {sas.Listen, emulator.OperationReceive, (*runtimeCall).peekLock},
		http.MethodDelete: {sas.Listen, emulator.OperationReceive, (*runtimeCall).receiveAndDelete},
	},
	3: {
		http.MethodPost:   {sas.Listen, emulator.OperationRenew, (*runtimeCall).renewLock},
		http.MethodPut:    {sas.Listen, emulator.OperationSettle, (*runtimeCall).unlock},
		http.MethodDelete: {sas.Listen, emulator.OperationSettle, (*runtimeCall).complete},
	},
}

// serve answers one request for which isRuntime holds, with err if that is not nil.
func (a *runtimeAPI) serve(r *request, err error) {
	x := &runtimeCall{api: a, request: r}
	if x.path, x.sub = entitypath.CutSubQueue(x.target.messaging); x.path == "" { // a sub-queue without an entity
		x.path, x.sub = x.target.messaging, emulator.Main
	}
	x.spelling = spelling(x.r) // for every request, or the next one with the same address would get this one's
	var result *answer
	if err == nil {
		result, err = x.handle()
	}
	if err != nil {
		p := a.problemOf(err)
		if x.isSend() {
			x.w.Header().Set("x-ms-retrypolicy", "NoRetry")
		}
		result = p.answer(x.request)
	}
	if result != nil {
		_ = result.write(x.w)
	}
}

// isRuntime reports whether a request belongs to the runtime API and not to the administration of an entity whose
// name ends in "messages" (management-rest 2).
func isRuntime(r *http.Request, t target) bool {
	m := t.messages
	switch {
	case m == nil:
		return false
	case r.Method == http.MethodPost:
		return true
	case r.Method == http.MethodDelete:
		return len(m) > 1
	case r.Method == http.MethodPut:
		return len(m) == 3 && !hasBody(r)
	}
	return false
}

// hasBody reports whether a body follows. If its length is unknown, hasBody reads the first byte.
func hasBody(r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength > 0
	}
	first := make([]byte, 1)
	n, _ := io.ReadFull(r.Body, first)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first[:n]), r.Body), r.Body}
	return n > 0
}

// isSend reports whether the request sends messages.
func (x *runtimeCall) isSend() bool { return len(x.target.messages) == 1 }

// handle checks the token before it looks for the entity, so that an answer without rights tells nothing about it.
func (x *runtimeCall) handle() (*answer, error) {
	o, found := runtimeOperations[len(x.target.messages)][x.r.Method]
	if !found {
		return nil, badVerb(x.r.Method)
	}
	if err := x.api.authorize(x.request, o.claim, x.path); err != nil {
		return nil, err
	}
	var err error
	if x.entity, err = x.ns.Entity(x.path); err != nil {
		return nil, err
	}
	f, err := x.hit(o.is)
	if err != nil {
		return nil, err
	}
	result, err := o.do(x)
	x.afterwards(f)
	return result, err
}

// problemOf returns the runtime API's answer to an error (DEC-13).
func (a *runtimeAPI) problemOf(err error) *problem {
	p := problemOf(err)
	if a.gone && hasCode(err, emulator.CodeNotFound) {
		p.status = http.StatusGone
	}
	return p
}

// empty is an answer without a body.
func empty(status int) *answer { return &answer{status: status, contentType: atom.TypeError} }

// completion waits until the broker has made an operation durable.
type completion chan error

func newCompletion() completion { return make(completion, 1) }

// Completed implements [emulator.Completion].
func (c completion) Completed(err error) { c <- err }

// wait returns the result of an operation whose start returned err. It also waits if the client has gone, because an
// operation that has begun can't be taken back.
func (c completion) wait(err error) error {
	if err != nil {
		return err
	}
	return <-c
}
