package api

import "time"

// Found is a message that somebody asked for by one of its ids.
type Found struct {
	Entity         string    `json:"entity"`
	SubQueue       string    `json:"subQueue,omitempty" enum:"$DeadLetterQueue,$Transfer/$DeadLetterQueue"`
	SequenceNumber int64     `json:"sequenceNumber"`
	MessageID      string    `json:"messageId,omitempty"`
	By             string    `json:"by" enum:"sequenceNumber,messageId,correlationId" doc:"What the text is of it"`
	Held           bool      `json:"held" doc:"Whether the entity still has it"`
	Last           string    `json:"last,omitempty" doc:"The last event of the history; none: it is not remembered"`
	Time           time.Time `json:"time" doc:"Of the last event, or when the message was enqueued"`
}

// Lookup is what was found.
type Lookup struct {
	Items    []Found `json:"items" nullable:"false"`
	Complete bool    `json:"complete" doc:"Whether all was looked at; else there may be more"`
}
