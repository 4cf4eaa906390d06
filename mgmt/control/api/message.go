package api

import (
	"time"

	"minibus/internal/amqp/messagejson"
)

// Sent is the answer to a request that sends messages.
type Sent struct {
	SequenceNumbers []int64 `json:"sequenceNumbers" nullable:"false"`
}

// Schedule is when a scheduled message becomes active.
type Schedule struct {
	SequenceNumber       int64     `json:"sequenceNumber" readOnly:"true"`
	ScheduledEnqueueTime time.Time `json:"scheduledEnqueueTime"`
}

// MessagePage is a part of the messages of an entity.
type MessagePage struct {
	Items    []*messagejson.Message `json:"items" nullable:"false"`
	Next     string                 `json:"next,omitempty"`
	Examined int                    `json:"examined" doc:"Messages that were looked at for this page"`
}

// Receipt is the answer to a receive.
type Receipt struct {
	Messages []*messagejson.Message `json:"messages" nullable:"false" doc:"None, if none came in time"`
	Session  *HeldSession           `json:"session,omitempty"`
}

// Settlement says what becomes of locked messages.
type Settlement struct {
	LockTokens  []string           `json:"lockTokens" nullable:"false" minItems:"1" maxItems:"1000"`
	Outcome     string             `json:"outcome" enum:"complete,abandon,defer,deadLetter,release"`
	Properties  messagejson.Values `json:"properties,omitempty" nullable:"false"`
	Reason      *string            `json:"reason,omitempty" doc:"DeadLetterReason, with deadLetter"`
	Description *string            `json:"description,omitempty" doc:"DeadLetterErrorDescription, with deadLetter"`
}

// Renewals are the new ends of locks.
type Renewals struct {
	LockedUntil []time.Time `json:"lockedUntil" nullable:"false"`
}

// Upcoming says how many scheduled messages of an entity become active when.
type Upcoming struct {
	Now   time.Time  `json:"now" doc:"What the clock of the namespace shows"`
	Total int        `json:"total" doc:"Scheduled messages, whenever they are due"`
	Next  *time.Time `json:"next,omitempty" doc:"When the first of them becomes active; none if there is none"`
	From  time.Time  `json:"from" doc:"The beginning of the first step"`
	To    time.Time  `json:"to" doc:"The end of the last step"`
	Steps []DueStep  `json:"steps" nullable:"false" doc:"Those in which a message becomes active"`
}

// DueStep is a step of a schedule.
type DueStep struct {
	From     time.Time `json:"from"`
	Messages int       `json:"messages"`
}
