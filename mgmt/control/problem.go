package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// newError returns the answer with a status.
func newError(status int, errors []string, format string, args ...any) *api.Error {
	return &api.Error{
		Type:   "about:blank",
		Title:  http.StatusText(status),
		Status: status,
		Detail: fmt.Sprintf(format, args...),
		Errors: errors,
	}
}

// badRequest returns the answer to a body that is wrong.
func badRequest(format string, args ...any) *api.Error {
	return newError(http.StatusBadRequest, nil, format, args...)
}

// ErrTokenExpired is the answer to a request that lasts longer than its token, and the cause for which its context
// ends.
var ErrTokenExpired error = newError(http.StatusUnauthorized, nil,
	"The token expired while the request waited. Ask again with a new one.")

// init makes Huma answer with an [api.Error] when it finds an argument wrong, and take names in their own case only.
// Only variables of its package can say so.
func init() {
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, detail string, wrong ...error) huma.StatusError {
		return rejected(status, detail, wrong)
	}
}

// severalErrors follows the first.
const severalErrors = " (The first of several errors.)"

// rejected returns the answer to arguments that Huma found wrong.
func rejected(status int, detail string, wrong []error) *api.Error {
	var list []string
	for _, err := range wrong {
		if d := (*huma.ErrorDetail)(nil); errors.As(err, &d) {
			list = append(list, d.Location+": "+d.Message)
			continue
		}
		list = append(list, err.Error())
	}
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return newError(status, nil, "The body of the request is too long: it may have %d bytes, and more where %s "+
			"says so.", maxBody, DocumentPath)
	case status == http.StatusRequestTimeout:
		return newError(status, nil, "The body of the request came too slowly. Send it again: after %v a large one "+
			"has to come at %d KiB in each second.", uploadGrace, uploadRate>>10)
	case status == http.StatusUnprocessableEntity:
		status = http.StatusBadRequest
	case status == 0: // Huma asks for the type
		status = http.StatusInternalServerError
	}
	if len(list) == 0 {
		list = []string{detail}
	}
	p := newError(status, list, "The request is not as %s says: %s.", DocumentPath, list[0])
	if len(list) > 1 {
		p.Detail += severalErrors
	}
	return p
}

// Refuse writes the problem document of an error.
func Refuse(w http.ResponseWriter, p *api.Error) {
	write(w, newError(p.Status, p.Errors, "%s", p.Detail))
}

// write writes a whole problem document.
func write(w http.ResponseWriter, p *api.Error) {
	body, _ := json.Marshal(p) // texts and a number: can't fail
	w.Header().Set("Content-Type", api.ErrorType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n')) // the client is gone if this fails
}

// statusOf maps the domain's codes. Others are 500.
var statusOf = map[emulator.Code]int{
	emulator.CodeArgument:        http.StatusBadRequest,
	emulator.CodeNotFound:        http.StatusNotFound,
	emulator.CodeAlreadyExists:   http.StatusConflict,
	emulator.CodeNotAllowed:      http.StatusConflict,
	emulator.CodeQuotaExceeded:   http.StatusConflict,
	emulator.CodeMessageNotFound: http.StatusNotFound,
	emulator.CodeMessageLockLost: http.StatusConflict,
	emulator.CodeSessionLockLost: http.StatusConflict,
	emulator.CodeSessionLocked:   http.StatusConflict,
	emulator.CodeEntityDisabled:  http.StatusConflict,
	emulator.CodeDetached:        http.StatusConflict,
	emulator.CodeMessageTooLarge: http.StatusRequestEntityTooLarge,
	emulator.CodeHeaderTooLarge:  http.StatusRequestEntityTooLarge,
	emulator.CodeServerBusy:      http.StatusServiceUnavailable,
	emulator.CodeTimeout:         http.StatusServiceUnavailable,
}

// problemOf returns the answer to an error.
func problemOf(err error) *api.Error {
	var p *api.Error
	var domain *emulator.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &domain) && statusOf[domain.Code] != 0:
		return newError(statusOf[domain.Code], nil, "%s", err)
	}
	return newError(http.StatusInternalServerError, nil, "The request could not be carried out: %v", err)
}

// TypeOff is the type of the problem document that answers all requests while the API is off.
const TypeOff = "urn:minibus:control-off"

// Off answers the requests below [Prefix] of a Minibus that has no control API.
func Off(w http.ResponseWriter, _ *http.Request) {
	p := newError(http.StatusNotFound, nil, "This Minibus has no control API: it was started with --control off or "+
		"MINIBUS_CONTROL=off. Start it without that to use the API, and what needs it.")
	p.Type = TypeOff
	write(w, p)
}
