package cli

import (
	"cmp"
	"strconv"
	"strings"

	"minibus/config"
	"minibus/internal/sas"
)

// An emulator's connection string without a port means these.
const (
	usualAMQP  = 5672
	usualAdmin = "5300"
)

// local leads to the Minibus of this machine, by the variables with which it is started.
func (a *app) local() error {
	s, err := config.Read(config.Flags(), a.env.Environ)
	if err != nil {
		return Usage("%v", err)
	}
	ports := config.Ports{AMQP: int(max(s.AMQPPort, 0)), HTTP: int(max(s.HTTPPort, 0))}
	if file := cmp.Or(a.portsFile, s.PortsFile); file != "" {
		written, err := config.ReadPorts(file)
		switch {
		case err == nil:
			ports.AMQP, ports.HTTP = written.AMQP, written.HTTP // what is bound, whatever the variables ask for
		case s.AMQPPort == 0 || s.HTTPPort == 0 || a.variable("MINIBUS_AMQP_PORT")+a.variable("MINIBUS_HTTP_PORT") == "":
			name := "MINIBUS_PORTS_FILE"
			if a.portsFile != "" {
				name = "--ports-file"
			}
			return Usage("%s: %v", name, err)
		}
	}
	if ports.AMQP == 0 && ports.HTTP == 0 {
		return Usage("MINIBUS_AMQP_PORT and MINIBUS_HTTP_PORT name no port of the local Minibus: name its ports file in MINIBUS_PORTS_FILE, or give --connection")
	}
	a.source, a.isLocal = "the settings of the local Minibus", true
	a.target, a.adminPort = connectionAt(config.ClientHost(s.Host), ports)
	a.target.Key = cmp.Or(s.RootKey, a.target.Key)
	return nil
}

// connectionAt returns the connection string of a Minibus with these ports, and the port for entities.
func connectionAt(host string, p config.Ports) (c sas.Connection, admin string) {
	port := cmp.Or(p.AMQP, p.HTTP) // every port speaks everything
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != usualAMQP {
		host += ":" + strconv.Itoa(port)
	}
	return sas.Local(host), strconv.Itoa(cmp.Or(p.HTTP, port))
}
