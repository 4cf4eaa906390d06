package emulator

import (
	"runtime"
	"slices"
	"testing"
)

// TestDeadlines_AgainstAMap does the same random operations on deadlines and on a map.
func TestDeadlines_AgainstAMap(t *testing.T) {
	r := NewRandom(t)
	for _, span := range []int64{100, 5_000, 10_000_000} { // one bucket, a few, many
		model := make(map[*entry]int64)
		d := newDeadlines(func(e *entry, at int64) bool { at2, ok := model[e]; return ok && at2 == at }, seqOf)
		now, seq := int64(0), int64(0)
		for range 20_000 {
			switch k := r.IntN(10); {
			case k < 5:
				seq++
				e := &entry{seq: seq}
				model[e] = now + r.Int64N(span)
				d.add(e, model[e])
			case k < 8: // settled before it is due, or put off
				for e, at := range model {
					delete(model, e)
					d.remove(at)
					if k == 7 {
						model[e] = at + r.Int64N(span)
						d.add(e, model[e])
					}
					break
				}
			default:
				now += r.Int64N(span/20 + 1)
				popAll(t, &d, model, now)
			}
			checkNext(t, &d, model)
			if len(d.keys) > 4*len(d.buckets)+tidyAt || len(d.buckets) > len(model)+1 {
				t.Fatalf("%d keys and %d buckets for %d deadlines", len(d.keys), len(d.buckets), len(model))
			}
		}
		popAll(t, &d, model, 1<<60)
		if len(model) > 0 {
			t.Fatalf("%d entries never came due", len(model))
		}
		if at, ok := d.next(); ok {
			t.Fatalf("next is %d with nothing left", at)
		}
	}
}

// popAll takes what is due by now from both and compares, order included.
func popAll(t *testing.T, d *deadlines[*entry], model map[*entry]int64, now int64) {
	t.Helper()
	var want []deadline[*entry]
	for e, at := range model {
		if at <= now {
			want = append(want, deadline[*entry]{at: at, e: e})
		}
	}
	slices.SortFunc(want, d.compare)
	for i, w := range want {
		e, ok := d.popDue(now)
		if !ok || e != w.e {
			t.Fatalf("entry %d of %d that are due at %d: %v %v, want number %d at %d", i, len(want), now, e, ok, w.e.seq, w.at)
		}
		delete(model, e)
	}
	if e, ok := d.popDue(now); ok {
		t.Fatalf("number %d came due too early", e.seq)
	}
}

// checkNext checks that nothing is due before the instant that next tells.
func checkNext(t *testing.T, d *deadlines[*entry], model map[*entry]int64) {
	t.Helper()
	at, ok := d.next()
	if !ok && len(model) > 0 {
		t.Fatalf("next knows of nothing; %d entries wait", len(model))
	}
	for _, want := range model {
		if want < at {
			t.Fatalf("next is %d, but something is due at %d", at, want)
		}
	}
}

// TestDeadlines_RemovedOnesAreForgotten: locks come and go by the million, all with deadlines in the future.
func TestDeadlines_RemovedOnesAreForgotten(t *testing.T) {
	live := map[*entry]bool{}
	d := newDeadlines(func(e *entry, _ int64) bool { return live[e] }, seqOf)
	for i := range int64(100_000) {
		e := &entry{seq: i}
		live[e] = true
		d.add(e, 60_000+i/100)
		delete(live, e)
		d.remove(60_000 + i/100)
	}
	kept := 0
	for _, b := range d.buckets {
		kept += cap(b.items)
	}
	if kept > 1000 {
		t.Errorf("room for %d stale deadlines is kept", kept)
	}
}

// TestDeadlines_EmptyBucketsLeave: a queue with a time to live of 14 days works for a day, and keeps nothing of what it has done.
func TestDeadlines_EmptyBucketsLeave(t *testing.T) {
	const day, ttl = 24 * 60 * 60 * 1000, 14 * 24 * 60 * 60 * 1000
	for name, stay := range map[string]int64{"all messages are received": 0, "one each hour stays": 60 * 60 * 1000} {
		live := map[int64]bool{}
		d := newDeadlines(func(seq, _ int64) bool { return live[seq] }, func(seq int64) int64 { return seq })
		before := heapInUse()
		waiting := 0
		for now := int64(0); now < day; now += 1 << bucketShift {
			live[now] = true
			d.add(now, now+ttl)
			if stay > 0 && now%stay < 1<<bucketShift {
				waiting++
				continue
			}
			delete(live, now)
			d.remove(now + ttl)
		}
		if n := len(d.buckets); n > waiting+1 {
			t.Errorf("%s: %d buckets, %d messages", name, n, waiting)
		}
		if n := len(d.keys); n > 4*waiting+tidyAt {
			t.Errorf("%s: %d keys, %d messages", name, n, waiting)
		}
		if grown := heapInUse() - before; grown > 1<<20 {
			t.Errorf("%s: %d bytes are kept", name, grown)
		}
		popped := 0
		for _, ok := d.popDue(day + ttl); ok; _, ok = d.popDue(day + ttl) {
			popped++
		}
		if popped != waiting || len(d.buckets) > 0 || len(d.keys) > 0 {
			t.Errorf("%s: %d of %d came due; %d buckets and %d keys are left", name, popped, waiting, len(d.buckets), len(d.keys))
		}
	}
}

// TestDeadlines_APeakIsGivenBack: neither maps nor slices of Go get smaller by themselves.
func TestDeadlines_APeakIsGivenBack(t *testing.T) {
	for name, end := range map[string]func(d *deadlines[int64], live map[int64]bool, seq, at int64){
		"removed": func(d *deadlines[int64], live map[int64]bool, seq, at int64) {
			delete(live, seq)
			d.remove(at)
		},
		"due": func(d *deadlines[int64], _ map[int64]bool, _, at int64) { d.popDue(at) },
	} {
		live := make(map[int64]bool, 100_000)
		d := newDeadlines(func(seq, _ int64) bool { return live[seq] }, func(seq int64) int64 { return seq })
		before := heapInUse()
		for i := range int64(100_000) {
			live[i] = true
			d.add(i, i<<bucketShift)
		}
		for i := range int64(100_000) {
			end(&d, live, i, i<<bucketShift)
		}
		if grown := heapInUse() - before; grown > 1<<20 {
			t.Errorf("%s: %d bytes are kept", name, grown)
		}
		live[1] = true
		d.add(1, 1)
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestDeadlines_SameInstantByNumber(t *testing.T) {
	d := newDeadlines(func(*entry, int64) bool { return true }, seqOf)
	for _, seq := range []int64{3, 1, 2} {
		d.add(&entry{seq: seq}, 1000)
	}
	for want := int64(1); want <= 3; want++ {
		if e, ok := d.popDue(1000); !ok || e.seq != want {
			t.Errorf("got %v, want number %d", e, want)
		}
	}
}
