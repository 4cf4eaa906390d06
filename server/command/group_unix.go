//go:build !windows

package command

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// hangUp is the signal of a terminal that was closed.
const hangUp = syscall.SIGHUP

// graceTime is how long processes that the command has left behind may take to end.
const graceTime = 2 * time.Second

// group is the command with the processes that it starts. Without a terminal they are a process group of their own.
// With one they stay in that of Minibus, so that Ctrl-C and Ctrl-Z reach all of them as usual.
type group struct {
	process *os.Process
	own     bool
}

func startGroup(cmd *exec.Cmd) (*group, error) {
	g := &group{own: !isTerminal(cmd.Stdin)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: g.own}
	err := cmd.Start()
	g.process = cmd.Process
	return g, err
}

// signal passes a signal on, unless the terminal has sent it to the command too.
func (g *group) signal(s os.Signal) {
	number, ok := s.(syscall.Signal)
	switch {
	case !ok:
	case g.own:
		_ = syscall.Kill(-g.process.Pid, number) // an error: it has ended
	case number == syscall.SIGTERM:
		_ = g.process.Signal(s)
	}
}

// end ends what the command has left behind: its server is about to go.
func (g *group) end() {
	if !g.own || syscall.Kill(-g.process.Pid, syscall.SIGTERM) != nil {
		return // nothing is left
	}
	for until := time.Now().Add(graceTime); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(-g.process.Pid, 0) != nil {
			return
		}
	}
	_ = syscall.Kill(-g.process.Pid, syscall.SIGKILL)
}

// exitCode is the exit code as a shell gives it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal())
	}
	return state.ExitCode()
}
