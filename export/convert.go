package export

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/internal/printable"
	"minibus/mgmt/atom"
)

// everything is the profile of limits that takes the entities of any service.
const everything = emulator.ProfileRelaxed

// queue adds a queue to the namespace, unless it ends with its JMS client.
func (r *reader) queue(e entry) {
	if emulator.LooksTemporary(e.name) {
		return
	}
	q := Queue{Path: e.name}
	if ok := readEntity(r, e, queueOptions, &q.Options, &q.Access, &q.Refused); ok {
		r.wholeSize(e.description, &q.Options.MaxSizeInMegabytes)
		r.found.Queues = append(r.found.Queues, q)
	}
}

// topic adds a topic, without subscriptions, to the namespace, unless it ends with its JMS client.
func (r *reader) topic(e entry) {
	if emulator.LooksTemporary(e.name) {
		return
	}
	t := Topic{Path: e.name}
	if ok := readEntity(r, e, topicOptions, &t.Options, &t.Access, &t.Refused); ok {
		r.wholeSize(e.description, &t.Options.MaxSizeInMegabytes)
		r.found.Topics = append(r.found.Topics, t)
	}
}

// readEntity reads the description of a queue or topic. It warns and returns false if no service would accept the
// entity.
func readEntity[O any](
	r *reader, e entry, read func(*atom.Element, emulator.Profile) (O, error), o *O, access *[]Access, why *string,
) bool {
	if !usable(e.name) {
		r.unusable(e.name)
		return false
	}
	*access = r.tidy(e.name, e.description)
	var err error
	if *o, err = read(e.description, everything); err != nil {
		r.unreadable(e.name, err)
		return false
	}
	*why = refused(
		func(l emulator.Profile) error { return atom.CheckPath(e.name, l) },
		func(l emulator.Profile) error { _, err := read(e.description, l); return err })
	return true
}

func queueOptions(d *atom.Element, l emulator.Profile) (emulator.QueueOptions, error) {
	q, err := atom.ParseQueue(d, l)
	if err != nil {
		return emulator.QueueOptions{}, err
	}
	o, err := q.Create()
	keepIdle(d, &o)
	return o, err
}

// keepIdle restores AutoDeleteOnIdle. Package atom drops it from an entity that forwards, as the service does with a
// request. In an answer of the service it is in force.
func keepIdle(d *atom.Element, o *emulator.QueueOptions) {
	t, err := atom.ParseTimeSpan(strings.TrimSpace(d.Child("AutoDeleteOnIdle").Text()))
	if idle, ok := t.Duration(); err == nil && ok && t != atom.MaxTimeSpan {
		o.AutoDeleteOnIdle = idle
	}
}

// wholeSize restores the size that Premium shows. Package atom divides the size of a partitioned entity by sixteen,
// because Standard shows the size of all partitions together. Premium partitions the namespace and shows the size
// that was asked for.
func (r *reader) wholeSize(d *atom.Element, mb *int64) {
	n, err := strconv.ParseInt(strings.TrimSpace(d.Child("MaxSizeInMegabytes").Text()), 10, 64)
	if err == nil && r.found.Premium {
		*mb = n
	}
}

func topicOptions(d *atom.Element, l emulator.Profile) (emulator.TopicOptions, error) {
	t, err := atom.ParseTopic(d, l)
	if err != nil {
		return emulator.TopicOptions{}, err
	}
	return t.Create()
}

func (r *reader) subscriptions(ctx context.Context, t *Topic, only string) error {
	return r.list(ctx, t.Path+"/Subscriptions", func(e entry) {
		if only == "" || strings.EqualFold(only, e.name) {
			r.subscription(t, e)
		}
	})
}

// subscription adds a subscription, without rules, to its topic, unless it ends with its JMS clients.
func (r *reader) subscription(t *Topic, e entry) {
	full := t.Path + "/" + e.name
	if err := atom.CheckSubscription(e.name, everything); err != nil {
		r.unusable(full)
		return
	}
	r.tidy(full, e.description)
	s, err := atom.ParseSubscription(e.description, everything)
	if err != nil {
		r.unreadable(full, err)
		return
	}
	o, err := s.Create(e.name)
	if err != nil {
		r.unreadable(full, err)
		return
	}
	if o.Client != nil && !o.Client.Durable {
		return
	}
	keepIdle(e.description, &o.Queue)
	why := refused(
		func(l emulator.Profile) error { return atom.CheckSubscription(e.name, l) },
		func(l emulator.Profile) error { _, err := atom.ParseSubscription(e.description, l); return err })
	subscription := Subscription{Name: e.name, Options: o.Queue, Client: o.Client, FilterErrors: s.FilterErrors,
		Refused: why}
	t.Subscriptions = append(t.Subscriptions, subscription)
}

