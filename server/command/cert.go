package command

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/cli"
	"minibus/config"
	"minibus/internal/tlsca"
	"minibus/server"
)

// certFlags are the flags of cert export.
type certFlags struct{ format, out, password string }

// certCommand prints where the authority is and how to make each SDK trust it. It makes a missing authority, so that
// it can run before the first start. It never shows the key.
func (p *program) certCommand() *cobra.Command {
	const like = "\nGive it the same --data and --ca-dir as the Minibus in question. It never writes the key."
	listed := []string{"data", "ca-dir", "http-port", "tls-names"}
	c := &cobra.Command{Use: "cert [export]", Args: cli.Arguments(),
		Short: "show how clients come to trust this Minibus, or write its CA certificate",
		Long: "Prints where the CA certificate of this Minibus is, and how to make each SDK trust it. " +
			"cert export writes it." + like}
	settings := cli.ServerFlags(c, p.environ, listed...)
	c.RunE = func(*cobra.Command, []string) error {
		s, err := settings()
		if err != nil {
			return err
		}
		authority, dir, err := openAuthority(s)
		if err != nil {
			return err
		}
		return p.print(certText(authority, filepath.Join(dir, tlsca.CertificateFile), s.HTTPPort))
	}

	f := &certFlags{}
	sub := &cobra.Command{Use: "export", Short: "write the certificate", Args: cli.Arguments(),
		Long: "Writes the CA certificate of this Minibus." + like,
		Example: `  minibus cert export --out minibus-ca.pem
  minibus cert export --format pkcs12 --out minibus-ca.p12     a trust store for Java`}
	sub.Flags().StringVar(&f.format, "format", "", "`FORMAT` to write: pem (the default), pkcs12 for Java")
	sub.Flags().StringVar(&f.out, "out", "", "write to `FILE` (without: standard output)")
	sub.Flags().StringVar(&f.password, "password", "",
		"`WORD` that opens the trust store (without: changeit, as for Java's own)")
	cli.WithVariables(sub, p.environ)
	exportSettings := cli.ServerFlags(sub, p.environ, listed...)
	sub.RunE = func(*cobra.Command, []string) error {
		s, err := exportSettings()
		if err != nil {
			return err
		}
		authority, _, err := openAuthority(s)
		if err != nil {
			return err
		}
		return p.exportCert(authority, f)
	}
	c.AddCommand(sub)
	return c
}

func openAuthority(s config.Settings) (authority *tlsca.Authority, dir string, err error) {
	if dir, err = server.AuthorityDir(s); err == nil {
		authority, err = server.OpenAuthority(dir, s)
	}
	return authority, dir, err
}

// exportCert writes the certificate in the format asked for.
func (p *program) exportCert(authority *tlsca.Authority, f *certFlags) error {
	if err := checkOut("the certificate", f.out); err != nil {
		return err
	}
	data := authority.CertificatePEM()
	switch strings.ToLower(f.format) {
	case "", "pem":
	case "pkcs12":
		if f.out == "" && isTerminal(p.stdout) {
			return errors.New("a pkcs12 trust store is binary and nothing for a terminal: write it to a file, " +
				"--out minibus-ca.p12, or into a pipe")
		}
		var err error
		if data, err = authority.TrustStore(f.password); err != nil {
			return err
		}
	default:
		return cli.Usage("--format: found %q; allowed: pem, pkcs12", f.format)
	}
	if f.out == "" {
		return p.print(string(data))
	}
	if err := os.WriteFile(f.out, data, 0o644); err != nil { //nolint:gosec // a certificate, for everybody to read
		return outError("the certificate", f.out, err)
	}
	return nil
}

// certText returns what minibus cert prints. docs/connect.md says more.
func certText(authority *tlsca.Authority, file string, http config.Port) string {
	c := authority.Root()
	var b strings.Builder
	fmt.Fprintf(&b, "CA certificate: %s\n", file)
	fmt.Fprintf(&b, "                %s, valid until %s, SHA-256 %x\n", c.Subject.CommonName,
		c.NotAfter.Format(time.DateOnly), sha256.Sum256(c.Raw))
	if http > 0 {
		fmt.Fprintf(&b, "                a Minibus that uses this directory serves it at "+
			"http://localhost:%d/minibus/ca.pem;\n                one with --ephemeral or another directory has "+
			"its own, at the same path\n", http)
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
