package sbtest_test

import (
	"net/http"
	"strings"
	"testing"

	"minibus/sbtest"
)

func TestDEC13_MissingEntitiesOverHTTP(t *testing.T) {
	for status, options := range map[int][]sbtest.Option{404: nil, 410: {sbtest.WithGoneEntities()}} {
		server := sbtest.Start(t, options...)
		_, host, _ := strings.Cut(server.ConnectionString(), "Endpoint=sb://")
		host, _, _ = strings.Cut(host, ";")
		resp, err := http.Post("http://"+strings.TrimSuffix(host, "/")+"/none/messages", "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("status %d, want %d", resp.StatusCode, status)
		}
	}
}
