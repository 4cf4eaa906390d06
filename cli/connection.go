package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/config"
	"minibus/internal/sas"
	"minibus/internal/secrets"
)

// connectionVariable has the connection string, for the commands as for applications.
const connectionVariable = "SERVICEBUS_CONNECTION_STRING"

// closing is how long the end of a connection may take, and what has to be said before it.
const closing = 5 * time.Second

// connectionString returns the one that was given, and where; empty without any.
func (a *app) connectionString() (text, source string) {
	if a.flags.connection != "" {
		return a.flags.connection, "--connection"
	}
	return a.variable(connectionVariable), connectionVariable
}

// connect finds the connection string.
func (a *app) connect() error {
	if a.source != "" {
		return nil
	}
	text, source := a.connectionString()
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	if a.flags.auth != "" {
		return a.signInTo(text, source)
	}
	if text == "" {
		return a.local()
	}
	if hostAndPort.MatchString(text) {
		a.source, a.target = source, a.minibusAt(text)
		return nil
	}
	c, err := sas.ParseConnection(text)
	if err != nil {
		hint := ""
		switch {
		case strings.Contains(text, ".") && namespaceHost.MatchString(text):
			hint = "; to sign in to that namespace without a key, add --auth " + authAz
		case !strings.Contains(text, ";"):
			hint = "; in a shell it needs quotation marks, for a semicolon ends a command"
		}
		return Usage("%s: %v%s", source, err, hint)
	}
	a.source, a.target = source, c
	return nil
}

// hostAndPort is the address of a Minibus, in the place of a connection string.
var hostAndPort = regexp.MustCompile(`^([\w.-]*|\[[0-9A-Fa-f:]+\]):\d{1,5}$`)

// minibusAt returns the connection string of a Minibus at an address. Its key is that of the variable, as for the local
// one.
func (a *app) minibusAt(address string) sas.Connection {
	if strings.HasPrefix(address, ":") {
		address = "localhost" + address
	}
	c := sas.Local(address)
	c.Key = cmp.Or(a.variable("MINIBUS_ROOT_KEY"), c.Key)
	return c
}

func (a *app) variable(name string) string {
	for _, entry := range a.env.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// host is the host that the connection string names.
func (a *app) host() string { return visible(a.target.Host()) }

// hider hides the key or the token, which a server may send back.
func (a *app) hider() *secrets.Hider {
	return secrets.New(a.target.Key, a.target.Signature, a.signIn.secret())
}

// redact removes keys and signatures from a text.
func (a *app) redact(text string) string { return a.hider().Text(text) }

// tlsConfig trusts the system's authorities, the one of --ca, and without it that of the local Minibus, which can
// only vouch for names of Service Bus and of this machine.
func (a *app) tlsConfig() (*tls.Config, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // not every system has one
	}
	file := a.flags.ca
	if file == "" && a.env.Authority != nil {
		if file, err = a.env.Authority(); err != nil {
			file = "" // without a home directory there is no local authority
		}
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	if file == "" {
		return c, nil
	}
	pem, err := os.ReadFile(file)
	switch {
	case err != nil && a.flags.ca == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
		return c, nil
	case err != nil:
		return nil, Usage("--ca: %v", err)
	case !pool.AppendCertsFromPEM(pem):
		return nil, failed(exitUsage, "--ca: %s has no certificate in PEM form", file)
	}
	return c, nil
}

// messages returns the client for messages.
func (a *app) messages() (*azservicebus.Client, error) {
	if a.client != nil {
		return a.client, nil
	}
	if err := a.connect(); err != nil {
		return nil, err
	}
	config, err := a.tlsConfig()
	if err != nil {
		return nil, err
	}
	options := &azservicebus.ClientOptions{
		// By which conn ls and the history name this process.
		TLSConfig: config, ApplicationID: "minibus-cli-" + strconv.Itoa(os.Getpid()),
		RetryOptions: azservicebus.RetryOptions{MaxRetries: 2, RetryDelay: 200 * time.Millisecond,
			MaxRetryDelay: 2 * time.Second},
	}
	if a.signIn != nil {
		a.client, err = azservicebus.NewClient(a.target.Host(), a.signIn, options)
	} else {
		a.client, err = azservicebus.NewClientFromConnectionString(a.target.String(), options)
	}
	if err != nil {
		return nil, Usage("%s: %v", a.source, err)
	}
	return a.client, nil
}

// entities returns the client for entities.
func (a *app) entities() (*admin.Client, error) {
	if a.admin != nil {
		return a.admin, nil
	}
	if err := a.connect(); err != nil {
		return nil, err
	}
	config, err := a.tlsConfig()
	if err != nil {
		return nil, err
	}
	options := &admin.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &carrier{plain: a.target.Emulator, client: a.httpClient(config)},
		Retry: policy.RetryOptions{MaxRetries: 2, RetryDelay: 200 * time.Millisecond,
			MaxRetryDelay: 5 * time.Second},
		Telemetry: policy.TelemetryOptions{ApplicationID: "minibus-cli"},
	}}
	if a.signIn != nil {
		a.admin, err = admin.NewClient(a.adminHost(), a.signIn, options)
	} else {
		c := a.target
		c.Endpoint = "sb://" + a.adminHost()
		a.admin, err = admin.NewClientFromConnectionString(c.String(), options)
	}
	if err != nil {
		return nil, Usage("%s: %v", a.source, err)
	}
	return a.admin, nil
}

