package frames

import (
	"slices"

	"minibus/internal/amqp"
)

// nested writes or traces a field that is a composite.
func (c *codec) nested(code byte, v composite) {
	if c.mode == writing {
		c.put(appendComposite(c.dst, code, v))
	} else {
		v.fields(&codec{mode: tracing, line: c.line})
	}
}

// null writes a null. A trace shows it if it has a name.
func (c *codec) null(name string) {
	if c.mode == writing {
		c.put(amqp.AppendNull(c.dst))
	} else {
		c.line.show(name, "null")
	}
}

// The codes that may stand where a composite is expected. An outcome [AMQP 3.4] is the state in a transactional
// state: another transactional state there would be recursion that the peer controls.
var (
	errorCodes   = []uint64{codeError}
	sourceCodes  = []uint64{codeSource}
	targetCodes  = []uint64{codeTarget, codeCoordinator}
	outcomeCodes = []uint64{codeAccepted, codeReleased, codeRejected, codeModified}
	stateCodes   = append([]uint64{codeReceived, codeDeclared, codeTransactionalState}, outcomeCodes...)
)

// readNested reads a field that is a composite of one of the codes. It returns nil for null.
func (c *codec) readNested(what string, codes []uint64) composite {
	if !c.next() {
		return nil
	}
	r := c.r
	code, err := descriptor(&r)
	if err == nil {
		err = c.r.Skip()
	}
	if !c.keep(true, err) {
		return nil
	}
	if !slices.Contains(codes, code) {
		c.fail(what+" of unknown kind", amqp.ErrWrongType)
		return nil
	}
	k := kindOf(code)
	v := k.empty()
	if code == codeAccepted || code == codeReleased {
		// Most dispositions are these. A call through the interface would move the codec to the heap.
		sub := reader(&r, "outcome")
		c.keep(true, sub.done())
		return v
	}
	sub := reader(&r, k.name)
	v.fields(&sub)
	c.keep(true, sub.done())
	return v
}

// error is null if it is nil.
func (c *codec) error(v **Error) {
	switch {
	case c.mode == reading:
		*v, _ = c.readNested("error", errorCodes).(*Error)
	case *v == nil:
		c.null("")
	case c.mode == writing:
		c.nested(codeError, *v)
	default:
		c.line.quote("error", (*v).Error())
	}
}

// source is null if it is nil. The trace shows that, because it means a refused link.
func (c *codec) source(v **Source) {
	switch {
	case c.mode == reading:
		*v, _ = c.readNested("source", sourceCodes).(*Source)
	case *v == nil:
		c.null("source")
	default:
		c.nested(codeSource, *v)
	}
}

// target is a target or a coordinator. It is traced like a source.
func (c *codec) target(v **Target, coordinator **Coordinator) {
	switch {
	case c.mode == reading:
		got := c.readNested("target", targetCodes)
		*v, _ = got.(*Target)
		*coordinator, _ = got.(*Coordinator)
	case *coordinator != nil:
		c.nested(codeCoordinator, *coordinator)
	case *v == nil:
		c.null("target")
	default:
		c.nested(codeTarget, *v)
	}
}

// state is any delivery state.
func (c *codec) state(v *DeliveryState) {
	switch {
	case c.mode == reading:
		*v, _ = c.readNested("delivery state", stateCodes).(DeliveryState)
	case *v == nil:
		c.null("")
	case c.mode == writing:
		c.put((*v).AppendTo(c.dst))
	default:
		c.line.show("state", (*v).Name())
		(*v).fields(&codec{mode: tracing, line: c.line})
	}
}

func (c *codec) outcome(v *DeliveryState) {
	if c.mode == reading {
		*v, _ = c.readNested("outcome", outcomeCodes).(DeliveryState)
	} else {
		c.state(v)
	}
}
