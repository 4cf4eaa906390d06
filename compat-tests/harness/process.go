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

// Process holds figures of a process from /proc.
type Process struct {
	CPU      time.Duration // user and system time since its start
	PeakKB   int64         // VmHWM: peak resident memory since its start
	MemoryKB int64         // VmRSS: resident memory now
	Waits    int64         // voluntary context switches of the threads that it has now: how often one waited
	Written  int64         // bytes passed to write calls, to files and sockets
}

// ReadProcess reads the figures of a process. For pid 0, and on a system without /proc, it returns zeros.
func ReadProcess(pid int) (Process, error) {
	var p Process
	if pid == 0 || runtime.GOOS != "linux" {
		return p, nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, fmt.Errorf("read processor time: %w", err)
	}
	// The second field is the program's name in parentheses and may hold spaces: count from after it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12 // fields 14 and 15 of the whole line
	if len(fields) <= system {
		return p, fmt.Errorf("read processor time: /proc/%d/stat has %d fields", pid, len(fields))
	}
	for _, part := range [][]byte{fields[user], fields[system]} {
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
