package emulator

// Spans of a calendar, in milliseconds.
const (
	minute = 60_000
	hour   = 60 * minute
)

// calendar counts messages by the minute and by the hour in which they are due. To ask it costs the same for a thousand messages and for a million.
type calendar struct {
	minutes, hours map[int64]int // those that are not zero
}

// add counts n messages more that are due at an instant.
func (c *calendar) add(at int64, n int) {
	if c.minutes == nil {
		c.minutes, c.hours = make(map[int64]int), make(map[int64]int)
	}
	for _, x := range []struct {
		counts map[int64]int
		key    int64
	}{{c.minutes, at / minute}, {c.hours, at / hour}} {
		if x.counts[x.key] += n; x.counts[x.key] == 0 {
			delete(x.counts, x.key)
		}
	}
	if len(c.minutes) == 0 {
		c.minutes, c.hours = nil, nil // the maps would keep the room that they needed once
	}
}

// between returns how many are due from an instant on and before another one, both at the beginning of a minute.
func (c *calendar) between(from, to int64) (n int) {
	for from < to {
		if from%hour == 0 && from+hour <= to {
			n += c.hours[from/hour]
			from += hour
		} else {
			n += c.minutes[from/minute]
			from += minute
		}
	}
	return n
}
