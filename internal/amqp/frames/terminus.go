package frames

import "minibus/internal/amqp"

// Source is where a link's messages come from [AMQP 3.5.3].
type Source struct {
	Address               string
	HasAddress            bool
	Durable               uint32 // 0 none, 1 configuration, 2 unsettled-state
	ExpiryPolicy          amqp.Symbol
	Timeout               uint32 // seconds
	Dynamic               bool
	DynamicNodeProperties amqp.Map
	DistributionMode      amqp.Symbol
	Filter                amqp.Map // values keep their descriptors, as [amqp.Described]
	DefaultOutcome        any      // as decoded, usually an [amqp.Described]
	Outcomes              []amqp.Symbol
	Capabilities          []amqp.Symbol
}

func appendSource(dst []byte, s *Source) []byte {
	if s == nil {
		return amqp.AppendNull(dst)
	}
	dst, m := begin(dst, codeSource)
	dst = appendString(dst, s.Address, s.HasAddress)
	dst = appendUint(dst, s.Durable, s.Durable != 0)
	dst = appendSymbol(dst, s.ExpiryPolicy)
	dst = appendUint(dst, s.Timeout, s.Timeout != 0)
	dst = appendFlag(dst, s.Dynamic)
	dst = appendMap(dst, s.DynamicNodeProperties)
	dst = appendSymbol(dst, s.DistributionMode)
	dst = appendMap(dst, s.Filter)
	dst = appendAny(dst, s.DefaultOutcome)
	dst = appendSymbols(dst, s.Outcomes)
	dst = appendSymbols(dst, s.Capabilities)
	return amqp.EndList(dst, m, 11)
}

func (s *Source) decode(r *amqp.Reader) error {
	f := listFields(r, "source")
	s.Address, s.HasAddress = f.text()
	s.Durable, _ = f.uint32()
	s.ExpiryPolicy, _ = f.symbol()
	s.Timeout, _ = f.uint32()
	s.Dynamic = f.flag()
	s.DynamicNodeProperties = f.mapping()
	s.DistributionMode, _ = f.symbol()
	s.Filter = f.mapping()
	s.DefaultOutcome = f.any()
	s.Outcomes = f.symbols()
	s.Capabilities = f.symbols()
	return f.done()
}

func (f *fields) source() *Source {
	code, r, ok := f.composite()
	if !ok {
		return nil
	}
	if code != codeSource {
		f.fail("source of unknown kind", amqp.ErrWrongType)
		return nil
	}
	s := new(Source)
	f.keep(true, s.decode(&r))
	return s
}

// Target is where a link's messages go [AMQP 3.5.4].
type Target struct {
	Address               string
	HasAddress            bool
	Durable               uint32 // 0 none, 1 configuration, 2 unsettled-state
	ExpiryPolicy          amqp.Symbol
	Timeout               uint32 // seconds
	Dynamic               bool
	DynamicNodeProperties amqp.Map
	Capabilities          []amqp.Symbol
}

func appendTarget(dst []byte, t *Target) []byte {
	if t == nil {
		return amqp.AppendNull(dst)
	}
	dst, m := begin(dst, codeTarget)
	dst = appendString(dst, t.Address, t.HasAddress)
	dst = appendUint(dst, t.Durable, t.Durable != 0)
	dst = appendSymbol(dst, t.ExpiryPolicy)
	dst = appendUint(dst, t.Timeout, t.Timeout != 0)
	dst = appendFlag(dst, t.Dynamic)
	dst = appendMap(dst, t.DynamicNodeProperties)
	dst = appendSymbols(dst, t.Capabilities)
	return amqp.EndList(dst, m, 7)
}

func (t *Target) decode(r *amqp.Reader) error {
	f := listFields(r, "target")
	t.Address, t.HasAddress = f.text()
	t.Durable, _ = f.uint32()
	t.ExpiryPolicy, _ = f.symbol()
	t.Timeout, _ = f.uint32()
	t.Dynamic = f.flag()
	t.DynamicNodeProperties = f.mapping()
	t.Capabilities = f.symbols()
	return f.done()
}

// Coordinator is the target of a link that controls transactions [AMQP 4.5.1].
type Coordinator struct {
	Capabilities []amqp.Symbol
}

func (c *Coordinator) appendTo(dst []byte) []byte {
	dst, m := begin(dst, codeCoordinator)
	dst = appendSymbols(dst, c.Capabilities)
	return amqp.EndList(dst, m, 1)
}

func (c *Coordinator) decode(r *amqp.Reader) error {
	f := listFields(r, "coordinator")
	c.Capabilities = f.symbols()
	return f.done()
}
