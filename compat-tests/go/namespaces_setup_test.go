package compat

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/coder/websocket"

	"minibus/compat-tests/harness"
)

// otherSpace is the namespace beside the default one. ownSuffix is a domain under which hosts are namespaces.
const (
	otherSpace = "second-ns"
	ownSuffix  = "bus.test"
)

// spaceNames are both namespaces, the default one first. spaceKeys are the root keys of each, spaceAliases the aliases.
var (
	spaceNames   = [2]string{harness.DefaultSpace, otherSpace}
	spaceKeys    = [2]string{"key-of-the-first", "key-of-the-second"}
	spaceAliases = [2]string{"first.test", "second.test"}
)

// spaces is a server with two namespaces that have entities of the same names.
type spaces struct {
	*testing.T
	ctx    context.Context
	server *harness.Server
	tls    *tls.Config
}

// startSpaces starts a server with the same entities in both namespaces, on its own database. The second namespace has a free port.
func startSpaces(t *testing.T, args []string, entities func(space int) harness.Space) *spaces {
	t.Helper()
	t.Parallel()
	var both []harness.Space
	names := []string{}
	for i, name := range spaceNames {
		s := entities(i)
		s.Name, s.Aliases = name, []string{spaceAliases[i]}
		s.Policies = []harness.Policy{{Name: "RootManageSharedAccessKey", Key: spaceKeys[i], Rights: []string{"Manage", "Send", "Listen"}}}
		both = append(both, s)
		names = append(names, spaceAliases[i], name+"."+ownSuffix)
	}
	dir := t.TempDir()
	args = append([]string{"--namespace-ports", "0", "--namespace-suffix", ownSuffix, "--tls-names", strings.Join(names, ",")}, args...)
	return connectSpaces(t, harness.Start(t, harness.Options{Config: harness.WriteSpaces(t, both...), Data: filepath.Join(dir, "minibus.db"), Args: args}))
}

// connectSpaces makes clients for a running server.
func connectSpaces(t *testing.T, server *harness.Server) *spaces {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	return &spaces{T: t, ctx: ctx, server: server, tls: trust(t, server)}
}

// port is the port of a namespace.
func (s *spaces) port(space int) int {
	if space == 0 {
		return s.server.Ports.AMQP
	}
	return s.server.Ports.Spaces[spaceNames[space]]
}

// local is the address of a namespace's port.
func (s *spaces) local(space int) string {
	return net.JoinHostPort("localhost", strconv.Itoa(s.port(space)))
}

// way is a way to name a namespace: the host in its connection string, and the address to which clients connect.
type way struct{ host, address string }

// ways are all ways to name a namespace. A host counts before the port, so each host is tried at the port of the other namespace.
func (s *spaces) ways(space int) map[string]way {
	other := s.local(1 - space)
	return map[string]way{
		"port":      {s.local(space), s.local(space)},
		"alias":     {spaceAliases[space], other},
		"suffix":    {spaceNames[space] + ".servicebus.windows.net", other},
		"ownsuffix": {spaceNames[space] + "." + ownSuffix, other},
		"localhost": {spaceNames[space] + ".localhost", other},
	}
}

// wayNames and transportNames are the keys of ways and transports, in a constant order.
var (
	wayNames       = []string{"port", "alias", "suffix", "ownsuffix", "localhost"}
	transportNames = []string{"amqp", "amqps", "ws", "wss", "customendpoint"}
)

// cells are all ways over all transports. Each has entities of its own.
func cells() (all []string) {
	for _, w := range wayNames {
		for _, transport := range transportNames {
			all = append(all, w+"."+transport)
		}
	}
	return all
}

// client makes a client of a namespace over a transport. The SDK's own hook opens the connection, so that no name must be resolved.
func (s *spaces) client(w way, transport, key string) *azservicebus.Client {
	s.Helper()
	connection := fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=%s", w.host, key)
	o := &azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}}
	if transport == "customendpoint" {
		setEndpoint(o, w.address)
		connection += ";UseDevelopmentEmulator=true" // no TLS
	} else {
		o.NewWebSocketConn = func(ctx context.Context, args azservicebus.NewWebSocketConnArgs) (net.Conn, error) {
			return s.dial(ctx, w, transport, args.Host)
		}
	}
	client, err := azservicebus.NewClientFromConnectionString(connection, o)
	if err != nil {
		s.Fatalf("create client: %v", err)
	}
	s.Cleanup(func() { client.Close(context.Background()) })
	return client
}

// dial opens a connection over a transport.
func (s *spaces) dial(ctx context.Context, w way, transport, address string) (net.Conn, error) {
	client := s.httpClient(w)
	switch transport {
	case "amqp":
		return (&net.Dialer{}).DialContext(ctx, "tcp", w.address)
	case "amqps":
		config := s.tls.Clone()
		config.ServerName, _, _ = strings.Cut(w.host, ":")
		return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", w.address)
	case "ws":
		address = "ws" + strings.TrimPrefix(address, "wss")
	}
	ws, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{Subprotocols: []string{"amqp"}, HTTPClient: client}) //nolint:bodyclose // the library says that it need not be
	if err != nil {
		return nil, err
	}
	return websocket.NetConn(context.WithoutCancel(ctx), ws, websocket.MessageBinary), nil
}

// httpClient makes an HTTP client that connects to the address of the way, whatever the host of the request.
func (s *spaces) httpClient(w way) *http.Client {
	transport := &http.Transport{TLSClientConfig: s.tls, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, w.address)
	}}
	s.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// bench returns a bench of a namespace, for the helpers of the other tests.
func (s *spaces) bench(t *testing.T, client *azservicebus.Client) *bench {
	return &bench{T: t, ctx: s.ctx, server: s.server, client: client, began: time.Now().Truncate(time.Millisecond).Add(-patience)}
}

// usual returns a bench of a namespace by its port over plain AMQP.
func (s *spaces) usual(space int) *bench {
	return s.bench(s.T, s.client(s.ways(space)["port"], "amqp", spaceKeys[space]))
}

// rootToken signs a token for all entities of a host.
func rootToken(host, key string) string {
	return tokenOf("sb://"+host+"/", "RootManageSharedAccessKey", key)
}

// tokenOf signs a token as the service documents it.
func tokenOf(resource, policy, key string) string {
	resource, expiry := url.QueryEscape(resource), fmt.Sprint(time.Now().Add(time.Hour).Unix())
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(resource + "\n" + expiry))
	signature := url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return fmt.Sprintf("SharedAccessSignature sr=%s&sig=%s&se=%s&skn=%s", resource, signature, expiry, policy)
}
