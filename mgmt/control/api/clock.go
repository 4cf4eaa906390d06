package api

import "time"

// Clock is the clock of a namespace.
type Clock struct {
	Now    time.Time  `json:"now" doc:"What it shows, which locks, schedules, times to live and idle entities follow"`
	Offset string     `json:"offset" pattern:"^-?P" example:"PT1H"`
	Frozen bool       `json:"frozen" doc:"Whether it stands still"`
	Goal   *time.Time `json:"goal,omitempty" doc:"The instant to which it is being advanced; none: it is not"`
	Due    []Due      `json:"due" nullable:"false" doc:"The next instant of each kind of each entity, the first first"`
}

// Due is something that happens by itself.
type Due struct {
	At     time.Time `json:"at"`
	Entity string    `json:"entity"`
	Kind   string    `json:"kind" enum:"lockEnds,scheduled,expires,sessionLockEnds,forwardRetried,idle"`
}
