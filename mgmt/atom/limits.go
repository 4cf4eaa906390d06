package atom

import (
	"fmt"
	"strings"
	"time"

	"minibus/emulator"
)

// spanOf converts a bound of a range.
func spanOf(d time.Duration) TimeSpan {
	if d == emulator.Forever {
		return MaxTimeSpan
	}
	return SpanOf(d)
}

// within reports whether the time span is in a range.
func (t TimeSpan) within(r emulator.DurationRange) bool {
	return t >= spanOf(r.Least) && t <= spanOf(r.Most) || r.OrForever && t == MaxTimeSpan
}

// list returns the values of a small range in the service's form: 1024;2048;3072.
func list(r emulator.IntRange) string {
	var all []string
	for v := r.Least; v <= r.Most; v += r.Step {
		all = append(all, fmt.Sprint(v))
	}
	return strings.Join(all, ";")
}

// limits are the ranges and quotas of a profile.
type limits struct{ emulator.Limits }

// takesSize reports whether clients may set a size in megabytes. For a partitioned entity that includes the
// multiplied size that it shows.
func (l limits) takesSize(mb int64, partitioned bool) bool {
	return l.Megabytes.Contains(mb) || partitioned && mb%l.Partitions == 0 && l.Megabytes.Contains(mb/l.Partitions)
}

// standard has the sizes of an entity in Azure's Standard tier. A partitioned entity shows a multiple of them.
var standard = emulator.ProfileStandard.Limits().Megabytes

// storedSize undoes the factor that the service applies to partitioned entities: clients send back what they were
// shown.
func (l limits) storedSize(mb int64, partitioned bool) int64 {
	n := l.Partitions
	if partitioned && n > 1 && mb%(n*standard.Step) == 0 && mb <= n*standard.Most {
		return mb / n
	}
	return mb
}

// ShownSize returns the size in megabytes that a queue or topic shows under a profile of limits.
func ShownSize(l emulator.Profile, mb int64, partitioned bool) int64 {
	return limits{l.Limits()}.shownSize(mb, partitioned)
}

// shownSize returns the size that an entity shows. Sizes that only the relaxed profile accepts are not multiplied,
// because storedSize could not undo that.
func (l limits) shownSize(mb int64, partitioned bool) int64 {
	if mb <= 0 {
		mb = emulator.DefaultMegabytes
	}
	if partitioned && mb%standard.Step == 0 && mb <= standard.Most {
		mb *= l.Partitions
	}
	return mb
}
