package api

// Page is a part of a list.
type Page[T any] struct {
	Items []T    `json:"items" nullable:"false"`
	Next  string `json:"next,omitempty" doc:"The cursor of the next page; none on the last"`
}
