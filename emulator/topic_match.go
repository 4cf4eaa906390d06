package emulator

import (
	"cmp"
	"errors"
	"slices"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

// match is a topic's working space for one message at a time, kept from message to message so that matching makes no
// garbage. The topic's mutex guards it.
type match struct {
	message filterMessage
	hit     []*Subscription // of which a rule selects the message or fails on it
	copies  []copyOf
}

// forget lets go of the last message, which may be large.
func (m *match) forget() {
	m.message = filterMessage{}
	clear(m.copies)
}

// matched is the result of one subscription's rules for a message.
type matched struct {
	any     bool
	plain   *rule   // without an action, the oldest one that selects it; nil: none
	actions []*rule // rules with one that do
	failure error   // of the first rule that failed, or of the first action
	failed  int64   // that rule's order
}

// take notes a rule that selects the message, or failed on it.
func (m *matched) take(r *rule, err error) {
	switch {
	case err != nil:
		if m.failure == nil || r.order < m.failed {
			m.failure, m.failed = err, r.order
		}
	case r.action == nil:
		if m.plain == nil || r.order < m.plain.order {
			m.plain = r
		}
	default:
		m.actions = append(m.actions, r)
	}
}

// original is a message on its way through a topic.
type original struct {
	in      *incoming // as it was sent, with the overlays applied to what was read of it
	overlay []byte
	system  []byte
	seq     int64 // the topic's number
	first   int64 // SEQ-16
	at      int64 // ms; enqueued
	ttl     int64 // ms; the smaller one of the message's and the topic's (EXP-2)
	hops    uint8
	reason  string
	source  string

	body   int64   // id
	stored bool    // the body is in the journal already
	kept   bool    // and in memory, counted
	of     *copies // the other copies that have the body, if any
}

// copyOf is one copy that a subscription gets.
type copyOf struct {
	s       *Subscription
	info    *message.Info // after the action
	overlay []byte
	system  []byte
	ttl     int64  // ms; after the action
	reason  string // not empty: it goes to the dead-letter queue
	rule    string // that selects it
}

// matchRulesLocked finds out which copies of a message are to be made: for each subscription the plain one first, then
// those of rules with actions by the creation of the rules (TOP-5, TOP-11), then, if a rule failed, one for the
// dead-letter queue (TOP-10). The result is good until the next call.
func (t *Topic) matchRulesLocked(o *original) []copyOf {
	t.match.copies = t.match.copies[:0]
	if t.index.Len() == 0 {
		return nil // TOP-2
	}
	t.match.message = o.filterMessage(t.ns)
	for _, s := range t.selectLocked() {
		t.match.copies = s.appendCopies(t.match.copies, &s.seen, &t.match.message, o)
		s.seen = matched{actions: s.seen.actions[:0]}
	}
	return t.match.copies
}

// filterMessage returns the message as the rules see it. What overlays have changed of it is written out first, which
// only forwarded messages need.
func (o *original) filterMessage(ns *Namespace) filterMessage {
	f := filterMessage{m: o.in.m, info: &o.in.info, ns: ns, body: o.body, seq: o.seq, enqueued: o.at, ttl: o.ttl,
		size: int64(len(o.in.m.Raw))}
	if o.overlay == nil && o.system == nil {
		return f
	}
	p := message.Patch{Properties: o.overlay, System: o.system, OmitBody: true}
	if m, err := message.Scan(p.Append(nil, &o.in.m)); err == nil {
		f.m = m
	}
	return f
}

// selectLocked asks the rules that can select the message and returns the subscriptions concerned, in the order of
// their ids.
func (t *Topic) selectLocked() []*Subscription {
	hit := t.match.hit[:0]
	t.index.Candidates(&t.match.message, func(r *rule) bool {
		t, err := r.matcher.Eval(&t.match.message)
		if t != filter.True && err == nil {
			return true
		}
		s := r.subscription
		if !s.seen.any {
			s.seen.any = true
			hit = append(hit, s)
		}
		s.seen.take(r, err)
		return true
	})
	slices.SortFunc(hit, func(a, b *Subscription) int { return cmp.Compare(a.Entity.id, b.Entity.id) })
	t.match.hit = hit
	return hit
}

// appendCopies appends the copies that the subscription gets by its rules.
func (s *Subscription) appendCopies(list []copyOf, seen *matched, v *filterMessage, o *original) []copyOf {
	base := copyOf{s: s, info: &o.in.info, overlay: o.overlay, system: o.system, ttl: o.ttl}
	if seen.plain != nil {
		base.rule = seen.plain.options.Name
		list = append(list, base)
	}
	slices.SortFunc(seen.actions, func(a, b *rule) int { return cmp.Compare(a.order, b.order) })
	for _, r := range seen.actions {
		c, err := s.act(r, base, v)
		if err != nil {
			if seen.failure == nil {
				seen.failure = err
			}
			continue
		}
		list = append(list, c)
	}
	if seen.failure != nil && s.settings.filterErrorsToDeadLetter() {
		list = append(list, failedCopy(base, seen.failure))
	}
	return list
}

// act makes the copy that a rule's action changes. The copy has the rule's name, which the action may remove again.
func (s *Subscription) act(r *rule, c copyOf, v *filterMessage) (copyOf, error) {
	c.rule = r.options.Name
	d := newDraft(v)
	if err := d.SetUser(filter.RuleNameProperty, filter.String(r.options.Name)); err != nil {
		return c, err
	}
	if err := r.action.Apply(d); err != nil {
		return c, err
	}
	overlay, system := d.overlays()
	if d.gone {
		c.overlay = overlay // it has all there are
	} else {
		c.overlay = message.MergeProperties(c.overlay, overlay)
	}
	if system == nil {
		return c, nil
	}
	info := *c.info
	info.Overlay(system)
	c.info, c.system = &info, message.MergeProperties(c.system, system)
	if _, ok := d.system[filter.TimeToLive]; ok {
		c.ttl = s.topic.options.effectiveTTL(info.TTL)
	}
	return c, nil
}

// failedCopy is the copy of a message on which a rule failed: unchanged, with the failure as its reason (DLQ-R6).
func failedCopy(c copyOf, failure error) copyOf {
	c.reason = filter.FilterException
	var e *filter.EvalError
	if errors.As(failure, &e) {
		c.reason = e.Exception
	}
	c.overlay = message.MergeProperties(c.overlay, deadLetterProperties(c.reason, failure.Error()))
	return c
}
