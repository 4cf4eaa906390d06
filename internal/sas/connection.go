package sas

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// The credentials of the development emulator, as in all its samples.
const (
	DefaultKeyName = "RootManageSharedAccessKey"
	DefaultKey     = "SAS_KEY_VALUE"
)

// Connection is a parsed connection string.
type Connection struct {
	Endpoint   string // sb://host[:port], without a trailing slash
	KeyName    string
	Key        string
	Signature  string // a ready-made token instead of a key
	EntityPath string // queue, topic or topic/Subscriptions/name; usually empty
	Emulator   bool   // UseDevelopmentEmulator: clients use no TLS
}

// Local returns the connection string of a Minibus at host, which may have a port.
func Local(host string) Connection {
	return Connection{Endpoint: "sb://" + host, KeyName: DefaultKeyName, Key: DefaultKey, Emulator: true}
}

// String formats the connection string in the order of Microsoft's documentation, with a semicolon at the end.
func (c Connection) String() string {
	var b strings.Builder
	put := func(name, value string) {
		if value != "" {
			b.WriteString(name + "=" + value + ";")
		}
	}
	put("Endpoint", c.Endpoint)
	put("SharedAccessKeyName", c.KeyName)
	put("SharedAccessKey", c.Key)
	put("SharedAccessSignature", c.Signature)
	if c.Emulator {
		put("UseDevelopmentEmulator", "true")
	}
	put("EntityPath", c.EntityPath)
	return b.String()
}

// Host returns the endpoint's host, with the port if it has one.
func (c Connection) Host() string {
	_, host, _ := strings.Cut(c.Endpoint, "://")
	return host
}

// ParseConnection parses a connection string. Names are compared without case, values may contain "=", and empty parts
// (a doubled semicolon) mean nothing. Errors never contain the key.
func ParseConnection(s string) (Connection, error) {
	var c Connection
	for part := range strings.SplitSeq(s, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return Connection{}, errors.New("parse the connection string: a part has no '='")
		}
		c.set(strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value))
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" {
		return Connection{}, errors.New("parse the connection string: Endpoint is missing or no address; expected " +
			"sb://host[:port]")
	}
	if c.Key == "" && c.Signature == "" || c.Key != "" && c.KeyName == "" {
		return Connection{}, errors.New("parse the connection string: it needs SharedAccessKeyName and " +
			"SharedAccessKey, or SharedAccessSignature")
	}
	c.Endpoint = fmt.Sprintf("%s://%s", u.Scheme, u.Host)
	return c, nil
}

// set stores one part; it ignores unknown names (TransportType and the like), which are for clients.
func (c *Connection) set(name, value string) {
	switch name {
	case "endpoint":
		c.Endpoint = value
	case "sharedaccesskeyname":
		c.KeyName = value
	case "sharedaccesskey":
		c.Key = value
	case "sharedaccesssignature":
		c.Signature = value
	case "entitypath":
		c.EntityPath = value
	case "usedevelopmentemulator":
		c.Emulator = strings.EqualFold(value, "true")
	}
}
