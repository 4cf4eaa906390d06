package api

import "time"

// Activity is what came and went in the last hour, step by step.
type Activity struct {
	From        time.Time `json:"from" doc:"When the first step began: an hour ago, or the start of Minibus"`
	To          time.Time `json:"to" doc:"Now, by the machine's time; the last step is still running"`
	StepSeconds int64     `json:"stepSeconds"`
	Stored      []int64   `json:"stored" nullable:"false" doc:"Sent, scheduled, forwarded or copied in each step"`
	Completed   []int64   `json:"completed" nullable:"false" doc:"Removed by receivers in each step"`
	Active      []int64   `json:"active" nullable:"false" doc:"Active messages at the end of each step"`
	DeadLetter  []int64   `json:"deadLetter" nullable:"false"`
	Scheduled   []int64   `json:"scheduled" nullable:"false"`
}
