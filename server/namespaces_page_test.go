package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minibus/config"
)

// namespacesPage has what the tests below run.
const namespacesPage = "../docs/namespaces.md"

// snippets returns the blocks of code of a page. An empty line ends a block.
func snippets(t *testing.T, page string) (list []string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(string(data), -1) {
		if code := strings.TrimSpace(regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, "")); code != "" {
			list = append(list, code)
		}
	}
	return list
}

// snippet returns the only block that begins so.
func snippet(t *testing.T, page, begin string) string {
	t.Helper()
	var found []string
	for _, s := range snippets(t, page) {
		if strings.HasPrefix(s, begin) {
			found = append(found, s)
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
	topology := topologyOf(t, strings.Replace(text, `"Port": 5710, `, "", 1))
	a, err := start(t, Config{Topology: topology, Settings: config.Settings{Host: "localhost", Ephemeral: true,
		TLSPort: config.PortOff, HTTPPort: config.PortOff, NamespacePorts: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	served := a.spaces.served()
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

// TestPageOfNamespaces_OverHTTP sends the requests of the page, one after the other, and compares the answer that it shows.
func TestPageOfNamespaces_OverHTTP(t *testing.T) {
	a, _ := serverOfPage(t)
	var lines []string
	for _, s := range snippets(t, namespacesPage) {
		if strings.HasPrefix(s, "curl") {
			lines = append(lines, strings.Split(s, "\n")...)
		}
	}
	command := regexp.MustCompile(`^curl (?:-X (\w+) )?'http://localhost:5300([^']+)'(?: -d '([^']+)')? +# (\d+)`)
	var first, last string
	for _, line := range lines {
		m := command.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not understood: %s", line)
		}
		r, err := http.NewRequest(map[string]string{"": "GET"}[m[1]]+m[1], local(a.ports.AMQP, m[2]), strings.NewReader(m[3]))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "localhost:5300"
		status, body := fetch(t, r)
		if fmt.Sprint(status) != m[4] {
			t.Errorf("%s: %d %s", line, status, body)
		}
		if first == "" {
			first = body
		}
		last = body
	}
	showsAnswers(t, first, last)
}

// showsAnswers compares the answer to the first request, a new namespace, and that to the last one, a refusal, with those of the page.
func showsAnswers(t *testing.T, first, last string) {
	t.Helper()
	var shown, got map[string]any
	if err := json.Unmarshal([]byte(snippet(t, namespacesPage, "{\n  \"name\"")), &shown); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(got))) || got["name"] != shown["name"] || got["limits"] != shown["limits"] {
		t.Errorf("the page shows %v, the answer is %v", shown, got)
	}
	number := regexp.MustCompile(`localhost:\d+|SharedAccessKey=[^;]+`)
	connections := func(v map[string]any) string {
		return number.ReplaceAllString(fmt.Sprint(v["connectionString"], v["connectionStrings"]), "...")
	}
	if connections(shown) != connections(got) {
		t.Errorf("the page shows %s, the answer has %s", connections(shown), connections(got))
	}
	var refusal, refused any
	if err := json.Unmarshal([]byte(snippet(t, namespacesPage, "{\n  \"type\"")), &refusal); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(last), &refused); err != nil || !reflect.DeepEqual(refusal, refused) {
		t.Errorf("the page shows the refusal %v, the answer is %v (%v)", refusal, refused, err)
	}
}
