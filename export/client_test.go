package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"minibus/internal/sas"
)

// roundTrip is a network: it answers requests in memory, so that time passes at once in a bubble.
type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

var testConnection = sas.Connection{Endpoint: "sb://" + testHost, KeyName: testKeyName, Key: testKey}

// over reads a namespace through an imitated network.
func over(t *testing.T, c sas.Connection, f roundTrip) (*Namespace, error) {
	t.Helper()
	client, err := newClient(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	client.http.Transport = f
	return client.namespace(context.Background())
}

// handled answers with a handler.
func handled(h http.Handler) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result(), nil
	}
}

// wantError checks that an error has a text and neither the key nor a line break.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
		return
	}
	for _, never := range []string{testKey, "SharedAccessSignature sr", "\n", "\x1b"} {
		if strings.Contains(err.Error(), never) {
			t.Errorf("%q is in the error %q", never, err)
		}
	}
}

func feedOf(inside string) string {
	return `<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Queues</title>` + inside + `</feed>`
}

func TestAddressesAreThoseOfTheKindOfService(t *testing.T) {
	for _, tt := range []struct {
		c    sas.Connection
		o    Options
		want string
	}{
		{sas.Connection{Endpoint: "sb://x.servicebus.windows.net"}, Options{}, "https://x.servicebus.windows.net"},
		{sas.Connection{Endpoint: "sb://localhost:5671"}, Options{}, "https://localhost:5671"},
		{sas.Connection{Endpoint: "sb://localhost", Emulator: true}, Options{}, "http://localhost:5300"},
		{sas.Connection{Endpoint: "sb://[::1]", Emulator: true}, Options{}, "http://[::1]:5300"},
		{sas.Connection{Endpoint: "sb://[::1]:80", Emulator: true}, Options{}, "http://[::1]:80"},
	} {
		c, err := newClient(tt.c, tt.o)
		if err != nil || c.scheme+"://"+c.host != tt.want {
			t.Errorf("%+v: %s://%s, %v", tt.c, c.scheme, c.host, err)
		}
	}
}

func TestEveryEntityIsReadFromShortPages(t *testing.T) {
	a := newAzure(t)
	n, err := over(t, testConnection, handled(a))
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Summary(); got != "queues: 8, topics: 2, subscriptions: 6, rules: 9" || n.Name != "contoso" || n.Premium {
		t.Errorf("%s, %+v", got, n)
	}
	if asks := strings.Join(a.asks, "\n"); !strings.Contains(asks, "/$Resources/queues?$skip=6&$top=100&api-version=2021-05") ||
		!strings.Contains(asks, "/events/Subscriptions/eu/Rules?$skip=4&") {
		t.Errorf("requests:\n%s", asks)
	}
}

func TestAKeyOfOneEntityIsEnoughForIt(t *testing.T) {
	for path, want := range map[string]string{
		"orders":                  "queues: 1, topics: 0, subscriptions: 0, rules: 0",
		"sap/orders.in":           "queues: 1, topics: 0, subscriptions: 0, rules: 0",
		"events":                  "queues: 0, topics: 1, subscriptions: 6, rules: 9",
		"events/Subscriptions/eu": "queues: 0, topics: 1, subscriptions: 1, rules: 5",
	} {
		c := testConnection
		c.EntityPath = path
		a := newAzure(t)
		n, err := over(t, c, handled(a))
		if err != nil || n.Summary() != want {
			t.Errorf("%s: %v, %v", path, n, err)
			continue
		}
		if asks := strings.Join(a.asks, "\n"); strings.Contains(asks, "$Resources") || strings.Contains(asks, "$namespaceinfo") {
			t.Errorf("%s asks for more than it may:\n%s", path, asks)
		}
	}
	c := testConnection
	c.EntityPath = "missing"
	_, err := over(t, c, handled(newAzure(t)))
	wantError(t, err, "there is no queue or topic of that name")
}

// TestThePathOfAQueueMayHaveTheWordSubscriptions: only one segment behind it makes it the path of a subscription.
func TestThePathOfAQueueMayHaveTheWordSubscriptions(t *testing.T) {
	for path, entity := range map[string]string{"a/Subscriptions/b/c": "/a/Subscriptions/b/c", "a/Subscriptions/b/Subscriptions/c": "/a/Subscriptions/b"} {
		c := testConnection
		c.EntityPath = path
		var asked string
		_, err := over(t, c, func(r *http.Request) (*http.Response, error) {
			asked = r.URL.Path
			return response(404, ""), nil
		})
		if err == nil || asked != entity {
			t.Errorf("%s: asked for %s, %v", path, asked, err)
		}
	}
}

