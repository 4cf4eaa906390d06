package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"minibus/config"
	"minibus/emulator"
	"minibus/mgmt/control"
)

const newQueue = `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">` +
	`<QueueDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"/></content></entry>`

// BenchmarkEntities measures administration over HTTP with ten entities and with ten thousand, the database on disk.
func BenchmarkEntities(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		c := Config{NoNetwork: true, Topology: &config.Topology{Namespace: config.DefaultNamespace}}
		c.Settings.Data = filepath.Join(b.TempDir(), "bus.db")
		for i := range n {
			c.Topology.Entities = append(c.Topology.Entities, emulator.EntityConfig{Path: fmt.Sprintf("queue.%05d", i), Queue: &emulator.QueueOptions{}})
		}
		a, err := Start(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return a.Dial(ctx) },
		}}
		do := func(b *testing.B, method, path, body string, want int) {
			req, err := http.NewRequest(method, "http://minibus"+path, strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				b.Fatalf("%s %s: status %d", method, path, resp.StatusCode)
			}
		}
		for _, o := range []struct{ name, path string }{
			{"get", "/queue.00007"},
			{"list10", "/$Resources/queues?$skip=0&$top=10"},
			{"whole", control.Prefix + "namespaces/$default/entities/queue.00007"},
			{"tree", control.Prefix + "namespaces/$default/tree?limit=10000"},
			{"tree-page-at-the-end", control.Prefix + fmt.Sprintf("namespaces/$default/tree?limit=10&cursor=queue.%05d", n-11)},
			{"list10-at-the-end", fmt.Sprintf("/$Resources/queues?$skip=%d&$top=10", n-10)},
		} {
			b.Run(fmt.Sprintf("%s/%d", o.name, n), func(b *testing.B) {
				for b.Loop() {
					do(b, http.MethodGet, o.path, "", http.StatusOK)
				}
			})
		}
		text, err := a.WriteConfiguration(a.Namespace(), false)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("diff/%d", n), func(b *testing.B) {
			for b.Loop() {
				do(b, http.MethodPost, control.Prefix+"namespaces/$default/config/diff", string(text), http.StatusOK)
			}
		})
		b.Run(fmt.Sprintf("put-over-the-control-API/%d", n), func(b *testing.B) {
			for b.Loop() {
				do(b, http.MethodPut, control.Prefix+"namespaces/$default/entities/queue.00005x", "{}", http.StatusCreated)
				do(b, http.MethodDelete, control.Prefix+"namespaces/$default/entities/queue.00005x", "", http.StatusNoContent)
			}
		})
		b.Run(fmt.Sprintf("create-and-delete/%d", n), func(b *testing.B) {
			for b.Loop() {
				do(b, http.MethodPut, "/queue.00005x", newQueue, http.StatusCreated)
				do(b, http.MethodDelete, "/queue.00005x", "", http.StatusOK)
			}
		})
		if err := a.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
