package explorer

import (
	"testing"

	"minibus/compat-tests/harness"
)

// TestRobust opens addresses that make no sense, and gives the page answers, bodies and files that it does not expect.
func TestRobust(t *testing.T) {
	browse(t, harness.Options{Config: house(t)}, nil, "robust.test.mjs")
}
