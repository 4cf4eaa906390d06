package amqpserver

import (
	"slices"
	"testing"
)

func TestExpired_JoinsWhatFollowsEachOther(t *testing.T) {
	for _, base := range []serial{0, 1<<31 - 3} {
		var l expiredIDs
		for _, id := range []serial{5, 0, 1, 7, 6, 3, 2} {
			l.add(base + id)
		}
		want := expiredIDs{{base, base + 3}, {base + 5, base + 7}}
		if !slices.Equal(l, want) {
			t.Errorf("ranges %v, want %v", l, want)
		}
		var cut []idRange
		l.cut(base+1, base+5, func(r idRange) { cut = append(cut, r) })
		if want := []idRange{{base + 1, base + 3}, {base + 5, base + 5}}; !slices.Equal(cut, want) {
			t.Errorf("taken out: %v, want %v", cut, want)
		}
		if want := (expiredIDs{{base, base}, {base + 6, base + 7}}); !slices.Equal(l, want) {
			t.Errorf("left: %v, want %v", l, want)
		}
	}
}

func TestExpired_RangesDoNotEndInZero(t *testing.T) { // amqp-data-plane 3.7
	var l expiredIDs
	for _, id := range []serial{1<<32 - 2, 1, 0, 1<<32 - 1} {
		l.add(id)
	}
	if want := (expiredIDs{{1<<32 - 2, 1<<32 - 1}, {0, 1}}); !slices.Equal(l, want) {
		t.Errorf("ranges %v, want %v", l, want)
	}
}

func TestExpired_IsBounded(t *testing.T) {
	var l expiredIDs
	for i := range serial(5 * maxExpired) {
		l.add(3 * i)
	}
	if len(l) != maxExpired {
		t.Errorf("%d ranges, want %d", len(l), maxExpired)
	}
	if last := l[len(l)-1]; last.last != 3*(5*maxExpired-1) {
		t.Errorf("the last range is %v", last)
	}
	l = nil
	for i := range serial(1_000_000) {
		l.add(i)
	}
	if len(l) != 1 || cap(l) > 8 {
		t.Errorf("%d ranges for ids that follow each other", len(l))
	}
	l.add(1<<30 + 1_000_000)
	if len(l) != 1 || l[0].first != 1<<30+1_000_000 {
		t.Errorf("ranges %v are too far apart", l)
	}
}
