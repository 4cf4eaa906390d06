package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

// accessConfig has policies for each right at each level; a policy's key is its name and then the ending of the namespace's keys.
const accessConfig = `{"Name": "%s",
	"AuthorizationRules": [%s],
	"Queues": [
		{"Name": "q", "Properties": {"AuthorizationRules": [%s]}},
		{"Name": "s", "Properties": {"RequiresSession": true, "AuthorizationRules": [%s]}},
		{"Name": "shut"},
		{"Name": "other", "Properties": {"AuthorizationRules": [{"KeyName": "foreign", "PrimaryKey": "foreign%s", "Rights": ["Manage", "Send", "Listen"]}]}}],
	"Topics": [{"Name": "t", "Properties": {"AuthorizationRules": [%s]}, "Subscriptions": [{"Name": "sub"}]}]}`

// A place is a namespace as clients reach it.
type place struct {
	*Server
	ns     *emulator.Namespace
	dial   func(context.Context) (net.Conn, error)
	host   string // that clients dial, and name in tokens
	ending string // of its keys
	other  *place // the other namespace; nil if there is none
}

// Namespace returns the place's own namespace.
func (p *place) Namespace() *emulator.Namespace { return p.ns }

// Dial connects as the place's clients do.
func (p *place) Dial(ctx context.Context) (net.Conn, error) { return p.dial(ctx) }

// hostByName is the host that means the namespace at every port.
func (p *place) hostByName() string { return p.ns.Name() + ".localhost" }

func (p *place) key(policy string) string { return policy + p.ending }

// rules is the place's part of a Config.json. The namespaces differ in their names and keys only.
func (p *place) rules(name string) string {
	own := p.threePolicies("own-")
	return fmt.Sprintf(accessConfig, name, p.threePolicies("")+","+p.policy(sas.DefaultKeyName, `"Manage", "Send", "Listen"`), own, own, p.ending, own)
}

func (p *place) threePolicies(prefix string) string {
	return p.policy(prefix+"manage", `"Manage", "Send", "Listen"`) + "," + p.policy(prefix+"send", `"Send"`) + "," + p.policy(prefix+"listen", `"Listen"`)
}

func (p *place) policy(name, rights string) string {
	return fmt.Sprintf(`{"KeyName": "%s", "PrimaryKey": "%s", "SecondaryKey": "%s", "Rights": [%s]}`, name, p.key(name), p.key(name+"-second"), rights)
}

// accessServerWith starts a server that checks tokens, and has one namespace.
func accessServerWith(t *testing.T, c Config) *place {
	t.Helper()
	p := &place{host: "localhost", ending: "-key"}
	c.NoNetwork = true
	p.serve(t, c, p.rules("sbemulatorns"))
	return p
}

// inBothNamespaces runs a test in each namespace of a server that checks tokens: the default one, and one with a port of its own.
func inBothNamespaces(t *testing.T, c Config, test func(*testing.T, *place)) {
	t.Helper()
	first, second := &place{host: "localhost", ending: "-key"}, &place{host: "localhost", ending: "-its-key"}
	first.other, second.other = second, first
	c.Settings = config.Settings{Auth: c.Settings.Auth, Host: "127.0.0.1", AMQPPort: config.PortOff, TLSPort: config.PortOff, HTTPPort: config.PortOff, NamespacePorts: "0"}
	first.serve(t, c, first.rules("sbemulatorns")+","+second.rules("second"))
	second.Server = first.Server
	var err error
	if second.ns, err = first.Broker().Namespace("second"); err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(second.ns.Options().Port))
	second.dial = func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }
	for _, p := range []*place{first, second} {
		t.Run(p.ns.Name(), func(t *testing.T) { test(t, p) })
	}
}

// serve starts a server with these namespaces, of which the first is the place's.
func (p *place) serve(t *testing.T, c Config, namespaces string) {
	t.Helper()
	c.Topology = topologyOf(t, `{"UserConfig": {"Namespaces": [`+namespaces+`]}}`)
	c.Settings.Ephemeral = true
	if c.Settings.Auth == "" {
		c.Settings.Auth = config.AuthSAS
	}
	var err error
	if p.Server, err = start(t, c); err != nil {
		t.Fatal(err)
	}
	p.ns, p.dial = p.Server.Namespace(), p.Server.Dial
}

// transport is a way to reach a namespace.
type transport struct {
	*place
	amqpOnly bool
}

