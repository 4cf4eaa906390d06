package api

// WaitFor is the body of a wait.
type WaitFor struct {
	TimeoutSeconds float64         `json:"timeoutSeconds,omitempty" minimum:"0" maximum:"3600" doc:"None: 30"`
	Entity         string          `json:"entity,omitempty" doc:"Of counts and idle"`
	Counts         []Condition     `json:"counts,omitempty" nullable:"false" maxItems:"20"`
	Idle           bool            `json:"idle,omitempty" doc:"No message is available, locked or to be forwarded"`
	Events         *EventsAwaited  `json:"events,omitempty"`
	Message        *MessageAwaited `json:"message,omitempty" doc:"A message that is there, or comes"`
}

// Condition compares a count.
type Condition struct {
	Of    string `json:"of" enum:"active,deferred,scheduled,deadLetter,transfer,transferDeadLetter"`
	Least int64  `json:"least,omitempty" minimum:"0" doc:"At least so many"`
	Most  *int64 `json:"most,omitempty" minimum:"0" doc:"At most so many; none: no limit"`
}

// EventsAwaited selects events to wait for.
type EventsAwaited struct {
	Entity    string   `json:"entity,omitempty"`
	Sequence  int64    `json:"sequenceNumber,omitempty"`
	MessageID string   `json:"messageId,omitempty" doc:"Of sent, scheduled, duplicate and sendRefused messages"`
	Client    string   `json:"client,omitempty"`
	Kinds     []string `json:"kinds,omitempty" nullable:"false" doc:"As in the history: sent, completed; none: any"`
	Times     int      `json:"times,omitempty" minimum:"0" doc:"How many; none: one"`
	From      int64    `json:"from,omitempty" minimum:"0" doc:"The first event that counts; none: those from now on"`
}

// MessageAwaited selects a message to wait for.
type MessageAwaited struct {
	Entity string     `json:"entity" example:"orders/$DeadLetterQueue" doc:"A path, with a sub-queue if that is meant"`
	Filter *JobFilter `json:"filter,omitempty"`
}

// Waited is how it stands at the end of a wait.
type Waited struct {
	Met    bool    `json:"met" doc:"Whether all holds; if not, the time is over"`
	Counts *Counts `json:"counts,omitempty" doc:"Of the entity"`
	Events int     `json:"events" doc:"How many there were"`
	Next   int64   `json:"next" doc:"The number of the next event, to go on from"`
	Text   string  `json:"text" doc:"The same in words"`

	Wanted string     `json:"wanted,omitempty" doc:"What was waited for, in words, if not all of it holds"`
	Why    *Diagnosis `json:"why,omitempty" doc:"What explainEntity says of the entity of the wait, if not all holds"`

	SequenceNumber int64 `json:"sequenceNumber,omitempty" doc:"Of the message, if the wait is for one and it is there"`
}

// Diagnosis says what stands in the way of receiving from an entity.
type Diagnosis struct {
	Entity    string    `json:"entity" doc:"The path, with its sub-queue"`
	Available int64     `json:"available" doc:"Messages that a receiver could have now"`
	Receivers int       `json:"receivers" doc:"Those that are attached, of the client if one was named"`
	Blocked   bool      `json:"blocked" doc:"Nothing can be received as long as the findings that block hold"`
	Findings  []Finding `json:"findings" nullable:"false" doc:"Those that block first; never none"`
}

// Finding is one thing that stands in the way, or explains where messages are.
type Finding struct {
	Code   string `json:"code"`
	Blocks bool   `json:"blocks" doc:"Nothing is received while it is so"`
	Text   string `json:"text" doc:"What is so, in sentences"`
	Fix    string `json:"fix,omitempty" doc:"What to do"`
}
