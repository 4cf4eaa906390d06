// Package browser lets headless Chromium open web pages that try what a page can try against the built binary.
package browser

import (
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func needChromium(t *testing.T) {
	t.Helper()
	harness.NeedAll(t, "to run the tests with a browser")
	if _, err := exec.LookPath("chromium-headless-shell"); err != nil {
		t.Fatal("Chromium is missing: apt-get install chromium-headless-shell")
	}
}

// paths has one path of each kind that Minibus serves.
var paths = []string{
	"/", "/health", "/livez", "/readyz", "/metrics", "/minibus/ca.pem", "/$servicebus/websocket", "/$namespaceinfo", "/$Resources/queues", "/$Resources/topics",
	"/queue.1", "/made", "/topic.1/Subscriptions", "/topic.1/Subscriptions/subscription.1", "/topic.1/Subscriptions/subscription.1/Rules",
	"/topic.1/Subscriptions/subscription.1/Rules/r", "/queue.1/messages", "/queue.1/messages/head?timeout=0",
	"/queue.1/messages/1/0e9d0a1e-2e3b-4f0e-8a0a-5f2d6b1a7c11", "/nothing",
}

// methods lists the methods that a script may use.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}

// everything returns a page that tries all of this.
func everything(target string) plan {
	p := plan{Target: target, Elements: true}
	for _, path := range paths {
		p.Routes = append(p.Routes, route{path, methods})
	}
	p.Forms = []form{{"GET", "/queue.1"}, {"POST", "/queue.1/messages"}, {"POST", "/queue.1/messages/head?timeout=0"}}
	return p
}

// bus is a Minibus with messages that hold scripts.
type bus struct {
	*harness.Server
	local string // its address for programs
}

func start(t *testing.T, args ...string) *bus {
	t.Helper()
	b := &bus{Server: harness.Start(t, harness.Options{Args: append([]string{"--log-level", "debug"}, args...)})}
	b.local = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(b.Ports.HTTP))
	return b
}

// runnable lists content types that a browser would run, each with a document that has a script. A message without a type was once XML.
var runnable = []struct{ kind, document string }{
	{"", `<html xmlns="http://www.w3.org/1999/xhtml"><title>secret</title><script>%s</script></html>`},
	{"text/html", `<!doctype html><title>secret</title><img src="x" onerror="%[1]s"><script>%[1]s</script>`},
	{"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><text>secret</text><script>%s</script></svg>`},
	{"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><title>secret</title><script>%s</script></html>`},
}

// store sends two messages of each kind. Their scripts tell the site that they ran.
func (b *bus) store(t *testing.T, s *site) {
	t.Helper()
	for _, r := range runnable {
		run := fmt.Sprintf("fetch('http://127.0.0.1:%s/ran?'+location.origin+encodeURIComponent('%s'),{mode:'no-cors'})", s.port, r.kind)
		for range 2 {
			if status, text := curl(t, "POST", b.local+"/queue.1/messages", r.kind, fmt.Sprintf(r.document, run)); status != 201 {
				t.Fatalf("send: %d %s", status, text)
			}
		}
	}
}

// state returns the counts that a page must not change.
func (b *bus) state(t *testing.T) string {
	t.Helper()
	var s strings.Builder
	for _, path := range []string{"/$Resources/queues", "/$Resources/topics", "/topic.1/Subscriptions", "/topic.1/Subscriptions/subscription.1/Rules"} {
		_, text := curl(t, "GET", b.local+path+"?api-version=2021-05&enrich=true", "", "")
		for _, m := range regexp.MustCompile(`<title type="text">[^<]*|<[^<]*Count>\d+`).FindAllString(text, -1) {
			s.WriteString(m + "\n")
		}
	}
	return s.String()
}

// requests returns the browsers' requests in the log: method, path and status.
func (b *bus) requests() []string {
	var list []string
	line := regexp.MustCompile(`msg=request method=(\S+) path=(\S+) status=(\d+) .* agent="Mozilla/`)
	for _, m := range line.FindAllStringSubmatch(b.Log(), -1) {
		list = append(list, m[1]+" "+m[2]+" "+m[3])
	}
	return list
}

// wantRefused fails unless each path was requested with these methods and always answered 403.
func wantRefused(t *testing.T, requests []string, methods ...string) {
	t.Helper()
	for _, r := range requests {
		if !strings.HasSuffix(r, " 403") {
			t.Errorf("a request was answered: %s", r)
		}
	}
	for _, path := range paths {
		path, _, _ = strings.Cut(path, "?")
		for _, method := range methods {
			if !slices.Contains(requests, method+" "+path+" 403") {
				t.Errorf("%s %s was not tried, or not refused", method, path)
			}
		}
	}
}

// wantNothing fails if a page has read something, connected, or changed something, or if a message's script ran.
func wantNothing(t *testing.T, b *bus, s *site, before string, report []try) {
	t.Helper()
	if len(report) < len(paths)*len(methods) {
		t.Errorf("the page has tried only %d things", len(report))
	}
	for _, r := range report {
		if strings.Contains(r.Outcome, "READ") || r.Outcome == "OPEN" || r.Outcome == "no window" || r.What == "page" {
			t.Errorf("%s", r)
		}
	}
	if after := b.state(t); after != before {
		t.Errorf("the page changed something:\n%s\nbefore:\n%s", after, before)
	}
	if ran := s.scriptsThatRan(); len(ran) > 0 {
		t.Errorf("scripts in messages ran: %q", ran)
	}
}

// TestPagesOfOtherOrigins: pages of other hosts, and of another port of this machine, under every kind of name of Minibus.
func TestPagesOfOtherOrigins(t *testing.T) {
	needChromium(t)
	t.Parallel()
	for name, tt := range map[string]struct{ page, target string }{
		"of elsewhere":               {"evil.test", "127.0.0.1"},
		"of another port":            {"localhost", "localhost"},
		"of elsewhere, by its alias": {"evil.test", "minibus"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "")
			b := start(t)
			b.store(t, s)
			before := b.state(t)
			report := s.visit(t, tt.page, everything("http://"+net.JoinHostPort(tt.target, strconv.Itoa(b.Ports.HTTP))))
			requests := b.requests()
			wantNothing(t, b, s, before, report)
			for _, r := range report {
				if strings.HasSuffix(r.What, "fetch") && r.Outcome != "blocked" && r.Outcome != "opaque" {
					t.Errorf("%s", r)
				}
			}
			if tt.target == "minibus" { // browsers send no Origin with a plain GET; it changes nothing, and no page sees its answer
				requests = slices.DeleteFunc(requests, func(r string) bool { return strings.HasPrefix(r, "GET ") || strings.HasPrefix(r, "HEAD ") })
				wantRefused(t, requests, "POST", "OPTIONS")
				return
			}
			wantRefused(t, requests, "GET", "HEAD", "POST", "OPTIONS")
		})
	}
}

