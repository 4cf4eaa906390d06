package browser

import "os/exec"

// Windows has no process groups of this kind. The browser's children end when its main process does.
func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
