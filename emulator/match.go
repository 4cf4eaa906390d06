package emulator

import (
	"fmt"
	"slices"
	"strings"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

// MatchQuestion is a message that is not sent, and the rules that are asked about it.
type MatchQuestion struct {
	Message message.Message

	// Rule is asked instead of the rules that a subscription has. On a topic it is the rule of a new subscription with
	// the default settings. It needs no name. Nil: each subscription has its own.
	Rule *RuleOptions
}

// Matching says what a topic would do with a message.
type Matching struct {
	Topic         string
	Refused       error // why the topic would not take the message; the rest says what it would do otherwise
	Duplicate     bool  // the topic would drop the message (DUP-2)
	Scheduled     int64 // ms; when the rules would be asked, if not at once (SCHED-16); 0: at once
	Subscriptions []SubscriptionMatching
	Unexplained   int // rules that do not select the message and have no explanation, since there are too many
}

// SubscriptionMatching says what a subscription would do with a message.
type SubscriptionMatching struct {
	Path   string // empty: one that does not exist
	Name   string
	Status Status
	Copies []MatchedCopy  // that it would get, in their order; none: the message does not come to it
	Rules  []RuleMatching // in the order of their creation
}

// Reached reports whether the subscription would get the message.
func (s *SubscriptionMatching) Reached() bool { return len(s.Copies) > 0 }

// MatchedCopy is a copy of the message that a subscription would get.
type MatchedCopy struct {
	Rule        string // that selects it; empty: a rule failed
	Sub         SubQueue
	Reason      string // for which it would be dead-lettered, with the description
	Description string
	Changes     []PropertyChange
	Forwards    []string // the entities to which it would be forwarded, one after another
	Stopped     error    // why it would go no further; nil if it would stay in the last one
}

// PropertyChange is a property in which a copy differs from the message.
type PropertyChange struct {
	Name   string // of an application property, or sys. and the name of the service's
	Before filter.Value
	After  filter.Value // filter.KindMissing: it was removed
}

// RuleMatching says what a rule makes of the message.
type RuleMatching struct {
	Name        string
	Filter      string // for people
	Action      string // empty: none
	ActionError error  // of the action
	filter.Explanation
}

// Selects reports whether the rule selects the message.
func (r *RuleMatching) Selects() bool { return r.Err == nil && r.Outcome == filter.True }

// maxExplained is how many rules that do not select a message are explained.
const maxExplained = 2000

// Match says which subscriptions of a topic a message would reach, by which rules and with which changes, and why it
// would not reach the others; of a subscription only what would come to that. It evaluates the rules as sending does,
// but sends nothing: no number is drawn, nothing is counted, and it is no use of the topic.
//
// It fails with CodeArgument for a message or a rule that is not valid, with the service's words for a text that does
// not parse, and with CodeNotAllowed on a queue.
func (q *Entity) Match(ask MatchQuestion) (*Matching, error) {
	m := &matching{t: q.topic, s: q.subscription}
	switch {
	case m.s != nil:
		m.t = m.s.topic
	case m.t == nil:
		return nil, errorf(CodeNotAllowed, q.path, "The entity '%s' has no rules: it is neither a topic nor a "+
			"subscription.", q.path)
	}
	in, err := m.t.inspect(nil, []message.Message{ask.Message})
	if err != nil {
		return nil, err
	}
	m.in = in
	m.Topic = m.t.path
	list, err := m.choose(&ask)
	if err != nil {
		return nil, err
	}
	m.send()
	for _, x := range list {
		m.Subscriptions = append(m.Subscriptions, m.evaluate(x))
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
	message   filterMessage
	explained int
}

// candidate is a subscription and the rules that are evaluated for it.
type candidate struct {
	s     *Subscription
	rules []*rule
}

// choose returns the subscriptions to look at, by name.
func (m *matching) choose(ask *MatchQuestion) (list []candidate, err error) {
	m.t.mu.Lock()
	for _, s := range m.t.byID() {
		if m.s == nil || s == m.s {
			list = append(list, candidate{s, s.decisions.rules})
		}
	}
	m.t.mu.Unlock()
	switch {
	case m.s != nil && len(list) == 0:
		return nil, m.s.may.missing()
	case ask.Rule != nil && m.s == nil:
		list = []candidate{{s: newSubscription(m.t, 0, "", SubscriptionOptions{})}}
	}
	if ask.Rule != nil {
		o := *ask.Rule
		if o.Name == "" {
			o.Name = "rule"
		}
		r, err := list[0].s.compile(o, m.t.ns.Profile())
		if err != nil {
			return nil, err
		}
		list[0].rules = []*rule{r}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return strings.Compare(strings.ToLower(a.s.name), strings.ToLower(b.s.name))
	})
	return list, nil
}

// send finds out what becomes of the message in the topic.
func (m *matching) send() {
	t, in := m.t, &m.in[0]
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.ns.Now()
	m.Refused = t.may.store(m.in)
	_, _, m.Duplicate = t.duplicates.check(in, now)
	if in.waits(now) {
		m.Scheduled = int64(in.info.Scheduled)
		now = m.Scheduled
	}
	next := t.counters.of[0].last + 1
	m.o = original{in: in, seq: next, first: next, at: now, ttl: t.options.effectiveTTL(in.info.TTL)}
	m.message = m.o.filterMessage(t.ns)
}

// evaluate evaluates the rules of a subscription.
func (m *matching) evaluate(x candidate) SubscriptionMatching {
	a := SubscriptionMatching{Path: x.s.path, Name: x.s.name, Status: x.s.Entity.Options().Status}
	results := &matched{}
	for _, r := range x.rules {
		outcome, err := r.matcher.Eval(&m.message)
		if outcome == filter.True || err != nil {
			results.take(r, err)
		} else if m.explained++; m.explained > maxExplained {
			m.Unexplained++
			continue
		}
		a.Rules = append(a.Rules, RuleMatching{
			Name: r.options.Name, Filter: r.options.condition(), Action: r.options.Action,
			Explanation: r.matcher.Explain(&m.message),
		})
	}
	m.t.mu.Lock()
	copies := x.s.appendCopies(nil, results, &m.message, &m.o)
	for _, r := range results.actions {
		if slices.ContainsFunc(copies, func(c copyOf) bool { return c.reason == "" && c.rule == r.options.Name }) {
			continue
		}
		_, err := x.s.act(r, copyOf{info: m.message.info}, &m.message) // fails, since there is no copy
		i := slices.IndexFunc(a.Rules, func(l RuleMatching) bool { return l.Name == r.options.Name })
		a.Rules[i].ActionError = err
	}
	m.t.mu.Unlock()
	for i := range copies {
		a.Copies = append(a.Copies, m.copied(&copies[i]))
	}
	return a
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
		d.Sub = DeadLetter
		d.Reason = x.reason
		v, _ := message.LookupProperty(x.overlay, DeadLetterErrorDescription)
		d.Description, _ = v.(string)
	}
	forward := c.s.options.forwardTarget(d.Sub)
	c.s.mu.Unlock()
	d.Changes = m.changes(&x, c)
	d.Forwards, d.Stopped = m.follow(forward, c.info.HasGroupID)
	return d
}

