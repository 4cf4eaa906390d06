package server

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
)

// The collector's pace. With little live memory it may grow by a fixed amount between two runs, which makes collections rare
// under load; with a deep queue in memory it must not double that.
const (
	growth     = 40 << 20 // bytes to allocate between two collections, if the limits below allow it
	leastRatio = 40       // per cent of the live memory
	mostRatio  = 400
)

// tuneMemory adapts the garbage collector's target to the amount of live memory, after each collection. A user who sets
// GOGC or GOMEMLIMIT has decided otherwise.
func tuneMemory(environ []string) {
	for _, e := range environ {
		if name, value, _ := strings.Cut(e, "="); (name == "GOGC" || name == "GOMEMLIMIT") && value != "" {
			return
		}
	}
	t := &tuner{sample: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, ratio: mostRatio}
	debug.SetGCPercent(t.ratio)
	t.arm()
}

// tuner is called by the runtime after each collection, one call at a time.
type tuner struct {
	sample []metrics.Sample
	ratio  int
}

// canary is garbage as soon as it is made, so that the next collection finds it. It holds a pointer because the runtime
// packs small objects without one together, and they die together.
type canary struct{ _ *canary }

func (t *tuner) arm() { runtime.AddCleanup(&canary{}, (*tuner).collected, t) }

func (t *tuner) collected() {
	metrics.Read(t.sample)
	ratio := ratioFor(t.sample[0].Value.Uint64())
	if change := ratio - t.ratio; change > t.ratio/10 || -change > t.ratio/10 { // setting it stops the world for a moment
		t.ratio = ratio
		debug.SetGCPercent(ratio)
	}
	t.arm()
}

func ratioFor(live uint64) int {
	return int(min(max(growth*100/max(live, 1), leastRatio), mostRatio))
}
