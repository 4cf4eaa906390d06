package amqpserver

import (
	"math"
	"slices"
	"strings"
	"time"

	"minibus/emulator"
	"minibus/emulator/filter"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/printable"
	"minibus/internal/sas"
)

// jmsMode says how much of JMS 2.0 a connection gets. Its open decides it. What is on counts for a link that asks for
// it by a capability, a dynamic target, a filter or a distribution mode; other links are the same in all modes.
type jmsMode uint8

const (
	jmsOff   jmsMode = iota // as a Standard namespace, and for clients that don't say that they are Azure's JMS client
	jmsPlain                // such a client, where limits are relaxed: all but entities that are made at an attach
	jmsFull                 // Azure's JMS client on a Premium namespace
)

// Properties of the open of Azure's JMS client.
const (
	keyJMSProvider            = "com.microsoft:is-client-provider"
	keyQueueAutoDelete        = "com.microsoft:queue-auto-delete-on-idle-duration-in-seconds"
	keyTopicAutoDelete        = "com.microsoft:topic-auto-delete-on-idle-duration-in-seconds"
	keySubscriptionAutoDelete = "com.microsoft:subscriber-auto-delete-on-idle-duration-in-seconds"
)

// keyFailed is the property of an open that a close with an error follows.
const keyFailed = "amqp:connection-establishment-failed"

// Capabilities of connections and links.
const (
	capabilityDelay  amqp.Symbol = "DELAYED_DELIVERY"
	capabilityShared amqp.Symbol = "SHARED-SUBS"
	capabilityRelay  amqp.Symbol = "ANONYMOUS-RELAY"
)

// Capabilities of sources and targets.
const (
	capabilityQueue          amqp.Symbol = "queue"
	capabilityTopic          amqp.Symbol = "topic"
	capabilityTemporaryQueue amqp.Symbol = "temporary-queue"
	capabilityTemporaryTopic amqp.Symbol = "temporary-topic"
	capabilitySharedSource   amqp.Symbol = "shared"
	capabilityGlobal         amqp.Symbol = "global"
)

// autoDelete is the AutoDeleteOnIdle of what attaches make; 0: none.
type autoDelete struct{ queue, topic, subscription time.Duration }

// decideJMS says how much of JMS 2.0 the connection gets. It fails for Azure's JMS client on another namespace than a
// Premium one.
func (c *conn) decideJMS(o *frames.Open) error {
	v, _ := o.Properties.Get(keyJMSProvider)
	provider, _ := amqp.AsBool(v)
	limits := c.ns.Profile()
	switch {
	case provider && (limits == emulator.ProfileStandard || limits == emulator.ProfileEmulator):
		return connErrorf(amqp.CondNotImplemented,
			"Full JMS 2.0 parity over AMQP is a feature supported only by a Premium Messaging namespace.")
	case provider:
		c.jms = jmsFull
	case limits == emulator.ProfileRelaxed:
		c.jms = jmsPlain
	}
	for key, into := range map[string]*time.Duration{
		keyQueueAutoDelete:        &c.autoDelete.queue,
		keyTopicAutoDelete:        &c.autoDelete.topic,
		keySubscriptionAutoDelete: &c.autoDelete.subscription,
	} {
		v, _ := o.Properties.Get(key)
		if s, ok := amqp.AsInt64(v); ok && s > 0 {
			*into = time.Duration(min(s, math.MaxInt64/int64(time.Second))) * time.Second
		}
	}
	return nil
}

// offered returns those of the capabilities that a peer desires which the connection has. Clients whose destinations
// are made at an attach get no relay: with it they would not attach.
func (c *conn) offered(desired []amqp.Symbol) (offered []amqp.Symbol) {
	for _, d := range desired {
		has := d == capabilityDelay || d == capabilityShared || d == capabilityRelay && c.jms == jmsPlain
		if has && c.jms != jmsOff && !slices.Contains(offered, d) {
			offered = append(offered, d)
		}
	}
	return offered
}

