package command

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"minibus/config"
	"minibus/internal/tlsca"
	"minibus/server"
)

// minibus runs a command of the program and returns what it prints.
func minibus(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := Run(context.Background(), args, nil, &stdout, &stderr)
	return stdout.String(), err
}

// secured dials a port over TLS by a name, as a client that trusts only the authority. It resolves the name itself.
func secured(t *testing.T, port int, name string, authority []byte) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return tls.Client(c, &tls.Config{ServerName: name, RootCAs: roots}).Handshake()
}

// The authority of a directory outlives an ephemeral Minibus, and the command finds the same one before the first start.
func TestAuthorityInADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "too")
	before, err := minibus(t, "cert", "export", "--ca-dir", dir, "--ephemeral", "--tls-names", "192.0.2.9")
	if err != nil {
		t.Fatal(err)
	}
	p := run(t, "--ephemeral", "--ca-dir", dir, "--tls-names", "192.0.2.9,bus.test")
	for _, name := range []string{"localhost", "127.0.0.1", "servicebus", "host.docker.internal", "my_alias", "192.0.2.9"} {
		if err := secured(t, p.ports.TLS, name, []byte(before)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if code, body := get(t, local(p.ports.HTTP, "/minibus/ca.pem")); code != 200 || body != before {
		t.Errorf("download: %d %q", code, body)
	}
	if err := p.end(t); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, tlsca.KeyFile))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("key: %v, %v", info, err)
	}
}

