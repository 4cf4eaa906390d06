package arm

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// Error is an error answer. Clients look at the status, people at the code.
type Error struct {
	Status  int      `json:"-"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Target  string   `json:"target,omitempty"`
	Details []*Error `json:"details,omitempty"`
}

// Error returns the code and the text.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

func errorf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func badRequest(code, format string, args ...any) *Error {
	return errorf(http.StatusBadRequest, code, format, args...)
}

func notFound(code, format string, args ...any) *Error {
	return errorf(http.StatusNotFound, code, format, args...)
}

func conflict(code, format string, args ...any) *Error {
	return errorf(http.StatusConflict, code, format, args...)
}

// unsupported answers what Minibus does not have. Clients retry no 400.
func unsupported(id ID, format string, args ...any) *Error {
	return gateway(id, http.StatusBadRequest, 40000, fmt.Sprintf(format, args...))
}

// resourceNotFound answers requests for a resource of the first level that does not exist.
func resourceNotFound(id ID) *Error {
	return notFound("ResourceNotFound", "The Resource '%s/%s' under resource group '%s' was not found. For more "+
		"details please go to https://aka.ms/ARMResourceNotFoundFix", id.Type(), strings.Join(id.Names, "/"), id.Group)
}

// The codes of answers of the service behind Resource Manager, by status.
var gatewayCodes = map[int]string{
	http.StatusBadRequest: "MessagingGatewayBadRequest",
	http.StatusNotFound:   "MessagingGatewayNotFoundStatusCode",
	http.StatusConflict:   "MessagingGatewayConflict",
}

// gateway answers in the words of the service behind Resource Manager. A status that has no code there would make
// clients try again, and becomes 400.
func gateway(id ID, status, subCode int, text string) *Error {
	if gatewayCodes[status] == "" {
		status = http.StatusBadRequest
	}
	ns, entity := "", ""
	if len(id.Names) > 0 {
		ns, entity = id.Names[0], strings.Join(id.Names[1:], "/")
	}
	if subCode != 0 {
		text = fmt.Sprintf("SubCode=%d. %s", subCode, text)
	}
	return errorf(status, gatewayCodes[status], "%s TrackingId:%s_G0, SystemTracker:%s.servicebus.windows.net:%s, "+
		"Timestamp:%s", strings.TrimSpace(text), uuid.NewString(), ns, strings.ReplaceAll(entity, "~", "/"),
		time.Now().UTC().Format("2006-01-02T15:04:05"))
}

// domainCodes are status and sub-code of the domain's errors.
var domainCodes = map[emulator.Code]struct{ status, subCode int }{
	emulator.CodeNotFound:      {http.StatusNotFound, 40400},
	emulator.CodeAlreadyExists: {http.StatusConflict, 40900},
	emulator.CodeQuotaExceeded: {http.StatusBadRequest, 40300},
	emulator.CodeArgument:      {http.StatusBadRequest, 40000},
	emulator.CodeNotAllowed:    {http.StatusBadRequest, 40000},
}

// errorOf returns the answer to an error about a resource.
func errorOf(id ID, err error) *Error {
	var answer *Error
	var wrong *atom.Error
	var domain *emulator.Error
	switch {
	case errors.As(err, &answer):
		return answer
	case errors.As(err, &wrong):
		return gateway(id, http.StatusBadRequest, 0, sentence(wrong.Error()))
	case errors.As(err, &domain):
		if code, known := domainCodes[domain.Code]; known {
			return gateway(id, code.status, code.subCode, sentence(domain.Error()))
		}
	}
	return errorf(http.StatusInternalServerError, "InternalServerError", "%s", sentence(err.Error()))
}

// sentence gives a text a full stop.
func sentence(text string) string { return strings.TrimRight(strings.TrimSpace(text), ".") + "." }
