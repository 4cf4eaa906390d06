package amqpserver

import (
	"slices"
	"strconv"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
)

// Bounds on what open transactions hold, per connection. They protect the broker; a client opens only a few.
const (
	maxTransactions     = 1024
	maxTransactionBytes = 64 << 20 // of messages that wait for a commit, beyond a first one of any size
)

// coordinatorCapabilities says what our coordinator can do [AMQP 4.7]: several transactions at once per session
// (TXN-22), and work for one transaction from several sessions of the connection (TXN-4).
var coordinatorCapabilities = []amqp.Symbol{
	"amqp:local-transactions", "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn",
}

// attachCoordinator opens a link that declares and discharges transactions [AMQP 4.2].
func (s *session) attachCoordinator(a *frames.Attach) error {
	in := s.newIncoming(a, node{kind: nodeCoordinator})
	in.take = in.takeControl
	in.window = requestCredit
	in.maxMessage = controlLimit
	if a.Source != nil && len(a.Source.Outcomes) > 0 {
		// If the outcomes lack rejected, only the end of the link can tell of a failure [AMQP 4.3].
		in.noRejected = !slices.Contains(a.Source.Outcomes, outcomeRejected)
	}
	s.coordinators++
	s.put(in)
	answer := s.accepted(a)
	answer.Target = nil
	answer.Coordinator = &frames.Coordinator{Capabilities: coordinatorCapabilities}
	answer.MaxMessageSize, answer.HasMaxMessageSize = controlLimit, true
	s.write(answer)
	in.topUp()
	return nil
}

// outcomeRejected names that outcome in a source [AMQP 3.4.3].
const outcomeRejected amqp.Symbol = "amqp:rejected:list"

// controlLimit is the largest message to the coordinator, in bytes; it holds an id and a flag.
const controlLimit = 64 << 10

// takeControl takes a declare or a discharge.
func (in *incomingLink) takeControl(d *delivered) {
	m, err := message.Scan(d.raw)
	if err != nil {
		in.refuse("transaction", d, linkErrorf(amqp.CondDecode, "The message could not be decoded: %v.", err))
		return
	}
	control, err := frames.DecodeControl(m.Raw[m.Body.Start:m.Body.End])
	if err != nil {
		err = linkErrorf(amqp.CondDecode, "The coordinator takes declare and discharge only: %v.", err)
		in.refuse("transaction", d, err)
		return
	}
	switch control := control.(type) {
	case *frames.Declare:
		in.declare(d, control)
	case *frames.Discharge:
		in.discharge(d, control)
	}
}

// declare opens a transaction [AMQP 4.5.2]. The domain's transaction begins with the first operation, which starts its
// time limit (TXN-3) and binds it to an entity.
func (in *incomingLink) declare(d *delivered, p *frames.Declare) {
	ts := &in.s.c.transactions
	var err error
	switch {
	case p.GlobalID != nil:
		err = linkErrorf(amqp.CondNotImplemented, "Distributed transactions are not supported.")
	case d.settled:
		err = linkErrorf(amqp.CondInvalidField, "A declare must not be settled: its outcome is the transaction's id.")
	case len(ts.open) >= maxTransactions:
		err = linkErrorf(amqp.CondResourceLimit, "The connection has %d open transactions.", len(ts.open))
	}
	if err != nil {
		in.refuse("declare", d, err)
		return
	}
	ts.last++
	// The connection's id makes it meaningless on other connections (TXN-4).
	t := &transaction{id: ts.c.id + "." + strconv.FormatUint(ts.last, 10), control: in}
	if ts.open == nil {
		ts.open = make(map[string]*transaction)
	}
	ts.open[t.id] = t
	in.s.received.answerAs(d.id, &frames.Declared{TxnID: []byte(t.id)})
}

// discharge ends a transaction [AMQP 4.5.3]. The answer follows the commit.
func (in *incomingLink) discharge(d *delivered, p *frames.Discharge) {
	ts := &in.s.c.transactions
	t := ts.open[string(p.TxnID)]
	if t == nil {
		in.refuse("discharge", d, unknownTransaction(p.TxnID))
		return
	}
	ts.forget(t)
	if t.work == nil || p.Fail {
		if t.work != nil {
			t.work.Rollback()
		}
		ts.end(t, false)
		in.discharged(d, nil)
		return
	}
	op := &dischargeOp{in: in, t: t, delivered: delivered{id: d.id, settled: d.settled}}
	if err := t.work.Commit(op); err != nil {
		ts.end(t, false)
		in.discharged(d, err)
		return
	}
	in.addOutstanding()
}

func (in *incomingLink) discharged(d *delivered, err error) {
	switch {
	case in.state == linkDetaching:
	case err != nil:
		in.refuseAs("discharge", d, err, commitError(err))
	case !d.settled:
		in.s.received.answer(d.id, outcomeAccepted)
	}
}

// dischargeOp is a transaction whose commit is on its way to the journal.
type dischargeOp struct {
	in        *incomingLink
	t         *transaction
	delivered delivered
	err       error
}

// Completed implements emulator.Completion: it runs on the journal's goroutine.
func (op *dischargeOp) Completed(err error) {
	op.err = err
	op.in.s.c.mailbox.post(op)
}

func (op *dischargeOp) run(c *conn) {
	c.transactions.end(op.t, op.err == nil)
	op.in.discharged(&op.delivered, op.err)
	op.in.answered()
}
