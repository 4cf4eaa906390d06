package api

import "time"

// Matching says what a topic would do with a message.
type Matching struct {
	Topic         string                 `json:"topic"`
	Refused       string                 `json:"refused,omitempty" doc:"Why the topic refuses it; the rest: if not"`
	Duplicate     bool                   `json:"duplicate" doc:"The topic would drop it: it had a message with the id"`
	ScheduledFor  *time.Time             `json:"scheduledFor,omitempty" doc:"When the rules are asked; none: at once"`
	Reached       []string               `json:"reached" nullable:"false" doc:"The subscriptions that would get it"`
	Subscriptions []SubscriptionMatching `json:"subscriptions" nullable:"false"`
	Unexplained   int                    `json:"unexplained,omitempty" doc:"Rules left out as there are too many"`
}

// SubscriptionMatching says what a subscription would do with a message.
type SubscriptionMatching struct {
	Name   string         `json:"name" doc:"Empty: a new one, with the rule that is tried"`
	Path   string         `json:"path,omitempty"`
	Status string         `json:"status" enum:"Active,Disabled,SendDisabled,ReceiveDisabled"`
	Copies []MatchedCopy  `json:"copies" nullable:"false"`
	Rules  []RuleMatching `json:"rules" nullable:"false" doc:"In the order of their creation"`
}

// MatchedCopy is a copy of the message.
type MatchedCopy struct {
	Rule        string           `json:"rule,omitempty" doc:"That selects it; none: a rule failed"`
	SubQueue    string           `json:"subQueue,omitempty" enum:"$DeadLetterQueue" doc:"None: the main queue"`
	Reason      string           `json:"deadLetterReason,omitempty"`
	Description string           `json:"deadLetterErrorDescription,omitempty"`
	Changes     []PropertyChange `json:"changes" nullable:"false" doc:"What differs from the message as it is sent"`
	Forwards    []string         `json:"forwards" nullable:"false" doc:"Where it would go on to, one after another"`
	Stopped     string           `json:"stopped,omitempty" doc:"Why it would go no further; none: it stays in the last"`
}

// PropertyChange is a property that differs. Values are as in messages.
type PropertyChange struct {
	Property string `json:"property" doc:"Of the application, or sys. and the name of the service's"`
	Before   any    `json:"before,omitempty" doc:"None: it is new, or was null"`
	After    any    `json:"after,omitempty" doc:"None: it is removed, or null"`
	Removed  bool   `json:"removed,omitempty"`
}

// RuleMatching says what a rule makes of the message.
type RuleMatching struct {
	Name        string   `json:"name"`
	Filter      string   `json:"filter"`
	Action      string   `json:"action,omitempty"`
	Outcome     string   `json:"outcome" enum:"true,false,unknown,error"`
	Error       string   `json:"error,omitempty"`
	ActionFails bool     `json:"actionFails,omitempty"`
	Reasons     []Reason `json:"reasons" nullable:"false"`
}

// Reason is a condition of a filter without AND, OR and NOT around it.
type Reason struct {
	Condition string      `json:"condition"`
	Outcome   string      `json:"outcome" enum:"true,false,unknown"`
	Seen      []SeenValue `json:"seen" nullable:"false" doc:"The properties that it read"`
	Text      string      `json:"text" doc:"The same as a sentence"`
}

// SeenValue is what a condition read.
type SeenValue struct {
	Name    string `json:"name"`
	Missing bool   `json:"missing,omitempty" doc:"The message does not have it"`
	Value   any    `json:"value,omitempty" doc:"As in messages; none: null, or missing"`
}
