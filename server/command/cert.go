package command

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minibus/config"
	"minibus/internal/tlsca"
	"minibus/server"
)

// cert is the command cert: it prints where the authority is and how to make each SDK trust it, or writes the certificate for
// them. It makes a missing authority, so that it can run before the first start. It never shows the key.
func cert(c *config.Command, stdout io.Writer) error {
	s := c.Settings
	dir, err := server.AuthorityDir(s)
	if err != nil {
		return err
	}
	authority, err := server.OpenAuthority(dir, s)
	if err != nil {
		return err
	}
	if c.Export {
		return exportCert(authority, s, stdout)
	}
	if s.Format != "" || s.Out != "" || s.Password != "" {
		return errors.New("to write the certificate, say minibus cert export")
	}
	_, err = io.WriteString(stdout, certText(authority, filepath.Join(dir, tlsca.CertificateFile), s.HTTPPort))
	if err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// exportCert writes the certificate in the format asked for.
func exportCert(authority *tlsca.Authority, s config.Settings, stdout io.Writer) error {
	err := checkOut("the certificate", s.Out)
	if err != nil {
		return err
	}
	var data []byte
	switch strings.ToLower(s.Format) {
	case "", "pem":
		data = authority.CertificatePEM()
	case "pkcs12":
		if s.Out == "" && isTerminal(stdout) {
			return errors.New("a pkcs12 trust store is binary and nothing for a terminal: write it to a file, --out minibus-ca.p12, or into a pipe")
		}
		if data, err = authority.TrustStore(s.Password); err != nil {
			return err
		}
	default:
		return fmt.Errorf("--format: found %q; allowed: pem, pkcs12", s.Format)
	}
	if s.Out != "" {
		if err := os.WriteFile(s.Out, data, 0o644); err != nil { //nolint:gosec // a certificate, for everybody to read
			return outError("the certificate", s.Out, err)
		}
	} else if _, err = stdout.Write(data); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// certText returns what minibus cert prints. docs/connect.md says more.
func certText(authority *tlsca.Authority, file string, http config.Port) string {
	c := authority.Root()
	var b strings.Builder
	fmt.Fprintf(&b, "Authority: %s\n", file)
	fmt.Fprintf(&b, "           %s, valid until %s, SHA-256 %x\n", c.Subject.CommonName, c.NotAfter.Format(time.DateOnly), sha256.Sum256(c.Raw))
	if http > 0 {
		fmt.Fprintf(&b, "           a Minibus that uses this directory serves it at http://localhost:%d/minibus/ca.pem;\n           one with --ephemeral or another directory has an authority of its own, at the same path\n", http)
	}
	fmt.Fprintf(&b, `
How a client trusts it, without code changes where possible:

Go, .NET on Linux  export SSL_CERT_FILE=%[1]s
JavaScript         export NODE_EXTRA_CA_CERTS=%[1]s
Python             ServiceBusClient.from_connection_string(s, connection_verify="%[1]s")
Java               minibus cert export --format pkcs12 --out minibus-ca.p12
                   java -Djavax.net.ssl.trustStore=minibus-ca.p12 -Djavax.net.ssl.trustStorePassword=%[2]s ...
.NET on Windows    certutil -user -addstore Root %[1]s
.NET on macOS      security add-trusted-cert -k ~/Library/Keychains/login.keychain-db %[1]s
a Debian image     cp %[1]s /usr/local/share/ca-certificates/minibus-ca.crt && update-ca-certificates
`, file, tlsca.DefaultPassword)
	return b.String()
}
