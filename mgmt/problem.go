package mgmt

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/atom"
)

// problem is an error answer: the status and the text, in the service's words where they are known.
type problem struct {
	status  int
	detail  string // without the tail; ends in a space
	tracker string // SystemTracker of the tail; "": host and path of the request
}

// Error returns the text.
func (p *problem) Error() string { return p.detail }

func problemf(status int, format string, args ...any) *problem {
	return &problem{status: status, detail: fmt.Sprintf(format, args...)}
}

// The answers that several operations give.
var (
	errConflict = problemf(http.StatusConflict,
		"SubCode=40900. Conflict. You're requesting an operation that isn't allowed in the resource's current "+
			"state. %s. ", atom.MoreInfo)
	errUpdateMissing = problemf(http.StatusNotFound, "SubCode=40400. Not Found. The Operation doesn't exist. %s. ",
		atom.MoreInfo)
	errDeleteMissing = problemf(http.StatusNotFound, "No service is hosted at the specified address. ")
	errNoTopic       = problemf(http.StatusNotFound, "The incoming request is not recognized as a namespace policy "+
		"put request. %s", atom.MoreInfo)
	errNoTarget = problemf(http.StatusBadRequest, "SubCode=40400. The auto forwarding destination entity does not "+
		"exist. ")
	errNotReady = problemf(http.StatusServiceUnavailable, "SubCode=50004. %s ", unhealthyText)
)

// badVerb answers a method that a path does not have.
func badVerb(method string) *problem {
	return problemf(http.StatusBadRequest, "The specified HTTP verb (%s) is not valid. ", sas.Clip(method))
}

func badRequest(text string) *problem {
	return problemf(http.StatusBadRequest, "SubCode=40000. %s ", text)
}

// backend returns an entity's name in texts and trackers: ns:Topic:name|subscription|rule.
func backend(n atomNamespace, kind, path string) string { return n.Name() + ":" + kind + ":" + path }

// statusOf maps the domain's codes to HTTP. Clients read the words before the text.
var statusOf = map[emulator.Code]struct {
	status int
	prefix string
}{
	emulator.CodeNotFound:       {http.StatusNotFound, "SubCode=40400. "},
	emulator.CodeAlreadyExists:  {http.StatusConflict, "SubCode=40900. "},
	emulator.CodeArgument:       {http.StatusBadRequest, "SubCode=40000. "},
	emulator.CodeNotAllowed:     {http.StatusBadRequest, "SubCode=40000. "},
	emulator.CodeEntityDisabled: {http.StatusForbidden, "SubCode=40301. "},
	emulator.CodeQuotaExceeded:  {http.StatusForbidden, "SubCode=40300. "},

	emulator.CodeMessageTooLarge: {http.StatusForbidden, "SubCode=40300. "},
	emulator.CodeHeaderTooLarge:  {http.StatusForbidden, "SubCode=40300. "},
	emulator.CodeMessageLockLost: {http.StatusNotFound, ""}, // DEC-13
	emulator.CodeSessionLockLost: {http.StatusNotFound, ""},

	emulator.CodeUnauthorized:   {http.StatusUnauthorized, "SubCode=40100. "},
	emulator.CodeServerBusy:     {http.StatusServiceUnavailable, "SubCode=50004. "},
	emulator.CodeDetached:       {http.StatusServiceUnavailable, "SubCode=50004. "}, // the namespace was reset
	emulator.CodeNotImplemented: {http.StatusNotImplemented, ""},
}

// problemOf returns the answer to an error.
func problemOf(err error) *problem {
	var p *problem
	var wrong *atom.Error
	var domain *emulator.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &wrong):
		return &problem{status: http.StatusBadRequest, detail: wrong.Error()}
	case errors.As(err, &domain):
		if s, known := statusOf[domain.Code]; known {
			return problemf(s.status, "%s%s ", s.prefix, domain.Error())
		}
	}
	return problemf(http.StatusInternalServerError, "SubCode=50000. The service was unable to process the request: "+
		"%s. ", strings.TrimSuffix(err.Error(), "."))
}

// hasCode reports whether an error of the domain has that code.
func hasCode(err error, code emulator.Code) bool {
	var e *emulator.Error
	return errors.As(err, &e) && e.Code == code
}

// withoutSubCode returns a text for an API that has no sub-codes.
func withoutSubCode(detail string) string {
	if code, rest, ok := strings.Cut(detail, ". "); ok && strings.HasPrefix(code, "SubCode=") {
		detail = rest
	}
	return strings.TrimSpace(detail)
}

// answer makes the error document. The tail is useless here, but clients show it and some parse it.
func (p *problem) answer(x *request) *answer {
	tracker := p.tracker
	if tracker == "" {
		tracker = x.r.Host + ":" + x.target.String()
	}
	detail := fmt.Sprintf("%sTrackingId:%s_G0, SystemTracker:%s, Timestamp:%s", p.detail, uuid.NewString(), tracker,
		time.UnixMilli(x.now).UTC().Format("2006-01-02T15:04:05"))
	if p.status == http.StatusInternalServerError {
		x.log.Error("request over HTTP failed", "method", sas.Clip(x.r.Method), "path", sas.Clip(x.r.URL.Path),
			slog.String("error", p.detail))
	}
	return &answer{status: p.status, contentType: atom.TypeError, body: atom.Problem(p.status, detail)}
}