// follow returns the entities through which a message would be forwarded, beginning with target, and why it would go
// no further than to the last one.
func (m *matching) follow(target string, hasSession bool) (path []string, stopped error) {
	ns := m.t.ns
	for hops := 1; target != ""; hops++ {
		if hops > maxHops {
			return path, fmt.Errorf("it would be forwarded more than %d times and dead-lettered: %s", maxHops,
				hopCountExceeded)
		}
		if err := ns.catalog.cantForwardTo(target); err != nil {
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
		path = append(path, q.path)
		target = o.ForwardTo // a topic has none
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
	after := m.message
	after.m = changed
	after.info = c.info
	after.ttl = c.ttl
	after.asked = 0
	for p := range filter.SystemProperty(len(systemKeys)) {
		if systemKeys[p] == "" {
			continue
		}
		if before, now := m.message.System(p), after.System(p); before != now {
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

// String returns what becomes of the message, a line for each copy and each reason.
func (m *Matching) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a message for %s", m.Topic)
	if m.Refused != nil {
		fmt.Fprintf(&b, ", which would refuse it: %v", m.Refused)
	}
	for i := range m.Subscriptions {
		m.Subscriptions[i].write(&b)
	}
	return b.String()
}

func (s *SubscriptionMatching) write(b *strings.Builder) {
	reached := "reached"
	if !s.Reached() {
		reached = "not reached"
	}
	fmt.Fprintf(b, "\n  %s: %s", s.Name, reached)
	for _, c := range s.Copies {
		fmt.Fprintf(b, "\n    a copy by rule '%s'", c.Rule)
		if c.Sub == DeadLetter {
			fmt.Fprintf(b, ", dead-lettered: %s: %s", c.Reason, c.Description)
		}
		for _, x := range c.Changes {
			fmt.Fprintf(b, "\n      %s: %s -> %s", x.Name, x.Before.Shown(), x.After.Shown())
		}
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		fmt.Fprintf(b, "\n    rule '%s' is %s", r.Name, r.Outcome)
		if r.ActionError != nil {
			fmt.Fprintf(b, ", its action fails: %v", r.ActionError)
		}
		for _, reason := range r.Reasons {
			fmt.Fprintf(b, "\n      %s", reason)
		}
	}
}
