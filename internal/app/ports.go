package app

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"minibus/config"
)

// ports are the bound ports, in the order amqp, tls, http. A number is 0 where the port is off.
type ports struct {
	amqp, tls, http int
	bound           []binding
}

// binding is one port number on all the addresses that it is bound on.
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

// bindPorts binds what the settings ask for, or nothing. Two settings may name the same port: every port speaks everything.
func bindPorts(s config.Settings) (p ports, err error) {
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	for _, want := range []struct {
		flag string
		port config.Port
		got  *int
	}{{"amqp-port", s.AMQPPort, &p.amqp}, {"tls-port", s.TLSPort, &p.tls}, {"http-port", s.HTTPPort, &p.http}} {
		if want.port == config.PortOff {
			continue
		}
		if *want.got = p.shared(int(want.port)); *want.got != 0 {
			continue
		}
		b, err := bind(s.Host, int(want.port))
		if err != nil {
			return p, bindError(err, s.Host, int(want.port), want.flag)
		}
		*want.got = b.port
		p.bound = append(p.bound, b)
	}
	return p, nil
}

// shared returns the port if it is bound already, else 0.
func (p ports) shared(port int) int {
	for _, b := range p.bound {
		if b.port == port {
			return port
		}
	}
	return 0
}

// bind binds one port. "localhost" is both loopback addresses, because clients try either first; with port 0 both must get
// the same number, which takes a few attempts at worst.
func bind(host string, port int) (binding, error) {
	switch host {
	case "all", "*", "":
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

// bindError says which port it is and what to do.
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