// transports are all ways to reach the namespace: those in the clear by its port, those in TLS by its name.
func (p *place) transports() map[string]transport {
	byName := p.hostByName()
	secure := func(ctx context.Context) (net.Conn, error) {
		nc, err := p.Server.Dial(ctx)
		if err != nil {
			return nil, err
		}
		return tls.Client(nc, &tls.Config{InsecureSkipVerify: true, ServerName: byName}), nil
	}
	return map[string]transport{
		"plain": {place: p}, "TLS": {place: p.reached(secure, byName)},
		"ws":  {place: p.reached(overWebSocket(p.dial, p.host), p.host), amqpOnly: true},
		"wss": {place: p.reached(overWebSocket(secure, byName), byName), amqpOnly: true},
	}
}

// reached returns the place as clients reach it in another way.
func (p *place) reached(dial func(context.Context) (net.Conn, error), host string) *place {
	again := *p
	again.dial, again.host = dial, host
	return &again
}

// overall returns the place as clients with tokens of the default namespace reach it.
func (p *place) overall() *place {
	if p.ns == p.Broker().Default() {
		return p
	}
	return p.other.reached(p.dial, p.other.hostByName())
}

// overWebSocket makes a dialer that reaches AMQP through a WebSocket at a host.
func overWebSocket(dial func(context.Context) (net.Conn, error), host string) func(context.Context) (net.Conn, error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}}
	return func(ctx context.Context) (net.Conn, error) {
		//nolint:bodyclose // the library sees to it, and says so
		ws, _, err := websocket.Dial(ctx, "http://"+host+"/$servicebus/websocket", &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"AMQPWSB10"}})
		if err != nil {
			return nil, err
		}
		ws.SetReadLimit(-1)
		return websocket.NetConn(ctx, ws, websocket.MessageBinary), nil
	}
}

// shown returns a client's token for a path; "" is none.
type shown func(path string) string

func noToken(string) string { return "" }

// by returns tokens for a host, signed with a key of a policy, that are valid for so long.
func by(host, policy, key string, valid time.Duration) shown {
	return func(path string) string { return sas.Sign("sb://"+host+"/"+path, policy, key, time.Now().Add(valid)) }
}

// good returns valid tokens of a policy, signed with its primary key.
func (p *place) good(policy string) shown { return by(p.host, policy, p.key(policy), time.Hour) }

// signed returns a token for exactly that resource text, of a policy with all rights.
func (p *place) signed(resource string) string {
	return sas.Sign(resource, "manage", p.key("manage"), time.Now().Add(time.Hour))
}

// worthless are credentials that give no rights.
func (p *place) worthless() map[string]shown {
	manage := p.good("manage")
	all := map[string]shown{
		"no token":       noToken,
		"wrong key":      by(p.host, "manage", "wrong", time.Hour),
		"empty key":      by(p.host, "manage", "", time.Hour),
		"expired":        by(p.host, "manage", p.key("manage"), -time.Hour),
		"wrong resource": func(string) string { return manage("other") },
		"tampered":       func(path string) string { return strings.Replace(manage("x"), "%2Fx", "%2F"+path, 1) },
		"later expiry":   func(path string) string { return strings.Replace(manage(path), "se=", "se=9", 1) },
		"unknown policy": p.good("nobody"),

		"another entity's policy":                 p.good("foreign"),
		"a resource without a host":               func(path string) string { return p.signed(path) },
		"a resource without slashes":              func(path string) string { return p.signed("sb:" + path) },
		"a resource that is a star":               func(string) string { return p.signed("*") },
		"a host that is a star":                   func(string) string { return p.signed("sb://*/") },
		"a resource that is nothing but a scheme": func(string) string { return p.signed("sb://") },

		"malformed": func(string) string { return "SharedAccessSignature sr=x" },
		"web token": func(string) string { return "eyJhbGciOiJub25lIn0.e30." },
	}
	if p.ns != p.Broker().Default() { // the rest is checked alike in each namespace, and takes long to try
		all = map[string]shown{"no token": noToken, "wrong key": all["wrong key"], "wrong resource": all["wrong resource"]}
	}
	if other := p.other; other != nil {
		root := other.key(sas.DefaultKeyName)
		all["the other namespace's root key"] = by(p.host, sas.DefaultKeyName, root, time.Hour)
		all["the other namespace's root key, for its host"] = by(other.hostByName(), sas.DefaultKeyName, root, time.Hour)
		all["the other namespace's policy of the entity"] = by(p.host, "own-manage", other.key("own-manage"), time.Hour)
		all["a token for the other namespace's host"] = by(other.hostByName(), "manage", p.key("manage"), time.Hour)
	}
	return all
}