func (r *reader) rules(ctx context.Context, topic string, s *Subscription) error {
	return r.list(ctx, topic+"/Subscriptions/"+s.Name+"/Rules", func(e entry) { r.rule(topic, s, e) })
}

// rule adds a rule to its subscription.
func (r *reader) rule(topic string, s *Subscription, e entry) {
	full := topic + "/" + s.Name + "/" + e.name
	if err := atom.CheckRule(e.name, everything); err != nil {
		r.unusable(full)
		return
	}
	r.replaced(full, e.description)
	rule, err := atom.ParseRule(e.description)
	if err != nil {
		// Without it the other rules could select more than before, and no rules at all would mean the default
		// rule.
		r.warn(full, "the rule is not understood, it is exported as one that takes nothing: %s", text(err))
		rule = &atom.Rule{Filter: atom.Filter{Kind: atom.FalseFilter, SQL: emulator.FalseExpression}}
	}
	rule.Name = e.name
	s.Rules = append(s.Rules, *rule)
}

// usable reports whether a queue or topic can have that name. Other names are not sent back to the service in
// addresses, and not exported, since no service would accept them.
func usable(path string) bool {
	return atom.CheckPath(path, everything) == nil && !entitypath.IsReserved(path)
}

func (r *reader) unusable(name string) {
	r.warn(printable.Clip(oneLine(name), 80), "left out: no entity can have that name")
}

func (r *reader) unreadable(name string, err error) {
	r.warn(name, "left out: its description is not understood: %s", text(err))
}

// replaced warns of texts with U+FFFD, which in XML stands for characters that XML can't express.
func (r *reader) replaced(name string, d *atom.Element) {
	var has func(*atom.Element) bool
	has = func(e *atom.Element) bool {
		return strings.ContainsRune(e.Text(), utf8.RuneError) || slices.ContainsFunc(e.Children, has)
	}
	if has(d) {
		r.warn(name, "a text has U+FFFD, which may stand for a control character: compare it with what was meant")
	}
}

// tidy removes from a description the elements that a service shows and refuses in a request. It returns the
// authorization rules without their keys.
func (r *reader) tidy(name string, d *atom.Element) []Access {
	r.replaced(name, d)
	access := accessOf(d.Child("AuthorizationRules"))
	sessions := strings.EqualFold(strings.TrimSpace(d.Child("RequiresSession").Text()), "true")
	d.Children = slices.DeleteFunc(d.Children, func(e *atom.Element) bool {
		value := strings.TrimSpace(e.Text())
		switch e.Name {
		case "AuthorizationRules", "IsAnonymousAccessible", "DefaultRuleDescription":
			return true
		case "Status":
			if _, ok := atom.SettableStatus(value); !ok {
				r.warn(name, "its status is %q, it is exported as active", printable.Clip(oneLine(value), 40))
				return true
			}
		case "ForwardTo":
			if sessions && value != "" {
				r.warn(name, "ForwardTo is left out: it has no effect on an entity that requires sessions")
				return true
			}
		case "LockDuration", "MaxSizeInMegabytes", "MaxDeliveryCount":
			return value == "" // the default
		}
		return false
	})
	return access
}

func accessOf(list *atom.Element) []Access {
	if list == nil {
		return nil
	}
	var all []Access
	for _, e := range list.Children {
		a := Access{Name: strings.TrimSpace(e.Child("KeyName").Text())}
		for _, right := range []string{"Manage", "Send", "Listen"} {
			isRight := func(c *atom.Element) bool { return strings.TrimSpace(c.Text()) == right }
			if rights := e.Child("Rights"); rights != nil && slices.ContainsFunc(rights.Children, isRight) {
				a.Rights = append(a.Rights, right)
			}
		}
		if a.Name != "" && len(a.Rights) > 0 {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b Access) int { return byName(a.Name, b.Name) })
	return all
}

// refused returns why neither tier of Azure would create an entity, as one that was made locally may have more than
// Azure allows.
func refused(checks ...func(emulator.Profile) error) string {
	var first error
	for _, tier := range []emulator.Profile{emulator.ProfileStandard, emulator.ProfilePremium} {
		var err error
		for _, check := range checks {
			if err == nil {
				err = check(tier)
			}
		}
		if err == nil {
			return ""
		}
		if first == nil {
			first = err
		}
	}
	return text(first)
}

// text returns the text of an error about a description, without sub-code and links.
func text(err error) string {
	var e *atom.Error
	if !errors.As(err, &e) {
		return oneLine(err.Error())
	}
	s, _, _ := strings.Cut(e.Text, "To know more")
	s = strings.TrimRight(oneLine(s), ". ")
	if e.Parameter != "" {
		s += " (" + e.Parameter
		if e.Actual != "" {
			s += ": " + e.Actual
		}
		s += ")"
	}
	return s
}
