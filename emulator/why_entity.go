package emulator

import (
	"fmt"
	"slices"
	"strings"
)

// entity looks at what the entity is, and what its settings do.
func (w *why) entity() {
	if w.q.topic != nil && w.ask.Sub != TransferDeadLetter {
		w.topic(w.q.topic)
		return
	}
	switch s := w.options.Status; s {
	case StatusDisabled, StatusReceiveDisabled:
		w.find(FindDisabled, true, "Set the status to Active.", "%s has the status %s: receivers are refused.", w.q.path, s)
	case StatusSendDisabled:
		w.find(FindSendDisabled, false, "Set the status to Active.", "%s has the status %s: nothing new can be sent to it.", w.q.path, s)
	}
	if w.options.forwardTarget(w.ask.Sub) != "" {
		w.forward()
	}
	if w.q.subscription != nil && w.ask.Sub == Main {
		w.rules(w.q.subscription)
	}
}

// forward says where messages go instead, and whether they get there.
func (w *why) forward() {
	target := w.options.forwardTarget(w.ask.Sub)
	w.find(FindForwards, true, "Receive from "+target+", or take the forward out of the entity's settings.",
		"%s forwards to %s: nothing stays in it, and receivers are refused.", w.path, target)
	if w.total[w.ask.Sub] > w.parked && w.unforwarded() > 0 {
		if why := w.q.ns.cantTake(target); why != nil {
			w.find(FindForwardWaits, false, "Make "+target+" take messages again. The forward is tried again about once a second.",
				"%s to be forwarded, and the target does not take them: %v", isAre(int64(w.unforwarded()), "message"), why)
		}
	}
	if w.ask.Sub == DeadLetter && w.parked > 0 {
		w.park()
	}
}

// unforwarded returns how many messages wait for the forward, but for those that can never go.
func (w *why) unforwarded() int { return w.total[w.ask.Sub] - w.scheduled - w.deferred - w.parked }

// cantTake says why nothing can be forwarded to a path; nil: it can.
func (ns *Namespace) cantTake(path string) error {
	target, err := ns.Entity(path)
	if err != nil {
		return err
	}
	if target.subscription != nil {
		return target.may.missing() // FWD-1
	}
	target.mu.Lock()
	defer target.mu.Unlock()
	return target.may.takeForwards()
}

// park says that dead letters can never go to the target of the forward.
func (w *why) park() {
	target := w.options.ForwardDeadLetteredMessagesTo
	w.find(FindParked, false, "Change "+target+" so that it takes them, or clear ForwardDeadLetteredMessagesTo and receive them here.",
		"%s set aside in the dead-letter queue, since %s can never take them: they have no session id and it requires one, they are too large for it, or they went in a circle.",
		isAre(int64(w.parked), "message"), target)
}

// topic says that messages are in the subscriptions.
func (w *why) topic(t *Topic) {
	t.mu.Lock()
	offered := t.offered
	var names []string
	cure := "Receive from a subscription, and ask why for that."
	for _, s := range t.byID() {
		if offered > s.reach.from && s.reach.selected == 0 {
			cure = "Receive from a subscription, and ask why for that. Change the rules of " + s.path + ", or add one, for it to get messages."
		}
		names = append(names, fmt.Sprintf("%s got %d of %d", s.path, s.reach.selected, offered-s.reach.from))
	}
	t.mu.Unlock()
	if s := w.options.Status; s == StatusDisabled || s == StatusSendDisabled {
		w.find(FindSendDisabled, false, "Set the status to Active.", "%s has the status %s: nothing new can be sent to it.", w.q.path, s)
	}
	if len(names) == 0 {
		w.find(FindNoSubscriptions, true, "Create a subscription before the messages are sent.",
			"%s is a topic without subscriptions: what is sent to it goes nowhere (%s so far).", w.q.path, count(offered, "message"))
		return
	}
	w.find(FindTopic, true, cure,
		"%s is a topic, of which nothing is received itself. Its subscriptions: %s messages, since their rules were last changed or Minibus started.", w.q.path, listed(names))
	if w.scheduled > 0 {
		w.find(FindScheduled, false, "Wait, let the broker's time pass, or cancel them.",
			"%s scheduled in the topic, and come to the subscriptions when they are due.", isAre(int64(w.scheduled), "message"))
	}
}

// rules says what the rules of a subscription have selected.
func (w *why) rules(s *Subscription) {
	s.topic.mu.Lock()
	reach, offered := s.reach, s.topic.offered-s.reach.from
	var rules []string
	for _, r := range s.decisions.rules {
		rules = append(rules, "'"+r.options.Name+"' "+r.options.condition())
	}
	s.topic.mu.Unlock()
	const cure = "Compare the filters with the messages: a property that a message lacks is unknown, the text '5' is not the number 5, and system properties need the prefix sys. (or a correlation filter)."
	empty := w.total[Main] == 0
	switch since := w.when(reach.since); {
	case len(rules) == 0:
		w.find(FindNoRules, empty, "Add a rule; one with the filter 1=1 selects everything.", "%s has no rules, so it gets no messages.", w.q.path)
	case offered > 0 && reach.selected == 0:
		w.find(FindRulesMatchNone, empty, cure, "The rules of %s selected none of %s sent to the topic since %s: %s.", w.q.path, count(offered, "message"), since, listed(rules))
	case offered > reach.selected:
		w.find(FindRulesLeaveOut, false, cure, "The rules of %s selected %d of %s sent to the topic since %s, the last one at %s: %s.",
			w.q.path, reach.selected, count(offered, "message"), since, w.when(reach.last), listed(rules))
	}
}

// condition returns the filter of a rule, for people.
func (o *RuleOptions) condition() string {
	c := o.Correlation
	if c == nil {
		return o.SQL
	}
	var parts []string
	for _, f := range []struct {
		name string
		text *string
	}{
		{"ContentType", c.ContentType}, {"CorrelationId", c.CorrelationID}, {"MessageId", c.MessageID}, {"ReplyTo", c.ReplyTo},
		{"ReplyToSessionId", c.ReplyToSessionID}, {"SessionId", c.SessionID}, {"Label", c.Label}, {"To", c.To},
	} {
		if f.text != nil {
			parts = append(parts, fmt.Sprintf("%s = %q", f.name, *f.text))
		}
	}
	for name, value := range c.Properties {
		parts = append(parts, fmt.Sprintf("%s = %T %v", name, value, value))
	}
	slices.Sort(parts)
	return "correlation of " + strings.Join(parts, ", ")
}
