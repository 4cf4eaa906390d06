//go:build unix

package harness

import (
	"os"
	"syscall"
)

// askToEnd asks a process to end, as an orchestrator does.
func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
