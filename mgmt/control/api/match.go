package api

import "time"

// Matching says what a topic would do with a message.
type Matching struct {
	Topic         string                 `json:"topic"`
	Refused       string                 `json:"refused,omitempty" doc:"Why the topic would not take the message. The rest says what it would do otherwise"`
	Duplicate     bool                   `json:"duplicate" doc:"The topic had a message with the id and would drop this one"`
	ScheduledFor  *time.Time             `json:"scheduledFor,omitempty" doc:"When the rules would be asked; none: at once"`
	Reached       []string               `json:"reached" nullable:"false" doc:"The names of the subscriptions that would get the message"`
	Subscriptions []SubscriptionMatching `json:"subscriptions" nullable:"false" doc:"All of the topic, or the one that was asked for, by name"`
	Unexplained   int                    `json:"unexplained,omitempty" doc:"Rules that do not select the message and are left out, since there are too many"`
}

// SubscriptionMatching says what a subscription would do with a message.
type SubscriptionMatching struct {
	Name   string         `json:"name" doc:"Empty: a new one, with the rule that is tried"`
	Path   string         `json:"path,omitempty"`
	Status string         `json:"status" enum:"Active,Disabled,SendDisabled,ReceiveDisabled" doc:"Copies come to it whatever the status; it says whether they can be received"`
	Copies []MatchedCopy  `json:"copies" nullable:"false" doc:"What it would get: one for all rules without an action, and one for each rule with one"`
	Rules  []RuleMatching `json:"rules" nullable:"false" doc:"In the order of their creation"`
}

// MatchedCopy is a copy of the message.
type MatchedCopy struct {
	Rule        string           `json:"rule,omitempty" doc:"That selects it; none: a rule failed"`
	SubQueue    string           `json:"subQueue,omitempty" enum:"$DeadLetterQueue" doc:"None: the main queue"`
	Reason      string           `json:"deadLetterReason,omitempty"`
	Description string           `json:"deadLetterErrorDescription,omitempty"`
	Changes     []PropertyChange `json:"changes" nullable:"false" doc:"What differs from the message as it is sent"`
	Forwards    []string         `json:"forwards" nullable:"false" doc:"Where it would go on to, one entity after another"`
	Stopped     string           `json:"stopped,omitempty" doc:"Why it would go no further; none: it would stay in the last one"`
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
	Outcome     string   `json:"outcome" enum:"true,false,unknown,error" doc:"Only true selects. A comparison with a property that is missing or null, or of a type that does not fit, is unknown"`
	Error       string   `json:"error,omitempty" doc:"Of the filter or the action. The subscription dead-letters the message or ignores the rule, as DeadLetteringOnFilterEvaluationExceptions says"`
	ActionFails bool     `json:"actionFails,omitempty"`
	Reasons     []Reason `json:"reasons" nullable:"false" doc:"The conditions that decided. If the rule does not select the message: those that would have to be otherwise"`
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
