package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
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

// portsFile is what these commands read of the file that a Minibus writes with --ports-file.
type portsFile struct {
	AMQP, HTTP int
	Namespaces map[string]int
}

func readPorts(file string) (p portsFile, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return p, fmt.Errorf("%w; a Minibus writes it when it is ready", err)
	}
	if err := json.Unmarshal(data, &p); err != nil || cmp.Or(p.AMQP, p.HTTP) == 0 {
		return p, fmt.Errorf("%s is not what a Minibus writes", file)
	}
	return p, nil
}

// local leads to the Minibus of this machine, by the variables with which it is started.
func (a *app) local() error {
	command, err := config.ParseArgs(nil, a.env.Environ)
	if err != nil {
		return usage("%v", err)
	}
	s := command.Settings
	ports := portsFile{AMQP: int(max(s.AMQPPort, 0)), HTTP: int(max(s.HTTPPort, 0))}
	if file := cmp.Or(a.portsFile, s.PortsFile); file != "" {
		written, err := readPorts(file)
		switch {
		case err == nil:
			ports.AMQP, ports.HTTP = written.AMQP, written.HTTP // what is bound, whatever the variables ask for
		case s.AMQPPort == 0 || s.HTTPPort == 0 || a.variable("MINIBUS_AMQP_PORT")+a.variable("MINIBUS_HTTP_PORT") == "":
			name := "MINIBUS_PORTS_FILE"
			if a.portsFile != "" {
				name = "--ports-file"
			}
			return usage("%s: %v", name, err)
		}
	}
	if ports.AMQP == 0 && ports.HTTP == 0 {
		return usage("MINIBUS_AMQP_PORT and MINIBUS_HTTP_PORT name no port of the local Minibus: name its ports file in MINIBUS_PORTS_FILE, or give --connection")
	}
	a.source, a.isLocal = "the settings of the local Minibus", true
	a.target, a.adminPort = ports.connection(clientHost(s.Host))
	a.target.Key = cmp.Or(s.RootKey, a.target.Key)
	return nil
}

// connection returns the connection string with these ports, and the port for entities.
func (p portsFile) connection(host string) (c sas.Connection, admin string) {
	port := cmp.Or(p.AMQP, p.HTTP) // every port speaks everything
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != usualAMQP {
		host += ":" + strconv.Itoa(port)
	}
	return sas.Local(host), strconv.Itoa(cmp.Or(p.HTTP, port))
}

// clientHost is the host by which clients reach a Minibus that listens at an address.
func clientHost(listens string) string {
	if ip := net.ParseIP(listens); listens == "" || listens == "all" || ip != nil && ip.IsUnspecified() {
		return "localhost"
	}
	return listens
}
