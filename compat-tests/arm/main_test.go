// Package arm runs the clients of Azure Resource Manager against the built binary: the Azure CLI, the libraries for Python, JavaScript, Go and
// Java, and Terraform with the provider azurerm. They share one server, in which each has groups and namespaces of its own.
package arm

import (
	"fmt"
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.MainAtOnce(m, 6) }

// What every client signs in with.
const (
	tenant       = "11111111-2222-3333-4444-555555555555"
	subscription = "00000000-0000-0000-0000-000000000000"
	clientID     = "client-of-the-test"
	secret       = "secret-of-the-test"
)

// cloud is a server that stands for Azure.
type cloud struct {
	*harness.Server
	base string // of Resource Manager and of the issuer
}

// start runs a server with TLS whose namespaces have ports that the system chooses.
func start(t *testing.T, args ...string) *cloud {
	t.Helper()
	c := &cloud{Server: harness.Start(t, harness.Options{Data: filepath.Join(t.TempDir(), "minibus.db"), Args: append(args, "--namespace-ports", "0")})}
	c.base = fmt.Sprintf("https://localhost:%d", c.Ports.TLS)
	return c
}

// restart stops the server and starts it again with its ports and its database.
func (c *cloud) restart(t *testing.T) {
	t.Helper()
	c.Stop(t)
	o := c.Options()
	o.Ports = harness.Ports{AMQP: c.Ports.AMQP, TLS: c.Ports.TLS, HTTP: c.Ports.HTTP}
	c.Server = harness.Start(t, o)
}

// checked is a server that checks every key and token.
func checked(t *testing.T, args ...string) *cloud {
	t.Helper()
	return start(t, append(args, "--auth", "sas", "--root-key", "root-key-of-the-test", "--identity-secret", secret)...)
}

// environ tells a client where the cloud is, whom to trust, and how to sign in.
func (c *cloud) environ() []string {
	return append(c.Environ(), "MINIBUS_BASE="+c.base, "MINIBUS_TENANT="+tenant, "MINIBUS_SUBSCRIPTION="+subscription, "MINIBUS_CLIENT_ID="+clientID, "MINIBUS_SECRET="+secret,
		"REQUESTS_CA_BUNDLE="+c.CA(), "NODE_EXTRA_CA_CERTS="+c.CA(), "SSL_CERT_FILE="+c.CA())
}
