package api

import "time"

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
