package shop

import (
	"strconv"
	"testing"
)

// TestATestSeesItsOwnMessagesOnly runs four tests at the same time.
func TestATestSeesItsOwnMessagesOnly(t *testing.T) {
	for i := range 4 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			isolated(t, connect(t))
		})
	}
}
