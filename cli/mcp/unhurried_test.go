package mcp

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheEndOfTheInputWaitsForTheAnswers to what was read before, however long the calls take.
func TestTheEndOfTheInputWaitsForTheAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
		for id := 2; id < 5; id++ {
			in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_thing","arguments":{"thing":"x%d"}}}`+"\n", id, id)
		}
		var out bytes.Buffer
		err := Serve(t.Context(), Options{Document: []byte(api), Prefix: "/$minibus/v1/", In: strings.NewReader(in), Out: &out,
			Call: func(ctx context.Context, _, path string, _ any) ([]byte, error) {
				select {
				case <-time.After(time.Minute):
					return []byte("answer of " + path), nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		for id := 2; id < 5; id++ {
			if want := fmt.Sprintf("answer of namespaces/$this/things/x%d", id); !strings.Contains(out.String(), want) {
				t.Errorf("no %q in %s", want, &out)
			}
		}
	})
}
