package api

import (
	"time"

	"minibus/internal/amqp/messagejson"
)

// Job is work on many messages.
type Job struct {
	ID       int64      `json:"id"`
	Kind     string     `json:"kind" enum:"purge,move,resubmit"`
	Entity   string     `json:"entity" doc:"Where the messages are, with its sub-queue"`
	Target   string     `json:"target,omitempty" doc:"Where they go"`
	State    string     `json:"state" enum:"running,done,cancelled,failed"`
	Total    int64      `json:"total" doc:"Messages to look at: those that were there when the job began"`
	Examined int64      `json:"examined"`
	Done     int64      `json:"done" doc:"Removed or moved"`
	Failed   int64      `json:"failed" doc:"Those that the target does not take; they are where they were"`
	Skipped  int64      `json:"skipped" doc:"Those that clients had locked, or took meanwhile"`
	Errors   []JobError `json:"errors" nullable:"false" doc:"Of the first that failed, 20 at most"`
	Why      string     `json:"why,omitempty" doc:"Why the job failed, or ended before it was done"`
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended,omitempty"`
}

// JobError is why a message stays.
type JobError struct {
	SequenceNumber int64  `json:"sequenceNumber"`
	Detail         string `json:"detail"`
}

// JobOrder says what a job is to do.
type JobOrder struct {
	Kind   string     `json:"kind" enum:"purge,move,resubmit"`
	Entity string     `json:"entity" example:"orders"`
	Target string     `json:"target,omitempty" doc:"Where they go: the path of a queue or topic"`
	Max    int64      `json:"max,omitempty" minimum:"1" doc:"At most, lowest sequence numbers first; none: all"`
	Filter *JobFilter `json:"filter,omitempty" doc:"Only messages that fit all of it; none: all active ones"`
	Edit   *JobEdit   `json:"edit,omitempty"`
}

// JobFilter selects messages.
type JobFilter struct {
	States          []string   `json:"states,omitempty" nullable:"false" enum:"active,deferred,scheduled"`
	SQL             string     `json:"sql,omitempty" example:"color = 'red'" doc:"A SQL filter, as rules have them"`
	Text            string     `json:"text,omitempty" doc:"In the body, in a property or its name; case-insensitive"`
	Reason          *string    `json:"reason,omitempty" doc:"The DeadLetterReason"`
	SessionID       *string    `json:"sessionId,omitempty"`
	Before          *time.Time `json:"before,omitempty" doc:"Enqueued before that time"`
	SequenceNumbers []int64    `json:"sequenceNumbers,omitempty" nullable:"false" maxItems:"10000"`
}

// JobEdit changes messages that move.
type JobEdit struct {
	Strip                *bool              `json:"strip,omitempty"`
	RemoveProperties     []string           `json:"removeProperties,omitempty" nullable:"false"`
	Properties           messagejson.Values `json:"properties,omitempty" nullable:"false"`
	MessageID            *string            `json:"messageId,omitempty"`
	SessionID            *string            `json:"sessionId,omitempty"`
	Subject              *string            `json:"subject,omitempty"`
	ContentType          *string            `json:"contentType,omitempty"`
	CorrelationID        *string            `json:"correlationId,omitempty"`
	To                   *string            `json:"to,omitempty"`
	ReplyTo              *string            `json:"replyTo,omitempty"`
	ScheduledEnqueueTime *time.Time         `json:"scheduledEnqueueTime,omitempty"`
	Body                 *string            `json:"body,omitempty" doc:"A text that takes the place of the body"`
	BodyBase64           []byte             `json:"bodyBase64,omitempty" doc:"Bytes that take the place of the body"`
}
