package metrics_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/server/metrics"
	"minibus/store"
)

// Each family of dashboards and alerts appears once, with its help and type, and every series belongs to one.
func TestFamiliesAreNamedOnce(t *testing.T) {
	b := broker(t, "q")
	m := metrics.New(metrics.Options{
		Version: "test", Broker: func() *emulator.Broker { return b },
		AMQP: func() (amqpserver.Stats, bool) { return amqpserver.Stats{}, true },
		Store: func() (store.Stats, bool) {
			return store.Stats{CommitTimes: store.Histogram{Buckets: make([]int64, 1)}}, true
		},
	})
	m.ObserveHTTP(http.MethodGet, 200, time.Millisecond)
	var have strings.Builder
	named := map[string]int{}
	for line := range strings.Lines(scrape(t, m.Handler())) {
		words := strings.Fields(line)
		switch {
		case words[0] == "#" && strings.HasPrefix(words[2], "minibus_"):
			have.WriteString(line)
			named[words[1]+" "+words[2]]++
		case strings.HasPrefix(line, "minibus_"):
			name, _, _ := strings.Cut(words[0], "{")
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, suffix)
			}
			if named["TYPE "+name] == 0 {
				t.Errorf("%s has no family", words[0])
			}
		}
	}
	for what, n := range named {
		if n != 1 {
			t.Errorf("%s stands there %d times", what, n)
		}
	}
	docs, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for what := range named {
		if _, name, _ := strings.Cut(what, " "); !strings.Contains(string(docs), "`"+name+"`") && !strings.Contains(string(docs), "`"+name+"{") {
			t.Errorf("docs/metrics.md does not name %s", name)
		}
	}
	want, err := os.ReadFile("testdata/families.txt")
	if err != nil {
		t.Fatal(err)
	}
	if have.String() != string(want) {
		t.Errorf("families\n%s\nwant those of testdata/families.txt:\n%s", have.String(), want)
	}
}