func TestABusyServiceIsAskedAgain(t *testing.T) {
	for _, status := range []int{429, 500, 503} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			var asked atomic.Int64 // several requests are under way at once
			service := handled(newAzure(t))
			n, err := over(t, testConnection, func(r *http.Request) (*http.Response, error) {
				if asked.Add(1)%3 == 1 {
					return response(status, "", "Retry-After", "7"), nil
				}
				return service(r)
			})
			if err != nil || len(n.Queues) != 8 {
				t.Errorf("%d: %v, %v", status, n, err)
			}
			if d := time.Since(begin); d < 7*time.Second {
				t.Errorf("%d: waited %v only", status, d)
			}
		})
	}
}

func TestAServiceThatStaysBusyIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := over(t, testConnection, func(*http.Request) (*http.Response, error) {
			return response(429, `<Error><Code>429</Code><Detail>SubCode=50004. throttled</Detail></Error>`, "Retry-After", "999999999999"), nil
		})
		wantError(t, err, "gave up after 6 attempts: the service answers 429: SubCode=50004. throttled")
		if d := time.Since(begin); d > 10*time.Minute {
			t.Errorf("after %v", d)
		}
	})
}

func TestASilentServiceIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := over(t, testConnection, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		wantError(t, err, "did not answer in time")
		if d := time.Since(begin); d < requestTimeout || d > 3*requestTimeout {
			t.Errorf("after %v", d)
		}
	})
}

// drip is a body that never ends and never fills a page.
type drip struct{ ctx context.Context }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func TestASlowBodyIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := over(t, testConnection, func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(drip{r.Context()})}, nil
		})
		wantError(t, err, "did not answer in time")
	})
}

func TestTheEndOfTheContextEndsTheReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := newClient(testConnection, Options{})
		if err != nil {
			t.Fatal(err)
		}
		client.http.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return response(503, ""), nil })
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := client.namespace(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestAnswersThatAreNoAnswers(t *testing.T) {
	queue := queueEntry("q", "", "", queueEnd)
	for name, tt := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"unauthorized":  {401, `<Error><Code>401</Code><Detail>claim is empty.` + "\r\n\x1b[31m" + `</Detail></Error>`, "answers 401"},
		"needs manage":  {401, ``, "needs a policy with the Manage right"},
		"firewall":      {403, `plain text`, "answers 403: plain text; a firewall"},
		"no namespace":  {404, ``, "it does not exist"},
		"gone":          {410, `<Error><Detail>moved</Detail></Error>`, "answers 410: moved"},
		"key sent back": {400, testKey, "answers 400: ***"},
		"a web page":    {200, `<!DOCTYPE html><html><p>hello</html>`, "document type declaration"},
		"JSON":          {200, `{"a": 1}`, "is not what the administration API"},
		"nothing":       {200, ``, "incomplete"},
		"half a feed":   {200, `<feed><entry>` + queue[:400], "is not what the administration API"},
		"entity bomb":   {200, `<!DOCTYPE x [<!ENTITY a "aaaa">]><feed>&a;</feed>`, "document type declaration"},
		"deep":          {200, strings.Repeat("<feed>", 10_000), "nested more than"},
		"two roots":     {200, feedOf("") + feedOf(""), "more than one root"},
		"unbalanced":    {200, `</feed>`, "ends that did not begin"},
		"wrong names":   {200, feedOf(`<entry><a></b></entry>`), "is not what the administration API"},
		"other text":    {200, "\xff\xfe<\x00f\x00", "is not what the administration API"},
		"no content":    {200, feedOf(`<entry><title>q</title></entry>`), "is not an ATOM entry"},
		"many elements": {200, feedOf(strings.Replace(queue, "<LockDuration>", strings.Repeat("<x/>", 30_000)+"<LockDuration>", 1)), "more than 20000 elements"},
		"huge":          {200, feedOf(strings.Repeat(" ", maxPageBytes)), "more than 16 MiB"},
		"one forever":   {200, feedOf(`<link rel="next" href="x"/>` + queue), "the same page again and again"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := over(t, testConnection, func(r *http.Request) (*http.Response, error) {
				if strings.Contains(r.URL.Path, "namespaceinfo") {
					return response(404, ""), nil
				}
				return response(tt.status, tt.body), nil
			})
			wantError(t, err, tt.want)
		})
	}
}

