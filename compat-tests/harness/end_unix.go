//go:build unix

package harness

import (
	"os"
	"os/exec"
	"syscall"
)

// canBeAsked prepares a command for askToEnd.
func canBeAsked(*exec.Cmd) {}

// askToEnd asks a process to end, as an orchestrator does.
func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
