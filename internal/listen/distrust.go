package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"minibus/internal/loglimit"
)

// distrust is the end of a connection whose client, by all appearances, does not trust the certificate.
type distrust struct {
	name  string // what the client called this machine; "" if it did not
	cause error
}

// Error returns the cause.
func (d *distrust) Error() string { return d.cause.Error() }

// distrusted finds out whether a client left because of the certificate. Most say so in an alert. Node and .NET look at the certificate
// after the handshake, and then just close: before they have said what they speak.
func distrusted(c *tls.Conn, err error) error {
	state := c.ConnectionState()
	var remote *net.OpError
	switch {
	case errors.As(err, &remote) && remote.Op == "remote error" && aboutCertificate(remote.Err):
	case state.HandshakeComplete && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)):
		err = fmt.Errorf("the client closed the connection right after the handshake: %w", err)
	default:
		return err
	}
	return &distrust{name: state.ServerName, cause: err}
}

// aboutCertificate reports whether an alert is one of those about the certificate of the server [RFC 8446 6.2]. The type of the alert is
// crypto/tls's own; all that it tells is its text.
func aboutCertificate(alert error) bool { return strings.Contains(alert.Error(), "certificate") }

// logDropped logs why a connection was not handed out. Strangers are not the user's concern, clients that were not told what to trust are.
func (m *Mux) logDropped(c net.Conn, err error) {
	var d *distrust
	switch {
	case !errors.As(err, &d):
		m.log.Debug("dropped a connection", "remote", c.RemoteAddr().String(), "reason", err)
	case m.refused.Take(loglimit.Certificate):
		m.log.Warn("a client does not trust the TLS certificate",
			"remote", c.RemoteAddr().String(), "name", d.name, "reason", d.cause, "cure", m.cure)
	}
}
