package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/internal/printable"
)

// The exit codes, which docs/cli.md promises.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitNotFound     = 3
	exitUnauthorized = 4
	exitNothing      = 5 // nothing to receive, or to be met, in the time given
	exitUnreachable  = 6
	exitInterrupted  = 130
)

// failure is an error as the user sees it.
type failure struct {
	code int
	text string
}

// Error implements error.
func (f *failure) Error() string { return f.text }

// ExitCode returns the exit code of the process.
func (f *failure) ExitCode() int { return f.code }

func failed(code int, format string, args ...any) error {
	return &failure{code: code, text: fmt.Sprintf(format, args...)}
}

// Usage returns the error of a wrong command line.
func Usage(format string, args ...any) error { return failed(exitUsage, format, args...) }

// Refused is an error of access, with its exit code.
func Refused(err error) error { return failed(exitUnauthorized, "%v", err) }

// about says what failed, in front of the cause.
func (a *app) about(what string, err error) error {
	if err == nil {
		return nil
	}
	var f *failure
	if !errors.As(err, &f) {
		f = a.explain(err)
	}
	return &failure{code: f.code, text: what + ": " + f.text}
}

// explain finds the exit code of an error of the libraries, and the words for it.
func (a *app) explain(err error) *failure {
	var (
		answer  *azcore.ResponseError
		refused *amqp.Error
		sdk     *azservicebus.Error
	)
	switch {
	case errors.As(err, &answer):
		return explainAnswer(answer)
	case errors.As(err, &refused):
		return explainCondition(refused)
	}
	if f := cmp.Or(a.signIn.failure(), a.explainConnection(err)); f != nil {
		return f
	}
	text := oneLine(err.Error())
	if p := printed.FindStringSubmatch(text); p != nil { // the SDK hides the error, but prints it
		refusal := explainCondition(&amqp.Error{Condition: amqp.ErrCond(p[1]), Description: p[2]})
		if !errors.As(err, &sdk) || refusal.code != exitFailed {
			return refusal
		}
		text = refusal.text
	}
	if errors.As(err, &sdk) {
		text = strings.TrimPrefix(text, "("+string(sdk.Code)+"): ")
		if _, description, ok := strings.Cut(text, " and description: "); ok {
			text = description
		}
		switch sdk.Code {
		case azservicebus.CodeNotFound:
			return &failure{exitNotFound, then(text, fixMissing)}
		case azservicebus.CodeUnauthorizedAccess:
			return &failure{exitUnauthorized, then(text, fixRights)}
		case azservicebus.CodeTimeout:
			return &failure{exitNothing, text}
		case azservicebus.CodeConnectionLost:
			return &failure{exitUnreachable, text}
		}
	}
	return &failure{exitFailed, text}
}

// printed finds an AMQP error as the SDK prints it.
var printed = regexp.MustCompile(`\*Error\{Condition: (\S*), Description: (.*), Info: map\[.*\]\}`)

// isNotFound reports whether a failure says that there is no such thing.
func isNotFound(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.code == exitNotFound
}

// unlessGone returns an error, or none if it says that there is no such thing and that is fine.
func unlessGone(err error, fine bool) error {
	if fine && isNotFound(err) {
		return nil
	}
	return err
}

const (
	fixRights = "give a connection string with a key that has the right: Send to send, Listen to peek and " +
		"receive, Manage for entities"
	fixRoles = "assign a role to the identity: Azure Service Bus Data Sender to send, Data Receiver to peek and " +
		"receive, Data Owner for entities"
	fixMissing = "minibus queue ls, minibus topic ls and minibus sub ls list what there is"
)

// explainAnswer explains an answer of the administration.
func explainAnswer(e *azcore.ResponseError) *failure {
	text := fmt.Sprintf("the service answers %d", e.StatusCode)
	if e.RawResponse != nil {
		body, _ := runtime.Payload(e.RawResponse)
		var document struct{ Detail string }
		if xml.Unmarshal(body, &document) == nil && document.Detail != "" {
			text += ": " + document.Detail
		}
	}
	text = oneLine(text)
	switch e.StatusCode {
	case http.StatusNotFound:
		return &failure{exitNotFound, text}
	case http.StatusUnauthorized, http.StatusForbidden:
		return &failure{exitUnauthorized, then(text, fixRights)}
	}
	return &failure{exitFailed, text}
}

