package tlsca

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func authority(t *testing.T) *Authority {
	t.Helper()
	a, err := InMemory()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func leafFor(t *testing.T, a *Authority, name string) *tls.Certificate {
	t.Helper()
	c, err := a.Certificate(&tls.ClientHelloInfo{ServerName: name})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// roots is the pool of a client that trusts the authority.
func roots(t *testing.T, a *Authority) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(a.CertificatePEM()) {
		t.Fatal("the authority's certificate is not PEM")
	}
	return pool
}

func TestHandshakeWithAnyName(t *testing.T) {
	a := authority(t)
	for _, name := range []string{"localhost", "sb-emulator", "bus.example.org", "127.0.0.1", "under_score"} {
		client, server := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- tls.Server(server, a.TLSConfig()).Handshake() }()
		conn := tls.Client(client, &tls.Config{ServerName: name, RootCAs: roots(t, a)})
		err := conn.Handshake()
		if name == "127.0.0.1" { // no server name is sent for addresses, and the pipe has none of its own
			if err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("%s: %v", name, err)
			}
			_ = client.Close()
			<-done
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: server: %v", name, err)
		}
		if v := conn.ConnectionState().Version; v < tls.VersionTLS12 {
			t.Errorf("%s: version %x", name, v)
		}
	}
}

func TestHandshakeByAddressOverTCP(t *testing.T) {
	a := authority(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", a.TLSConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		if c, err := l.Accept(); err == nil {
			_ = c.(*tls.Conn).Handshake()
		}
	}()
	c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: roots(t, a)})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestOldTLSIsRefused(t *testing.T) {
	a := authority(t)
	client, server := net.Pipe()
	go func() { _ = tls.Server(server, a.TLSConfig()).Handshake() }()
	err := tls.Client(client, &tls.Config{ServerName: "localhost", RootCAs: roots(t, a), MaxVersion: tls.VersionTLS11}).Handshake()
	if err == nil {
		t.Error("TLS 1.1 was accepted")
	}
}

func TestNamesThatAreNoHostsAreRefused(t *testing.T) {
	a := authority(t)
	for _, name := range []string{"a b", "..", ".x", "a..b", "a/b", "ä", strings.Repeat("a", 300), "x\x00"} {
		if _, err := a.Certificate(&tls.ClientHelloInfo{ServerName: name}); err == nil {
			t.Errorf("%q was signed", name)
		}
	}
}

func TestCertificatesAreCachedAndTheCacheIsBounded(t *testing.T) {
	a := authority(t)
	if leafFor(t, a, "Localhost") != leafFor(t, a, "localhost.") {
		t.Error("the same name got two certificates")
	}
	for i := range maxLeaves + 10 {
		leafFor(t, a, fmt.Sprintf("host%d", i))
	}
	if len(a.leaves) > maxLeaves {
		t.Errorf("%d certificates are kept", len(a.leaves))
	}
}

func TestCertificateIsRenewedBeforeItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := authority(t)
		first := leafFor(t, a, "localhost")
		time.Sleep(leafLife - leafRenew - time.Minute)
		if leafFor(t, a, "localhost") != first {
			t.Error("renewed too early")
		}
		time.Sleep(2 * time.Minute)
		second := leafFor(t, a, "localhost")
		if second == first || !second.Leaf.NotAfter.After(first.Leaf.NotAfter) {
			t.Error("not renewed")
		}
	})
}

func TestOpenKeepsTheAuthority(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if string(first.CertificatePEM()) != string(second.CertificatePEM()) {
		t.Error("a second authority was made")
	}
	info, err := os.Stat(filepath.Join(dir, KeyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d files in the directory, %v", len(entries), err)
	}
	if _, err := leafFor(t, second, "localhost").Leaf.Verify(x509.VerifyOptions{Roots: roots(t, first), DNSName: "localhost"}); err != nil {
		t.Error(err)
	}
}

func TestOpenMakesAnewWhatWasCutShort(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, KeyFile), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	good := t.TempDir()
	if _, err := Open(good); err != nil {
		t.Fatal(err)
	}
	cert, _ := os.ReadFile(filepath.Join(good, CertificateFile))
	key, _ := os.ReadFile(filepath.Join(good, KeyFile))
	other := t.TempDir()
	if _, err := Open(other); err != nil {
		t.Fatal(err)
	}
	otherKey, _ := os.ReadFile(filepath.Join(other, KeyFile))
	for name, files := range map[string][2]string{
		"no key":      {string(cert), ""},
		"no PEM":      {"x", string(key)},
		"no cert":     {string(key), string(key)},
		"no EC key":   {string(cert), string(cert)},
		"other's key": {string(cert), string(otherKey)},
	} {
		dir := t.TempDir()
		for i, file := range []string{CertificateFile, KeyFile} {
			if files[i] != "" {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(files[i]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "remove") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExpiringAuthorityIsRefused(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		if _, err := Open(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(caLife)
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "expires") {
			t.Errorf("error %v", err)
		}
	})
}

// The Go SDK asks for host and port, and compares both.
func TestHandshakeWithANameThatHasAPort(t *testing.T) {
	a := authority(t)
	for _, name := range []string{"localhost:5671", "127.0.0.1:35179", "[::1]:5671"} {
		client, server := net.Pipe()
		go func() { _ = tls.Server(server, a.TLSConfig()).Handshake() }()
		if err := tls.Client(client, &tls.Config{ServerName: name, RootCAs: roots(t, a)}).Handshake(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"localhost:", "localhost:x", "localhost:99999", "a b:1", ":1", "a:1:2"} {
		if _, err := a.Certificate(&tls.ClientHelloInfo{ServerName: name}); err == nil {
			t.Errorf("%q was signed", name)
		}
	}
}
