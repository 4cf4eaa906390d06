package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// clockTick is the unit of /proc/PID/stat: USER_HZ, 100 a second on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// Process holds figures of a process from /proc, summed with those of all that it started.
type Process struct {
	CPU      time.Duration // user and system time since its start, with that of children that ended
	PeakKB   int64         // VmHWM: peak resident memory since its start
	MemoryKB int64         // VmRSS: resident memory now
	Waits    int64         // voluntary context switches of the threads that it has now: how often one waited
	Written  int64         // bytes passed to write calls, to files and sockets
}

// ReadProcess reads the figures of a process and of those that it started. For pid 0, and on a system without /proc, it
// returns zeros.
func ReadProcess(pid int) (Process, error) {
	if pid == 0 || runtime.GOOS != "linux" {
		return Process{}, nil
	}
	p, err := readOne(pid)
	if err != nil {
		return p, err
	}
	for _, child := range children(pid) {
		more, err := ReadProcess(child)
		if err != nil {
			continue // it ended meanwhile
		}
		p.CPU += more.CPU
		p.PeakKB += more.PeakKB
		p.MemoryKB += more.MemoryKB
		p.Waits += more.Waits
		p.Written += more.Written
	}
	return p, nil
}

// children returns the processes that the threads of one started and that are there.
func children(pid int) []int {
	var all []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	for _, list := range lists {
		text, _ := os.ReadFile(list) // none if the thread ended
		for _, child := range bytes.Fields(text) {
			if n, err := strconv.Atoi(string(child)); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

func readOne(pid int) (Process, error) {
	var p Process
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, fmt.Errorf("read processor time: %w", err)
	}
	// The second field is the program's name in parentheses and may hold spaces: count from after it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, end = 11, 15 // fields 14 to 17 of the whole line: user and system, of itself and of children that ended
	if len(fields) < end {
		return p, fmt.Errorf("read processor time: /proc/%d/stat has %d fields", pid, len(fields))
	}
	for _, part := range fields[user:end] {
		ticks, err := strconv.ParseInt(string(part), 10, 64)
		if err != nil {
			return p, fmt.Errorf("read processor time: %w", err)
		}
		p.CPU += time.Duration(ticks) * clockTick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return p, fmt.Errorf("read memory: %w", err)
	}
	p.PeakKB, p.MemoryKB = field(status, "VmHWM:"), field(status, "VmRSS:")
	if usage, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid)); err == nil { // only for processes of the same user
		p.Written = field(usage, "wchar:")
	}
	p.Waits, err = waits(pid)
	return p, err
}

// waits sums up how often the threads of a process waited. Threads that ended are not counted; those of a Go program stay.
func waits(pid int) (int64, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return 0, fmt.Errorf("list threads: %w", err)
	}
	var sum int64
	for _, thread := range threads {
		if status, err := os.ReadFile(thread); err == nil {
			sum += field(status, "\nvoluntary_ctxt_switches:")
		}
	}
	return sum, nil
}

// field finds a line such as "VmHWM:   1234 kB"; 0 if there is none.
func field(status []byte, key string) int64 {
	_, rest, found := bytes.Cut(status, []byte(key))
	if fields := bytes.Fields(rest); found && len(fields) > 0 {
		if n, err := strconv.ParseInt(string(fields[0]), 10, 64); err == nil {
			return n
		}
	}
	return 0
}
