package explorer

import (
	"testing"

	"minibus/compat-tests/harness"
)

// TestRebinding tries what a hostile page can do that is loaded already when its name is led to Minibus, and one from a port beside.
func TestRebinding(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run the explorer in a browser")
	c := harness.StartControlled(t, harness.Options{Config: house(t), Alone: true})
	drive(t, append(c.Server().Environ(), c.Environ()...), "rebind.test.mjs")
}
