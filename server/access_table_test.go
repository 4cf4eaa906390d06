package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"
	"github.com/coder/websocket"

	"minibus/config"
	"minibus/internal/sas"
)

// This file tries every operation with every kind of credentials over every transport. A transport is a way to dial; an
// operation is a row of amqpOperations or httpOperations. New ones are added as rows, and nothing else has to change.

// accessConfig has policies for each right at each level; a policy's key is its name followed by -key.
const accessConfig = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns",
	"AuthorizationRules": [%s],
	"Queues": [
		{"Name": "q", "Properties": {"AuthorizationRules": [%s]}},
		{"Name": "s", "Properties": {"RequiresSession": true, "AuthorizationRules": [%s]}},
		{"Name": "shut"},
		{"Name": "other", "Properties": {"AuthorizationRules": [{"KeyName": "foreign", "PrimaryKey": "foreign-key", "Rights": ["Manage", "Send", "Listen"]}]}}],
	"Topics": [{"Name": "t", "Properties": {"AuthorizationRules": [%s]}, "Subscriptions": [{"Name": "sub"}]}]}]}}`

func threePolicies(prefix string) string {
	var list []string
	for _, p := range []struct{ name, rights string }{{"manage", `"Manage", "Send", "Listen"`}, {"send", `"Send"`}, {"listen", `"Listen"`}} {
		list = append(list, fmt.Sprintf(`{"KeyName": "%s%s", "PrimaryKey": "%s%s-key", "SecondaryKey": "%s%s-second", "Rights": [%s]}`,
			prefix, p.name, prefix, p.name, prefix, p.name, p.rights))
	}
	return strings.Join(list, ",")
}

// accessServer starts a server that checks tokens.
func accessServer(t *testing.T) *Server {
	t.Helper()
	return accessServerWith(t, Config{})
}

func accessServerWith(t *testing.T, c Config) *Server {
	t.Helper()
	own := threePolicies("own-")
	topology, report := config.Parse("test", fmt.Appendf(nil, accessConfig, threePolicies(""), own, own, own), config.LimitsRelaxed)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	c.Settings, c.NoNetwork, c.Topology = config.Settings{Ephemeral: true, Auth: config.AuthSAS}, true, topology
	a, err := start(t, c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// transport is a way to reach a server.
type transport struct {
	dial     func(context.Context) (net.Conn, error)
	amqpOnly bool
}

// transports are all ways to reach a server.
func transports(a *Server) map[string]transport {
	secure := func(ctx context.Context) (net.Conn, error) {
		nc, err := a.Dial(ctx)
		if err != nil {
			return nil, err
		}
		return tls.Client(nc, &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"}), nil
	}
	return map[string]transport{
		"plain": {dial: a.Dial}, "TLS": {dial: secure},
		"ws": {dial: overWebSocket(a.Dial), amqpOnly: true}, "wss": {dial: overWebSocket(secure), amqpOnly: true},
	}
}

// overWebSocket makes a dialer that reaches AMQP through a WebSocket.
func overWebSocket(dial func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}}
	return func(ctx context.Context) (net.Conn, error) {
		//nolint:bodyclose // the library sees to it, and says so
		ws, _, err := websocket.Dial(ctx, "http://localhost/$servicebus/websocket", &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"AMQPWSB10"}})
		if err != nil {
			return nil, err
		}
		ws.SetReadLimit(-1)
		return websocket.NetConn(ctx, ws, websocket.MessageBinary), nil
	}
}

// shown returns a client's token for a path; "" is none.
type shown func(path string) string

// good returns valid tokens of a policy, signed with its primary key.
func good(policy string) shown {
	return func(path string) string {
		return sas.Sign("sb://localhost/"+path, policy, policy+"-key", time.Now().Add(time.Hour))
	}
}

// signed returns a token for exactly that resource text, of a policy with all rights.
func signed(resource string) string {
	return sas.Sign(resource, "manage", "manage-key", time.Now().Add(time.Hour))
}

// worthless are credentials that give no rights.
var worthless = map[string]shown{
	"no token": func(string) string { return "" },
	"wrong key": func(path string) string {
		return sas.Sign("sb://localhost/"+path, "manage", "wrong", time.Now().Add(time.Hour))
	},
	"expired": func(path string) string {
		return sas.Sign("sb://localhost/"+path, "manage", "manage-key", time.Now().Add(-time.Hour))
	},
	"wrong resource": func(string) string { return good("manage")("other") },
	"tampered": func(path string) string {
		return strings.Replace(sas.Sign("sb://localhost/x", "manage", "manage-key", time.Now().Add(time.Hour)), "%2Fx", "%2F"+path, 1)
	},
	"later expiry":            func(path string) string { return strings.Replace(good("manage")(path), "se=", "se=9", 1) },
	"unknown policy":          good("nobody"),
	"another entity's policy": good("foreign"),
	"empty key": func(path string) string {
		return sas.Sign("sb://localhost/"+path, "manage", "", time.Now().Add(time.Hour))
	},
	"a resource without a host":               func(path string) string { return signed(path) },
	"a resource without slashes":              func(path string) string { return signed("sb:" + path) },
	"a resource that is a star":               func(string) string { return signed("*") },
	"a host that is a star":                   func(string) string { return signed("sb://*/") },
	"a resource that is nothing but a scheme": func(string) string { return signed("sb://") },
	"malformed": func(string) string { return "SharedAccessSignature sr=x" },
	"web token": func(string) string { return "eyJhbGciOiJub25lIn0.e30." },
}

// errRefused is the outcome of an operation that was refused for want of rights.
var errRefused = errors.New("refused")

// wantAccess tries one operation with everything.
func wantAccess(t *testing.T, name string, need sas.Claims, entity bool, try func(shown) error) {
	t.Helper()
	for bad, token := range worthless {
		if err := try(token); !errors.Is(err, errRefused) {
			t.Errorf("%s with %s: %v, want it refused", name, bad, err)
		}
	}
	prefixes := []string{"", "own-"}
	if !entity {
		prefixes = prefixes[:1]
	}
	for _, prefix := range prefixes {
		for policy, claims := range map[string]sas.Claims{"manage": sas.Manage, "send": sas.Send, "listen": sas.Listen} {
			err := try(good(prefix + policy))
			if claims.Allows(need) && err != nil {
				t.Errorf("%s by %s%s: %v", name, prefix, policy, err)
			}
			if !claims.Allows(need) && !errors.Is(err, errRefused) {
				t.Errorf("%s by %s%s: %v, want it refused", name, prefix, policy, err)
			}
		}
	}
}

// amqpOperations are all links and all requests, each on the entity at a path.
var amqpOperations = []struct {
	name, path string
	need       sas.Claims
	do         func(ctx context.Context, s *goamqp.Session, path string) error
}{
	{"send to a queue", "q", sas.Send, attachSender},
	{"send to a topic", "t", sas.Send, attachSender},
	{"receive from a queue", "q", sas.Listen, attachReceiver},
	{"receive from a dead-letter queue", "q/$DeadLetterQueue", sas.Listen, attachReceiver},
	{"receive from a transfer dead-letter queue", "q/$Transfer/$DeadLetterQueue", sas.Listen, attachReceiver},
	{"receive from a subscription", "t/Subscriptions/sub", sas.Listen, attachReceiver},
	{"accept a session", "s", sas.Listen, acceptSession},
	{"schedule", "q", sas.Send, manage("schedule-message")},
	{"schedule on a topic", "t", sas.Send, manage("schedule-message")},
	{"cancel", "q", sas.Send, manage("cancel-scheduled-message")},
	{"peek", "q", sas.Listen, manage("peek-message")},
	{"peek a dead-letter queue", "q/$DeadLetterQueue", sas.Listen, manage("peek-message")},
	{"peek a subscription", "t/Subscriptions/sub", sas.Listen, manage("peek-message")},
	{"renew a lock", "q", sas.Listen, manage("renew-lock")},
	{"settle by token", "q", sas.Listen, manage("update-disposition")},
	{"receive by number", "q", sas.Listen, manage("receive-by-sequence-number")},
	{"delete a batch", "q", sas.Listen, manage("batch-delete-messages")},
	{"list sessions", "s", sas.Listen, manage("get-message-sessions")},
	{"renew a session", "s", sas.Listen, manage("renew-session-lock")},
	{"read a session's state", "s", sas.Listen, manage("get-session-state")},
	{"write a session's state", "s", sas.Listen, manage("set-session-state")},
	{"add a rule", "t/Subscriptions/sub", sas.Listen, manage("add-rule")},
	{"remove a rule", "t/Subscriptions/sub", sas.Listen, manage("remove-rule")},
	{"list rules", "t/Subscriptions/sub", sas.Listen, manage("enumerate-rules")},
}

func TestAMQPNeedsRights(t *testing.T) {
	a := accessServer(t)
	for _, b := range boxes {
		b.stock(t, a)
	}
	stockSession(t, a)
	for name, way := range transports(a) {
		for _, o := range amqpOperations {
			wantAccess(t, name+": "+o.name, o.need, true, func(token shown) error {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				before := stateOf(t, a)
				err := tryAMQP(ctx, t, way.dial, o.path, token, o.do)
				if after := stateOf(t, a); errors.Is(err, errRefused) && after != before {
					t.Errorf("%s: refused, but something happened:\n%s\nbefore:\n%s", o.name, after, before)
				}
				return err
			})
		}
	}
}

// tryAMQP opens a connection, puts the token for the path, and does something there.
func tryAMQP(ctx context.Context, t *testing.T, dial func(context.Context) (net.Conn, error), path string, token shown,
	do func(context.Context, *goamqp.Session, string) error) error {
	nc, err := dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := goamqp.NewConn(ctx, nc, &goamqp.ConnOptions{HostName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := token(path); text != "" {
		reply, err := call(ctx, session, "$cbs", map[string]any{"operation": "put-token", "type": "servicebus.windows.net:sastoken",
			"name": "sb://localhost/" + path}, text)
		if err != nil {
			t.Fatal(err)
		}
		if status := reply.ApplicationProperties["status-code"]; status != int32(202) {
			return refusal(status, fmt.Errorf("put-token: %v", reply.ApplicationProperties))
		}
	}
	return do(ctx, session, path)
}

// refusal turns a status other than success into an error.
func refusal(status any, err error) error {
	if status == int32(401) {
		return errors.Join(errRefused, err)
	}
	return err
}

// attached returns errRefused for an attach that was refused for want of rights.
func attached(err error) error {
	var refused *goamqp.Error
	if errors.As(err, &refused) && refused.Condition == "amqp:unauthorized-access" {
		return errors.Join(errRefused, err)
	}
	return err
}

// attachSender also sends a message.
func attachSender(ctx context.Context, s *goamqp.Session, path string) error {
	sender, err := s.NewSender(ctx, path, nil)
	if err != nil {
		return attached(err)
	}
	return sender.Send(ctx, goamqp.NewMessage([]byte("m")), nil)
}

// attachReceiver also receives the message that is there, and gives it back.
func attachReceiver(ctx context.Context, s *goamqp.Session, path string) error {
	return receiveOne(ctx, s, path, &goamqp.ReceiverOptions{})
}

func acceptSession(ctx context.Context, s *goamqp.Session, path string) error {
	return receiveOne(ctx, s, path, &goamqp.ReceiverOptions{Filters: []goamqp.LinkFilter{
		goamqp.NewLinkFilter("com.microsoft:session-filter", 0, "a session")}})
}

// receiveOne receives one message and releases everything: with more credit the message might come again and stay locked, and
// without a detach the connection would hold the session.
func receiveOne(ctx context.Context, s *goamqp.Session, path string, o *goamqp.ReceiverOptions) error {
	o.Credit = -1 // only issued credit
	receiver, err := s.NewReceiver(ctx, path, o)
	if err != nil {
		return attached(err)
	}
	if err := receiver.IssueCredit(1); err != nil {
		return err
	}
	m, err := receiver.Receive(ctx, nil)
	if err == nil {
		err = receiver.ReleaseMessage(ctx, m)
	}
	return errors.Join(err, receiver.Close(ctx))
}

// manage sends a request without arguments to a management node. It fails after the check of rights, which is
// enough here.
func manage(operation string) func(context.Context, *goamqp.Session, string) error {
	return func(ctx context.Context, s *goamqp.Session, path string) error {
		reply, err := call(ctx, s, path+"/$management", map[string]any{"operation": "com.microsoft:" + operation}, map[string]any{})
		if err != nil {
			return attached(err)
		}
		return refusal(reply.ApplicationProperties["statusCode"], nil)
	}
}

// call sends one request to a node and returns the reply.
func call(ctx context.Context, s *goamqp.Session, node string, properties map[string]any, body any) (*goamqp.Message, error) {
	sender, err := s.NewSender(ctx, node, nil)
	if err != nil {
		return nil, err
	}
	replyTo := "reply"
	receiver, err := s.NewReceiver(ctx, node, &goamqp.ReceiverOptions{TargetAddress: replyTo})
	if err != nil {
		return nil, err
	}
	m := &goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: "1", ReplyTo: &replyTo}, ApplicationProperties: properties, Value: body}
	if err := sender.Send(ctx, m, nil); err != nil {
		return nil, err
	}
	return receiver.Receive(ctx, nil)
}

// httpOperations are requests, each on the entity at a path; with entity, the entity's own policies count.
var httpOperations = []struct {
	method, path, body string
	need               sas.Claims
	entity             bool
}{
	{"GET", "$Resources/queues", "", sas.Manage, false},
	{"GET", "$Resources/topics", "", sas.Manage, false},
	{"GET", "$namespaceinfo", "", 0, false},
	{"GET", "q", "", sas.Manage, true},
	{"PUT", "q", queueBody, sas.Manage, true},
	{"PUT", "new", queueBody, sas.Manage, false},
	{"DELETE", "new", "", sas.Manage, false},
	{"GET", "metrics", "", sas.Listen, false},
	{"GET", "t", "", sas.Manage, true},
	{"GET", "t/Subscriptions", "", sas.Manage, true},
	{"GET", "t/Subscriptions/sub", "", sas.Manage, true},
	{"PUT", "t/Subscriptions/new", subscriptionBody, sas.Manage, true},
	{"DELETE", "t/Subscriptions/new", "", sas.Manage, true},
	{"GET", "t/Subscriptions/sub/Rules", "", sas.Listen, true},
	{"GET", "t/Subscriptions/sub/Rules/$Default", "", sas.Manage, true},
	{"PUT", "t/Subscriptions/sub/Rules/new", ruleBody, sas.Manage, true},
	{"DELETE", "t/Subscriptions/sub/Rules/new", "", sas.Manage, true},
}

var (
	queueBody        = description("QueueDescription", "")
	subscriptionBody = description("SubscriptionDescription", "")
	ruleBody         = description("RuleDescription", "")
)

func description(kind, content string) string {
	return `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><` + kind +
		` xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">` + content + `</` + kind + `></content></entry>`
}

func TestHTTPNeedsRights(t *testing.T) {
	a := accessServer(t)
	for name, way := range transports(a) {
		if way.amqpOnly {
			continue
		}
		client := newWebClient(t, way)
		for _, o := range httpOperations {
			wantAccess(t, name+": "+o.method+" "+o.path, o.need, o.entity, func(token shown) error {
				before := stateOf(t, a)
				_, err := client.try(o.method, o.path, o.body, token(o.path))
				if after := stateOf(t, a); errors.Is(err, errRefused) && after != before {
					t.Errorf("%s %s: refused, but something happened:\n%s\nbefore:\n%s", o.method, o.path, after, before)
				}
				return err
			})
		}
	}
}
