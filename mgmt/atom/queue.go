package atom

import (
	"slices"
	"time"

	"minibus/emulator"
)

// SharedDescription is a client's description of a queue or a subscription. Absent elements have the service's
// default, except that an update keeps settings that are fixed at creation (management-rest 6.3).
type SharedDescription struct {
	Name    string // Queue or Subscription
	options emulator.QueueOptions

	limits                       limits
	session, dedup, partitioning *bool // nil: not given
	rules                        bool  // AuthorizationRules were given
}

// ParseQueue reads a QueueDescription.
func ParseQueue(d *Element, l emulator.Profile) (*SharedDescription, error) {
	f := newFields(d, "Queue", l)
	s := f.shared()
	s.dedup = f.boolIfGiven("RequiresDuplicateDetection")
	s.partitioning = f.partitioning()
	s.options.DuplicateDetectionWindow = durationOf(f.span("DuplicateDetectionHistoryTimeWindow", 10*Minute,
		f.limits.Window))
	s.options.MaxSizeInMegabytes = f.size()
	s.options.MaxMessageSizeInKilobytes = f.messageSize()
	s.options.Admin.EnableExpress = f.express(s.dedup)
	s.options.Admin.AuthorizationRules, s.rules = f.authorizationRules()
	f.closed()
	return s, f.err
}

// shared reads the settings that queues and subscriptions share.
func (f *fields) shared() *SharedDescription {
	s := &SharedDescription{Name: f.kind, limits: f.limits}
	o := &s.options
	o.LockDuration = durationOf(f.lock())
	o.MaxDeliveryCount = f.deliveries()
	s.session = f.boolIfGiven("RequiresSession")
	o.DefaultMessageTimeToLive, o.Admin.TimeToLiveTicks = neverOr(f.span("DefaultMessageTimeToLive", MaxTimeSpan,
		f.limits.TimeToLive))
	o.AutoDeleteOnIdle, o.Admin.AutoDeleteTicks = neverOr(f.span("AutoDeleteOnIdle", MaxTimeSpan, f.limits.AutoDelete))
	o.DeadLetteringOnExpiration = f.boolean("DeadLetteringOnMessageExpiration", false)
	batched := f.boolean("EnableBatchedOperations", true)
	o.EnableBatchedOperations = &batched
	o.Status = f.status()
	o.UserMetadata = f.metadata()
	f.forwarding(o)
	return s
}

// forwarding reads the targets. An entity that forwards is never idle, so the service resets its AutoDeleteOnIdle.
func (f *fields) forwarding(o *emulator.QueueOptions) {
	o.ForwardTo, o.Admin.ForwardToText = forwardPath(f.text("ForwardTo"))
	deadLetters := f.text("ForwardDeadLetteredMessagesTo")
	o.ForwardDeadLetteredMessagesTo, o.Admin.ForwardDeadLetteredText = forwardPath(deadLetters)
	for _, t := range [][2]string{{o.ForwardTo, o.Admin.ForwardToText},
		{o.ForwardDeadLetteredMessagesTo, o.Admin.ForwardDeadLetteredText}} {
		if t[0] == "" && t[1] != "" {
			f.refuse("The forwarding destination '"+clip(t[1])+"' names no entity. ", "", "")
		}
	}
	if s := f.boolean("RequiresSession", false); s && o.ForwardTo != "" {
		if forwardInPlace(f.d) {
			f.refuse("Bad Request. ", "", "")
			return
		}
		o.Admin.InertForwardTo = o.Admin.ForwardToText
		o.ForwardTo, o.Admin.ForwardToText = "", ""
	}
	if o.ForwardTo != "" || o.ForwardDeadLetteredMessagesTo != "" {
		o.AutoDeleteOnIdle, o.Admin.AutoDeleteTicks = 0, 0
	}
}

// ForwardTargets returns the paths to which messages and dead-lettered messages are forwarded; empty: none.
func (s *SharedDescription) ForwardTargets() (forwardTo, deadLetters string) {
	return s.options.ForwardTo, s.options.ForwardDeadLetteredMessagesTo
}

// Targets returns the forwarding targets that are set.
func (s *SharedDescription) Targets() []string {
	return slices.DeleteFunc([]string{s.options.ForwardTo, s.options.ForwardDeadLetteredMessagesTo},
		func(p string) bool { return p == "" })
}

