package mgmt

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minibus/emulator"
)

// A golden file holds exchanges with a fresh broker, one after another:
//
//	PUT https://localhost:5300/orders?api-version=2024-05
//	Content-Type: application/atom+xml
//
//	body
//	--- 201
//	Content-Type: ...
//
//	body
//	===
//
// Requests of the Go client are recorded, and so are those of Python (compat-tests/python/record.py), of JavaScript
// (compat-tests/js/admin-record.mjs) and of Java (compat-tests/java, Recording.java). Those of .NET, of Python's releases
// with the api-version 2021-05 and of Java's with 2024-05 are written by hand. With -update the
// test writes the answers anew; read them before you keep them.
var (
	goldenDir = flag.String("golden", "testdata/golden", "directory of the golden files")
	update    = flag.Bool("update", false, "write the answers of the golden files anew")
)

// exchange is one request with its answer.
type exchange struct {
	method, url    string
	header         []string // lines
	body           string
	status         int
	responseHeader []string
	response       string
}

// volatile matches text that differs from run to run.
var volatile = regexp.MustCompile(`TrackingId:[0-9a-f-]+`)

func (x *exchange) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", x.method, x.url)
	for _, h := range x.header {
		fmt.Fprintln(&b, h)
	}
	fmt.Fprintf(&b, "\n%s\n--- %d\n", x.body, x.status)
	for _, h := range x.responseHeader {
		fmt.Fprintln(&b, h)
	}
	fmt.Fprintf(&b, "\n%s\n===\n", x.response)
	return b.String()
}

func parseExchanges(t *testing.T, file string) []*exchange {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	var list []*exchange
	for part := range strings.SplitSeq(string(content), "\n===\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		request, response, ok := strings.Cut(part, "\n--- ")
		if !ok {
			t.Fatalf("%s: an exchange has no answer: %s", file, part)
		}
		x := &exchange{}
		var first string
		first, x.header, x.body = cutHead(request)
		x.method, x.url, _ = strings.Cut(first, " ")
		first, x.responseHeader, x.response = cutHead(response)
		if _, err := fmt.Sscan(first, &x.status); err != nil {
			t.Fatalf("%s: no status in %q", file, first)
		}
		list = append(list, x)
	}
	return list
}

// cutHead splits text into the first line, the header lines and the body.
func cutHead(s string) (first string, header []string, body string) {
	head, body, _ := strings.Cut(s, "\n\n")
	lines := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	return lines[0], lines[1:], body
}

// run sends the request and returns the exchange as it is now.
func (x *exchange) run(h http.Handler) *exchange {
	r := httptest.NewRequest(x.method, x.url, strings.NewReader(x.body))
	for _, line := range x.header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	now := *x
	now.answered(w.Result(), w.Body.Bytes())
	return &now
}

func (x *exchange) answered(r *http.Response, body []byte) {
	x.status, x.response = r.StatusCode, volatile.ReplaceAllString(string(body), "TrackingId:*")
	x.responseHeader = nil
	for _, name := range []string{"Content-Type", "Etag"} {
		if v := r.Header.Get(name); v != "" {
			x.responseHeader = append(x.responseHeader, name+": "+v)
		}
	}
}

func TestGoldenExchanges(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*goldenDir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b := newBus(t, emulator.ProfileRelaxed)
			var now strings.Builder
			for _, want := range parseExchanges(t, file) {
				got := want.run(b.handler)
				now.WriteString(got.String())
				if !*update && got.String() != want.String() {
					t.Errorf("want\n%s\ngot\n%s", want, got)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// recorder is a transport of the Go client that keeps the exchanges.
type recorder struct {
	handler   http.Handler
	exchanges strings.Builder
}

// Do implements policy.Transporter.
func (c *recorder) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	x := &exchange{method: r.Method, url: r.URL.String(), body: string(body)}
	for _, name := range []string{"Content-Type", "If-Match"} {
		if v := r.Header.Get(name); v != "" {
			x.header = append(x.header, name+": "+v)
		}
	}
	in := httptest.NewRequest(r.Method, x.url, bytes.NewReader(body))
	in.Header = r.Header.Clone()
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, in)
	x.answered(w.Result(), w.Body.Bytes())
	c.exchanges.WriteString(x.String())
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// record runs a scenario with the Go client and compares what it sent with the golden file.
func record(t *testing.T, name string, scenario func(t *testing.T, c *goClient)) {
	t.Helper()
	b := newBus(t, emulator.ProfileRelaxed)
	r := &recorder{handler: b.handler}
	scenario(t, newGoClient(t, "localhost:5300", r))
	file := filepath.Join(*goldenDir, name)
	if *update {
		if err := os.WriteFile(file, []byte(r.exchanges.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(r.exchanges.String(), "\n"); !slices.Equal(got, strings.Split(string(want), "\n")) {
		t.Errorf("the client's requests or their answers changed; run the test with -update and look at the difference of %s", file)
	}
}

func TestGoldenGoQueues(t *testing.T) { record(t, "go-queues.txt", goQueues) }
