package command

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// hangUp stands for a signal that Windows does not have.
const hangUp = syscall.SIGTERM

// group is the command with the processes that it starts: a job object, which ends them with Minibus. Windows sends
// Ctrl-C to all processes of a console, so there is nothing to pass on.
type group struct {
	process *os.Process
	job     windows.Handle
}

func startGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job object: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil { // else the command has ended already
		_ = windows.AssignProcessToJobObject(job, process)
		_ = windows.CloseHandle(process)
	}
	return &group{cmd.Process, job}, nil
}

// signal ends the command where nobody else has told it to end.
func (g *group) signal(s os.Signal) {
	if s == syscall.SIGTERM {
		_ = g.process.Kill()
	}
}

// end ends what the command has left behind: its server is about to go.
func (g *group) end() { _ = windows.CloseHandle(g.job) }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
