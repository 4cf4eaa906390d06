package command

import (
	"bytes"
	"cmp"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"minibus/cli"
	"minibus/config"
	"minibus/internal/tlsca"
	"minibus/server"
)

// sitecustomize is what makes Python trust the authority over AMQP too, where no variable reaches.
//
//go:embed sitecustomize.py
var sitecustomize []byte

// identity returns what programs need to sign in to a Minibus with the settings in the environment. It makes the files
// that they read: for all of them the certificate of the authority, for Java a trust store, for Python a module.
func (p *program) identity(o cli.IdentityOptions) (found cli.Identity, err error) {
	s, err := config.Read(config.Flags(), p.environ)
	if err != nil {
		return found, cli.Usage("%v", err)
	}
	s.CADir = cmp.Or(o.CADir, s.CADir)
	if found.Secret, err = server.IdentitySecret(s); err != nil || !o.Files {
		return found, err
	}
	var text []byte
	dir := o.Dir
	if o.CA != "" {
		if dir == "" {
			return found, cli.Usage("--ca: give the directory for the files too, with --dir")
		}
		if text, err = os.ReadFile(o.CA); err != nil {
			return found, cli.Usage("--ca: %v", err)
		}
	} else {
		authority, its, err := openAuthority(s)
		if err != nil {
			return found, fmt.Errorf("find the CA certificate: %w; or name a file with --ca", err)
		}
		text, dir = authority.CertificatePEM(), cmp.Or(dir, its)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return found, cli.Usage("--ca: %s has no certificate in PEM form", o.CA)
	}
	root, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return found, cli.Usage("--ca: %v", err)
	}
	store, err := tlsca.TrustStoreOf(root, "")
	if err != nil {
		return found, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return found, fmt.Errorf("find the directory: %w", err)
	}
	found.CA = filepath.Join(dir, tlsca.CertificateFile)
	found.TrustStore = filepath.Join(dir, "minibus-ca.p12")
	found.Python = filepath.Join(dir, "minibus-python")
	found.Password = tlsca.DefaultPassword
	if err = os.MkdirAll(found.Python, 0o755); err != nil {
		return found, fmt.Errorf("make the directory for Python: %w; or name another place with --dir", err)
	}
	for _, f := range []struct {
		path string
		data []byte
		keep bool // it may stay whatever it holds: a trust store differs each time, as it is salted
	}{
		{found.CA, text, false}, {found.TrustStore, store, newer(found.TrustStore, found.CA)},
		{filepath.Join(found.Python, "sitecustomize.py"), sitecustomize, false},
	} {
		if f.keep {
			continue
		}
		if err := replace(f.path, f.data); err != nil {
			return found, fmt.Errorf("write %s: %w; or name another directory with --dir", f.path, err)
		}
	}
	return found, nil
}

// newer reports whether a file is at least as new as another one; both exist then.
func newer(file, than string) bool {
	a, err := os.Stat(file)
	b, otherErr := os.Stat(than)
	return err == nil && otherErr == nil && !a.ModTime().Before(b.ModTime())
}

// replace writes a file that others may be reading, unless it holds the same already.
func replace(path string, data []byte) error {
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return tlsca.Replace(path, data, 0o644)
}
