package tlsca

import (
	"crypto/x509"
	"fmt"

	"software.sslmate.com/src/go-pkcs12"
)

// DefaultPassword is the password of Java's own trust store.
const DefaultPassword = "changeit"

// alias is the name of the entry in a trust store.
const alias = "minibus-ca"

// TrustStore returns a PKCS #12 store with the authority's certificate as its only entry. Java (8u301, 11.0.12 and
// later) takes it for javax.net.ssl.trustStore. An empty password means [DefaultPassword]. The store holds nothing
// secret; Java needs a password.
func (a *Authority) TrustStore(password string) ([]byte, error) {
	return TrustStoreOf(a.cert, password)
}

// TrustStoreOf is [Authority.TrustStore] for the certificate of any authority.
func TrustStoreOf(cert *x509.Certificate, password string) ([]byte, error) {
	if password == "" {
		password = DefaultPassword
	}
	store, err := pkcs12.Modern.EncodeTrustStoreEntries([]pkcs12.TrustStoreEntry{{Cert: cert,
		FriendlyName: alias}}, password)
	if err != nil {
		return nil, fmt.Errorf("encode the trust store: %w", err)
	}
	return store, nil
}

// Root returns the authority's own certificate.
func (a *Authority) Root() *x509.Certificate { return a.cert }
