package atom

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"minibus/emulator"
	"minibus/internal/printable"
)

// fields reads the elements of a description. It keeps the first error in err; later values do not matter then.
type fields struct {
	d       *Element
	subCode int    // of errors; the service gives none for subscriptions and rules
	kind    string // Queue, Topic or Subscription, for error texts
	limits  limits
	err     error
}

func newFields(d *Element, kind string, l emulator.Profile) *fields {
	f := &fields{d: d, kind: kind, limits: limits{l.Limits()}}
	if kind == "Queue" || kind == "Topic" {
		f.subCode = badRequest
	}
	return f
}

// refuse keeps the first error.
func (f *fields) refuse(text, parameter, actual string) {
	if f.err == nil {
		f.err = &Error{SubCode: f.subCode, Text: text, Parameter: parameter, Actual: actual}
	}
}

// value returns an element's text without surrounding white space; ok is false without the element. An empty element
// is an error.
func (f *fields) value(name string) (string, bool) {
	e := f.d.Child(name)
	if e == nil || e.isNil() {
		return "", false
	}
	s := strings.TrimSpace(e.Text())
	if s == "" {
		f.refuse("The element "+name+" has no value. ", "", "")
		return "", false
	}
	return s, true
}

// text returns an element's text as it is, "" without the element.
func (f *fields) text(name string) string { return f.d.Child(name).Text() }

func (f *fields) boolean(name string, standard bool) bool {
	if b := f.boolIfGiven(name); b != nil {
		return *b
	}
	return standard
}

func (f *fields) boolIfGiven(name string) *bool {
	s, ok := f.value(name)
	if !ok {
		return nil
	}
	b := strings.EqualFold(s, "true") || s == "1"
	if !b && !strings.EqualFold(s, "false") && s != "0" {
		f.refuse("The value is neither true nor false.", name, clip(s))
	}
	return &b
}

func (f *fields) integer(name string, standard int64) int64 {
	s, ok := f.value(name)
	if !ok {
		return standard
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f.refuse("The value is not a whole number.", name, clip(s))
	}
	return v
}

// span reads a duration within a range. It always accepts the default, because clients send back what they were shown.
func (f *fields) span(name string, standard TimeSpan, r emulator.DurationRange) TimeSpan {
	s, ok := f.value(name)
	if !ok {
		return standard
	}
	t, err := ParseTimeSpan(s)
	switch {
	case err != nil:
		f.refuse("The value is not a duration, such as PT30S.", name, clip(s))
	case t != standard && !t.within(r):
		f.refuse(fmt.Sprintf("The value supplied must be between %s and %s.", spanOf(r.Least).clock(),
			spanOf(r.Most).clock()), name, t.clock())
	}
	return t
}

// lock reads the lock duration, whose upper limit has an error text of its own in the service.
func (f *fields) lock() TimeSpan {
	const name = "LockDuration"
	t := f.span(name, Minute, emulator.DurationRange{Least: f.limits.Lock.Least, Most: emulator.Forever})
	if f.err == nil && t > spanOf(f.limits.Lock.Most) {
		f.refuse("The supplied lock time exceeds the allowed maximum of '5' minutes. "+MoreInfo+". ", name, t.clock())
	}
	return t
}

func (f *fields) deliveries() int {
	const name = "MaxDeliveryCount"
	v := f.integer(name, emulator.DefaultMaxDelivery)
	if r := f.limits.Deliveries; !r.Contains(v) {
		f.refuse(fmt.Sprintf("The value must be between %d and %d.", r.Least, r.Most), name, fmt.Sprint(v))
	}
	return int(v)
}

// sizeError returns an error if clients may not set that size, in megabytes; 0 means not given. The answer depends on
// whether the entity is partitioned.
func (l limits) sizeError(mb int64, partitioned bool) error {
	if mb == 0 || l.takesSize(mb, partitioned) {
		return nil
	}
	allowed := fmt.Sprintf("be between %d and %d", l.Megabytes.Least, l.Megabytes.Most)
	if l.Megabytes.Step > 1 {
		allowed = "be one of the following values: " + list(l.Megabytes)
	}
	return &Error{SubCode: badRequest, Text: fmt.Sprintf(
		"The specified value %d is invalid. The property 'MaxSizeInMegabytes', must %s. ", mb, allowed)}
}

// size reads MaxSizeInMegabytes; 0 means not given. sizeError checks its range.
func (f *fields) size() int64 {
	const name = "MaxSizeInMegabytes"
	v := f.integer(name, 0)
	if _, given := f.value(name); given && v <= 0 {
		f.refuse("The value must be greater than zero.", name, fmt.Sprint(v))
	}
	return v
}

// messageSize reads MaxMessageSizeInKilobytes. The JavaScript SDK's live tests look for the words of its error.
func (f *fields) messageSize() int64 {
	const name = "MaxMessageSizeInKilobytes"
	v := f.integer(name, 0) // 0 stands for the profile's default
	if _, given := f.value(name); given && !f.limits.Kilobytes.Contains(v) {
		r := f.limits.Kilobytes
		f.refuse(fmt.Sprintf("The property value for '%s' must be between %d and %d.", name, r.Least, r.Most),
			name, fmt.Sprint(v))
	}
	return v
}

func (f *fields) metadata() string {
	const name = "UserMetadata"
	s := f.text(name)
	if n := utf8.RuneCountInString(s); f.limits.Metadata > 0 && n > f.limits.Metadata {
		f.refuse(fmt.Sprintf("The value has %d characters, more than %d.", n, f.limits.Metadata), name, "")
	}
	return s
}

// status reads the status.
func (f *fields) status() emulator.Status {
	s, ok := f.value("Status")
	if !ok {
		return emulator.StatusActive
	}
	if v, ok := SettableStatus(s); ok {
		return v
	}
	f.refuse("The status must be Active, Disabled, SendDisabled or ReceiveDisabled.", "Status", clip(s))
	return ""
}

// SettableStatus returns the status of that name, in any case. Clients can set no others than these four (STAT-5).
func SettableStatus(name string) (emulator.Status, bool) {
	for _, v := range []emulator.Status{emulator.StatusActive, emulator.StatusDisabled,
		emulator.StatusSendDisabled, emulator.StatusReceiveDisabled} {
		if strings.EqualFold(name, string(v)) {
			return v, true
		}
	}
	return "", false
}

// express reads EnableExpress.
func (f *fields) express(dedup *bool) bool {
	v := f.boolean("EnableExpress", false)
	switch {
	case v && dedup != nil && *dedup:
		f.refuse("Both DelayedPersistence and RequiresDuplicateDetection property can't be enabled together. ", "", "")
	case v && !f.limits.Express:
		f.refuse("EnableExpress is not available in the Premium tier. ", "", "")
	}
	return v
}

// partitioning reads EnablePartitioning.
func (f *fields) partitioning() *bool {
	v := f.boolIfGiven("EnablePartitioning")
	if v != nil && *v && !f.limits.Partitioning {
		f.refuse("Partitioning of single entities is not available under this profile of limits. ", "", "")
	}
	return v
}

// closed refuses anonymous access, which the service never had.
func (f *fields) closed() {
	if f.boolean("IsAnonymousAccessible", false) {
		f.refuse("Anonymous access is not available. ", "", "")
	}
}

// clip shortens a client's text for an error text.
func clip(s string) string { return printable.Clip(s, 64) }
