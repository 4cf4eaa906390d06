package harness

import (
	"errors"
	"net/url"
	"os"
	"strings"
)

// Elsewhere is a namespace, in the cloud or anywhere, that tests use instead of servers of their own. They make entities in it whose
// names begin with the prefix, and touch no others.
type Elsewhere struct {
	Connection string // a connection string with the right to manage
	Prefix     string
}

// The variables that name the namespace to the tests. compat-tests/verify sets them.
const (
	elsewhereConnection = "MINIBUS_VERIFY_CONNECTION"
	elsewherePrefix     = "MINIBUS_VERIFY_PREFIX"
)

// Environ returns the variables that make tests use the namespace.
func (e Elsewhere) Environ() []string {
	return []string{elsewhereConnection + "=" + e.Connection, elsewherePrefix + "=" + e.Prefix}
}

// Namespace returns the namespace that the environment names, if it names one.
func Namespace() (e Elsewhere, ok bool) {
	e = Elsewhere{Connection: os.Getenv(elsewhereConnection), Prefix: os.Getenv(elsewherePrefix)}
	return e, e.Connection != "" && e.Prefix != ""
}

// Connection is a connection string, taken apart.
type Connection struct {
	Host         string // with the port, if it has one
	KeyName, Key string
	EntityPath   string
	Emulator     bool // clients use no TLS
}

// ParseConnection takes a connection string apart that has a key. Its errors do not contain the key.
func ParseConnection(s string) (Connection, error) {
	parts := make(map[string]string)
	for part := range strings.SplitSeq(s, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[strings.ToLower(name)] = value
	}
	endpoint, err := url.Parse(parts["endpoint"])
	if err != nil || endpoint.Host == "" {
		return Connection{}, errors.New("the connection string has no Endpoint=sb://HOST")
	}
	c := Connection{Host: endpoint.Host, KeyName: parts["sharedaccesskeyname"], Key: parts["sharedaccesskey"],
		EntityPath: parts["entitypath"], Emulator: strings.EqualFold(parts["usedevelopmentemulator"], "true")}
	if c.KeyName == "" || c.Key == "" {
		return Connection{}, errors.New("the connection string has no SharedAccessKeyName and SharedAccessKey")
	}
	return c, nil
}
