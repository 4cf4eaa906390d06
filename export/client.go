package export

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"minibus/internal/sas"
	"minibus/internal/secrets"
)

// Limits of the answers. The largest honest page, a hundred rules with all their properties, stays below 10 MiB.
const (
	maxPageBytes  = 16 << 20
	maxTotalBytes = 1 << 30
	maxErrorBytes = 64 << 10
)

// Times of a request. A busy service gets maxAttempts in about half a minute; a silent one is asked twice.
const (
	requestTimeout = 30 * time.Second
	maxAttempts    = 6
	maxSilent      = 2
	firstWait      = 800 * time.Millisecond
	longestWait    = time.Minute
	tokenLife      = 20 * time.Minute
)

// apiVersion is the newest version that Azure and all emulators support. It has MaxMessageSizeInKilobytes.
const apiVersion = "2021-05"

// adminPort is the port of the administration of Microsoft's emulator and of Minibus if the endpoint names none.
const adminPort = "5300"

// client sends requests to one host only.
type client struct {
	scheme, host  string
	connection    sas.Connection
	token         func(context.Context) (string, error) // of [Options]
	sent          *atomic.Value                         // the last token, a string
	namespaceName string                                // that choose chose; empty: that of the connection string
	http          *http.Client
	maxItems      int64        // most entities and rules of a namespace together
	read          atomic.Int64 // bytes so far
}

func newClient(c sas.Connection, o Options) (*client, error) {
	scheme, host := "https", c.Host()
	if c.Emulator {
		if !hasPort(host) {
			host += ":" + adminPort
		}
		if o.CAFile == "" {
			scheme = "http"
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	transport.MaxIdleConnsPerHost = parallel
	if o.CAFile != "" {
		pool, err := authorities(o.CAFile)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	found := &client{scheme: scheme, host: host, connection: c, token: o.Token, sent: new(atomic.Value),
		maxItems: maxItems}
	found.http = &http.Client{
		Transport: transport,
		// Follow no redirection: a token belongs to the host that it was made for.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return found, nil
}

func hasPort(host string) bool {
	i := strings.LastIndexByte(host, ':')
	return i >= 0 && i > strings.LastIndexByte(host, ']')
}

// authorities returns the authorities of the system and those of a file.
func authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read --ca-file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // not every system has one
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read --ca-file: %s has no certificate in PEM form", file)
	}
	return pool, nil
}

// get returns the document at a path, which is not escaped. It waits and asks again while the service is busy.
func (c *client) get(ctx context.Context, path, query string) ([]byte, error) {
	u := url.URL{Scheme: c.scheme, Host: c.host, Path: "/" + path}
	silent := 0
	for attempt := 1; ; attempt++ {
		body, wait, err := c.try(ctx, u, query)
		var busy *busyError
		switch {
		case err == nil:
			return body, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("read %s: %w", path, context.Cause(ctx))
		case errors.As(err, &busy):
		case interrupted(err) && silent+1 < maxSilent:
			silent++
		default:
			return nil, fmt.Errorf("read %s from %s: %w", path, c.host, err)
		}
		if attempt == maxAttempts {
			return nil, fmt.Errorf("read %s from %s: gave up after %d attempts: %w", path, c.host, attempt, err)
		}
		if err := pause(ctx, max(wait, backoff(attempt))); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
}

// try sends the request once. The service asks for the pause wait before the next attempt.
func (c *client) try(ctx context.Context, u url.URL, query string) (body []byte, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errSilent)
	defer cancel()
	resource := u
	if c.namespaceName != "" {
		resource.Host = hostOf(c.namespaceName)
	}
	u.RawQuery = query
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, 0, errors.New("the address can't be asked for")
	}
	req.Host = resource.Host
	token, err := c.authorization(ctx, resource)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Authorization", token)
	req.Header.Set("User-Agent", "minibus-export")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, c.explain(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, retryAfter(resp), c.refusal(resp)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxPageBytes+1))
	switch {
	case err != nil:
		return nil, 0, c.explain(ctx, err)
	case len(body) > maxPageBytes:
		return nil, 0, fmt.Errorf("the answer has more than %d MiB, too much for a page of entities", maxPageBytes>>20)
	case c.read.Add(int64(len(body))) > maxTotalBytes:
		return nil, 0, fmt.Errorf("the answers have more than %d GiB together", maxTotalBytes>>30)
	}
	return body, 0, nil
}

// authorization returns the token of a sign-in, or signs the address of the request, so that the key of a topic is
// enough for its subscriptions and rules.
func (c *client) authorization(ctx context.Context, u url.URL) (string, error) {
	switch {
	case c.token != nil:
		token, err := c.token(ctx)
		c.sent.Store(strings.TrimPrefix(token, "Bearer "))
		return token, err
	case c.connection.Signature != "":
		return c.connection.Signature, nil
	}
	return sas.Sign(u.String(), c.connection.KeyName, c.connection.Key, time.Now().Add(tokenLife)), nil
}

// redact removes keys and tokens that a server may send back.
func (c *client) redact(s string) string {
	sent, _ := c.sent.Load().(string)
	return secrets.New(c.connection.Key, c.connection.Signature, sent).Text(s)
}

// backoff doubles with each attempt; the random part keeps parallel requests from coming back together.
func backoff(attempt int) time.Duration {
	d := min(firstWait<<(attempt-1), longestWait)
	return d + rand.N(d/4)
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(resp.Header.Get("Retry-After")))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, 3600))*time.Second, longestWait)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
