package atom

import (
	"fmt"
	"strings"

	"minibus/emulator"
)

// spanRange is what a duration may be, ends included.
type spanRange struct {
	least, most TimeSpan
	orNever     bool // the greatest time span is allowed although it is above most
}

func (r spanRange) contains(t TimeSpan) bool {
	return t >= r.least && t <= r.most || r.orNever && t == MaxTimeSpan
}

// intRange is what a number may be, ends included, in steps.
type intRange struct{ least, most, step int64 }

func (r intRange) contains(v int64) bool { return v >= r.least && v <= r.most && v%r.step == 0 }

// list names the values of a range of few, as the service does: 1024;2048;3072.
func (r intRange) list() string {
	var all []string
	for v := r.least; v <= r.most; v += r.step {
		all = append(all, fmt.Sprint(v))
	}
	return strings.Join(all, ";")
}

// limits are the numbers of a profile (DEC-1); package config has the same for files.
type limits struct {
	lock, ttl, window, autoDelete spanRange
	sizeMB, messageKB             intRange
	deliveries                    int64 // most
	metadata, expression          int   // characters; 0: any number
	partitioning, express         bool
	partitionedTimes              int64 // the size of a partitioned entity is shown so many times larger
}

func limitsOf(l emulator.Limits) limits {
	t := limits{
		lock:       spanRange{least: SpanOf(emulator.Resolution), most: 5 * Minute},
		ttl:        spanRange{least: Second, most: MaxTimeSpan},
		window:     spanRange{least: 20 * Second, most: 7 * Day},
		autoDelete: spanRange{least: 5 * Minute, most: MaxTimeSpan},
		sizeMB:     intRange{1024, 5120, 1024},
		messageKB:  intRange{256, 256, 1},
		deliveries: 1<<31 - 1,
		metadata:   1024, expression: 1024,
		partitioning: true, express: true, partitionedTimes: 16,
	}
	switch l {
	case emulator.LimitsStandard:
	case emulator.LimitsPremium:
		t.sizeMB = intRange{1024, 81_920, 1024}
		t.messageKB = intRange{1024, 102_400, 1}
		t.partitioning, t.express, t.partitionedTimes = false, false, 1
	case emulator.LimitsEmulator:
		t.lock.least = 5 * Second
		t.ttl = spanRange{5 * Minute, Hour, true}
		t.window = spanRange{least: 5 * Second, most: 5 * Minute}
		t.autoDelete = spanRange{5 * Minute, Hour, true}
		t.deliveries = 10
		t.sizeMB = intRange{100, 1024, 1}
		t.partitioning, t.partitionedTimes = false, 1
	default:
		t.ttl.least = SpanOf(emulator.Resolution)
		t.window.least = 5 * Second
		t.sizeMB = intRange{1, 1 << 31, 1}
		t.messageKB = intRange{1, 102_400, 1}
		t.metadata, t.expression = 0, 0
	}
	return t
}

// takesSize reports whether a size in megabytes may be asked for; of a partitioned entity also the form in which it is shown.
func (l limits) takesSize(mb int64, partitioned bool) bool {
	return l.sizeMB.contains(mb) || partitioned && mb%l.partitionedTimes == 0 && l.sizeMB.contains(mb/l.partitionedTimes)
}

// The sizes of an entity in Azure's Standard tier; times 16 they are what a partitioned entity shows.
const (
	standardStep = 1024
	standardMost = 5120
)

// storedSize undoes the factor that the service applies to partitioned entities: clients send back what they were shown.
func (l limits) storedSize(mb int64, partitioned bool) int64 {
	n := l.partitionedTimes
	if partitioned && n > 1 && mb%(n*standardStep) == 0 && mb <= n*standardMost {
		return mb / n
	}
	return mb
}

// shownSize is what an entity shows as its size. Sizes that only the relaxed profile takes are shown as they are: multiplied,
// they could not be told from what a client asks for.
func (l limits) shownSize(mb int64, partitioned bool) int64 {
	if mb <= 0 {
		mb = 1024
	}
	if partitioned && mb%standardStep == 0 && mb <= standardMost {
		mb *= l.partitionedTimes
	}
	return mb
}
