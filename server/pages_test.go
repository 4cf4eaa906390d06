package server

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"minibus/config"
)

// apis has one request to each of the APIs, and the status that its clients get.
var apis = []struct {
	request, lines, body string
	status               int
}{
	{"GET /health", "", "", 200}, {"GET /livez", "", "", 200}, {"GET /metrics", "", "", 200}, {"GET /minibus/ca.pem", "", "", 200},
	{"GET /minibus/identity/device", "", "", 200}, // what gives out tokens takes no browser at all: TestWhoMayAskForTokens
	{"GET /$Resources/queues?api-version=2021-05", "", "", 200}, {"GET /queue.1?api-version=2021-05", "", "", 200},
	{"POST /queue.1/messages", "Content-Type: text/plain\r\n", "hello", 201}, {"DELETE /queue.1/messages/head?timeout=0", "", "", 200},
	{"GET /$servicebus/websocket", upgradeLines, "", 101},
	{"GET /metadata/endpoints?api-version=2022-09-01", "", "", 200}, {"GET /subscriptions?api-version=2022-12-01", "Authorization: Bearer x\r\n", "", 200},
	{"PUT " + armGroup + "?api-version=2022-12-01", "Authorization: Bearer x\r\n", `{"location":"local"}`, 200},
}

// askRaw sends a request as it is written, with its Host among the lines.
func askRaw(t *testing.T, a *Server, request, lines, body string) (int, string) {
	t.Helper()
	nc, err := a.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	if _, err := fmt.Fprintf(nc, "%s HTTP/1.1\r\nContent-Length: %d\r\n%s\r\n%s", request, len(body), lines, body); err != nil {
		t.Fatal(err)
	}
	w, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	if w.StatusCode == http.StatusSwitchingProtocols {
		return w.StatusCode, ""
	}
	text, _ := io.ReadAll(w.Body)
	return w.StatusCode, string(text)
}

func pageServer(t *testing.T, s config.Settings) *Server {
	t.Helper()
	s.Ephemeral = true
	a, err := start(t, Config{Settings: s, NoNetwork: true, Topology: config.DefaultTopology()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestWhoMayUseEachAPI: the headers of programs and browsers of all kinds, and whether they are let in.
func TestWhoMayUseEachAPI(t *testing.T) {
	const browser = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\nAccept-Language: en-US,en;q=0.5\r\n"
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	a := pageServer(t, config.Settings{TLSNames: "192.0.2.9,bus.example.org"})
	for name, client := range map[string]struct {
		lines string
		in    bool
	}{
		"curl":                         {"Host: localhost:5300\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n", true},
		"an SDK":                       {"Host: orders.servicebus.windows.net\r\nUser-Agent: azsdk-go-azservicebus/v1.11.0\r\n", true},
		"a container":                  {"Host: servicebus-emulator:5300\r\n", true},
		"the Python SDK's WebSocket":   {"Host: minibus:5672\r\nOrigin: http://minibus:5672\r\n", true},
		"Node.js":                      {"Host: 127.0.0.1:5300\r\nAccept-Language: *\r\nSec-Fetch-Mode: cors\r\nUser-Agent: node\r\n", true},
		"the address bar":              {"Host: localhost:5300\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n" + browser, true},
		"a page of Minibus":            {"Host: localhost:5300\r\nOrigin: http://localhost:5300\r\nSec-Fetch-Site: same-origin\r\n" + browser, true},
		"the same by the machine":      {"Host: " + host + ":5300\r\nOrigin: http://" + host + ":5300\r\n" + browser, true},
		"the same from a container":    {"Host: host.docker.internal:5300\r\nOrigin: http://host.docker.internal:5300\r\n" + browser, true},
		"the same by --tls-names":      {"Host: Bus.Example.org\r\nOrigin: http://bus.example.org\r\n" + browser, true},
		"the same by an address":       {"Host: 192.168.1.20:5300\r\nOrigin: http://192.168.1.20:5300\r\n" + browser, true},
		"a page of another port":       {"Host: localhost:5300\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: same-site\r\n" + browser, false},
		"a page of elsewhere":          {"Host: localhost:5300\r\nOrigin: https://evil.test\r\nSec-Fetch-Site: cross-site\r\n" + browser, false},
		"its image":                    {"Host: localhost:5300\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: image\r\n" + browser, false},
		"its frame without an origin":  {"Host: localhost:5300\r\nOrigin: null\r\n" + browser, false},
		"DNS rebinding":                {"Host: evil.test:5300\r\n" + browser, false},
		"DNS rebinding, disguised":     {"Host: evil.test:5300\r\nUser-Agent: curl/8.5.0\r\nAccept-Language: *\r\n", false},
		"DNS rebinding, with a method": {"Host: evil.test:5300\r\nOrigin: http://evil.test:5300\r\n" + browser, false},
	} {
		for _, api := range apis {
			status, text := askRaw(t, a, api.request, client.lines+api.lines, api.body)
			want := api.status
			if !client.in {
				want = 403
			}
			if status != want {
				t.Errorf("%s: %s: %d, want %d: %.200s", name, api.request, status, want, text)
			}
		}
	}
}

// A WebSocket needs a host name that no stranger can own; other requests of programs do not.
func TestNamesOfWebSockets(t *testing.T) {
	a := pageServer(t, config.Settings{Host: "bound.example.org", AllowedOrigins: "http://localhost:3000,https://tools.test"})
	for host, status := range map[string]int{
		"localhost": 101, "bound.example.org:5672": 101, "NAME.servicebus.windows.net": 101, "minibus": 101, "10.0.0.7:80": 101,
		"bus.example.org": 403, "evil.servicebus.windows.net.test": 403,
	} {
		if got, text := askRaw(t, a, "GET /$servicebus/websocket", "Host: "+host+"\r\n"+upgradeLines, ""); got != status {
			t.Errorf("%s: %d, want %d: %s", host, got, status, text)
		}
		if got, _ := askRaw(t, a, "GET /health", "Host: "+host+"\r\n", ""); got != 200 {
			t.Errorf("health as %s: %d", host, got)
		}
	}
	for origin, status := range map[string]int{"http://localhost:3000": 101, "https://tools.test": 101, "http://tools.test": 403, "http://localhost:3001": 403} {
		if got, text := askRaw(t, a, "GET /$servicebus/websocket", "Host: localhost\r\nOrigin: "+origin+"\r\n"+upgradeLines, ""); got != status {
			t.Errorf("from %s: %d, want %d: %s", origin, got, status, text)
		}
	}
}

// The names in the user's own certificate are names of this Minibus.
func TestNamesOfTheUsersCertificate(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"bus.example.org", "*.example.net"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}}
	for name, block := range files {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := pageServer(t, config.Settings{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")})
	for host, status := range map[string]int{"bus.example.org": 101, "a.example.net:443": 101, "example.net": 403, "localhost": 101} {
		if got, text := askRaw(t, a, "GET /$servicebus/websocket", "Host: "+host+"\r\n"+upgradeLines, ""); got != status {
			t.Errorf("%s: %d, want %d: %s", host, got, status, text)
		}
	}
}
