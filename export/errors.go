package export

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"unicode"

	"minibus/internal/printable"
	"minibus/mgmt/atom"
)

// ErrRefused is the cause of an error of [Read] if the key or the identity lacks a right.
var ErrRefused = errors.New("access was refused")

var (
	errSilent   = errors.New("the service did not answer in time")
	errNotFound = errors.New("it does not exist")
)

// busyError is an answer after which another attempt may succeed (management-rest 5.4).
type busyError struct{ text string }

// Error implements error.
func (e *busyError) Error() string { return e.text }

// answerError is an answer that another attempt does not change.
type answerError struct{ text string }

// Error implements error.
func (e *answerError) Error() string { return e.text }

// refusal explains an answer that is not 200.
func (c *client) refusal(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	text := fmt.Sprintf("the service answers %d", resp.StatusCode)
	if detail := c.detail(body); detail != "" {
		text += ": " + detail
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		needs := "a policy with the Manage right, of the namespace, or of one queue or topic that the connection " +
			"string names as EntityPath"
		if c.token != nil {
			needs = "the role Azure Service Bus Data Owner"
		}
		return fmt.Errorf("%w: %s; reading entities needs %s", ErrRefused, text, needs)
	case http.StatusForbidden:
		return fmt.Errorf("%w: %s; a firewall of the namespace may not know this machine", ErrRefused, text)
	case http.StatusNotFound:
		return fmt.Errorf("%w: %s", errNotFound, text)
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &busyError{text}
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return fmt.Errorf("%s and redirects to another address, which is not followed: the token is for this host",
			text)
	}
	return &answerError{text}
}

// detail returns the text of an error document on one line, without keys and tokens.
func (c *client) detail(body []byte) string {
	text := string(body)
	if root, err := atom.Parse(body, ""); err == nil {
		text = root.Child("Detail").Text()
	}
	return printable.Clip(c.redact(oneLine(text)), 300)
}

// explain says what to do about a failure of the connection.
func (c *client) explain(ctx context.Context, err error) error {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var wrongName x509.HostnameError
	var noTLS tls.RecordHeaderError
	var noHost *net.DNSError
	text := printable.Clip(c.redact(oneLine(err.Error())), 300)
	switch {
	case errors.Is(context.Cause(ctx), errSilent):
		return errSilent
	case errors.As(err, &unknown), errors.As(err, &invalid):
		return fmt.Errorf("the certificate is not trusted: give the CA certificate with --ca-file (a Minibus keeps "+
			"minibus-ca.pem beside its database): %s", text)
	case errors.As(err, &wrongName):
		return fmt.Errorf("the certificate is for another host: %s", text)
	case errors.As(err, &noTLS), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("the port speaks no TLS; for an emulator add UseDevelopmentEmulator=true to the "+
			"connection string: %s", text)
	case errors.As(err, &noHost):
		return fmt.Errorf("the host is not known: %s", text)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens there; the administration of an emulator is on port %s by default: %s",
			adminPort, text)
	}
	return &connectionError{text: text, cause: err}
}

// connectionError is a failed connection without a known fix. Its text has no secrets.
type connectionError struct {
	text  string
	cause error
}

// Error implements error.
func (e *connectionError) Error() string { return e.text }

// Unwrap returns the cause.
func (e *connectionError) Unwrap() error { return e.cause }

// interrupted reports whether another attempt may help.
func interrupted(err error) bool {
	return errors.Is(err, errSilent) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, syscall.ECONNRESET)
}

// oneLine replaces line breaks and control characters, since the text may come from a server that is not trusted.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	return strings.Join(strings.Fields(s), " ")
}
