package explorer

import (
	"testing"

	"minibus/compat-tests/harness"
)

// TestManners mends dead letters, types durations, and goes from a message to the subscriptions that would get it.
func TestManners(t *testing.T) {
	browse(t, harness.Options{Config: house(t)}, nil, "manners.test.mjs")
}

// TestKeyboard does whole tasks without a mouse.
func TestKeyboard(t *testing.T) {
	browse(t, harness.Options{Config: house(t)}, nil, "keyboard.test.mjs")
}
