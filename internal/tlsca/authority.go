package tlsca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// caLife is how long the authority is valid. It is long because trusting it takes work on every machine.
const caLife = 10 * 365 * 24 * time.Hour

// backdate covers clients whose clock is behind.
const backdate = time.Hour

// Authority signs certificates on demand.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte

	names []string // see Answer; written before the first use

	mu     sync.Mutex
	leaves map[string]*tls.Certificate
}

// InMemory makes an authority that ends with the process. Besides local names it may sign the names given, once
// [Authority.Answer] gets them too.
func InMemory(names ...string) (*Authority, error) {
	key, serial, err := newKey("the certificate authority")
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject: pkix.Name{CommonName: "Minibus local CA " + serial.Text(36)[:6],
			Organization: []string{"Minibus"}},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(caLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	constrain(template, names)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the new certificate authority: %w", err)
	}
	return newAuthority(cert, key), nil
}

func newAuthority(cert *x509.Certificate, key *ecdsa.PrivateKey) *Authority {
	return &Authority{cert: cert, key: key, leaves: map[string]*tls.Certificate{},
		pem: pem.EncodeToMemory(&pem.Block{Type: blockCertificate, Bytes: cert.Raw})}
}

// CertificatePEM returns the certificate that clients must trust.
func (a *Authority) CertificatePEM() []byte { return append([]byte(nil), a.pem...) }

// TLSConfig serves TLS 1.2 and newer with a certificate for the local name that the client asks for. It offers no
// application protocol: the first bytes of a connection decide its protocol, and HTTP/2 is not served.
func (a *Authority) TLSConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.certificate}
}

func serialNumber() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return n.SetBit(n, 120, 1), nil // never zero, always of the same length
}

// newKey makes a key and a serial number for a certificate.
func newKey(owner string) (*ecdsa.PrivateKey, *big.Int, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make the key of %s: %w", owner, err)
	}
	serial, err := serialNumber()
	return key, serial, err
}
