package harness

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// prepare gives the process a group of its own. Otherwise what askToEnd sends would reach the tests too.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// askToEnd sends Ctrl-Break, which a Go program receives as an interrupt. Windows has no SIGTERM.
func askToEnd(p *os.Process) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid)) //nolint:gosec // a process id is not negative
}