// explainCondition explains a refusal over AMQP.
func explainCondition(e *amqp.Error) *failure {
	text := strings.TrimRight(oneLine(e.Description), ".")
	if text == "" {
		text = "the service refuses it"
	}
	text = fmt.Sprintf("%s (%s)", text, e.Condition)
	switch e.Condition {
	case amqp.ErrCondNotFound:
		return &failure{exitNotFound, then(text, fixMissing)}
	case amqp.ErrCondUnauthorizedAccess:
		return &failure{exitUnauthorized, then(text, fixRights)}
	case "com.microsoft:timeout":
		return &failure{exitNothing, text}
	}
	return &failure{exitFailed, text}
}

// explainConnection explains a connection that was not made; nil if the error is another one.
func (a *app) explainConnection(err error) *failure {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
		noTLS   tls.RecordHeaderError
		noHost  *net.DNSError
		network *net.OpError
		silent  *silenceError
	)
	// The SDK does not let look at its causes.
	said := func(words string) bool { return strings.Contains(err.Error(), words) }
	host := a.host()
	f := &failure{code: exitUnreachable}
	switch {
	case errors.As(err, &silent):
		f.text = fmt.Sprintf("%s did not answer in %v; --timeout lets a command wait longer", host, silent.after)
	case errors.Is(err, errEndless):
		f.text = fmt.Sprintf("%s answers with more than %d MiB, which no Minibus does", host, mostAnswer>>20)
	case errors.As(err, &unknown), errors.As(err, &invalid), said("signed by unknown authority"),
		said("certificate is not trusted"):
		f.text = fmt.Sprintf("the certificate of %s is not trusted: give its CA certificate with --ca FILE; minibus "+
			"cert says where a Minibus has it", host)
	case errors.As(err, &name), said("certificate is valid for"), said("certificate is not valid for"):
		f.text = fmt.Sprintf("the certificate of %s is for another host: %s", host, oneLine(err.Error()))
	case errors.As(err, &noTLS), said("server gave HTTP response to HTTPS client"),
		said("first record does not look like a TLS handshake"):
		f.text = fmt.Sprintf("%s speaks no TLS at this port; for an emulator add UseDevelopmentEmulator=true to "+
			"the connection string", host)
	case errors.As(err, &noHost), said("no such host"):
		f.text = fmt.Sprintf("the host %s is not known; check it in %s", host, a.source)
	case errors.Is(err, syscall.ECONNREFUSED), said("connection refused"):
		f.text = a.nothingListens(err)
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, context.DeadlineExceeded):
		f.text = fmt.Sprintf("no connection to %s: %s", host, oneLine(err.Error()))
	default:
		return nil
	}
	return f
}

// dialled finds the port that was tried.
var dialled = regexp.MustCompile(`dial tcp \S*:(\d+)`)

// nothingListens names the address that was tried, and says what to do.
func (a *app) nothingListens(err error) string {
	host := a.host()
	if port := dialled.FindStringSubmatch(err.Error()); port != nil {
		if hasPort(host) {
			host = host[:strings.LastIndexByte(host, ':')]
		}
		host += ":" + port[1]
	}
	if a.isLocal {
		if text := a.elsewhere(); text != "" {
			return fmt.Sprintf("nothing listens at %s; %s", host, text)
		}
		return fmt.Sprintf("nothing listens at %s: start a Minibus, name its ports in MINIBUS_AMQP_PORT and "+
			"MINIBUS_HTTP_PORT, or give a connection string with --connection or %s", host, connectionVariable)
	}
	return fmt.Sprintf("nothing listens at %s, which %s names: start a Minibus, or give another connection string "+
		"with --connection or %s", host, a.source, connectionVariable)
}

// then puts a sentence and its fix on one line.
func then(text, fix string) string { return strings.TrimRight(text, ". ") + "; " + fix }

// oneLine replaces line breaks and control characters, since the text may come from a server, and cuts it.
func oneLine(s string) string {
	return printable.Clip(strings.Join(strings.Fields(visible(s)), " "), 500)
}
