package harness

import (
	"os/exec"
	"syscall"
)

// prepare makes a process end with the tests, also with those that are killed or run out of time: a server that stayed would
// keep its ports. The kernel looks at the thread that starts the process, and threads of tests stay.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
