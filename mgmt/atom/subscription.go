package atom

import (
	"cmp"
	"strings"

	"minibus/emulator"
)

// SubscriptionDescription is a client's description of a subscription; see [SharedDescription] for absent elements.
type SubscriptionDescription struct {
	SharedDescription
	// FilterErrors is DeadLetteringOnFilterEvaluationExceptions (TOP-10).
	FilterErrors bool
	// Rule replaces $Default when the subscription is created; nil if the client gave none.
	Rule *Rule

	affine *bool                  // IsClientAffine; nil: not given
	client *emulator.ClientAffine // ClientAffineProperties; nil: not given
}

// ParseSubscription reads a SubscriptionDescription.
func ParseSubscription(d *Element, l emulator.Profile) (*SubscriptionDescription, error) {
	f := newFields(d, "Subscription", l)
	s := &SubscriptionDescription{SharedDescription: *f.shared()}
	s.FilterErrors = f.boolean("DeadLetteringOnFilterEvaluationExceptions", true)
	s.affine = f.boolIfGiven("IsClientAffine")
	s.client = f.client(d.Child("ClientAffineProperties"))
	if r := d.Child("DefaultRuleDescription"); f.err == nil && r != nil && !r.isNil() {
		rule, err := ParseRule(r)
		if err != nil {
			return nil, err
		}
		s.Rule = rule
	}
	return s, f.err
}

// client reads ClientAffineProperties. Without IsDurable the subscription is durable: clients can create no other.
func (f *fields) client(d *Element) *emulator.ClientAffine {
	if d == nil || d.isNil() {
		return nil
	}
	inner := fields{d: d, limits: f.limits}
	c := &emulator.ClientAffine{
		ClientID: strings.TrimSpace(inner.text("ClientId")),
		Durable:  inner.boolean("IsDurable", true),
		Shared:   inner.boolean("IsShared", false),
	}
	if f.err == nil {
		f.err = inner.err
	}
	return c
}

// Create returns the settings of a new subscription, without rules. It is client-affine if its name is (JMS-9).
func (s *SubscriptionDescription) Create(name string) (o emulator.SubscriptionOptions, err error) {
	_, named := emulator.ClientAffineOf(name)
	o.Name, o.DeadLetteringOnFilterErrors, o.Client = name, &s.FilterErrors, cmp.Or(s.client, named)
	switch {
	case s.affine != nil && !*s.affine && (named != nil || s.client != nil):
		return o, &Error{Text: "IsClientAffine is false, and the subscription '" + clip(name) + "' has the name or " +
			"the properties of a client-affine one. "}
	case value(s.affine) && s.client == nil && named == nil:
		return o, &Error{Text: "The name of the client-affine subscription '" + clip(name) + "' must be " +
			"NAME$CLIENTID$D. "}
	}
	o.Queue, err = s.SharedDescription.Create()
	return o, err
}

// Update returns the new settings of a subscription with the old ones, without rules. It fails if it would change a
// setting that is fixed at creation.
func (s *SubscriptionDescription) Update(old emulator.SubscriptionOptions) (o emulator.SubscriptionOptions, err error) {
	switch {
	case differs(s.affine, old.Client != nil):
		return o, fixed("IsClientAffine", s.Name)
	case s.client != nil && !s.client.Same(old.Client):
		return o, fixed("ClientAffineProperties", s.Name)
	}
	o.Name, o.DeadLetteringOnFilterErrors, o.Client = old.Name, &s.FilterErrors, old.Client
	o.Queue, err = s.SharedDescription.Update(old.Queue)
	return o, err
}

// Subscription is a subscription in an answer.
type Subscription struct {
	Name         string // as created
	Options      emulator.QueueOptions
	Client       *emulator.ClientAffine // nil: it is not client-affine
	FilterErrors bool
	Counts       emulator.Counts
	Times        emulator.Times
}

// write appends the description, with its elements in the order of the service's contract. It never shows the rule of
// the creation.
func (s Subscription) write(w *writer, v View) {
	o := &s.Options
	w.open("SubscriptionDescription", namespaces...)
	w.lock(o)
	w.bool("RequiresSession", o.RequiresSession)
	w.span("DefaultMessageTimeToLive", shownSpan(o.DefaultMessageTimeToLive, o.Admin.TimeToLiveTicks))
	w.bool("DeadLetteringOnMessageExpiration", o.DeadLetteringOnExpiration)
	w.bool("DeadLetteringOnFilterEvaluationExceptions", s.FilterErrors)
	w.int("MessageCount", total(s.Counts))
	w.deliveries(o)
	w.status(o.Status)
	w.forwardTo(o)
	w.time("CreatedAt", s.Times.Created)
	w.time("UpdatedAt", s.Times.Updated)
	w.subscriptionAccessed(s.Times, v)
	w.optional("UserMetadata", o.UserMetadata)
	if v.Full {
		w.counts(s.Counts)
	}
	w.forwardDeadLettered(o)
	w.span("AutoDeleteOnIdle", shownSpan(o.AutoDeleteOnIdle, o.Admin.AutoDeleteTicks))
	w.text("EntityAvailabilityStatus", "Available")
	if v.Version.has(version2021) {
		w.bool("IsClientAffine", s.Client != nil)
		w.client(s.Client)
	}
	w.close("SubscriptionDescription")
}

// client writes ClientAffineProperties.
func (w *writer) client(c *emulator.ClientAffine) {
	if c == nil {
		return
	}
	w.open("ClientAffineProperties")
	w.text("ClientId", c.ClientID)
	w.bool("IsDurable", c.Durable)
	w.bool("IsShared", c.Shared)
	w.close("ClientAffineProperties")
}

// subscriptionAccessed writes AccessedAt: creation counts as use, and answers to create and
// update have a fixed text, which Go's client knows.
func (w *writer) subscriptionAccessed(t emulator.Times, v View) {
	switch {
	case !v.Full:
		w.text("AccessedAt", "0001-01-01T00:00:00")
	case t.Accessed == 0:
		w.time("AccessedAt", t.Created)
	default:
		w.time("AccessedAt", t.Accessed)
	}
}
