package harness

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Resident returns the resident memory of the server, in bytes. Where the system has no /proc, it skips the test.
func (s *Server) Resident(t testing.TB) int64 {
	t.Helper()
	return s.memory(t, "VmRSS:")
}

// PeakResident returns the most resident memory that the server has had, in bytes. It skips the test where Resident does.
func (s *Server) PeakResident(t testing.TB) int64 {
	t.Helper()
	return s.memory(t, "VmHWM:")
}

// memory returns a line of /proc/PID/status.
func (s *Server) memory(t testing.TB, line string) int64 {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the memory of another process is read from /proc, which is Linux's")
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Pid()))
	if err != nil {
		t.Fatalf("read memory of minibus: %v", err)
	}
	_, rest, _ := strings.Cut(string(status), line)
	value, _, found := strings.Cut(rest, " kB")
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil || !found {
		t.Fatalf("read memory of minibus: %q", status)
	}
	return n << 10
}