func TestCertificateOfTheUser(t *testing.T) {
	dir := t.TempDir()
	authority, err := tlsca.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	// Any certificate will do here, so use an authority's own.
	cert, key := filepath.Join(dir, tlsca.CertificateFile), filepath.Join(dir, tlsca.KeyFile)
	p := run(t, "--ephemeral", "--tls-cert", cert, "--tls-key", key)
	for _, version := range []uint16{tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13} {
		c, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.ports.AMQP)),
			&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: version}) //nolint:gosec // it is compared below
		if version < tls.VersionTLS12 {
			if err == nil {
				t.Errorf("%s is served", tls.VersionName(version))
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !c.ConnectionState().PeerCertificates[0].Equal(authority.Root()) {
			t.Error("another certificate is served")
		}
		_ = c.Close()
	}
	if _, body := get(t, local(p.ports.HTTP, "/minibus/ca.pem")); strings.Contains(body, "CERTIFICATE") {
		t.Errorf("an authority is served: %q", body)
	}
	for _, bad := range []string{filepath.Join(dir, "none"), os.Args[0]} {
		_, err := server.Start(t.Context(), server.Config{Settings: config.Settings{Ephemeral: true, TLSCert: bad, TLSKey: key,
			AMQPPort: 0, TLSPort: config.PortOff, HTTPPort: config.PortOff}})
		if err == nil || !strings.Contains(err.Error(), "--tls-cert") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestCertSaysHowToTrust(t *testing.T) {
	dir := t.TempDir()
	text, err := minibus(t, "cert", "--data", filepath.Join(dir, "x.db"), "--http-port", "5301")
	for _, want := range []string{filepath.Join(dir, tlsca.CertificateFile), "SSL_CERT_FILE=", "NODE_EXTRA_CA_CERTS=", "connection_verify=",
		"javax.net.ssl.trustStore=", "http://localhost:5301/minibus/ca.pem"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing, %v, in\n%s", want, err, text)
		}
	}
	for args, want := range map[string]string{
		"cert --ephemeral":                                "--ca-dir",
		"cert --format pem --ca-dir " + dir:               "cert export",
		"cert export --format jks --ca-dir " + dir:        "allowed: pem, pkcs12",
		"cert --tls-cert a --tls-key b":                   "--tls-cert",
		"cert export --out /nowhere/x --ca-dir " + dir:    "write the certificate: the directory /nowhere does not exist: make it, or correct --out",
		"cert export --out / --ca-dir " + dir:             "is a directory: name a file in it with --out",
		"cert export --ca-dir " + dir + "/minibus-ca.key": "directory",
	} {
		if out, err := minibus(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, printed %q", args, err, out)
		}
	}
}

// No format of the export contains the key.
func TestCertExportKeepsTheKey(t *testing.T) {
	dir := t.TempDir()
	text, err := minibus(t, "cert", "export", "--ca-dir", dir)
	if err != nil || strings.Count(text, "BEGIN") != 1 || !strings.Contains(text, "BEGIN CERTIFICATE") {
		t.Errorf("%q, %v", text, err)
	}
	out := filepath.Join(dir, "out.pem")
	if _, err := minibus(t, "cert", "export", "--ca-dir", dir, "--out", out); err != nil {
		t.Fatal(err)
	}
	if written, err := os.ReadFile(out); err != nil || string(written) != text {
		t.Errorf("file %q, %v", written, err)
	}
}

func TestExtraPortsSpeakEverything(t *testing.T) {
	p := run(t, "--ephemeral", "--extra-ports", "0,0")
	if len(p.ports.Extra) != 2 || p.ports.Extra[0] == p.ports.Extra[1] {
		t.Fatalf("ports %+v", p.ports)
	}
	_, authority := get(t, local(p.ports.HTTP, "/minibus/ca.pem"))
	for _, port := range p.ports.Extra {
		if code, _ := get(t, local(port, "/health")); code != 200 {
			t.Errorf("health on %d: %d", port, code)
		}
		if err := secured(t, port, "localhost", []byte(authority)); err != nil {
			t.Error(err)
		}
		if !strings.Contains(p.stdout.String(), strconv.Itoa(port)) {
			t.Errorf("the banner does not name %d", port)
		}
	}
	taken := strconv.Itoa(p.ports.AMQP)
	err := Run(context.Background(), append([]string{"--ephemeral", "--extra-ports", taken}, freePorts...), nil, &output{}, &output{})
	if err == nil || !strings.Contains(err.Error(), "--extra-ports") || !strings.Contains(err.Error(), taken) {
		t.Errorf("a taken port: %v", err)
	}
	offered := run(t, "--ephemeral", "--extra-ports-default", taken+",0")
	if len(offered.ports.Extra) != 1 || !strings.Contains(offered.stdout.String(), "port="+taken) {
		t.Errorf("a taken port of the image: %+v, %s", offered.ports, offered.stdout.String())
	}
	if none := run(t, "--ephemeral", "--extra-ports-default", "0", "--extra-ports", "off"); len(none.ports.Extra) != 0 {
		t.Errorf("ports that were switched off: %+v", none.ports)
	}
}

// Other containers get the certificate, never a directory with the key.
func TestCertificateIsExportedWithoutTheKey(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	file := filepath.Join(out, "minibus-ca.pem")
	for range 2 {
		p := run(t, "--ephemeral", "--ca-dir", dir, "--ca-export", file)
		text, err := os.ReadFile(file)
		if err != nil || secured(t, p.ports.TLS, "localhost", text) != nil || strings.Contains(string(text), "KEY") {
			t.Errorf("%v: %s", err, text)
		}
		if err := p.end(t); err != nil {
			t.Error(err)
		}
	}
	info, err := os.Stat(file)
	if entries, readErr := os.ReadDir(out); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 || len(entries) != 1 {
		t.Errorf("%v, %v, %v, %v", info, err, entries, readErr)
	}
	_, err = server.Start(t.Context(), server.Config{Settings: config.Settings{Ephemeral: true, CAExport: filepath.Join(out, "none", "x.pem"), TLSPort: config.PortOff, HTTPPort: config.PortOff}})
	if err == nil || !strings.Contains(err.Error(), "--ca-export") {
		t.Errorf("error %v", err)
	}
}

// An ephemeral Minibus leaves no files, not even of an authority.
func TestEphemeralLeavesNoFiles(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	p := run(t, "--ephemeral")
	if err := p.end(t); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("XDG_DATA_HOME"), "minibus")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory was made: %v", err)
	}
}
