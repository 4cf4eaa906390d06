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

func (s *Source) fields(c *codec) {
	c.address("source", &s.Address, &s.HasAddress)
	c.durable(&s.Durable)
	c.maybeSymbol("expiry-policy", &s.ExpiryPolicy)
	c.nonzero("timeout", &s.Timeout)
	c.mark("dynamic", &s.Dynamic)
	c.mapping("", &s.DynamicNodeProperties)
	c.maybeSymbol("distribution-mode", &s.DistributionMode)
	c.filter(&s.Filter)
	c.any(&s.DefaultOutcome)
	c.symbols("", &s.Outcomes)
	c.symbols("capabilities", &s.Capabilities)
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

func (t *Target) fields(c *codec) {
	c.address("target", &t.Address, &t.HasAddress)
	c.durable(&t.Durable)
	c.maybeSymbol("expiry-policy", &t.ExpiryPolicy)
	c.nonzero("timeout", &t.Timeout)
	c.mark("dynamic", &t.Dynamic)
	c.mapping("", &t.DynamicNodeProperties)
	c.symbols("capabilities", &t.Capabilities)
}

// Coordinator is the target of a link that controls transactions [AMQP 4.5.1].
type Coordinator struct {
	Capabilities []amqp.Symbol
}

func (t *Coordinator) fields(c *codec) {
	if c.mode == tracing {
		c.line.show("target", "coordinator")
	}
	c.symbols("capabilities", &t.Capabilities)
}

// address is traced even if it is empty.
func (c *codec) address(name string, v *string, has *bool) {
	if c.mode == tracing {
		c.line.quote(name, *v)
	} else {
		c.text(name, v, has)
	}
}

func (c *codec) durable(v *uint32) {
	switch {
	case c.mode == tracing && *v == 1:
		c.line.show("durable", "configuration")
	case c.mode == tracing && *v == 2:
		c.line.show("durable", "unsettled-state")
	default:
		c.nonzero("durable", v)
	}
}

// filter is traced with the types of the filters.
func (c *codec) filter(v *amqp.Map) {
	if c.mode == tracing {
		c.line.filters(*v)
	} else {
		c.mapping("filter", v)
	}
}