// NewHosts returns the hosts that the targets name, each perhaps with a port, but not those of addresses that the
// entity shows already.
func (s *SharedDescription) NewHosts(old emulator.QueueOptions) []string {
	var hosts []string
	for _, t := range [][2]string{
		{s.options.Admin.ForwardToText, shownForward(old.ForwardTo, old.Admin.ForwardToText)},
		{s.options.Admin.ForwardDeadLetteredText, shownForward(old.ForwardDeadLetteredMessagesTo,
			old.Admin.ForwardDeadLetteredText)},
	} {
		if _, host, _ := splitForward(t[0]); host != "" && t[0] != t[1] {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Create returns the settings of a new entity. It fails if clients may not set its size.
func (s *SharedDescription) Create() (emulator.QueueOptions, error) {
	o := s.options
	o.RequiresSession = value(s.session)
	o.RequiresDuplicateDetection = value(s.dedup)
	o.EnablePartitioning = value(s.partitioning)
	o.Admin.AuthorizationRules = withKeys(o.Admin.AuthorizationRules, nil)
	return s.settle(o)
}

// settle checks and converts the size, which depends on partitioning.
func (s *SharedDescription) settle(o emulator.QueueOptions) (emulator.QueueOptions, error) {
	err := s.limits.sizeError(o.MaxSizeInMegabytes, o.EnablePartitioning)
	o.MaxSizeInMegabytes = s.limits.storedSize(o.MaxSizeInMegabytes, o.EnablePartitioning)
	return o, err
}

// Update returns the new settings of an entity with the old ones. It fails if it would change a setting that is fixed
// at creation (SESS-1, DUP-1, PART-1).
func (s *SharedDescription) Update(old emulator.QueueOptions) (emulator.QueueOptions, error) {
	switch {
	case differs(s.session, old.RequiresSession):
		return old, fixed("RequiresSession", s.Name)
	case differs(s.dedup, old.RequiresDuplicateDetection):
		return old, fixed("RequiresDuplicateDetection", s.Name)
	case differs(s.partitioning, old.EnablePartitioning):
		return old, fixedPartitioning(s.Name)
	}
	o := s.options
	o.RequiresSession, o.RequiresDuplicateDetection = old.RequiresSession, old.RequiresDuplicateDetection
	o.EnablePartitioning = old.EnablePartitioning
	if o.RequiresSession && o.ForwardTo != "" { // the description left RequiresSession out
		return old, &Error{SubCode: badRequest, Text: "Bad Request. "}
	}
	if !s.rules {
		o.Admin.AuthorizationRules = old.Admin.AuthorizationRules
	} else {
		o.Admin.AuthorizationRules = withKeys(o.Admin.AuthorizationRules, old.Admin.AuthorizationRules)
	}
	return s.settle(o)
}

func differs(given *bool, old bool) bool { return given != nil && *given != old }

func value(b *bool) bool { return b != nil && *b }

func fixed(property, kind string) error {
	return &Error{SubCode: badRequest, Text: "The value for the " + property + " property of an existing " + kind +
		" cannot be changed. " + MoreInfo + ". "}
}

func fixedPartitioning(kind string) error {
	return &Error{SubCode: badRequest, Text: "Partitioning cannot be changed for " + kind + ". "}
}

// durationOf converts a time span that fits into a time.Duration.
func durationOf(t TimeSpan) time.Duration {
	d, _ := t.Duration()
	return d
}

// neverOr converts a time span; MaxTimeSpan means never, d = 0. One too long for a time.Duration means never too, and
// neverOr returns its ticks.
func neverOr(t TimeSpan) (d time.Duration, ticks int64) {
	if t == MaxTimeSpan {
		return 0, 0
	}
	if d, ok := t.Duration(); ok {
		return d, 0
	}
	return 0, int64(t)
}

// shownSpan is the inverse of neverOr.
func shownSpan(d time.Duration, ticks int64) TimeSpan {
	switch {
	case d > 0:
		return SpanOf(d)
	case ticks > 0:
		return TimeSpan(ticks)
	}
	return MaxTimeSpan
}
