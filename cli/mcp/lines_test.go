package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestServeGoesOnAfterBadLines answers lines that are no messages with an error, and the ones behind them as ever.
func TestServeGoesOnAfterBadLines(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
	in := strings.Join([]string{"hello", `{"jsonrpc":"2.0","id":1,`, "", `{"a":1}`, "7", "[]", "[1]", "[null]", "[{}]", "[" + fmt.Sprintf(ping, 4) + ",7]", fmt.Sprintf(ping, 2) + "\r", strings.Repeat("x", 17<<20), fmt.Sprintf(ping, 3)}, "\n")
	var out bytes.Buffer
	if err := Serve(t.Context(), Options{Document: []byte(api), Prefix: "/$minibus/v1/", In: strings.NewReader(in), Out: &out}); err != nil {
		t.Fatal(err)
	}
	codes := make(map[int64]int)
	answered := make(map[float64]bool)
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if id, ok := m["id"].(float64); ok {
			answered[id] = m["result"] != nil
			continue
		}
		if id, has := m["id"]; !has || id != nil || m["jsonrpc"] != "2.0" {
			t.Errorf("an answer is %s", line)
		}
		codes[int64(m["error"].(map[string]any)["code"].(float64))]++
	}
	if len(codes) != 2 || codes[-32700] != 2 || codes[-32600] != 8 {
		t.Errorf("the codes are %v in %s", codes, out.String())
	}
	if !answered[2] || !answered[3] {
		t.Errorf("the answers are %s", out.String())
	}
}

// TestGoodLinesInPieces reads a line byte by byte, and the last one without its end.
func TestGoodLinesInPieces(t *testing.T) {
	const first, last = `{"jsonrpc":"2.0","method":"a"}`, `{"jsonrpc":"2.0","method":"b"}`
	got, err := io.ReadAll(newGoodLines(io.MultiReader(strings.NewReader(first[:5]), strings.NewReader(first[5:]+"\n"), strings.NewReader(last)), io.Discard))
	if err != nil || string(got) != first+"\n"+last+"\n" {
		t.Errorf("%q, %v", got, err)
	}
}
