package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/tlsca"
)

// trust has the certificates for TLS and what clients must trust.
type trust struct {
	config    *tls.Config
	authority []byte            // our authority's certificate in PEM; nil if the user has given a certificate
	given     *x509.Certificate // the user's own; nil: our authority signs the certificates
}

// fix says how to make clients trust the certificate.
func (t trust) fix() string {
	if t.given != nil {
		return "make the client trust who signed the certificate of --tls-cert, and connect to a name that is in it"
	}
	return "run 'minibus cert': it says how clients are told to trust this Minibus; a name that is not in the " +
		"certificate needs --tls-names"
}

// wellKnown are the names by which other containers, and this machine from inside of one, usually reach Minibus. Java
// does not send names without a dot in the handshake, so the certificate for clients that send no name must contain
// them. --tls-names adds to them.
var wellKnown = []string{"host.docker.internal", "gateway.docker.internal", "host.containers.internal",
	"servicebus", "service-bus", "servicebus-emulator", "sb-emulator", "azure-servicebus", "emulator", "minibus"}

// prepareTLS reads the certificate files of the settings while the process may still be root (DEC-8).
func (a *Server) prepareTLS() error {
	s := a.config.Settings
	switch {
	case s.TLSCert != "":
		return a.useFiles(s.TLSCert, s.TLSKey)
	case s.CADir != "":
		authority, err := OpenAuthority(s.CADir, s)
		if err == nil && s.Auth.Checks() {
			_, err = openIdentityKey(s.CADir)
		}
		if err != nil {
			return err
		}
		return a.useOwn(authority)
	}
	return nil
}

// useFiles serves the user's own certificate for every name that clients ask for.
func (a *Server) useFiles(cert, key string) error {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("read the certificate of --tls-cert and --tls-key: %w", err)
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) || now.Before(pair.Leaf.NotBefore) {
		a.log.Warn("the certificate of --tls-cert is not valid now; clients will refuse it",
			"from", pair.Leaf.NotBefore, "to", pair.Leaf.NotAfter)
	}
	a.trust = trust{config: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}},
		given: pair.Leaf}
	return nil
}

// useAuthority opens the authority beside the database, unless prepareTLS has found another source.
func (a *Server) useAuthority() error {
	if a.trust.config != nil {
		return nil
	}
	var authority *tlsca.Authority
	var err error
	names := ownNames(a.config.Settings)
	if a.data.ephemeral {
		authority, err = tlsca.InMemory(names...)
	} else {
		authority, err = tlsca.Open(a.data.dir(), names...)
	}
	if err != nil {
		return err
	}
	return a.useOwn(authority)
}

// useOwn serves certificates of our own authority.
func (a *Server) useOwn(authority *tlsca.Authority) error {
	if err := authority.Answer(a.config.Settings.TLSNames.Names()...); err != nil {
		return fmt.Errorf("use --tls-names: %w", err)
	}
	for _, name := range ownNames(a.config.Settings) {
		// The machine's name may be invalid in a certificate, or new since the authority was made.
		_ = authority.Answer(name)
	}
	if file := a.config.Settings.CAExport; file != "" {
		if err := authority.Export(file); err != nil {
			return fmt.Errorf("write the authority's certificate for --ca-export: %w", err)
		}
	}
	a.trust = trust{config: authority.TLSConfig(), authority: authority.CertificatePEM()}
	return nil
}

// machineNames returns the names that this machine has without any setting.
func machineNames() []string {
	if host, err := os.Hostname(); err == nil {
		return append([]string{host}, wellKnown...)
	}
	return wellKnown
}

// ownNames returns the names of this Minibus from the settings and from the machine.
// The authority signs them, and web pages and WebSockets may use them even if their form is not local.
func ownNames(s config.Settings) []string {
	names := append(s.TLSNames.Names(), machineNames()...)
	if s.Host != "" && s.Host != "all" {
		names = append(names, s.Host)
	}
	return names
}

// isKnownHost reports whether a host name is one of ownNames, or in the user's certificate.
func (a *Server) isKnownHost(host string) bool {
	return slices.ContainsFunc(ownNames(a.config.Settings),
		func(name string) bool { return strings.EqualFold(name, host) }) ||
		a.trust.given != nil && a.trust.given.VerifyHostname(host) == nil || a.ready.Load() && a.isNamespaceHost(host)
}

// isNamespaceHost reports whether a host is the alias of a namespace, or the name of one under a suffix of the
// settings.
func (a *Server) isNamespaceHost(host string) bool {
	for _, suffix := range a.suffixes() {
		if label, ok := strings.CutSuffix(host, "."+strings.ToLower(strings.Trim(suffix, "."))); ok {
			_, err := a.broker.Namespace(label)
			return err == nil
		}
	}
	return slices.ContainsFunc(a.broker.Namespaces(), func(ns *emulator.Namespace) bool {
		return slices.ContainsFunc(ns.Options().Aliases,
			func(alias string) bool { return strings.EqualFold(alias, host) })
	})
}

// OpenAuthority opens the authority of a server with these settings in a directory, and makes both if they are missing.
func OpenAuthority(dir string, s config.Settings) (*tlsca.Authority, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of the certificate authority: %w", err)
	}
	authority, err := tlsca.Open(dir, ownNames(s)...)
	if err != nil {
		return nil, err
	}
	giveToOwner(dir, tlsca.CertificateFile, tlsca.KeyFile)
	return authority, nil
}

// AuthorityDir returns the directory of the authority that a server with the same settings uses.
func AuthorityDir(s config.Settings) (string, error) {
	switch {
	case s.TLSCert != "":
		return "", fmt.Errorf("with --tls-cert Minibus has no authority of its own: clients have to trust the one "+
			"that signed %s", s.TLSCert)
	case s.CADir != "":
		return filepath.Abs(s.CADir)
	case s.Ephemeral:
		return "", fmt.Errorf("with --ephemeral the authority ends with the process: give --ca-dir DIR to both, " +
			"or fetch /minibus/ca.pem from the running Minibus")
	}
	return dataDir(s)
}

// dataDir returns the directory of the database that a server with the same settings uses.
func dataDir(s config.Settings) (string, error) {
	path := s.Data
	if path == "" {
		var err error
		if path, err = DefaultData(s.DataDefault); err != nil {
			return "", err
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the database: %w", err)
	}
	return filepath.Dir(path), nil
}
