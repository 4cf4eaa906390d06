package emulator

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// NewRandom returns a source of random operations. Its seed is printed when the test fails and can be set with
// MINIBUS_SEED.
func NewRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("MINIBUS_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("MINIBUS_SEED: %v", err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("run again with MINIBUS_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}
