package api

// ErrorType is the media type of error answers.
const ErrorType = "application/problem+json"

// Error is an error answer: a problem document [RFC 9457].
type Error struct {
	Type   string   `json:"type" format:"uri-reference"`
	Title  string   `json:"title" doc:"The text of the status"`
	Status int      `json:"status"`
	Detail string   `json:"detail" doc:"What is wrong, where, and what to do"`
	Errors []string `json:"errors,omitempty" nullable:"false" doc:"All that is wrong, if that may be several things"`
}

// Error returns the detail.
func (p *Error) Error() string { return p.Detail }

// GetStatus returns the status.
func (p *Error) GetStatus() int { return p.Status }

// ContentType returns the media type of problem documents.
func (p *Error) ContentType(string) string { return ErrorType }

// Page is a part of a list.
type Page[T any] struct {
	Items []T    `json:"items" nullable:"false"`
	Next  string `json:"next,omitempty" doc:"The cursor of the next page; none on the last"`
}
