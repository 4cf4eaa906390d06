package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"syscall"

	"minibus/config"
)

// ports are the bound ports.
type ports struct {
	config.Ports
	bound []binding // in the order AMQP, TLS, HTTP, Extra
}

// binding is one port number with its listeners, one for each address.
type binding struct {
	port      int
	listeners []net.Listener
}

func (p ports) listeners() []net.Listener {
	var all []net.Listener
	for _, b := range p.bound {
		all = append(all, b.listeners...)
	}
	return all
}

func (p ports) close() {
	for _, l := range p.listeners() {
		_ = l.Close()
	}
}

// bindPorts binds all ports of the settings, or none if one fails. Two settings may name the same port: every port
// speaks everything.
func bindPorts(s config.Settings, log *slog.Logger) (p ports, err error) {
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	for _, want := range []struct {
		flag string
		port config.Port
		got  *int
	}{{"amqp-port", s.AMQPPort, &p.AMQP}, {"tls-port", s.TLSPort, &p.TLS}, {"http-port", s.HTTPPort, &p.HTTP}} {
		if want.port == config.PortOff {
			continue
		}
		if *want.got, err = p.add(s.Host, int(want.port)); err != nil {
			return p, bindError(err, s.Host, int(want.port), want.flag)
		}
	}
	return p, p.bindExtra(s, log)
}

// bindExtra binds the further ports. The image's own are optional, since the user did not ask for them: if one can't
// be bound, bindExtra logs that.
func (p *ports) bindExtra(s config.Settings, log *slog.Logger) error {
	list, offer := s.ExtraPorts, false
	if list == "" {
		list, offer = s.ExtraPortsDefault, true
	}
	for _, want := range list.Ports() {
		port, err := p.add(s.Host, int(want))
		switch {
		case err == nil:
			p.Extra = append(p.Extra, port)
		case offer:
			log.Info("a port is not served", "port", int(want), "reason", err)
		default:
			return bindError(err, s.Host, int(want), "extra-ports")
		}
	}
	return nil
}

// add binds a port, unless it is bound already, and returns its number.
func (p *ports) add(host string, port int) (int, error) {
	if p.shared(port) {
		return port, nil
	}
	b, err := bind(host, port)
	if err != nil {
		return 0, err // bindError explains it
	}
	p.bound = append(p.bound, b)
	return b.port, nil
}

// shared reports whether a port is bound already. Port 0 asks for a new one each time.
func (p *ports) shared(port int) bool {
	return port != 0 && slices.ContainsFunc(p.bound, func(b binding) bool { return b.port == port })
}

// bind binds one port. "localhost" binds both loopback addresses, because clients try either first; with port 0 both
// must get the same number, which may take a few attempts.
func bind(host string, port int) (binding, error) {
	switch host {
	case "all", "":
		return bindOne("tcp", "", port)
	case "localhost":
	default:
		return bindOne("tcp", host, port)
	}
	var last error
	for range 20 {
		b, err := bindOne("tcp4", "127.0.0.1", port)
		if err != nil {
			return binding{}, err
		}
		six, err := bindOne("tcp6", "::1", b.port)
		if err == nil {
			b.listeners = append(b.listeners, six.listeners...)
			return b, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return b, nil // a machine without IPv6
		}
		_ = b.listeners[0].Close()
		if last = err; port != 0 {
			break
		}
	}
	return binding{}, last
}

func bindOne(network, host string, port int) (binding, error) {
	l, err := net.Listen(network, net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return binding{}, err // bindError explains it
	}
	return binding{port: l.Addr().(*net.TCPAddr).Port, listeners: []net.Listener{l}}, nil
}

// bindError says which port could not be bound and what to do.
func bindError(err error, host string, port int, flag string) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d is in use by another program: stop that one (another Minibus? RabbitMQ?), "+
			"or choose another port with --%s (0 takes any free one)", port, flag)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("port %d may not be bound by this user: choose one above 1023 with --%s", port, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this machine: correct --host (localhost, all, or an address)", host)
	}
	return fmt.Errorf("bind port %d (--%s) on %s: %w", port, flag, host, err)
}
