package arm

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

type object = map[string]any

// patience bounds one client's tests.
const patience = 6 * time.Minute

// pool trusts the server's authority.
func (c *cloud) pool(t *testing.T) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(c.CA())
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatalf("read the authority: %v", err)
	}
	return pool
}

func (c *cloud) client(t *testing.T) *http.Client {
	t.Helper()
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.pool(t)}}}
}

// raw sends requests as no library does.
type raw struct {
	*testing.T
	cloud  *cloud
	client *http.Client
	token  string
}

// raw signs in.
func (c *cloud) raw(t *testing.T) *raw {
	t.Helper()
	r := &raw{T: t, cloud: c, client: c.client(t)}
	answer, err := r.client.PostForm(c.base+"/"+tenant+"/oauth2/v2.0/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {clientID},
		"client_secret": {secret}, "scope": {c.base + "/.default"}})
	if err != nil {
		t.Fatalf("ask for a token: %v", err)
	}
	defer func() { _ = answer.Body.Close() }()
	var got struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || got.Token == "" {
		t.Fatalf("ask for a token: %s %v", answer.Status, err)
	}
	r.token = got.Token
	return r
}

// do sends a request. A path without a version gets one.
func (r *raw) do(method, path string, body any) (status int, text string) {
	r.Helper()
	if !strings.Contains(path, "api-version=") {
		path += "?api-version=2024-01-01"
	}
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			r.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, r.cloud.base+path, content)
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := r.client.Do(request)
	if err != nil {
		r.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = answer.Body.Close() }()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		r.Fatalf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode, string(got)
}

// must wants a request to succeed, and returns the answer.
func (r *raw) must(method, path string, body any) object {
	r.Helper()
	status, text := r.do(method, path, body)
	var got object
	if status >= http.StatusMultipleChoices || text != "" && json.Unmarshal([]byte(text), &got) != nil {
		r.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return got
}

// group makes a resource group and returns its path.
func (r *raw) group(name string) string {
	r.Helper()
	path := "/subscriptions/" + subscription + "/resourceGroups/" + name
	r.must(http.MethodPut, path, object{"location": "westeurope"})
	return path
}

// namespace makes a namespace and returns its path.
func (r *raw) namespace(group, name string) string {
	r.Helper()
	path := group + "/providers/Microsoft.ServiceBus/namespaces/" + name
	r.must(http.MethodPut, path, object{"location": "westeurope", "sku": object{"name": "Standard"}})
	return path
}

// sign makes a shared access signature.
func sign(resource, name, key string) string {
	resource = url.QueryEscape(resource)
	expires := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write([]byte(resource + "\n" + expires))
	return "SharedAccessSignature sr=" + resource + "&sig=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil))) + "&se=" + expires + "&skn=" + name
}

// plain are options of a client that asks for https where the connection string says that there is none.
func plain(client *http.Client) azcore.ClientOptions {
	return azcore.ClientOptions{Transport: carrier{client}, Retry: policy.RetryOptions{MaxRetries: -1}}
}

type carrier struct{ client *http.Client }

// Do implements policy.Transporter.
func (c carrier) Do(r *http.Request) (*http.Response, error) {
	r.URL.Scheme = "http"
	return c.client.Do(r)
}
