package command

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// listening is the state of a listening socket in /proc/net/tcp.
const listening = "0A"

// listenerOf returns the process that listens on a port; 0 if it is unknown, as with processes of other users.
func listenerOf(port int) (pid int, name string) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if inode := socketOn(table, port); inode != "" {
			if pid, name = holder("socket:[" + inode + "]"); pid != 0 {
				return pid, name
			}
		}
	}
	return 0, ""
}

// socketOn returns the inode of the socket that listens on a port.
func socketOn(table string, port int) (inode string) {
	f, err := os.Open(table) //nolint:gosec // one of two
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != listening {
			continue
		}
		_, hex, _ := strings.Cut(fields[1], ":")
		if n, err := strconv.ParseInt(hex, 16, 32); err == nil && int(n) == port {
			return fields[9]
		}
	}
	return ""
}

// holder returns the process that has a socket open.
func holder(socket string) (pid int, name string) {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != socket {
			continue
		}
		process := filepath.Dir(filepath.Dir(link))
		if pid, err := strconv.Atoi(filepath.Base(process)); err == nil {
			comm, _ := os.ReadFile(filepath.Join(process, "comm")) //nolint:gosec // a process's name
			return pid, strings.TrimSpace(string(comm))
		}
	}
	return 0, ""
}
