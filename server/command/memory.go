package command

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
)

// The garbage collector's pace. With little live memory the heap may grow by a fixed amount between two collections,
// so that they are rare under load; with a deep queue in memory the heap must not double.
const (
	growth     = 40 << 20 // bytes to allocate between two collections, within the ratios below
	leastRatio = 40       // per cent of the live memory
	mostRatio  = 400
)

// tuneMemory adapts the garbage collector's target to the amount of live memory, after each collection. It does
// nothing if the user has set GOGC or GOMEMLIMIT.
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

// muchMemory is how much the process may have after the start without giving back what only that needed, in bytes.
const muchMemory = 64 << 20

// giveBack gives the system the memory that only the start needed, if it is much. The runtime would do so too, after
// two minutes.
func giveBack() {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Uint64()-sample[1].Value.Uint64() > muchMemory {
		debug.FreeOSMemory()
	}
}

// tuner sets the target; the runtime calls it after each collection, one call at a time.
type tuner struct {
	sample []metrics.Sample
	ratio  int
}

// canary is garbage as soon as it is made, so that the next collection finds it. It has a pointer because the runtime
// packs small objects without pointers together, and frees them together.
type canary struct{ _ *canary }

func (t *tuner) arm() { runtime.AddCleanup(&canary{}, (*tuner).collected, t) }

func (t *tuner) collected() {
	metrics.Read(t.sample)
	ratio := ratioFor(t.sample[0].Value.Uint64())
	// Setting it stops the world for a moment.
	if change := ratio - t.ratio; change > t.ratio/10 || -change > t.ratio/10 {
		t.ratio = ratio
		debug.SetGCPercent(ratio)
	}
	t.arm()
}

func ratioFor(live uint64) int {
	return int(min(max(growth*100/max(live, 1), leastRatio), mostRatio))
}
