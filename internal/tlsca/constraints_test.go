package tlsca

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"testing"
)

// A client that asks for a foreign name gets a certificate for this machine alone.
func TestOnlyLocalNamesAreSigned(t *testing.T) {
	a, err := InMemory("bus.example.org", "192.0.2.9")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Answer("bus.example.org", "192.0.2.9"); err != nil {
		t.Fatal(err)
	}
	for name, ours := range map[string]bool{
		"localhost": true, "servicebus": true, "a.localhost": true, "10.0.0.1": true, "[::1]:5671": true, "ns.servicebus.windows.net": true, "BUS.example.org": true,
		"bus.example.org:5671": true, "192.0.2.9": true,
		"login.microsoftonline.com": false, "www.example.org": false, "github.com:443": false, "8.8.8.8": false, "192.0.2.10:5671": false, "com": false,
		"servicebus.windows.net.evil.org": false, "localhost.evil.org": false, "management.azure.com": false, "x.internal": false,
	} {
		leaf := leafFor(t, a, name).Leaf
		asked := strings.ToLower(name)
		signed := slices.Contains(leaf.DNSNames, asked) || leaf.VerifyHostname(asked) == nil
		if signed != ours {
			t.Errorf("%s: certificate for %v and %v", name, leaf.DNSNames, leaf.IPAddresses)
		}
		if !ours && leaf.VerifyHostname("localhost") != nil {
			t.Errorf("%s: the certificate does not say whose it is: %v", name, leaf.DNSNames)
		}
	}
}

// Clients that trust the authority refuse what a stolen key signs for a public name.
func TestConstraintsOutliveTheKey(t *testing.T) {
	a, err := InMemory("bus.example.org")
	if err != nil {
		t.Fatal(err)
	}
	for name, good := range map[string]bool{
		"localhost": true, "servicebus": true, "host.docker.internal": true, "ns.servicebus.windows.net": true, "127.0.0.1": true, "::1": true, "192.168.7.8": true,
		"bus.example.org": true, "github.com": false, "bank.de": false, "8.8.8.8": false, "2001:db8::1": false,
	} {
		forged, err := a.sign([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		_, err = forged.Leaf.Verify(x509.VerifyOptions{Roots: roots(t, a), DNSName: name})
		if (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An authority made without a name can't sign it later. One made before there were constraints can.
func TestAuthorityThatMayNotSignANameSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir, "bus.example.org"); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, good := range map[string]bool{"bus.example.org": true, "other.example.org": true, "example.com": false, "192.0.2.7": false, "x.internal": true, "10.0.0.1": true} {
		err := a.Answer(name)
		if good && err != nil || !good && (err == nil || !strings.Contains(err.Error(), "remove "+CertificateFile)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	old := *a.cert
	old.PermittedIPRanges, old.ExcludedDNSDomains = nil, nil
	before := newAuthority(&old, a.key)
	if err := before.Answer("example.com", "192.0.2.7"); err != nil {
		t.Error(err)
	}
	if leaf, err := before.certificate(&tls.ClientHelloInfo{ServerName: "example.com"}); err != nil || leaf.Leaf.VerifyHostname("example.com") != nil {
		t.Errorf("%v", err)
	}
}
