package emulator

import (
	"fmt"
	"slices"

	"minibus/internal/amqp/message"
)

// Limits is a profile of the limits that the broker enforces (DEC-1); its numbers are its [Profile].
type Limits uint8

// The profiles.
const (
	LimitsRelaxed  Limits = iota // Standard's defaults without its ceilings
	LimitsStandard               // those of Azure's Standard tier
	LimitsPremium                // those of Azure's Premium tier
	LimitsEmulator               // those of Microsoft's emulator
)

// limitsNames are the profiles as settings name them.
var limitsNames = [...]string{LimitsRelaxed: "relaxed", LimitsStandard: "standard", LimitsPremium: "premium", LimitsEmulator: "emulator"}

// MarshalText returns the name of the profile.
func (l Limits) MarshalText() ([]byte, error) {
	if int(l) >= len(limitsNames) {
		return nil, fmt.Errorf("write a profile of limits: there is none with the number %d", l)
	}
	return []byte(limitsNames[l]), nil
}

// UnmarshalText reads the name of a profile.
func (l *Limits) UnmarshalText(text []byte) error {
	i := slices.Index(limitsNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("read a profile of limits: there is none with the name %q", text)
	}
	*l = Limits(i)
	return nil
}

// maxHeaderOfSent is how many bytes the properties of a message may have in every profile (QUO-8).
const maxHeaderOfSent = 64 << 10

// checkMessage reports what about a message is beyond the limits, or nil. Relaxed has only those that protect the
// broker.
func (l Limits) checkMessage(entity string, m *message.Message, i *message.Info) error {
	if n := m.HeaderBytes(); n > maxHeaderOfSent {
		return errorf(CodeHeaderTooLarge, entity, "The size quota for this stream (%d) has been exceeded. The properties of the message have %d bytes in all.", maxHeaderOfSent, n)
	}
	if l == LimitsRelaxed {
		return nil
	}
	most := &profiles[l]
	for _, id := range []struct{ name, value string }{
		{"MessageId", i.MessageID}, {"SessionId", i.GroupID}, {"PartitionKey", i.PartitionKey},
	} {
		if len([]rune(id.value)) > most.ID {
			return errorf(CodeArgument, entity, "The %s of the message has more than %d characters.", id.name, most.ID)
		}
	}
	if name, n := m.LargestProperty(most.Property); n > most.Property {
		return errorf(CodeQuotaExceeded, entity, "The property '%.64s' of the message has %d bytes, which exceeds the limit of %d bytes.",
			name, n, most.Property)
	}
	return nil
}

// CheckBatch reports whether a batch has more messages than the profile takes (QUO-7, DEC-17).
func (l Limits) CheckBatch(entity string, n int) error {
	most := profiles[l].Batch
	if most == 0 || n <= most {
		return nil
	}
	return errorf(CodeNotAllowed, entity, "The batch has %d messages, which exceeds the limit of %d messages.", n, most)
}

// maxSizeBytes is the entity's quota (QUO-1, PART-1).
func (o QueueOptions) maxSizeBytes(l Limits) int64 {
	p, mb := &profiles[l], o.MaxSizeInMegabytes
	switch {
	case p.FixedMegabytes > 0:
		mb = p.FixedMegabytes
	case mb <= 0:
		mb = DefaultMegabytes
	}
	if o.EnablePartitioning {
		mb *= p.Partitions
	}
	return mb << 20
}
