package config

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// TestReadInput takes a configuration from an input, and leaves what follows it if something may.
func TestReadInput(t *testing.T) {
	const text = "// \"{\n{ /* } */ \"UserConfig\": {\"Namespaces\": [{\"Name\": \"sbemulatorns\", \"Queues\": [{\"Name\": \"a\", \"Properties\": {\"UserMetadata\": \"}\\\"}\"}},]}]}}"
	for _, followed := range []bool{false, true} {
		input, rest := strings.NewReader(text), ""
		if followed {
			input, rest = strings.NewReader(text+" more"), " more"
		}
		r := bufio.NewReader(input)
		topology, report, err := LoadFrom([]string{Input}, r, followed, ProfileRelaxed)
		if err != nil || topology == nil || len(topology.Entities) != 1 || topology.Entities[0].Queue.UserMetadata != `}"}` {
			t.Fatalf("%+v, %v, %v", topology, report.Err(), err)
		}
		if left, _ := io.ReadAll(r); string(left) != rest {
			t.Errorf("what is left is %q", left)
		}
	}
	for text, want := range map[string]string{"": "there is none", "{": "standard input:1:", "nothing": "standard input:1:", "{} {}": ""} {
		_, report, err := LoadFrom([]string{Input}, bufio.NewReader(strings.NewReader(text)), text == "{} {}", ProfileRelaxed)
		if err == nil {
			err = report.Err()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, _, err := LoadFrom([]string{Input}, bufio.NewReader(io.MultiReader(strings.NewReader("{"), endless{})), true, ProfileRelaxed); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("an endless input: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
