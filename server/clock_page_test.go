package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minibus/config"
)

// TestPageOfClocks sends the requests of the page, one after the other, as curl does, and compares the clock that it shows.
func TestPageOfClocks(t *testing.T) {
	const page = "../docs/clock.md"
	a, err := start(t, Config{Settings: config.Settings{Host: "localhost", Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^    curl (?:-X (\w+) )?'http://localhost:5300([^']+)'(?: -d '([^']+)')? +# (\d+)$`).FindAllStringSubmatch(string(text), -1)
	if n := strings.Count(string(text), "curl"); n != len(lines) || n < 7 {
		t.Fatalf("%d of %d lines with curl were understood", len(lines), n)
	}
	var first string
	for _, m := range lines {
		r, err := http.NewRequest(map[string]string{"": "GET"}[m[1]]+m[1], local(a.ports.AMQP, m[2]), strings.NewReader(m[3]))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded") // curl says so
		status, body := fetch(t, r)
		if fmt.Sprint(status) != m[4] {
			t.Errorf("%s: %d %s", m[0], status, body)
		}
		if first == "" {
			first = body
		}
	}
	var shown, got map[string]any
	for text, into := range map[string]*map[string]any{snippet(t, page, "{\n  \"now\""): &shown, first: &got} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(got))) {
		t.Errorf("the page shows %v, the answer is %v", shown, got)
	}
}
