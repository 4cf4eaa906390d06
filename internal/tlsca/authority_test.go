package tlsca

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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
	c, err := a.certificate(&tls.ClientHelloInfo{ServerName: name})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// roots returns the pool of a client that trusts the authority.
func roots(t *testing.T, a *Authority) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(a.CertificatePEM()) {
		t.Fatal("the authority's certificate is not PEM")
	}
	return pool
}

// handshake connects to an authority's server, asks for a name, and returns the state.
func handshake(t *testing.T, a *Authority, name string) (tls.ConnectionState, error) {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- tls.Server(server, a.TLSConfig()).Handshake() }()
	conn := tls.Client(client, &tls.Config{ServerName: name, RootCAs: roots(t, a)})
	err := conn.Handshake()
	if err != nil {
		_ = client.Close()
	}
	if serverErr := <-done; err == nil && serverErr != nil {
		t.Errorf("%s: server: %v", name, serverErr)
	}
	return conn.ConnectionState(), err
}

func TestHandshakeWithAnyLocalName(t *testing.T) {
	a := authority(t)
	if err := a.Answer("host.docker.internal"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "sb-emulator", "host.docker.internal", "under_score", "my.servicebus.windows.net", "x.localhost", "10.1.2.3:5671"} {
		state, err := handshake(t, a, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if state.Version < tls.VersionTLS12 {
			t.Errorf("%s: version %x", name, state.Version)
		}
	}
}

// Clients never name an address in the handshake, and the pipe has no address either.
func TestHandshakeWithoutAName(t *testing.T) {
	a := authority(t)
	for _, address := range []string{"127.0.0.1", "::1"} {
		if _, err := handshake(t, a, address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := handshake(t, a, "192.0.2.7"); err == nil {
		t.Error("an address that was not asked for is certified")
	}
	a, err := InMemory("192.0.2.7", "Servicebus")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Answer("192.0.2.7", "Servicebus"); err != nil {
		t.Fatal(err)
	}
	if _, err := handshake(t, a, "192.0.2.7"); err != nil {
		t.Errorf("a name that was told: %v", err)
	}
	leaf := leafFor(t, a, "").Leaf
	for _, name := range []string{"servicebus", "localhost", "127.0.0.1"} {
		if err := leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if err := a.Answer("a b"); err == nil || !strings.Contains(err.Error(), "a b") {
		t.Errorf("error %v", err)
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

func TestTLSVersions(t *testing.T) {
	a := authority(t)
	for version, served := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			_ = tls.Server(server, a.TLSConfig()).Handshake()
		}()
		conn := tls.Client(client, &tls.Config{ServerName: "localhost", RootCAs: roots(t, a), MinVersion: version, MaxVersion: version})
		if err := conn.Handshake(); (err == nil) != served {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
	}
}

func TestNamesThatAreNoHostsAreRefused(t *testing.T) {
	a := authority(t)
	for _, name := range []string{"a b", "..", ".x", "a..b", "a/b", "ä", strings.Repeat("a", 300), "x\x00"} {
		if _, err := a.certificate(&tls.ClientHelloInfo{ServerName: name}); err == nil {
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
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
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

// Key and certificate are stored together; the certificate's own file is made from them.
func TestOpenEndsWhatWasCutShort(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, CertificateFile)); err != nil {
		t.Fatal(err)
	}
	second, err := Open(dir)
	if err != nil || string(first.CertificatePEM()) != string(second.CertificatePEM()) {
		t.Errorf("another authority was made, %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, CertificateFile))
	if err != nil || string(text) != string(first.CertificatePEM()) {
		t.Errorf("file %q, %v", text, err)
	}
}

// Several processes that share a directory get one authority.
func TestOpenAtTheSameTime(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		var all [8]*Authority
		var wait sync.WaitGroup
		for i := range all {
			wait.Go(func() {
				var err error
				if all[i], err = Open(dir); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		for _, a := range all {
			if a != nil && string(a.CertificatePEM()) != string(all[0].CertificatePEM()) {
				t.Fatal("two authorities were made")
			}
		}
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
		"no cert":     {strings.TrimSuffix(string(key), string(cert)), string(key)},
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
		if _, err := handshake(t, a, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"localhost:", "localhost:x", "localhost:99999", "a b:1", ":1", "a:1:2"} {
		if _, err := a.certificate(&tls.ClientHelloInfo{ServerName: name}); err == nil {
			t.Errorf("%q was signed", name)
		}
	}
}
