package tlsca

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The files of an authority, beside the database.
const (
	CertificateFile = "minibus-ca.pem" // for clients to trust; anybody may read it
	KeyFile         = "minibus-ca.key" // only for the owner
)

// Open reads the authority of a directory, or makes one and stores it there. The error names the file and what to do.
func Open(dir string) (*Authority, error) {
	certPath, keyPath := filepath.Join(dir, CertificateFile), filepath.Join(dir, KeyFile)
	certText, certErr := os.ReadFile(certPath)
	keyText, keyErr := os.ReadFile(keyPath)
	switch {
	case errors.Is(certErr, fs.ErrNotExist) && errors.Is(keyErr, fs.ErrNotExist):
		return create(certPath, keyPath)
	case errors.Is(certErr, fs.ErrNotExist) && keyErr == nil:
		// The key is written first, so this is a start that was cut short: nobody can trust the authority yet.
		if err := os.Remove(keyPath); err != nil {
			return nil, fmt.Errorf("remove half of a certificate authority: %w", err)
		}
		return create(certPath, keyPath)
	case certErr != nil:
		return nil, fmt.Errorf("read the certificate authority: %w", certErr)
	case keyErr != nil:
		return nil, fmt.Errorf("read the key of the certificate authority: %w (remove %s to have a new authority made)", keyErr, certPath)
	}
	a, err := parse(certText, keyText)
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority %s: %w; remove it and %s to have a new one made", certPath, err, KeyFile)
	}
	return a, nil
}

func parse(certText, keyText []byte) (*Authority, error) {
	certBlock, _ := pem.Decode(certText)
	keyBlock, _ := pem.Decode(keyText)
	if certBlock == nil || keyBlock == nil {
		return nil, errors.New("a file holds no PEM block")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse the certificate: %w", err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse the key: %w", err)
	}
	public, ok := cert.PublicKey.(*ecdsa.PublicKey)
	switch {
	case !cert.IsCA:
		return nil, errors.New("the certificate is not that of an authority")
	case !ok || !public.Equal(&key.PublicKey):
		return nil, errors.New("the key belongs to another certificate")
	case time.Until(cert.NotAfter) < leafRenew:
		return nil, fmt.Errorf("it expires on %s", cert.NotAfter.Format(time.DateOnly))
	}
	return newAuthority(cert, key), nil
}

// create makes an authority and stores it, the key first.
func create(certPath, keyPath string) (*Authority, error) {
	a, err := InMemory()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return nil, fmt.Errorf("encode the key of the certificate authority: %w", err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := writeNew(keyPath, key, 0o600); err != nil {
		return nil, fmt.Errorf("store the key of the certificate authority: %w", err)
	}
	if err := writeNew(certPath, a.pem, 0o644); err != nil {
		return nil, fmt.Errorf("store the certificate authority: %w", err)
	}
	return a, nil
}

// writeNew writes a file, whole or not at all: an interrupted write leaves nothing under the name.
func writeNew(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("create a temporary file: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // has no effect once it is renamed
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("name the file: %w", err)
	}
	return nil
}
