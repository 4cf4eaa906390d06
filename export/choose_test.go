package export

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"minibus/internal/sas"
)

// ownKey is the key of the namespace "contoso" of the imitated Minibus.
const ownKey = "b3duLWtleQ=="

const oneListed = `{"namespaces": [{"name": "Contoso", "port": 5701, "later": {}, "connectionStrings": [` +
	`{"keyName": "a", "rights": ["Send"], "connectionString": "Endpoint=sb://elsewhere:1;SharedAccessKeyName=a;SharedAccessKey=bm9uZQ=="},` +
	`{"keyName": "b", "rights": ["Manage"], "connectionString": "what is this"},` +
	`{"keyName": "own", "rights": ["Manage", "Send"], "connectionString": "Endpoint=sb://elsewhere:1;SharedAccessKeyName=own;SharedAccessKey=` + ownKey + `"}]}]}`

// chosenFrom reads the namespace "contoso" of a Minibus that lists its namespaces so.
func chosenFrom(t *testing.T, path string, status int, listing string, then roundTrip) (*Namespace, error) {
	t.Helper()
	c := testConnection
	c.EntityPath = path
	client, err := newClient(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	client.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != testHost {
			t.Errorf("%s is asked", r.URL.Host)
		}
		if r.URL.Path == "/"+namespacesPath {
			return response(status, listing), nil
		}
		return then(r)
	})
	client, err = client.choose(context.Background(), "contoso")
	if err != nil {
		return nil, err
	}
	return client.namespace(context.Background())
}

// A chosen namespace is named by the Host of the requests and by the resource of the tokens, which its own key signs. They go to the address
// of the connection string: the endpoint that the server gives counts for nothing.
func TestAChosenNamespaceIsAskedForAtTheSameAddress(t *testing.T) {
	for _, path := range []string{"", "orders"} {
		a := newAzure(t)
		n, err := chosenFrom(t, path, 200, oneListed, func(r *http.Request) (*http.Response, error) {
			token, err := sas.ParseToken(r.Header.Get("Authorization"))
			if err != nil || !token.SignedBy(ownKey) || token.Expires.Before(time.Now()) || r.Host != "contoso.localhost" || token.Host() != r.Host || token.KeyName != "own" {
				t.Errorf("%s of %s with a token for %s by %s, %v", r.URL, r.Host, token.Host(), token.KeyName, err)
			}
			return handled(a)(r)
		})
		if err != nil || n.Name != "contoso" || n.Source != "contoso at "+testHost {
			t.Errorf("path %q: %+v, %v", path, n, err)
		}
	}
}

func TestANamespaceThatCannotBeChosen(t *testing.T) {
	many := `{"namespaces": [{"name": "bad\u001b[31m\nname"}`
	for i := range 30 {
		many += fmt.Sprintf(`, {"name": "tenant%02d"}`, i)
	}
	for _, tt := range []struct {
		status        int
		listing, want string
	}{
		{200, many + "]}", `there is no namespace "contoso" on ` + testHost + "; there are bad [31m name, tenant00, "},
		{200, many + "]}", "tenant18, 11 more"},
		{200, `{"namespaces": []}`, "lists none: leave it out"},
		{200, feedOf(""), "lists none: leave it out"},
		{404, "", "lists none: leave it out"},
		{400, "", "lists none: leave it out"},
		{401, testKey, "Manage right of the default namespace"},
		{403, testKey, "Manage right of the default namespace"},
	} {
		_, err := chosenFrom(t, "", tt.status, tt.listing, func(r *http.Request) (*http.Response, error) {
			t.Errorf("%s is asked for", r.URL)
			return response(404, ""), nil
		})
		wantError(t, err, tt.want)
	}
}
