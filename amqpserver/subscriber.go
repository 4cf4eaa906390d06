package amqpserver

import (
	"cmp"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/entitypath"
	"minibus/internal/sas"
)

func isSubscription(path string) bool {
	_, _, ok := entitypath.SplitSubscription(path)
	return ok
}

// jmsName returns the JMS name of a link's subscription (JMS-2). The rest of the link's name tells the client's
// consumers from each other.
func jmsName(linkName string) string {
	name, _, _ := strings.Cut(linkName, "|")
	return name
}

// subscribeOptions says which subscription a consumer of a topic wants.
func (s *session) subscribeOptions(a *frames.Attach) emulator.SubscribeOptions {
	source := a.Source
	o := emulator.SubscribeOptions{
		Name:             jmsName(a.LinkName),
		ClientID:         s.c.peer.containerID,
		Durable:          source.Durable > 0,
		Shared:           slices.Contains(source.Capabilities, capabilitySharedSource),
		AutoDeleteOnIdle: s.c.autoDelete.subscription,
	}
	if slices.Contains(source.Capabilities, capabilityGlobal) {
		o.ClientID = ""
	}
	return o
}

// consumesTopic reports whether an attach is that of a consumer of a topic by JMS.
func consumesTopic(source *frames.Source) bool {
	return slices.Contains(source.Capabilities, capabilityTopic) ||
		slices.Contains(source.Capabilities, capabilityTemporaryTopic)
}

// attachToTopic opens a receiver whose source names a topic. It is the subscription that is called like the link, if
// there is one: that is how plain JMS clients reach a subscription (JMS-1). Else only JMS consumers can have one made.
func (s *session) attachToTopic(a *frames.Attach, topic *outgoingLink, sel *sourceFilter) error {
	jms := consumesTopic(a.Source)
	if s.c.jms != jmsFull && !strings.Contains(a.LinkName, "/") { // a / could lead to another topic's subscription
		of := node{host: topic.node.host, path: entitypath.Subscription(topic.node.path, a.LinkName)}
		o := &outgoingLink{deliveringLink: deliveringLink{link: s.newLink(a, of)}}
		_, err := s.c.ns.Entity(of.path)
		switch {
		case err == nil:
			if err = o.find(sas.Listen); err != nil {
				return err
			}
			return s.attachConsumer(a, o, sel)
		case jms && s.c.jms == jmsOff:
			return err // it names the link, as the service does
		}
	}
	if !jms {
		return topic.queue.CanReceive(emulator.Main)
	}
	return s.attachSubscriber(a, topic.queue, topic.node, sel)
}

// attachSubscriber makes, joins or resumes a subscription of the topic that the source names, and opens the link on it
// (JMS-4). The right to listen to the topic is enough.
func (s *session) attachSubscriber(a *frames.Attach, topic *emulator.Entity, n node, sel *sourceFilter) error {
	if err := s.c.needJMS("subscriptions that are made when a consumer attaches", ""); err != nil {
		return err
	}
	if err := s.checkEntity(topic); err != nil {
		return err
	}
	o := s.subscribeOptions(a)
	if sel != nil {
		if _, err := sel.parse(); err != nil {
			return err
		}
		o.Selector = sel.text
	}
	if old := s.c.ns.FindDurable(o.Name, o.ClientID); old != nil && o.Durable { // of any topic
		listen := right{node{host: n.host, path: old.Path()}, sas.Listen}
		if tokens := &s.c.tokens; !tokens.checked() || tokens.authorize(listen) == nil {
			o.Replaces = old.Path()
		}
	}
	var sub *emulator.Subscription
	e := &errand{
		do: func() (err error) {
			sub, err = s.c.ns.Subscribe(topic.Path(), o)
			return err
		},
		undo: func() { _ = sub.Leave() },
	}
	s.attachAfter(a, n, e, func() error {
		of := node{host: n.host, path: sub.Path()}
		r := &outgoingLink{deliveringLink: deliveringLink{link: s.newLink(a, of)}, subscription: sub}
		r.outlives = o.Durable
		if err := r.find(sas.Listen); err != nil {
			return err
		}
		if r.queue != sub.Entity { // somebody has deleted it meanwhile, and another consumer has made one of the name
			return emulator.NotFound(sub.Path())
		}
		if err := r.open(a, nil); err != nil {
			return err
		}
		r.selector = sel // its rule
		r.begin(a)
		return nil
	})
	return nil
}

// leaveSubscription gives up the subscription of a link that has ended. A client that closes the consumer of a durable
// one deletes it, but not under another active consumer; its other ends leave it (JMS-4).
func (o *outgoingLink) leaveSubscription() {
	sub := o.subscription
	if sub == nil || o.s.c.srv.isClosed() { // what is not durable is gone after a restart
		return
	}
	deletes := o.outlives && o.leftForGood
	leave := sub.Leave
	if deletes {
		leave = sub.LeaveAndDelete
	}
	o.follow(leave, func(err error) {
		if deletes && o.cause == nil {
			failure := o.amqpError(err)
			o.s.c.log.refusedErr("unsubscribe", o.entity(), err)
			o.cause = &failure
		}
	})
}

// unsubscribeLink stands for a durable subscription that a client looks up to delete it. It carries no messages.
type unsubscribeLink struct {
	link
	found *emulator.Subscription
}

func (*unsubscribeLink) flow(*frames.Flow) {}
func (*unsubscribeLink) release()          {}

// attachUnsubscribe answers a receiver without a source that names a durable subscription. The subscription is deleted
// when the client closes the link.
func (s *session) attachUnsubscribe(a *frames.Attach) error {
	name, clientID := jmsName(a.LinkName), s.c.peer.containerID
	if slices.Contains(a.DesiredCapabilities, capabilityGlobal) {
		clientID = ""
	}
	sub := s.c.ns.FindDurable(name, clientID)
	u := &unsubscribeLink{found: sub}
	n := node{}
	if sub != nil {
		n.path = sub.Path()
	}
	u.link = s.newLink(a, n)
	if err := u.allow(right{n, sas.Listen}); err != nil {
		return cmp.Or(u.allow(right{node{}, sas.Listen}), err) // the refusal does not say what exists
	}
	if sub == nil {
		return linkErrorf(amqp.CondNotFound, "There is no durable subscription '%s' of the client id '%s'.",
			sas.Clip(name), sas.Clip(clientID))
	}
	u.queue = sub.Entity
	s.put(u)
	answer := reply(a)
	answer.Source = &frames.Source{
		Address: entitypath.Root(sub.Path()), HasAddress: true, Durable: 2, ExpiryPolicy: "never",
		DistributionMode: modeCopy, Capabilities: []amqp.Symbol{capabilityTopic},
	}
	answer.Target = a.Target
	s.write(answer)
	return nil
}

// detached deletes the subscription for a client that closes the link. The answer says whether it could be deleted.
func (u *unsubscribeLink) detached() bool {
	if u.leftForGood {
		u.follow(func() error { return u.found.Unsubscribe() }, func(err error) {
			failure := u.amqpError(err)
			u.s.c.log.refusedErr("unsubscribe", u.entity(), err)
			u.cause = &failure
		})
	}
	return true
}
