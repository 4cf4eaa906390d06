package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"minibus/mgmt/control/api"
)

// TestFollowEventsAsksAgainWhenTheTokenEnds, from the next event on, and says so if it can't make a new token.
func TestFollowEventsAsksAgainWhenTheTokenEnds(t *testing.T) {
	var from []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.URL.Query().Get("from"))
		_, _ = fmt.Fprintf(w, ": what happens\n\nid: %[1]d\nevent: event\ndata: {\"number\": %[1]d}\n\n", 4+len(from))
		if len(from) < 3 {
			_, _ = io.WriteString(w, ": "+expired+"\n\n")
		}
	}))
	defer server.Close()
	var got []int64
	follow := func(credentials string) error {
		a := &app{env: Environment{Stderr: io.Discard, Authority: func() (string, error) { return "", errors.New("none") }}}
		a.flags.connection = "Endpoint=" + strings.Replace(server.URL, "http", "sb", 1) + ";UseDevelopmentEmulator=true;" + credentials
		return a.followEvents(context.Background(), 5, url.Values{}, func(e *answered[api.Event]) error {
			got = append(got, e.is.Number)
			return nil
		})
	}
	err := follow("SharedAccessKeyName=root;SharedAccessKey=key")
	if err == nil || !strings.Contains(err.Error(), "the stream ended") || !slices.Equal(from, []string{"5", "6", "7"}) || !slices.Equal(got, []int64{5, 6, 7}) {
		t.Errorf("asked from %v, got %v, %v", from, got, err)
	}
	from = nil
	err = follow("SharedAccessSignature=SharedAccessSignature sr=x&sig=y&se=1&skn=root")
	var f *failure
	if !errors.As(err, &f) || f.code != exitUnauthorized || len(from) != 1 {
		t.Errorf("asked from %v, %v", from, err)
	}
}
