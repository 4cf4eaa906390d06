package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of /proc/PID/stat: USER_HZ, 100 a second on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// process is what /proc says about the broker. The zero value means that no process was given.
type process struct {
	cpu      time.Duration // user and system time since its start
	peakKB   int64         // VmHWM: peak resident memory since its start
	memoryKB int64         // VmRSS: resident memory now
}

func readProcess(pid int) (process, error) {
	if pid == 0 {
		return process{}, nil
	}
	var p process
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, fmt.Errorf("read processor time: %w", err)
	}
	// The second field is the program's name in parentheses and may hold spaces: count from behind it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12 // fields 14 and 15 of the whole line
	if len(fields) <= system {
		return p, fmt.Errorf("read processor time: /proc/%d/stat has %d fields", pid, len(fields))
	}
	for _, field := range [][]byte{fields[user], fields[system]} {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return p, fmt.Errorf("read processor time: %w", err)
		}
		p.cpu += time.Duration(ticks) * clockTick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return p, fmt.Errorf("read memory: %w", err)
	}
	p.peakKB, p.memoryKB = kilobytes(status, "VmHWM:"), kilobytes(status, "VmRSS:")
	return p, nil
}

// kilobytes finds a line such as "VmHWM:   1234 kB"; 0 when there is none.
func kilobytes(status []byte, key string) int64 {
	_, rest, found := bytes.Cut(status, []byte(key))
	if fields := bytes.Fields(rest); found && len(fields) > 0 {
		if n, err := strconv.ParseInt(string(fields[0]), 10, 64); err == nil {
			return n
		}
	}
	return 0
}
