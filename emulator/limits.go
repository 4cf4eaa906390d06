package emulator

import "minibus/internal/amqp/message"

// Limits is a profile of the limits that the broker enforces (DEC-1).
type Limits uint8

// The profiles.
const (
	LimitsRelaxed  Limits = iota // Standard's defaults without its ceilings
	LimitsStandard               // those of Azure's Standard tier
	LimitsPremium                // those of Azure's Premium tier
	LimitsEmulator               // those of Microsoft's emulator
)

// Limits of a message that every strict profile has (QUO-8, QUO-9, DUP-15, SESS-33).
const (
	maxIDLength     = 128
	maxHeaderOfSent = 64 << 10
	maxValue        = 32 << 10 // of one property
	maxBatch        = 4500     // QUO-7
)

// DefaultMessageKilobytes is the limit for one message of an entity that none was given for (DEC-2, QUO-5).
func (l Limits) DefaultMessageKilobytes() int64 {
	if l == LimitsPremium {
		return 1024
	}
	return DefaultMaxMessageBytes / 1024
}

// checkMessage reports what about a message is beyond the limits, or nil. Relaxed has only those that protect the
// broker.
func (l Limits) checkMessage(entity string, m *message.Message, i *message.Info) error {
	if n := m.HeaderBytes(); n > maxHeaderOfSent {
		return errorf(CodeQuotaExceeded, entity, "The properties of the message have %d bytes, which exceeds the limit of %d bytes.", n, maxHeaderOfSent)
	}
	if l == LimitsRelaxed {
		return nil
	}
	for _, id := range []struct{ name, value string }{
		{"MessageId", i.MessageID}, {"SessionId", i.GroupID}, {"PartitionKey", i.PartitionKey},
	} {
		if len([]rune(id.value)) > maxIDLength {
			return errorf(CodeArgument, entity, "The %s of the message has more than %d characters.", id.name, maxIDLength)
		}
	}
	if name, n := m.LargestProperty(maxValue); n > maxValue {
		return errorf(CodeQuotaExceeded, entity, "The property '%.64s' of the message has %d bytes, which exceeds the limit of %d bytes.",
			name, n, maxValue)
	}
	return nil
}

// CheckBatch reports whether a batch has more messages than the profile takes (QUO-7, DEC-17).
func (l Limits) CheckBatch(entity string, n int) error {
	if l == LimitsRelaxed || n <= maxBatch {
		return nil
	}
	return errorf(CodeNotAllowed, entity, "The batch has %d messages, which exceeds the limit of %d messages.", n, maxBatch)
}

// maxSizeBytes is the entity's quota (QUO-1, PART-1).
func (o QueueOptions) maxSizeBytes(l Limits) int64 {
	mb := o.MaxSizeInMegabytes
	switch {
	case l == LimitsEmulator:
		mb = 100
	case mb <= 0:
		mb = 1024
	}
	if o.EnablePartitioning {
		mb *= partitions
	}
	return mb << 20
}

// MaxConnections is how many AMQP connections a namespace takes at a time (QUO-12); 0: any number.
func (l Limits) MaxConnections() int {
	switch l {
	case LimitsStandard, LimitsPremium:
		return 5000
	case LimitsEmulator:
		return 10
	}
	return 0
}

// maxReceivers is how many receive requests an entity takes at a time (QUO-12); 0: any number. A receiver counts from its
// attach to its detach, whether it has credit or not, and so does an accept of a session while it waits.
func (l Limits) maxReceivers() int64 {
	switch l {
	case LimitsStandard, LimitsPremium:
		return 5000
	case LimitsEmulator:
		return 200
	}
	return 0
}

// Limits returns the profile that the namespace enforces.
func (ns *Namespace) Limits() Limits { return ns.limits }
