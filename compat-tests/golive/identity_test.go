package golive

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// entraToken is a JWT for Service Bus without a signature, which Minibus does not look at (DEC-10).
const entraToken = "eyJhbGciOiJub25lIn0.eyJhdWQiOiJodHRwczovL3NlcnZpY2VidXMuYXp1cmUubmV0LyJ9."

// managedIdentity serves tokens like an App Service for its programs, and returns the variables by which
// they find it. So the tests' own way to an identity works unchanged.
func managedIdentity(t *testing.T) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token": %q, "expires_on": "%d", "resource": "https://servicebus.azure.net/", "token_type": "Bearer"}`,
			entraToken, time.Now().Add(time.Hour).Unix())
	}))
	t.Cleanup(server.Close)
	return []string{"AZURE_TOKEN_CREDENTIALS=ManagedIdentityCredential", "IDENTITY_ENDPOINT=" + server.URL, "IDENTITY_HEADER=any"}
}
