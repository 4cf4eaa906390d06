package tlsca

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"minibus/internal/hostname"
)

const (
	// leafLife stays below the most that clients accept (Apple's: 825 days).
	leafLife = 365 * 24 * time.Hour
	// leafRenew is the rest of a certificate's life at which it is replaced.
	leafRenew = 30 * 24 * time.Hour
	// maxLeaves bounds the cache: clients choose the names.
	maxLeaves = 256
	// maxHost is the longest DNS name.
	maxHost = 253
)

var errName = errors.New("the server name asked for is no host name")

// certificate implements tls.Config.GetCertificate. It signs a certificate for the name that the client asked for, if
// that name can only be local or was given to [Authority.Answer]. A client that asks for no name has dialled an
// address, or is Java with a name without dots. Its certificate is valid for the address that it reached, for this
// machine and for the names of Answer. A client that asks for a foreign name gets that certificate too: it shows
// which names there are.
func (a *Authority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	asked := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	names, err := namesFor(asked)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 || !a.isOurs(names[0]) {
		reached := localHost(hello.Conn)
		asked, names = "reached "+reached, slices.Concat(thisMachine, a.names)
		if a.maySign(reached) {
			names = append(names, reached)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if leaf := a.leaves[asked]; leaf != nil && time.Until(leaf.Leaf.NotAfter) > leafRenew {
		return leaf, nil
	}
	leaf, err := a.sign(names)
	if err != nil {
		return nil, err
	}
	for name := range a.leaves {
		if len(a.leaves) < maxLeaves {
			break
		}
		delete(a.leaves, name) // any one: real names are few, and signing takes a fraction of a millisecond
	}
	a.leaves[asked] = leaf
	return leaf, nil
}

// namesFor returns the names of the certificate for a server name. If its endpoint has a port, the Go SDK asks for
// host and port, and wants exactly that in the certificate; other clients never ask so. An empty server name has
// none.
func namesFor(asked string) ([]string, error) {
	if asked == "" {
		return nil, nil
	}
	if validHost(asked) {
		return []string{asked}, nil
	}
	host, port, err := net.SplitHostPort(asked)
	if err != nil || !validHost(host) {
		return nil, errName
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, errName
	}
	return []string{host, asked}, nil
}

// thisMachine lists the names in every certificate for a client that asked for none: behind a mapped port, the
// address is not the one that the client dialled.
var thisMachine = []string{"localhost", "127.0.0.1", "::1"}

// isOurs reports whether a certificate for a host can harm no other host.
func (a *Authority) isOurs(host string) bool {
	return (hostname.IsLocal(host) || slices.Contains(a.names, host)) && a.maySign(host)
}

// Answer adds names and addresses under which clients reach this machine, even if their handshake does not name them.
// It must be called before the first connection. The error names the one that is no host name, or that the authority
// may not sign.
func (a *Authority) Answer(names ...string) error {
	for _, name := range names {
		name = strings.ToLower(name)
		if !validHost(name) {
			return fmt.Errorf("%q is no host name and no address", name)
		}
		if !a.maySign(name) {
			return fmt.Errorf("the authority was made without %q and may not sign it: remove %s and %s to have a "+
				"new one made, and let clients trust that",
				name, CertificateFile, KeyFile)
		}
		a.names = append(a.names, name)
	}
	return nil
}

// localHost returns the address that the client reached, or localhost if there is none.
func localHost(c net.Conn) string {
	if c != nil && c.LocalAddr() != nil {
		if host, _, err := net.SplitHostPort(c.LocalAddr().String()); err == nil {
			host, _, _ = strings.Cut(host, "%") // without an IPv6 zone
			return host
		}
	}
	return "localhost"
}

func validHost(host string) bool {
	if host == "" || len(host) > maxHost {
		return false
	}
	if net.ParseIP(host) != nil {
		return true
	}
	for _, c := range host {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return !strings.HasPrefix(host, ".") && !strings.Contains(host, "..")
}

// sign makes a certificate for one or more names. The caller holds the mutex.
func (a *Authority) sign(names []string) (*tls.Certificate, error) {
	host := names[0]
	key, serial, err := newKey(host)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName(host), Organization: []string{"Minibus"}},
		NotBefore:    now.Add(-backdate),
		NotAfter:     now.Add(leafLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if a.cert.NotAfter.Before(template.NotAfter) {
		template.NotAfter = a.cert.NotAfter
	}
	for _, name := range unique(names) {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate for %s: %w", host, err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the new certificate for %s: %w", host, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

// unique sorts the names and drops duplicates.
func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// commonName cuts the name to the field's 64 characters; clients look at the alternative names.
func commonName(host string) string { return host[:min(len(host), 64)] }
