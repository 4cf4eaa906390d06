package atom

import (
	"minibus/emulator"
)

// SubscriptionDescription is a client's description of a subscription; see [SharedDescription] for absent elements.
type SubscriptionDescription struct {
	SharedDescription
	// FilterErrors is DeadLetteringOnFilterEvaluationExceptions (TOP-10).
	FilterErrors bool
	// Rule replaces $Default when the subscription is created; nil if the client gave none.
	Rule *Rule
}

// ParseSubscription reads a SubscriptionDescription.
func ParseSubscription(d *Element, l emulator.Profile) (*SubscriptionDescription, error) {
	f := newFields(d, "Subscription", l)
	s := &SubscriptionDescription{SharedDescription: *f.shared()}
	s.FilterErrors = f.boolean("DeadLetteringOnFilterEvaluationExceptions", true)
	s.affine = f.boolIfGiven("IsClientAffine")
	if r := d.Child("DefaultRuleDescription"); f.err == nil && r != nil && !r.isNil() {
		rule, err := ParseRule(r)
		if err != nil {
			return nil, err
		}
		s.Rule = rule
	}
	return s, f.err
}

// Subscription is a subscription in an answer.
type Subscription struct {
	Name         string // as created
	Options      emulator.QueueOptions
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
		w.bool("IsClientAffine", o.Admin.IsClientAffine)
	}
	w.close("SubscriptionDescription")
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
