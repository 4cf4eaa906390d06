package docs

import (
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

// fullDisk sends messages until the disk takes no more.
func fullDisk(t *testing.T) func() string {
	s := harness.Start(t, harness.Options{Data: filepath.Join(harness.SmallDisk(t, "20m"), "minibus.db"), CADir: t.TempDir(), Alone: true})
	for range 500 {
		if status := post(t, s, "queue.1", 200<<10, nil); status != 201 {
			return s.Log
		}
	}
	t.Error("the disk takes everything")
	return s.Log
}
