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

// distrust ends a connection whose client apparently does not trust the certificate.
type distrust struct {
	name  string // the client's name for this machine; "" if it sent none
	cause error
}

// Error returns the cause.
func (d *distrust) Error() string { return d.cause.Error() }

// distrusted finds out whether a client left because of the certificate. Most clients say so in an alert. Node and
// .NET check the certificate after the handshake, and just close the connection before they send anything.
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

// aboutCertificate reports whether an alert is about the server's certificate [RFC 8446 6.2]. crypto/tls does not
// export the alert's type, so the text decides.
func aboutCertificate(alert error) bool { return strings.Contains(alert.Error(), "certificate") }

// logDropped logs why a connection was dropped. Unknown protocols are logged for debugging, clients that distrust us
// as warnings.
func (m *Mux) logDropped(c net.Conn, err error) {
	var d *distrust
	switch {
	case !errors.As(err, &d):
		m.log.Debug("dropped a connection", "remote", c.RemoteAddr().String(), "reason", err)
	case m.refused.Take(loglimit.Certificate):
		m.log.Warn("a client does not trust the TLS certificate",
			"remote", c.RemoteAddr().String(), "name", d.name, "reason", d.cause, "fix", m.fix)
	}
}
