package api

import "time"

// Fault is a fault that was injected.
type Fault struct {
	ID int64 `json:"id"`
	FaultOrder
	Until *time.Time `json:"until,omitempty" doc:"When it is over, by the clock of the namespace"`
	State string     `json:"state" enum:"active,spent,over,removed" doc:"spent: it has struck as often as it was to. over: its time is"`
	Hits  int        `json:"hits" doc:"How many operations it has struck; with kind starve, how many links"`
}

// FaultOrder says what a fault does, and to whom.
type FaultOrder struct {
	Kind        string   `json:"kind" enum:"throttle,refuse,detach,drop,close,loseLock,loseSession,delay,starve,failJournal,expireToken" doc:"What happens to an operation: it is refused with server-busy, or with a condition; its link is detached, its connection cut or closed; the lock of the message or of the session ends before it; its outcome comes later; senders get no credit and receivers no messages; its change can't be written; the tokens of its connection are over"`
	Operations  []string `json:"operations,omitempty" nullable:"false" enum:"attachSender,attachReceiver,send,receive,settle,renew,manage,authenticate,now" doc:"Which are struck; none: those that are usual for the kind. now strikes at once what is connected"`
	Entity      string   `json:"entity,omitempty" example:"orders" doc:"A path, with a sub-queue if that is meant; none: all entities"`
	Client      string   `json:"client,omitempty" maxLength:"255" doc:"The id of a connection, its container, client library or address, or a link; none: all clients"`
	Condition   string   `json:"condition,omitempty" example:"not-found" doc:"Of the error, with kind refuse, detach, close and failJournal; none: what the service says"`
	DelayMillis int      `json:"delayMilliseconds,omitempty" minimum:"1" maximum:"600000" doc:"With kind delay: how long the outcome is kept back, in real time"`
	After       bool     `json:"after,omitempty" doc:"With kind detach, drop and close and the operations send and settle: the operation is carried out, and only its answer is lost"`
	Skip        int      `json:"skip,omitempty" minimum:"0" doc:"How many operations go well first"`
	Count       int      `json:"count,omitempty" minimum:"0" doc:"How many operations are struck; none: all"`
	Probability float64  `json:"probability,omitempty" minimum:"0" maximum:"1" doc:"That an operation is struck; none: it is"`
	Seed        int64    `json:"seed,omitempty" minimum:"0" maximum:"2147483647" doc:"Of the choice: the same seed strikes the same operations again; none: a new one"`
	For         string   `json:"for,omitempty" example:"PT1M" doc:"How long, by the clock of the namespace, as an ISO 8601 duration; none: until it is removed"`
}