// httpClient returns a client that follows no redirection: a token belongs to the host that it was made for.
func (a *app) httpClient(config *tls.Config) *http.Client {
	if a.http == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = config
		a.http = &http.Client{
			Transport:     &boundedTransport{transport, a},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return a.http
}

// carrier sends the requests of the administration. The SDK asks for https always; an emulator has http.
type carrier struct {
	plain  bool
	client *http.Client
}

// Do implements policy.Transporter.
func (c *carrier) Do(req *http.Request) (*http.Response, error) {
	if c.plain {
		req.URL.Scheme = "http"
	}
	return c.client.Do(req) // the SDK looks into it
}

// adminHost is the host of the administration and the control API, with its port.
func (a *app) adminHost() string {
	host := a.target.Host()
	switch {
	case a.adminPort != "":
		return host[:strings.LastIndexByte(host, ':')+1] + a.adminPort
	case a.target.Emulator && !hasPort(host):
		return host + ":" + usualAdmin
	}
	return host
}

func hasPort(host string) bool {
	i := strings.LastIndexByte(host, ':')
	return i >= 0 && i > strings.LastIndexByte(host, ']')
}

// close ends the connection, also after an interrupt.
func (a *app) close() error {
	err := a.out.flush()
	if a.client != nil {
		ctx, cancel := a.parting(context.Background())
		defer cancel()
		_ = a.client.Close(ctx) // all that matters was answered
	}
	return cmp.Or(err, nil)
}

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
		case s.AMQPPort == 0 || s.HTTPPort == 0 ||
			a.variable("MINIBUS_AMQP_PORT")+a.variable("MINIBUS_HTTP_PORT") == "":
			name := "MINIBUS_PORTS_FILE"
			if a.portsFile != "" {
				name = "--ports-file"
			}
			return Usage("%s: %v", name, err)
		}
	}
	if ports.AMQP == 0 && ports.HTTP == 0 {
		return Usage("MINIBUS_AMQP_PORT and MINIBUS_HTTP_PORT name no port of the local Minibus: name its ports " +
			"file in MINIBUS_PORTS_FILE, or give --connection")
	}
	a.source, a.isLocal = "the settings of the local Minibus", true
	a.target = connectionAt(config.ClientHost(s.Host), ports)
	if ports.AMQP == usualAMQP && ports.HTTP != 0 {
		a.adminPort = strconv.Itoa(ports.HTTP) // the only one that was named, maybe
	}
	a.target.Key = cmp.Or(s.RootKey, a.target.Key)
	return nil
}

// connectionAt returns the connection string of a Minibus with these ports.
func connectionAt(host string, p config.Ports) sas.Connection {
	port := cmp.Or(p.AMQP, p.HTTP) // every port speaks everything
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return sas.Local(host + ":" + strconv.Itoa(port))
}
