package atom

import (
	"fmt"
	"strings"
	"time"

	"minibus/emulator"
)

// spanOf converts an end of a range.
func spanOf(d time.Duration) TimeSpan {
	if d == emulator.Forever {
		return MaxTimeSpan
	}
	return SpanOf(d)
}

// within reports whether a range has the time span.
func (t TimeSpan) within(r emulator.DurationRange) bool {
	return t >= spanOf(r.Least) && t <= spanOf(r.Most) || r.OrForever && t == MaxTimeSpan
}

// list names the values of a range of few, as the service does: 1024;2048;3072.
func list(r emulator.IntRange) string {
	var all []string
	for v := r.Least; v <= r.Most; v += r.Step {
		all = append(all, fmt.Sprint(v))
	}
	return strings.Join(all, ";")
}

// limits are the numbers of a profile.
type limits struct{ emulator.Profile }

// takesSize reports whether a size in megabytes may be asked for; of a partitioned entity also the form in which it is shown.
func (l limits) takesSize(mb int64, partitioned bool) bool {
	return l.Megabytes.Contains(mb) || partitioned && mb%l.Partitions == 0 && l.Megabytes.Contains(mb/l.Partitions)
}

// The sizes of an entity in Azure's Standard tier; times 16 they are what a partitioned entity shows.
var standard = emulator.LimitsStandard.Profile().Megabytes

// storedSize undoes the factor that the service applies to partitioned entities: clients send back what they were shown.
func (l limits) storedSize(mb int64, partitioned bool) int64 {
	n := l.Partitions
	if partitioned && n > 1 && mb%(n*standard.Step) == 0 && mb <= n*standard.Most {
		return mb / n
	}
	return mb
}

// shownSize is what an entity shows as its size. Sizes that only the relaxed profile takes are shown as they are: multiplied,
// they could not be told from what a client asks for.
func (l limits) shownSize(mb int64, partitioned bool) int64 {
	if mb <= 0 {
		mb = emulator.DefaultMegabytes
	}
	if partitioned && mb%standard.Step == 0 && mb <= standard.Most {
		mb *= l.Partitions
	}
	return mb
}
