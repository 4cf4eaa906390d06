package api

import "time"

// Namespace is a namespace in an answer.
type Namespace struct {
	Name    string    `json:"name"`
	Default bool      `json:"default" doc:"Whether what names no namespace means this one"`
	Created time.Time `json:"created"`
	Limits  string    `json:"limits" enum:"relaxed,standard,premium,emulator" doc:"A profile of limits, as of --limits"`
	Port    int       `json:"port,omitempty" minimum:"1" maximum:"65535" doc:"Its own, for AMQP, TLS and HTTP"`
	Aliases []string  `json:"aliases,omitempty" nullable:"false" doc:"Other names of hosts that mean it"`

	ConnectionString string `json:"connectionString" pattern:"^Endpoint=sb://"`

	ConnectionStrings []ConnectionString `json:"connectionStrings" nullable:"false" doc:"Those of all policies"`
}

// ConnectionString is that of one policy.
type ConnectionString struct {
	KeyName string   `json:"keyName"`
	Rights  []string `json:"rights" nullable:"false" enum:"Manage,Send,Listen"`
	Value   string   `json:"connectionString" pattern:"^Endpoint=sb://"`
}

// Clock is the clock of a namespace.
type Clock struct {
	Now    time.Time  `json:"now" doc:"What it shows, which locks, schedules, times to live and idle entities follow"`
	Offset string     `json:"offset" pattern:"^-?P" example:"PT1H"`
	Frozen bool       `json:"frozen" doc:"Whether it stands still"`
	Goal   *time.Time `json:"goal,omitempty" doc:"The instant to which it is being advanced; none: it is not"`
	Due    []Due      `json:"due" nullable:"false" doc:"The next instant of each kind of each entity, the first first"`

	Forecast *Forecast `json:"forecast,omitempty"`
}

// Forecast is what happens by itself up to an instant.
type Forecast struct {
	Until        time.Time `json:"until"`
	Expire       Effect    `json:"expire" doc:"Messages that expire"`
	DeadLettered int       `json:"deadLettered" doc:"Of those, how many become dead letters; the others are removed"`
	Activate     Effect    `json:"activate" doc:"Scheduled messages that become active"`
	Unlock       Effect    `json:"unlock" doc:"Locks of messages and sessions that end"`
	Delete       Effect    `json:"delete" doc:"Idle entities that are deleted, with their messages"`
}

// Effect is on how many messages of how many entities something has an effect.
type Effect struct {
	Messages int `json:"messages"`
	Entities int `json:"entities"`
}

// Due is something that happens by itself.
type Due struct {
	At     time.Time `json:"at"`
	Entity string    `json:"entity"`
	Kind   string    `json:"kind" enum:"lockEnds,scheduled,expires,sessionLockEnds,forwardRetried,idle"`
}

// Snapshot is a snapshot in an answer.
type Snapshot struct {
	Name     string    `json:"name"`
	Saved    time.Time `json:"saved" doc:"By the machine's clock"`
	Now      time.Time `json:"now" doc:"What the clock of the namespace showed. It shows that again after a restore"`
	Frozen   bool      `json:"frozen" doc:"Whether that clock stood still. It does so again after a restore"`
	Entities int64     `json:"entities" doc:"Queues, topics and subscriptions"`
	Messages int64     `json:"messages" doc:"In all states, dead letters included"`
	Bytes    int64     `json:"bytes" doc:"Of the messages, as of the sizes that clients see"`
}
