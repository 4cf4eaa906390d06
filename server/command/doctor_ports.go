package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"minibus/config"
)

// ports looks at each port of the settings: it must be free, or that of the running Minibus.
func (d *doctor) ports(ctx context.Context) {
	s := d.settings
	seen := map[int]bool{}
	for _, p := range []struct {
		flag string
		port config.Port
	}{{"amqp-port", s.AMQPPort}, {"tls-port", s.TLSPort}, {"http-port", s.HTTPPort}} {
		if port := int(p.port); port > 0 && !seen[port] {
			seen[port] = true
			d.port(ctx, port, p.flag)
		}
	}
	for _, p := range s.ExtraPorts.Ports() {
		if port := int(p); port > 0 && !seen[port] {
			seen[port] = true
			d.port(ctx, port, "extra-ports")
		}
	}
}

// port looks at one port.
func (d *doctor) port(ctx context.Context, port int, flag string) {
	about := "port " + strconv.Itoa(port)
	version, _, _, err := d.ask(ctx, port)
	if err == nil && version != "" {
		d.good(about, "Minibus %s has it (--%s)", version, flag)
		return
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(d.host(), strconv.Itoa(port)))
	switch {
	case err == nil:
		_ = l.Close()
		if d.running {
			d.wrong(about, "give doctor the flags that the server has",
				"the running Minibus does not serve it (--%s)", flag)
			return
		}
		d.good(about, "free (--%s)", flag)
	case errors.Is(err, syscall.EADDRINUSE):
		d.wrong(about, fmt.Sprintf("stop it, or give Minibus another port with --%s", flag), "taken by %s", owner(port))
	case errors.Is(err, syscall.EACCES):
		d.wrong(about, fmt.Sprintf("give a port above 1023 with --%s, or allow this user such ports", flag),
			"this user may not listen on it")
	default:
		d.wrong(about, "correct --host", "%v", err)
	}
}

// owner names the program that listens on a port, if the system tells.
func owner(port int) string {
	if pid, name := listenerOf(port); pid != 0 {
		return fmt.Sprintf("%s (process %d)", name, pid)
	}
	return "another program"
}
