package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Resident returns the resident memory of the server, in bytes.
func (s *Server) Resident(t testing.TB) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Pid()))
	if err != nil {
		t.Fatalf("read memory of minibus: %v", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	line, _, found := strings.Cut(rest, " kB")
	n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil || !found {
		t.Fatalf("read memory of minibus: %q", status)
	}
	return n << 10
}
