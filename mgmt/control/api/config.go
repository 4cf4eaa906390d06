package api

// ConfigDiff is what a configuration changes.
type ConfigDiff struct {
	Same     bool         `json:"same" doc:"Whether there is nothing to do"`
	Applied  bool         `json:"applied" doc:"Whether it was done"`
	Refused  string       `json:"refused,omitempty" doc:"Why none of it can be done"`
	Summary  DiffSummary  `json:"summary"`
	Notes    []string     `json:"notes" nullable:"false" doc:"What the configuration has and does not count here"`
	Entities []EntityDiff `json:"entities" nullable:"false"`
}

// DiffSummary counts entities by what is done to them.
type DiffSummary struct {
	Create int `json:"create"`
	Change int `json:"change"`
	Delete int `json:"delete"`
	Keep   int `json:"keep" doc:"They are what the configuration says"`
	Leave  int `json:"leave" doc:"The configuration does not have them, and they stay"`
	Refuse int `json:"refuse" doc:"They would have to be deleted and created anew"`
}

// EntityDiff is what a configuration changes of an entity.
type EntityDiff struct {
	Path     string        `json:"path"`
	Kind     string        `json:"kind" enum:"queue,topic,subscription"`
	Action   string        `json:"action" enum:"create,change,delete,keep,leave,refuse"`
	Why      string        `json:"why,omitempty" doc:"Why it is refused"`
	Settings []SettingDiff `json:"settings,omitempty" nullable:"false" doc:"Of an entity that exists: what differs"`
}

// SettingDiff is a setting that differs.
type SettingDiff struct {
	Name  string `json:"name" doc:"As in Config.json, or Rules[\"NAME\"]. Of policies only names and rights"`
	From  any    `json:"from,omitempty" doc:"What it is; none: there is no such rule"`
	To    any    `json:"to,omitempty" doc:"What it would be; none: the rule is deleted"`
	Fixed bool   `json:"fixed,omitempty" doc:"Whether it can't be changed: delete the entity first, with its messages"`
}
