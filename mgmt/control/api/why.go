package api

// Diagnosis says what stands in the way of receiving from an entity.
type Diagnosis struct {
	Entity    string    `json:"entity" doc:"The path, with its sub-queue"`
	Available int64     `json:"available" doc:"Messages that a receiver could have now"`
	Receivers int       `json:"receivers" doc:"Those that are attached, of the client if one was named"`
	Blocked   bool      `json:"blocked" doc:"Nothing can be received as long as the findings that block hold"`
	Findings  []Finding `json:"findings" nullable:"false" doc:"Those that block first; never none"`
}

// Finding is one thing that stands in the way, or explains where messages are.
type Finding struct {
	Code   string `json:"code"`
	Blocks bool   `json:"blocks" doc:"Nothing is received while it is so"`
	Text   string `json:"text" doc:"What is so, in sentences"`
	Cure   string `json:"cure,omitempty" doc:"What to do"`
}
