package api

import "time"

// Event is something that happened to a message.
type Event struct {
	Number         int64      `json:"number" doc:"Of the event, among all of the process"`
	Time           time.Time  `json:"time"`
	Kind           string     `json:"kind" doc:"Such as sent, delivered, lockExpired, deadLettered, completed"`
	Entity         string     `json:"entity"`
	SubQueue       string     `json:"subQueue,omitempty" enum:"$DeadLetterQueue,$Transfer/$DeadLetterQueue"`
	SequenceNumber int64      `json:"sequenceNumber,omitempty"`
	NewNumber      int64      `json:"newSequenceNumber,omitempty" doc:"The number from now on, if it is another one"`
	FirstNumber    int64      `json:"enqueuedSequenceNumber,omitempty" doc:"The first number, if it was another one"`
	DeliveryCount  int64      `json:"deliveryCount" doc:"After the event"`
	LockedUntil    *time.Time `json:"lockedUntil,omitempty"`
	ScheduledFor   *time.Time `json:"scheduledFor,omitempty"`
	Copies         *int       `json:"copies,omitempty" doc:"How many subscriptions of a topic got one"`
	MessageID      string     `json:"messageId,omitempty" doc:"Of the message, while its first event is kept"`
	Detail         string     `json:"detail,omitempty" doc:"The reason, rule, target of a forward, or error"`
	Client         *Client    `json:"client,omitempty" doc:"Who did it; none: Minibus itself, or unknown"`
	Text           string     `json:"text" doc:"The same as a sentence"`
}

// Client is who did something.
type Client struct {
	Connection string `json:"connection,omitempty" doc:"As in connections; none of HTTP requests"`
	Link       string `json:"link,omitempty"`
	Container  string `json:"container,omitempty"`
	Product    string `json:"product,omitempty"`
	Remote     string `json:"remote"`
}

// HistoryPage is a part of the history.
type HistoryPage struct {
	Items  []Event `json:"items" nullable:"false"`
	Next   int64   `json:"next" doc:"The cursor of the next page"`
	Oldest int64   `json:"oldest" doc:"The number of the oldest event that Minibus remembers"`
}
