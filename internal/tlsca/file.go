package tlsca

import (
	"bytes"
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
	CertificateFile = "minibus-ca.pem" // for clients to trust; readable by all
	KeyFile         = "minibus-ca.key" // only for the owner; the key, and a copy of the certificate
)

// Types of PEM blocks.
const (
	blockCertificate = "CERTIFICATE"
	blockKey         = "EC PRIVATE KEY"
)

// Open reads the authority of a directory, or makes and stores one, which may sign names as well as local ones.
// Several processes may call it at once and get the same authority. The error names the file and what to do.
func Open(dir string, names ...string) (*Authority, error) {
	certPath, keyPath := filepath.Join(dir, CertificateFile), filepath.Join(dir, KeyFile)
	for range 2 {
		_, certErr := os.Lstat(certPath) // first: the key is stored before the certificate
		keyText, err := os.ReadFile(keyPath)
		if err == nil {
			return load(certPath, keyPath, keyText)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the key of the certificate authority: %w", err)
		}
		if certErr == nil {
			return nil, fmt.Errorf("the certificate authority %s has lost its key, %s: remove it to have a new "+
				"authority made", certPath, KeyFile)
		}
		if err := create(keyPath, names); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("store the key of the certificate authority: %w", err)
		}
	}
	return nil, fmt.Errorf("the key of the certificate authority, %s, disappears again and again: another program "+
		"removes it", keyPath)
}

// Export writes the authority's certificate to a file, for clients that should see nothing else. It does not rewrite
// a file that holds it.
func (a *Authority) Export(path string) error {
	if text, err := os.ReadFile(path); err == nil && bytes.Equal(text, a.pem) {
		return nil
	}
	return writeFile(path, a.pem, 0o644, os.Rename)
}

// load makes an authority from the stored files. The certificate's own file is for users. load writes it again if it is
// missing: the process that made the authority may not have written it yet, or may have died.
func load(certPath, keyPath string, keyText []byte) (*Authority, error) {
	certText, certErr := os.ReadFile(certPath)
	if certErr != nil && !errors.Is(certErr, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the certificate authority: %w", certErr)
	}
	if certErr != nil {
		certText = keyText
	}
	a, err := parse(certText, keyText)
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority %s: %w; remove it and %s to have a new one made",
			certPath, err, KeyFile)
	}
	if certErr == nil {
		return a, nil
	}
	if err := writeFile(certPath, a.pem, 0o644, os.Rename); err != nil {
		return nil, fmt.Errorf("store the certificate authority beside %s: %w", keyPath, err)
	}
	return a, nil
}

// parse takes the first certificate from one text and the key from the other.
func parse(certText, keyText []byte) (*Authority, error) {
	certBlock, keyBlock := find(certText, blockCertificate), find(keyText, blockKey)
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

// find returns the first block of a type.
func find(text []byte, kind string) *pem.Block {
	for {
		block, rest := pem.Decode(text)
		if block == nil || block.Type == kind {
			return block
		}
		text = rest
	}
}

// create makes an authority and stores key and certificate together in one file, atomically. The second of two
// processes gets fs.ErrExist.
func create(keyPath string, names []string) error {
	a, err := InMemory(names...)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return fmt.Errorf("encode the key of the certificate authority: %w", err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: der}), a.pem...)
	return writeFile(keyPath, text, 0o600, linkNew)
}

// WriteNew writes a file whole or not at all. The error is fs.ErrExist if there is one of that name.
func WriteNew(path string, data []byte, mode fs.FileMode) error {
	return writeFile(path, data, mode, linkNew)
}

// Replace writes a file whole or not at all, in the place of one that may be there.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return writeFile(path, data, mode, os.Rename)
}

// linkNew gives a file its name if that is free. On a file system without links it is not quite atomic.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

// writeFile writes a file whole or not at all, and names it by move: an interrupted write leaves nothing under that
// name.
func writeFile(path string, data []byte, mode fs.FileMode, move func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("create a temporary file: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // no effect after the rename
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	if err := move(f.Name(), path); err != nil {
		return fmt.Errorf("name the file: %w", err)
	}
	return nil
}
