package emulator

import (
	"fmt"
	"slices"
	"strings"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

// maxExplained is how many rules that do not select a message are explained.
const maxExplained = 2000

// Match says which subscriptions of a topic a message would reach, by which rules and with which changes, and why not the others; of a
// subscription only what would come to that. It asks the rules as sending does, but sends nothing: no number is drawn, nothing is counted, and
// the topic is not used by it. CodeArgument for a message or a rule that is not valid, with the service's words for a text that does not parse;
// CodeNotAllowed on a queue.
func (q *Entity) Match(ask MatchQuestion) (*Matching, error) {
	m := &matching{t: q.topic, s: q.subscription}
	switch {
	case m.s != nil:
		m.t = m.s.topic
	case m.t == nil:
		return nil, errorf(CodeNotAllowed, q.path, "The entity '%s' has no rules: it is neither a topic nor a subscription.", q.path)
	}
	in, err := m.t.inspect(nil, []message.Message{ask.Message})
	if err != nil {
		return nil, err
	}
	m.in, m.Topic = in, m.t.path
	list, err := m.choose(&ask)
	if err != nil {
		return nil, err
	}
	m.look()
	for _, x := range list {
		m.Subscriptions = append(m.Subscriptions, m.ask(x))
	}
	return &m.Matching, nil
}

// matching is an answer that is being made.
type matching struct {
	Matching
	t         *Topic
	s         *Subscription // the only one to look at; nil: all
	in        []incoming    // one
	o         original
	v         view
	explained int
}

// judged is a subscription and the rules that are asked for it.
type judged struct {
	s     *Subscription
	rules []*rule
}

// choose returns the subscriptions to look at, by name.
func (m *matching) choose(ask *MatchQuestion) (list []judged, err error) {
	m.t.mu.Lock()
	for _, s := range m.t.byID() {
		if m.s == nil || s == m.s {
			list = append(list, judged{s, s.decisions.rules})
		}
	}
	m.t.mu.Unlock()
	switch {
	case m.s != nil && len(list) == 0:
		return nil, m.s.may.missing()
	case ask.Rule != nil && m.s == nil:
		list = []judged{{s: newSubscription(m.t, 0, "", SubscriptionOptions{})}}
	}
	if ask.Rule != nil {
		o := *ask.Rule
		if o.Name == "" {
			o.Name = "rule"
		}
		r, err := list[0].s.compile(o, m.t.ns.Limits())
		if err != nil {
			return nil, err
		}
		list[0].rules = []*rule{r}
	}
	slices.SortFunc(list, func(a, b judged) int { return strings.Compare(strings.ToLower(a.s.name), strings.ToLower(b.s.name)) })
	return list, nil
}

// look finds out what becomes of the message in the topic.
func (m *matching) look() {
	t, in := m.t, &m.in[0]
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.ns.Now()
	m.Refused = t.may.store(m.in)
	_, _, m.Duplicate = t.duplicates.look(in, now)
	if in.waits(now) {
		m.Scheduled = int64(in.info.Scheduled)
		now = m.Scheduled
	}
	next := t.counters.of[0].last + 1
	m.o = original{in: in, seq: next, first: next, at: now, ttl: t.options.effectiveTTL(in.info.TTL)}
	m.v = m.o.view(t.ns)
}

// ask asks the rules of a subscription.
func (m *matching) ask(x judged) SubscriptionMatching {
	a := SubscriptionMatching{Path: x.s.path, Name: x.s.name, Status: x.s.Entity.Options().Status}
	seen := &matched{}
	for _, r := range x.rules {
		outcome, err := r.matcher.Eval(&m.v)
		if outcome == filter.True || err != nil {
			seen.take(r, err)
		} else if m.explained++; m.explained > maxExplained {
			m.Unexplained++
			continue
		}
		a.Rules = append(a.Rules, RuleMatching{Name: r.options.Name, Filter: r.options.condition(), Action: r.options.Action, Explanation: r.matcher.Explain(&m.v)})
	}
	m.t.mu.Lock()
	copies := x.s.appendCopies(nil, seen, &m.v, &m.o)
	a.failedLocked(x.s, seen, copies, &m.v)
	m.t.mu.Unlock()
	for i := range copies {
		a.Copies = append(a.Copies, m.copied(&copies[i]))
	}
	return a
}

// failedLocked notes why the actions failed that made no copy.
func (s *SubscriptionMatching) failedLocked(of *Subscription, seen *matched, copies []copyOf, v *view) {
	for _, r := range seen.actions {
		if slices.ContainsFunc(copies, func(c copyOf) bool { return c.reason == "" && c.rule == r.options.Name }) {
			continue
		}
		_, err := of.act(r, copyOf{info: v.info}, v)
		i := slices.IndexFunc(s.Rules, func(l RuleMatching) bool { return l.Name == r.options.Name })
		s.Rules[i].ActionError = err
	}
}

// copied describes a copy.
func (m *matching) copied(c *copyOf) MatchedCopy {
	d := MatchedCopy{Rule: c.rule}
	if c.reason != "" {
		d.Rule = ""
	}
	x := extra{}
	c.s.mu.Lock()
	if c.s.deadOnArrival(c, &m.o, &x) {
		d.Sub, d.Reason = DeadLetter, x.reason
		v, _ := message.LookupProperty(x.overlay, DeadLetterErrorDescription)
		d.Description, _ = v.(string)
	}
	forward := c.s.options.forwardTarget(d.Sub)
	c.s.mu.Unlock()
	d.Changes = m.changes(&x, c)
	d.Forwards, d.Stopped = m.t.ns.follow(forward, c.info.HasGroupID)
	return d
}

// follow returns the entities to which a message goes on from the target of a forward, and why it goes no further than to the last one.
func (ns *Namespace) follow(target string, hasSession bool) (path []string, stopped error) {
	for hops := 1; target != ""; hops++ {
		if hops > maxHops {
			return path, fmt.Errorf("it would be forwarded more than %d times and dead-lettered: %s", maxHops, hopCountExceeded)
		}
		if err := ns.cantTake(target); err != nil {
			return path, err
		}
		q, err := ns.Entity(target)
		if err != nil {
			return path, err
		}
		o := q.Options()
		if o.RequiresSession && !hasSession {
			return path, errorf(CodeNotAllowed, q.path, "The message has no session id, which '%s' requires.", q.path)
		}
		path, target = append(path, q.path), o.ForwardTo // a topic has none
	}
	return path, nil
}

// changes compares the copy with the message: the service's properties first, then the application's by name.
func (m *matching) changes(x *extra, c *copyOf) (list []PropertyChange) {
	p := message.Patch{Properties: x.overlay, System: x.system, OmitBody: true}
	changed, err := message.Scan(p.Append(nil, &m.in[0].m))
	if err != nil {
		return nil // what the broker writes can be read
	}
	after := m.v
	after.m, after.info, after.ttl, after.asked = changed, c.info, c.ttl, 0
	for p := range filter.SystemProperty(len(systemKeys)) {
		if systemKeys[p] == "" {
			continue
		}
		if before, now := m.v.System(p), after.System(p); before != now {
			list = append(list, PropertyChange{Name: "sys." + p.String(), Before: before, After: now})
		}
	}
	had, has := userValues(&m.in[0].m), userValues(&changed)
	first := len(list)
	for _, u := range had {
		if now, _ := lookUp(has, u.Name); now != u.After {
			list = append(list, PropertyChange{Name: u.Name, Before: u.After, After: now})
		}
	}
	for _, u := range has {
		if _, known := lookUp(had, u.Name); !known {
			list = append(list, u)
		}
	}
	slices.SortFunc(list[first:], func(a, b PropertyChange) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// userValues returns the application properties of a message, as if all were new.
func userValues(m *message.Message) (list []PropertyChange) {
	for e := m.UserProperties(); e.Next(); {
		list = append(list, PropertyChange{Name: string(e.Key()), After: filterValue(e.Value())})
	}
	return list
}

func lookUp(list []PropertyChange, name string) (filter.Value, bool) {
	for _, u := range list {
		if u.Name == name {
			return u.After, true
		}
	}
	return filter.Value{}, false
}
