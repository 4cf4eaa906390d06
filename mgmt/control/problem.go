package control

import (
	"encoding/json"
	"errors"
	"net/http"

	"minibus/emulator"
)

// Error is an error answer [RFC 9457].
type Error struct {
	Status int
	Detail string // says what is wrong and what to do
}

// Error returns the detail.
func (p *Error) Error() string { return p.Detail }

// Refuse writes the problem document.
func Refuse(w http.ResponseWriter, p *Error) {
	body, _ := json.Marshal(struct { // texts and a number: can't fail
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{"about:blank", http.StatusText(p.Status), p.Status, p.Detail})
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
		return &Error{statusOf[domain.Code], domain.Error()}
	}
	return &Error{http.StatusInternalServerError, "The request could not be carried out: " + err.Error()}
}
