package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
)

// Ports has the numbers of the ports that a server has bound; 0 and nil for those that are off. It is the content of
// the file of --ports-file.
type Ports struct {
	AMQP  int   `json:"amqp,omitempty"`
	TLS   int   `json:"tls,omitempty"`
	HTTP  int   `json:"http,omitempty"`
	Extra []int `json:"extra,omitempty"` // in the order of --extra-ports

	Namespaces map[string]int `json:"namespaces,omitempty"` // ports of their own, by name
}

// ReadPorts reads the file that a server writes with --ports-file.
func ReadPorts(file string) (p Ports, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return p, fmt.Errorf("%w; a Minibus writes it when it is ready", err)
	}
	if err := json.Unmarshal(data, &p); err != nil || cmp.Or(p.AMQP, p.TLS, p.HTTP) == 0 && len(p.Extra) == 0 {
		return p, fmt.Errorf("%s is not what a Minibus writes", file)
	}
	return p, nil
}

// ClientHost returns the host by which a client on this machine reaches a server with the setting Host: localhost, or
// an address.
func ClientHost(host string) string {
	if ip := net.ParseIP(host); host == "" || host == "all" || ip != nil && ip.IsUnspecified() {
		return "localhost"
	}
	return host
}

// ClientAddress is ClientHost with an address for localhost.
func ClientAddress(host string) string {
	if host = ClientHost(host); host == "localhost" {
		return "127.0.0.1"
	}
	return host
}
