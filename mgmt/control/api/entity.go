package api

import "time"

// Entity is a queue, topic or subscription in a list.
type Entity struct {
	Path    string  `json:"path"`
	Kind    string  `json:"kind" enum:"queue,topic,subscription"`
	Status  string  `json:"status" enum:"Active,Disabled,SendDisabled,ReceiveDisabled"`
	Counts  Counts  `json:"counts"`
	Traffic Traffic `json:"traffic"`

	LastMinute     LastMinute `json:"lastMinute"`
	Receivers      int64      `json:"receivers" doc:"Attached to it or one of its sub-queues at the moment"`
	OldestEnqueued *time.Time `json:"oldestEnqueued,omitempty" doc:"When the oldest message was enqueued"`

	Temporary    bool          `json:"temporary,omitempty" doc:"Made by a JMS client, and deleted with its connection"`
	ClientAffine *ClientAffine `json:"clientAffine,omitempty" doc:"Of a subscription of JMS clients"`

	BeyondAzure []Beyond `json:"beyondAzure,omitempty" nullable:"false" doc:"What Azure would have refused"`
}

// ClientAffine says to which JMS clients a subscription belongs.
type ClientAffine struct {
	ClientID  string `json:"clientId" doc:"Empty: that of clients without one"`
	Durable   bool   `json:"durable" doc:"It stays when its last consumer closes"`
	Shared    bool   `json:"shared" doc:"It can have several consumers"`
	Consumers int64  `json:"consumers" doc:"Active JMS consumers"`
}

// Beyond is something that was done with an entity, or a setting of it, that Azure would have refused.
type Beyond struct {
	Rule  string `json:"rule" example:"QUO-8" doc:"The rule of a limit on messages, or the name of the setting"`
	Text  string `json:"text" doc:"How Azure refuses it"`
	Count int64  `json:"count"`
}

// LastMinute is what came and went in the last minute, give or take twenty seconds.
type LastMinute struct {
	Stored    int64 `json:"stored"`
	Completed int64 `json:"completed"`
}

// Traffic counts what went through an entity. Two answers, and the time between them, make a rate.
type Traffic struct {
	Stored    int64 `json:"stored" doc:"Sent, scheduled, forwarded or copied to it since Minibus started"`
	Delivered int64 `json:"delivered" doc:"Given to receivers, again and again if need be"`
	Completed int64 `json:"completed" doc:"Removed by receivers"`
}

// Counts are the messages of an entity by state.
type Counts struct {
	Active             int64 `json:"active" doc:"Active ones, with those that are locked or deferred"`
	Deferred           int64 `json:"deferred" doc:"Of the active ones, those that are deferred"`
	Scheduled          int64 `json:"scheduled"`
	DeadLetter         int64 `json:"deadLetter"`
	Transfer           int64 `json:"transfer" doc:"Those that wait to be forwarded"`
	TransferDeadLetter int64 `json:"transferDeadLetter" doc:"Those that could not be forwarded"`
	SizeBytes          int64 `json:"sizeBytes" doc:"Of its quota; of a topic with those of its subscriptions"`
}

// Branch is a queue or a topic in the tree of a namespace.
type Branch struct {
	Entity
	Forwards
	Subscriptions []Leaf `json:"subscriptions,omitempty" nullable:"false" doc:"Of a topic, by name"`
}

// Leaf is a subscription in the tree.
type Leaf struct {
	Name string `json:"name"`
	Entity
	Forwards
	Rules []string `json:"rules" nullable:"false" doc:"The names of its rules"`
}

// Forwards are the targets of an entity.
type Forwards struct {
	ForwardTo                     string `json:"forwardTo,omitempty"`
	ForwardDeadLetteredMessagesTo string `json:"forwardDeadLetteredMessagesTo,omitempty"`
}
