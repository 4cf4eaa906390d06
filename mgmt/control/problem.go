package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"minibus/emulator"
)

// Error is an error answer [RFC 9457].
type Error struct {
	Status int
	Detail string   // says what is wrong and what to do
	Errors []string // all that is wrong, if that may be several things
}

// Error returns the detail.
func (p *Error) Error() string { return p.Detail }

// badRequest returns the answer to a body that is wrong.
func badRequest(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: fmt.Sprintf(format, args...)}
}

// Refuse writes the problem document.
func Refuse(w http.ResponseWriter, p *Error) {
	body, _ := json.Marshal(struct { // texts and a number: can't fail
		Type   string   `json:"type"`
		Title  string   `json:"title"`
		Status int      `json:"status"`
		Detail string   `json:"detail"`
		Errors []string `json:"errors,omitempty"`
	}{"about:blank", http.StatusText(p.Status), p.Status, p.Detail, p.Errors})
	write(w, p.Status, "application/problem+json", append(body, '\n'))
}

// statusOf maps the domain's codes. Others are 500.
var statusOf = map[emulator.Code]int{
	emulator.CodeArgument:      http.StatusBadRequest,
	emulator.CodeNotFound:      http.StatusNotFound,
	emulator.CodeAlreadyExists: http.StatusConflict,
	emulator.CodeNotAllowed:    http.StatusConflict,
	emulator.CodeQuotaExceeded: http.StatusConflict,
	emulator.CodeServerBusy:    http.StatusServiceUnavailable,
}

// problemOf returns the answer to an error.
func problemOf(err error) *Error {
	var p *Error
	var domain *emulator.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &domain) && statusOf[domain.Code] != 0:
		return &Error{Status: statusOf[domain.Code], Detail: err.Error()}
	}
	return &Error{Status: http.StatusInternalServerError, Detail: "The request could not be carried out: " + err.Error()}
}