// TestPagesAfterDNSRebinding: the page's own name has become an address of Minibus, so that the browser lets it read everything.
func TestPagesAfterDNSRebinding(t *testing.T) {
	needChromium(t)
	t.Parallel()
	s := newSite(t, "")
	b := start(t)
	b.store(t, s)
	rebound := newSite(t, strings.TrimPrefix(b.local, "http://"))
	before := b.state(t)
	report := rebound.visit(t, "evil.test", everything("http://evil.test:"+rebound.port))
	requests := b.requests()
	wantNothing(t, b, s, before, report)
	for _, r := range report {
		if strings.HasSuffix(r.What, "fetch") && r.Outcome != "403" {
			t.Errorf("%s", r)
		}
	}
	wantRefused(t, requests, methods...)
}

// TestOwnPages: pages of Minibus itself may do everything under its own name, and messages that they open run nothing.
func TestOwnPages(t *testing.T) {
	needChromium(t)
	t.Parallel()
	s := newSite(t, "")
	b := start(t)
	b.store(t, s)
	own := newSite(t, strings.TrimPrefix(b.local, "http://"))
	p := plan{Target: "http://localhost:" + own.port, Routes: []route{
		{"/health", []string{"GET"}}, {"/queue.1?api-version=2021-05", []string{"GET"}}, {"/$servicebus/websocket", []string{}},
	}}
	for range runnable {
		p.Forms = append(p.Forms, form{"POST", "/queue.1/messages/head?timeout=5"})
	}
	report := own.visit(t, "localhost", p)
	for _, want := range []string{"fetch GET /health 200", "fetch GET /queue.1?api-version=2021-05 200", "WebSocket GET /$servicebus/websocket OPEN"} {
		if !slices.ContainsFunc(report, func(r try) bool { return r.String() == want }) {
			t.Errorf("no %q in %v", want, report)
		}
	}
	opened := 0
	for _, r := range b.requests() {
		if r == "POST /queue.1/messages/head 201" {
			opened++
		}
	}
	if want := 2 * len(runnable); opened != want { // in a frame and in a window
		t.Errorf("%d messages were opened, want %d: %q", opened, want, report)
	}
	if ran := s.scriptsThatRan(); len(ran) > 0 {
		t.Errorf("scripts in messages ran: %q", ran)
	}
}

// TestInvitedPage: a page named by --allowed-origins may connect over WebSockets.
func TestInvitedPage(t *testing.T) {
	needChromium(t)
	t.Parallel()
	s := newSite(t, "")
	b := start(t, "--allowed-origins", "http://friend.test:"+s.port)
	p := plan{Target: "http://localhost:" + strconv.Itoa(b.Ports.AMQP), Routes: []route{{"/$servicebus/websocket", []string{"GET", "POST"}}}}
	for host, want := range map[string]string{"friend.test": "OPEN", "enemy.test": "blocked"} {
		for _, r := range s.visit(t, host, p) {
			if r.What == "WebSocket" && r.Outcome != want || strings.HasSuffix(r.What, "fetch") && r.Outcome != "blocked" && r.Outcome != "opaque" {
				t.Errorf("%s: %s", host, r)
			}
		}
	}
}
