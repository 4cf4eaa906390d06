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
