package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"minibus/compat-tests/harness"
)

const (
	restWait   = 20 * time.Second // the longest wait for memory to come to rest
	restLook   = 200 * time.Millisecond
	restSteady = 8 // looks without change before it counts as at rest

	// How much more a process may have at one checkpoint than at the one before, with nothing stored at either. A
	// larger heap is a leak; the resident memory also holds the peak of the load, which the runtime gives back slowly.
	heapGrowth     = 6 << 20
	residentGrowth = 48 << 20

	// history is the memory of a life for the record of events: so little that it is full long before the first
	// checkpoint. One that is still filling would look like a leak.
	history = "1MiB"

	// The most that it may have with nothing stored.
	heapBound     = 32 << 20
	residentBound = 224 << 20
)

// memory holds figures of a process's memory at rest.
type memory struct {
	life           int
	resident, heap int64
}

// restingMemory waits until garbage is collected and the resident memory no longer falls.
func (s *soak) restingMemory() (memory, error) {
	m := memory{life: s.life}
	collections := -1
	steady := 0
	for began := time.Now(); time.Since(began) < restWait; {
		now, err := s.look()
		if err != nil {
			return m, err
		}
		if collections < 0 {
			collections = now.collections
		}
		if now.collections < collections+2 {
			continue // a look makes garbage, so the heap need not stay the same
		}
		if m.resident == 0 || now.heap < m.heap {
			m.heap = now.heap
		}
		if steady++; m.resident == 0 || now.resident < m.resident-1<<19 {
			steady, m.resident = 0, now.resident
		}
		// Between two collections the heap grows to twice of what is in use. A third one has been looked at from both
		// sides, so the least that was seen is without garbage.
		switch {
		case steady <= restSteady:
			time.Sleep(restLook)
		case now.collections > collections+2:
			return m, nil
		}
	}
	return m, nil
}

// look holds one look at the process: the resident memory from /proc, the heap from its metrics.
type look struct {
	resident, heap int64
	collections    int
}

func (s *soak) look() (l look, err error) {
	p, err := harness.ReadProcess(s.server.Pid())
	if err != nil {
		return l, err
	}
	l.resident = p.MemoryKB << 10
	ctx, cancel := context.WithTimeout(context.Background(), operationLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.proxyAddr()+"/metrics", http.NoBody)
	if err != nil {
		return l, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return l, fmt.Errorf("read the metrics: %w", err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		value, _ := strconv.ParseFloat(text, 64) // comments have none
		switch name {
		case "go_memstats_heap_alloc_bytes":
			l.heap = int64(value)
		case "go_gc_duration_seconds_count":
			l.collections = int(value)
		}
	}
	return l, nil
}

// compareMemory compares the memory at rest, with nothing stored, with the checkpoint before and with a bound.
func (s *soak) compareMemory() error {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return nil // there is no /proc here
	}
	now, err := s.restingMemory()
	if err != nil {
		return fmt.Errorf("look at the broker's memory: %w", err)
	}
	before := s.rest
	s.rest = now
	s.report.rested(now)
	same := before.life == now.life
	switch {
	case same && now.heap > before.heap+heapGrowth, same && now.resident > before.resident+residentGrowth:
		s.find("memory at rest grew between two checkpoints with nothing stored: heap from %s to %s, resident from %s to %s",
			mib(before.heap), mib(now.heap), mib(before.resident), mib(now.resident))
	case now.heap > heapBound, now.resident > residentBound:
		s.find("memory at rest with nothing stored: heap %s, resident %s", mib(now.heap), mib(now.resident))
	}
	return nil
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
