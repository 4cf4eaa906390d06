package explorer

import (
	"fmt"
	"testing"

	"minibus/compat-tests/harness"
)

// manyQueues is how many queues the large server has, besides those with much in them.
const manyQueues = 10_000

// TestLarge shows much of everything.
func TestLarge(t *testing.T) {
	queues := []harness.Queue{{Name: "deep"}, {Name: "heavy", MaxMessageSizeInKilobytes: 100 << 10}}
	for i := range manyQueues {
		queues = append(queues, harness.Queue{Name: fmt.Sprintf("queue-%d", i)})
	}
	browse(t, harness.Options{Config: harness.WriteTopology(t, queues, nil)}, []string{fmt.Sprint("MINIBUS_QUEUES=", manyQueues)}, "large.test.mjs")
}
