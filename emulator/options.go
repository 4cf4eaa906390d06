package emulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// Status of an entity (STAT).
type Status string

// The statuses that a user can set.
const (
	StatusActive          Status = "Active"
	StatusDisabled        Status = "Disabled"
	StatusSendDisabled    Status = "SendDisabled"
	StatusReceiveDisabled Status = "ReceiveDisabled"
)

// check fails unless the status is one that a user can set (STAT-1, STAT-5). None means active.
func (s Status) check(entity string) error {
	switch s {
	case "", StatusActive, StatusDisabled, StatusSendDisabled, StatusReceiveDisabled:
		return nil
	}
	return errorf(CodeArgument, entity, "The status '%s' of the entity '%s' can't be set.", string(s), entity)
}

// Defaults of the service for entities created through its API (DEC-4), and the default size limit (DEC-2).
const (
	DefaultLockDuration    = time.Minute
	DefaultMaxDelivery     = 10
	defaultMaxMessageBytes = 262_144
	DefaultDedupWindow     = 10 * time.Minute
	DefaultMegabytes       = 1024 // QUO-1
)

// Resolution is that of the broker's times, AMQP's (TIME-7). An entity can't be given a lock or a time to live that is shorter.
const Resolution = time.Millisecond

// QueueOptions are the settings of a queue. The zero value of a field means the service's default.
type QueueOptions struct {
	LockDuration                  time.Duration `json:"lockDuration,omitempty"`                  // LOCK-1
	MaxDeliveryCount              int           `json:"maxDeliveryCount,omitempty"`              // DC-7
	DefaultMessageTimeToLive      time.Duration `json:"defaultMessageTimeToLive,omitempty"`      // 0: none
	DeadLetteringOnExpiration     bool          `json:"deadLetteringOnExpiration,omitempty"`     // EXP-6
	RequiresSession               bool          `json:"requiresSession,omitempty"`               // SESS-1
	RequiresDuplicateDetection    bool          `json:"requiresDuplicateDetection,omitempty"`    // DUP-1
	DuplicateDetectionWindow      time.Duration `json:"duplicateDetectionWindow,omitempty"`      // DUP-1
	ForwardTo                     string        `json:"forwardTo,omitempty"`                     // FWD-1
	ForwardDeadLetteredMessagesTo string        `json:"forwardDeadLetteredMessagesTo,omitempty"` // FWD-1
	AutoDeleteOnIdle              time.Duration `json:"autoDeleteOnIdle,omitempty"`              // 0: never (IDLE-1)
	EnablePartitioning            bool          `json:"enablePartitioning,omitempty"`            // PART-1
	MaxSizeInMegabytes            int64         `json:"maxSizeInMegabytes,omitempty"`            // QUO-1
	MaxMessageSizeInKilobytes     int64         `json:"maxMessageSizeInKilobytes,omitempty"`     // QUO-5, DEC-2
	EnableBatchedOperations       *bool         `json:"enableBatchedOperations,omitempty"`
	Status                        Status        `json:"status,omitempty"` // STAT-1
	UserMetadata                  string        `json:"userMetadata,omitempty"`
	Admin                         Admin         `json:"admin,omitzero"`
}

// EntityConfig is an entity that must exist, as a configuration names it. Exactly one of Queue and Topic is set.
type EntityConfig struct {
	Path  string
	Queue *QueueOptions
	Topic *TopicOptions
}

func (o QueueOptions) lockDuration() time.Duration {
	if o.LockDuration <= 0 {
		return DefaultLockDuration
	}
	return max(o.LockDuration, Resolution) // older versions took less
}

// defaultTTL is in milliseconds; 0 is none. A fraction counts as a whole one: nothing lives for ever because its time is almost none.
func (o QueueOptions) defaultTTL() int64 {
	ms := max(o.DefaultMessageTimeToLive, 0).Milliseconds()
	if o.DefaultMessageTimeToLive > time.Duration(ms)*Resolution {
		ms++
	}
	return ms
}

func (o QueueOptions) maxDelivery() uint32 {
	if o.MaxDeliveryCount <= 0 {
		return DefaultMaxDelivery
	}
	return uint32(min(int64(o.MaxDeliveryCount), 1<<31-1))
}

func (o QueueOptions) maxMessageBytes(l Limits) int64 {
	if o.MaxMessageSizeInKilobytes <= 0 {
		return profiles[l].DefaultKilobytes * 1024
	}
	return o.MaxMessageSizeInKilobytes * 1024
}

// Effective returns the settings with the defaults that count where none is set, under a profile of limits.
func (o QueueOptions) Effective(l Limits) QueueOptions {
	o.LockDuration = cmp.Or(o.LockDuration, DefaultLockDuration)
	o.MaxDeliveryCount = cmp.Or(o.MaxDeliveryCount, DefaultMaxDelivery)
	o.DuplicateDetectionWindow = cmp.Or(o.DuplicateDetectionWindow, DefaultDedupWindow)
	o.MaxSizeInMegabytes = cmp.Or(o.MaxSizeInMegabytes, DefaultMegabytes)
	o.MaxMessageSizeInKilobytes = cmp.Or(o.MaxMessageSizeInKilobytes, profiles[l].DefaultKilobytes)
	o.Status = cmp.Or(o.Status, StatusActive)
	o.EnableBatchedOperations = cmp.Or(o.EnableBatchedOperations, new(true))
	return o
}

func encodeOptions(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode entity options: %w", err)
	}
	return b, nil
}