func TestEndlessPagesHaveAnEnd(t *testing.T) {
	client, err := newClient(testConnection, Options{})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	client.maxItems = 5_000
	client.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.Contains(r.URL.Path, "namespaceinfo") {
			return response(404, ""), nil
		}
		asked++
		var b bytes.Buffer
		for i := range 1_000 {
			fmt.Fprintf(&b, `<entry><title>q%d-%d</title><content><QueueDescription/></content></entry>`, asked, i)
		}
		return response(200, feedOf(b.String())), nil
	})
	_, err = client.namespace(context.Background())
	wantError(t, err, "more than 5000 entities")
	if asked != 6 {
		t.Errorf("asked %d times", asked)
	}
}

func TestPremiumShowsTheSizeOfAPartitionedEntityAsItIs(t *testing.T) {
	for sku, want := range map[string]int64{"Standard": 1024, "Premium": 16384} {
		n, err := over(t, testConnection, func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.Contains(r.URL.Path, "namespaceinfo"):
				return response(200, element("NamespaceInfo", "x", "<MessagingSKU>"+sku+"</MessagingSKU><Name>x</Name>")), nil
			case strings.Contains(r.URL.Path, "topics"):
				return response(200, feedOf(topicEntry("t", ""))), nil
			}
			return response(200, feedOf("")), nil
		})
		if err != nil || n.Topics[0].Options.MaxSizeInMegabytes != want {
			t.Errorf("%s: %+v, %v", sku, n, err)
		}
	}
}

func TestARedirectionDoesNotGetTheToken(t *testing.T) {
	visited := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited = true }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 307, 308} {
		here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
		}))
		c := sas.Connection{Endpoint: "sb://" + here.Listener.Addr().String(), KeyName: testKeyName, Key: testKey, Emulator: true}
		_, err := Read(context.Background(), c, Options{})
		wantError(t, err, "which is not followed")
		here.Close()
	}
	if visited {
		t.Error("the other host was asked")
	}
}

// A token that a user was given is used as it is, and is not shown either.
func TestAReadyMadeToken(t *testing.T) {
	token := sas.Sign("sb://"+testHost, testKeyName, testKey, time.Now().Add(time.Hour))
	c := sas.Connection{Endpoint: "sb://" + testHost, Signature: token}
	if n, err := over(t, c, handled(newAzure(t))); err != nil || len(n.Queues) != 8 {
		t.Errorf("%v, %v", n, err)
	}
	_, err := over(t, c, func(r *http.Request) (*http.Response, error) {
		return response(400, "you sent "+r.Header.Get("Authorization")), nil
	})
	wantError(t, err, "you sent ***")
}

func TestNamesThatWouldLeadElsewhere(t *testing.T) {
	names := []string{"../up", "a//b", "", "$cbs", "a?b", "q\n", "ok"}
	n, err := over(t, testConnection, func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.Contains(r.URL.Path, "queues"):
			return response(200, feedOf("")), nil
		case strings.Contains(r.URL.Path, "topics"):
			inside := ""
			for _, name := range names {
				inside += topicEntry(name, "")
			}
			return response(200, feedOf(inside)), nil
		case r.URL.Path == "/ok/Subscriptions", r.URL.Path == "/q/Subscriptions":
			return response(200, feedOf("")), nil
		}
		return response(404, ""), nil
	})
	if err != nil || len(n.Topics) != 2 || len(n.Warnings) != 5 {
		t.Errorf("%+v, %v", n, err)
	}
}

func FuzzParsePage(f *testing.F) {
	f.Add([]byte(feedOf(queueEntry("q", policy("p", "Send"), "", queueEnd))))
	f.Add([]byte(ruleEntry("r", sqlFilter("a = @b", typed("@b", "int", "1")), noAction)))
	f.Add([]byte(feedOf(`<entry><entry/></entry><link rel="next"/>`)))
	f.Fuzz(func(_ *testing.T, body []byte) {
		page, err := parsePage(body)
		if err != nil {
			return
		}
		r := &reader{client: &client{maxItems: maxItems}, found: &Namespace{}}
		for _, e := range page.entries {
			r.queue(e)
			r.topic(e)
		}
		for _, format := range []Format{FormatConfig, FormatBicep, FormatTerraform} {
			if _, _, err := Write(r.found, format); err != nil {
				panic(err)
			}
		}
	})
}
