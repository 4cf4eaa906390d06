package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// rule is one rule of a subscription, compiled. It never changes.
type rule struct {
	subscription *Subscription
	options      RuleOptions // with the time of its creation
	order        int64       // by creation, within the topic
	matcher      filter.Matcher
	action       *filter.Action // nil: none
}

// compile makes a rule under a profile of limits. A text that does not parse fails with CodeArgument and the
// service's words.
func (s *Subscription) compile(o RuleOptions, l Profile) (*rule, error) {
	r := &rule{subscription: s}
	var err error
	if r.options, err = canonicalRule(o); err != nil {
		return nil, s.refuse(o, err)
	}
	if selector := r.options.selector(); s.client != nil && selector != nil {
		r.matcher = selector
	} else if r.matcher, err = matcherOf(&r.options, l); err != nil {
		return nil, s.refuse(o, err)
	}
	if o.Action == "" {
		return r, nil
	}
	params, err := r.options.ActionParameters.forFilter()
	if err == nil {
		r.action, err = l.parseAction(o.Action, params)
	}
	if err != nil {
		return nil, s.refuse(o, err)
	}
	return r, nil
}

// selector returns the selector that a rule of a subscription of JMS clients has: $Default, if its text can be parsed
// as one (JMS-9). Else the rule has a filter, and selector returns nil.
func (o *RuleOptions) selector() *filter.Selector {
	if o.SQL == "" || o.Constant || len(o.Parameters) > 0 || !strings.EqualFold(o.Name, DefaultRuleName) {
		return nil
	}
	selector, _ := filter.ParseSelector(o.SQL) // an error: it is a filter
	return selector
}

// refuse makes the domain's error of what is wrong with a rule.
func (s *Subscription) refuse(o RuleOptions, err error) error {
	return &Error{Code: CodeArgument, Entity: s.ruleName(o.Name), Text: err.Error()}
}

// canonicalRule returns the rule's settings with values of the types that they have after a restart.
func canonicalRule(o RuleOptions) (RuleOptions, error) { return o.withValues(Values.canonical) }

// withValues returns the rule's settings with other values.
func (o RuleOptions) withValues(of func(Values) (Values, error)) (RuleOptions, error) {
	var errs [3]error
	o.Parameters, errs[0] = of(o.Parameters)
	o.ActionParameters, errs[1] = of(o.ActionParameters)
	if o.Correlation != nil {
		c := *o.Correlation
		c.Properties, errs[2] = of(c.Properties)
		o.Correlation = &c
	}
	return o, errors.Join(errs[:]...)
}

func matcherOf(o *RuleOptions, l Profile) (filter.Matcher, error) {
	switch {
	case o.Name == "":
		return nil, errors.New("a rule needs a name")
	case o.Correlation != nil && o.SQL != "":
		return nil, errors.New("a rule has one filter, either SQL or correlation")
	case o.Correlation != nil:
		return o.Correlation.matcher()
	case o.SQL == "":
		return nil, errors.New("the rule has no filter")
	}
	params, err := o.Parameters.forFilter()
	if err != nil {
		return nil, err
	}
	return l.parseFilter(o.SQL, params)
}

func (c *CorrelationFilter) matcher() (filter.Matcher, error) {
	system := make(map[filter.SystemProperty]string)
	for p, text := range map[filter.SystemProperty]*string{
		filter.ContentType: c.ContentType, filter.CorrelationID: c.CorrelationID, filter.Label: c.Label,
		filter.MessageID: c.MessageID, filter.ReplyTo: c.ReplyTo, filter.ReplyToSessionID: c.ReplyToSessionID,
		filter.SessionID: c.SessionID, filter.To: c.To,
	} {
		if text != nil {
			system[p] = *text
		}
	}
	user, err := c.Properties.forFilter()
	if err != nil {
		return nil, err
	}
	return filter.NewCorrelation(system, user)
}

