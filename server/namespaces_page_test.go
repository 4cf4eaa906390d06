package server

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"minibus/config"
)

// namespacesPage has what the tests below run.
const namespacesPage = "../docs/namespaces.md"

// snippet returns the only block of code of a page that begins so. An empty line ends a block.
func snippet(t *testing.T, page, begin string) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(string(data), -1) {
		code := strings.TrimSpace(regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, ""))
		if strings.HasPrefix(code, begin) {
			found = append(found, code)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d blocks that begin with %q", page, len(found), begin)
	}
	return found[0]
}

// serverOfPage starts a Minibus with the Config.json of the page. Its namespaces get free ports; the map has them by the page's numbers.
func serverOfPage(t *testing.T) (*Server, map[string]int) {
	t.Helper()
	text := snippet(t, namespacesPage, "{\n  \"UserConfig\"")
	if topology := topologyOf(t, text); topology.Others[1].Port != 5710 {
		t.Errorf("the port of %s is %d", topology.Others[1].Namespace, topology.Others[1].Port)
	}
	topology := topologyOf(t, strings.Replace(text, `"Port": 5710,`, "", 1))
	a, err := start(t, Config{Topology: topology, Settings: config.Settings{Host: "localhost", Ephemeral: true,
		TLSPort: config.PortOff, HTTPPort: config.PortOff, NamespacePorts: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	served := a.namespacePorts.served()
	return a, map[string]int{"5672": a.ports.AMQP, "5700": served["billing"], "5710": served["shop-eu"]}
}

// TestPageOfNamespaces_WhichOneAClientMeans asks as each line of the table says.
func TestPageOfNamespaces_WhichOneAClientMeans(t *testing.T) {
	_, portOf := serverOfPage(t)
	data, err := os.ReadFile(namespacesPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([0-9]+) \\| (\\S+) \\|").FindAllStringSubmatch(string(data), -1)
	if len(rows) < 9 {
		t.Fatalf("the table has %d lines", len(rows))
	}
	for _, row := range rows {
		host, port, want := row[1], portOf[row[2]], strings.Trim(row[3], "`")
		if port == 0 {
			t.Fatalf("no port %s", row[2])
		}
		status, body := askAt(t, http.MethodGet, port, host, "/$namespaceinfo")
		if good := status == 200 && strings.Contains(body, "<Name>"+want+"</Name>"); !good && (want != "refused" || status != 404) {
			t.Errorf("%s at %s: %d %.300s, want %s", host, row[2], status, body, want)
		}
	}
}
