package api

import "time"

// Fault is a fault that was injected.
type Fault struct {
	ID int64 `json:"id"`
	FaultOrder
	Until *time.Time `json:"until,omitempty" doc:"When it is over, by the clock of the namespace"`
	State string     `json:"state" enum:"active,spent,over,removed" doc:"spent: hit count times. over: its time ended"`
	Hits  int        `json:"hits" doc:"How many operations it has hit; with kind starve, how many links"`
}

// FaultOrder says what a fault does, and to whom.
type FaultOrder struct {
	Kind        string   `json:"kind"`
	Operations  []string `json:"operations,omitempty" nullable:"false"`
	Entity      string   `json:"entity,omitempty" example:"orders" doc:"A path, with or without a sub-queue; none: all"`
	Client      string   `json:"client,omitempty" maxLength:"255"`
	Condition   string   `json:"condition,omitempty" example:"not-found"`
	DelayMillis int      `json:"delayMilliseconds,omitempty" minimum:"1" maximum:"600000" doc:"Real time, for delay"`
	After       bool     `json:"after,omitempty"`
	Skip        int      `json:"skip,omitempty" minimum:"0" doc:"How many operations go well first"`
	Count       int      `json:"count,omitempty" minimum:"0" doc:"How many operations are hit; none: all"`
	Probability float64  `json:"probability,omitempty" minimum:"0" maximum:"1" doc:"That it hits an operation; none: 1"`
	Seed        int64    `json:"seed,omitempty" minimum:"0" maximum:"2147483647" doc:"Same seed, same operations"`
	For         string   `json:"for,omitempty" example:"PT1M" doc:"How long, as an ISO 8601 duration; none: no end"`
}
