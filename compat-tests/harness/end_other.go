//go:build unix && !linux

package harness

import "os/exec"

// prepare has nothing to do for askToEnd.
func prepare(*exec.Cmd) {}