// needJMS fails for a link that asks for a feature of JMS 2.0 where that is off. fix is another way to the same end; it
// may be empty.
func (c *conn) needJMS(feature, fix string) error {
	if c.jms == jmsOff {
		return linkErrorf(amqp.CondNotImplemented, "This namespace has no %s for this client: it is a feature of "+
			"JMS 2.0, for which Azure wants a Premium namespace and the client library azure-servicebus-jms.%s",
			feature, fix)
	}
	if c.jms == jmsPlain && c.srv.toldJMS.CompareAndSwap(false, true) {
		c.log.Info("Azure would refuse this: JMS 2.0 needs a Premium namespace and azure-servicebus-jms there",
			"feature", feature, "container", c.peer.containerID)
	}
	return nil
}

// Descriptors of Apache's filters [jms-mapping].
const (
	codeSelector   = 0x0000468C00000004
	symbolSelector = "apache.org:selector-filter:string"
	codeNoLocal    = 0x0000468C00000003
	symbolNoLocal  = "apache.org:no-local-filter:list"
)

// isDescribedAs reports whether a filter of a source has one of two descriptors.
func isDescribedAs(value any, code uint64, symbol string) bool {
	described, _ := value.(amqp.Described)
	if n, ok := described.Descriptor.(uint64); ok {
		return n == code
	}
	name, _ := amqp.AsString(described.Descriptor)
	return name == symbol
}

// sourceFilter is the filter of an attach's source: the selector of a JMS client.
type sourceFilter struct {
	text   string
	filter amqp.Map // for the answer
}

// sourceFilterOf returns the selector of a source; nil: it has none.
func sourceFilterOf(source *frames.Source) (*sourceFilter, error) {
	for _, f := range source.Filter {
		if !isDescribedAs(f.Value, codeSelector, symbolSelector) {
			continue
		}
		text, ok := amqp.AsString(f.Value.(amqp.Described).Value)
		if !ok {
			return nil, linkErrorf(amqp.CondInvalidField, "The selector is no string.")
		}
		if strings.TrimSpace(text) == "" {
			return nil, nil
		}
		return &sourceFilter{text, amqp.Map{f}}, nil
	}
	return nil, nil
}

// parse returns what the selector means; nil without one.
func (f *sourceFilter) parse() (*filter.Selector, error) {
	if f == nil {
		return nil, nil
	}
	parsed, err := filter.ParseSelector(f.text)
	if err != nil {
		return nil, linkErrorf(amqp.CondInvalidField, "The selector can't be read: %v.", err)
	}
	return parsed, nil
}

// describe says in the answer to an attach that the selector is in effect (JMS-3).
func (f *sourceFilter) describe(answer *frames.Attach) {
	if f != nil {
		answer.Source.Filter = f.filter
	}
}

// shown returns the text of the selector, for those who look at the link.
func (f *sourceFilter) shown() string {
	if f == nil {
		return ""
	}
	return printable.Clip(f.text, maxNames)
}

// createMissing makes the queue or topic that an attach has not found, and attaches again: for Azure's JMS client, if
// it may manage the entity and says by a capability which of the two it is. Else it returns the failure of the attach.
func (s *session) createMissing(
	a *frames.Attach, l *link, capabilities []amqp.Symbol, failure error, attach func(*frames.Attach) error,
) error {
	c := s.c
	queue, topic := slices.Contains(capabilities, capabilityQueue), slices.Contains(capabilities, capabilityTopic)
	if c.jms != jmsFull || !queue && !topic || amqpErrorOf(failure).condition != amqp.CondNotFound ||
		l.node.kind != nodeEntity || l.node.sub != emulator.Main || isSubscription(l.node.path) ||
		emulator.LooksTemporary(l.node.path) || c.foreign(l.node.host) {
		return failure
	}
	if _, exists := c.ns.Kind(l.node.path); exists {
		return failure // something else is missing
	}
	if err := l.allow(right{l.node, sas.Manage}); err != nil {
		return err
	}
	after := c.autoDelete.queue
	if !queue {
		after = c.autoDelete.topic
	}
	path := l.node.path
	e := &errand{do: func() error { return c.ns.AutoCreate(path, !queue, after) }}
	s.attachAfter(a, l.node, e, func() error { return attach(a) })
	return nil
}