// compileAll makes the rules of a list, whose names must differ in more than case (TOP-8). Those without a time of
// creation get now.
func (s *Subscription) compileAll(list []RuleOptions, now int64, l Profile) ([]*rule, error) {
	rules := make([]*rule, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, o := range list {
		key := strings.ToLower(o.Name)
		if seen[key] {
			return nil, s.ruleExists(o.Name)
		}
		seen[key] = true
		if o.CreatedAt == 0 {
			o.CreatedAt = now
		}
		r, err := s.compile(o, l)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// sameRules reports whether two lists have the same rules, whatever their order and however they came about.
func sameRules(a, b []RuleOptions) bool {
	if len(a) != len(b) {
		return false
	}
	plain := func(list []RuleOptions) []RuleOptions {
		out := make([]RuleOptions, len(list))
		for i, o := range list {
			o, _ = o.withValues(Values.comparable) // an error shows when the rule is compiled
			o.Name = strings.ToLower(o.Name)
			o.CreatedAt = 0
			o.Constant = false
			out[i] = o
		}
		slices.SortFunc(out, func(x, y RuleOptions) int { return cmp.Compare(x.Name, y.Name) })
		return out
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

// draft is the copy of a message that a rule's action changes (TOP-5, TOP-6). It implements [filter.Target]. What
// comes of it are overlays: the body and whatever else the sender sent is never written again.
type draft struct {
	base   *filterMessage
	users  []userProperty // all of them, in the order of the message
	system map[filter.SystemProperty]filter.Value
	gone   bool // one was removed: an overlay can't say that, it has to replace them all
}

type userProperty struct {
	name    string
	encoded []byte
	changed bool
	ticks   int64 // of an instant that was set, for later statements: a timestamp has milliseconds; 0: none
}

func newDraft(base *filterMessage) *draft {
	d := &draft{base: base}
	for e := base.m.UserProperties(); e.Next(); {
		d.users = append(d.users, userProperty{name: string(e.Key()), encoded: e.Encoded()})
	}
	return d
}

// find returns the index of a property, looked up as in [filter.Message]; -1 if there is none.
func (d *draft) find(name string) int {
	folded := -1
	for i := range d.users {
		switch filter.MatchName(d.users[i].name, name) {
		case filter.ExactMatch:
			return i
		case filter.FoldedMatch:
			if folded < 0 {
				folded = i
			}
		}
	}
	return folded
}

// User implements [filter.Message].
func (d *draft) User(name string) (filter.Value, bool) {
	i := d.find(name)
	if i < 0 {
		return filter.Value{}, false
	}
	if ticks := d.users[i].ticks; ticks != 0 {
		return filter.DateTimeTicks(ticks), true
	}
	return filterValue(message.DecodeScalar(d.users[i].encoded)), true
}

// Exact implements [filter.Message].
func (d *draft) Exact(name string) (filter.Value, bool) {
	if i := d.find(name); i < 0 || d.users[i].name != name {
		return filter.Value{}, false
	}
	return d.User(name)
}

// System implements [filter.Message].
func (d *draft) System(p filter.SystemProperty) filter.Value {
	if v, ok := d.system[p]; ok {
		return v
	}
	return d.base.System(p)
}

// SetUser implements [filter.Target].
func (d *draft) SetUser(name string, v filter.Value) error {
	i := d.find(name)
	if i < 0 {
		i = len(d.users)
		d.users = append(d.users, userProperty{name: name})
	}
	p := &d.users[i]
	p.encoded = scalarOf(v).Append(nil)
	p.changed = true
	p.ticks = 0
	if v.Kind() == filter.KindDateTime {
		p.ticks = v.Ticks()
	}
	return nil
}

// RemoveUser implements [filter.Target].
func (d *draft) RemoveUser(name string) {
	if i := d.find(name); i >= 0 {
		d.users = append(d.users[:i], d.users[i+1:]...)
		d.gone = true
	}
}

// SetSystem implements [filter.Target]. ForcePersistence can be set but has no effect.
func (d *draft) SetSystem(p filter.SystemProperty, v filter.Value) error {
	if p == filter.TimeToLive && v.Kind() == filter.KindTimeSpan && v.Ticks() <= 0 {
		return fmt.Errorf("the TimeToLive must be greater than zero")
	}
	if d.system == nil {
		d.system = make(map[filter.SystemProperty]filter.Value)
	}
	d.system[p] = v
	return nil
}

// overlays returns what the action changed: application properties and broker properties.
func (d *draft) overlays() (users, system []byte) {
	var u, s message.Overlay
	for _, p := range d.users {
		if p.changed || d.gone {
			u.Add(p.name, p.encoded)
		}
	}
	for p := range filter.SystemProperty(len(systemKeys)) {
		if v, ok := d.system[p]; ok && systemKeys[p] != "" {
			s.Add(systemKeys[p], systemValue(p, v).Append(nil))
		}
	}
	if d.gone {
		s.Add(message.SystemReplace, message.Scalar{Type: message.TypeBool, Bits: 1}.Append(nil))
	}
	return u.Bytes(), s.Bytes()
}

// systemKeys are the names of the settable properties in an overlay, by property.
var systemKeys = [...]string{
	filter.ContentType: message.SystemContentType, filter.CorrelationID: message.SystemCorrelationID,
	filter.Label: message.SystemLabel, filter.MessageID: message.SystemMessageID,
	filter.PartitionKey: message.SystemPartitionKey, filter.ReplyTo: message.SystemReplyTo,
	filter.ReplyToSessionID: message.SystemReplyToSessionID, filter.ScheduledEnqueueTimeUtc: message.SystemScheduled,
	filter.SessionID: message.SystemSessionID, filter.TimeToLive: message.SystemTimeToLive,
	filter.To: message.SystemTo, filter.ViaPartitionKey: message.SystemViaPartitionKey,
}

func systemValue(p filter.SystemProperty, v filter.Value) message.Scalar {
	switch {
	case p == filter.TimeToLive && v.Kind() == filter.KindTimeSpan: // above zero
		return message.Scalar{Type: message.TypeUlong, Bits: uint64((v.Ticks()-1)/dotnet.Millisecond + 1)}
	case p == filter.ScheduledEnqueueTimeUtc && v.Kind() == filter.KindDateTime && v.Ticks()%dotnet.Millisecond != 0:
		// never before it is due (TIME-3)
		return message.Scalar{Type: message.TypeTimestamp, Bits: uint64(v.UnixMilli() + 1)}
	}
	return scalarOf(v)
}
