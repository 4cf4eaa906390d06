package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/sas"
)

// This file tries every operation with every kind of credentials over every transport, in each of two namespaces. A transport is a way
// to dial; an operation is a row of amqpOperations or httpOperations. New ones are added as rows, and nothing else has to change.

// errRefused is the outcome of an operation that was refused for want of rights.
var errRefused = errors.New("refused")

// wantAccess tries one operation with everything that a client may show at a place.
func wantAccess(t *testing.T, at *place, name string, need sas.Claims, entity bool, try func(shown) error) {
	t.Helper()
	for bad, token := range at.worthless() {
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
			err := try(at.good(prefix + policy))
			if claims.Allows(need) && err != nil {
				t.Errorf("%s by %s%s: %v", name, prefix, policy, err)
			}
			if !claims.Allows(need) && !errors.Is(err, errRefused) {
				t.Errorf("%s by %s%s: %v, want it refused", name, prefix, policy, err)
			}
		}
	}
}

// amqpOperations are all links and all requests, each on the entity at a path; without a path only policies of the
// namespace count.
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
	{"receive with a selector", "q", sas.Listen, receiveSelected},
	{"browse", "q", sas.Listen, browse},
	{"subscribe to a topic", "t", sas.Listen, subscribe(false)},
	{"subscribe for good", "t", sas.Listen, subscribe(true)},
	{"make a temporary queue", "", sas.Listen, makeTemporary},
	{"send through the relay", "q", sas.Send, relay},
	{"make a queue at an attach", "", sas.Manage, makeAtAttach},
}

func TestAMQPNeedsRights(t *testing.T) {
	inBothNamespaces(t, Config{}, func(t *testing.T, a *place) {
		for _, b := range boxes {
			b.stock(t, a)
		}
		stockSession(t, a)
		for name, way := range a.transports() {
			for _, o := range amqpOperations {
				wantAccess(t, way.place, name+": "+o.name, o.need, o.path != "", func(token shown) error {
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					defer cancel()
					before := stateOf(t, a)
					err := tryAMQP(ctx, t, way.place, o.path, token, o.do)
					if after := stateOf(t, a); errors.Is(err, errRefused) && after != before {
						t.Errorf("%s: refused, but something happened:\n%s\nbefore:\n%s", o.name, after, before)
					}
					return err
				})
			}
		}
	})
}

// tryAMQP opens a connection, puts the token for the path, and does something there.
func tryAMQP(ctx context.Context, t *testing.T, at *place, path string, token shown,
	do func(context.Context, *goamqp.Session, string) error) error {
	nc, err := at.Dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var properties map[string]any
	if path == "" {
		properties = map[string]any{"com.microsoft:is-client-provider": true}
	}
	conn, err := goamqp.NewConn(ctx, nc, &goamqp.ConnOptions{HostName: at.host, ContainerID: "client", Properties: properties})
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
			"name": "sb://" + at.host + "/" + path}, text)
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

func receiveSelected(ctx context.Context, s *goamqp.Session, path string) error {
	return receiveOne(ctx, s, path, &goamqp.ReceiverOptions{SourceCapabilities: []string{"queue"}, Filters: []goamqp.LinkFilter{
		goamqp.NewSelectorFilter("JMSPriority >= 0")}})
}

// browse looks at the message that is there.
func browse(ctx context.Context, s *goamqp.Session, path string) error {
	receiver, err := s.NewReceiver(ctx, path, &goamqp.ReceiverOptions{SourceDistributionMode: goamqp.SourceDistributionModeCopy})
	if err != nil {
		return attached(err)
	}
	_, err = receiver.Receive(ctx, nil)
	return errors.Join(err, receiver.Close(ctx))
}

// subscribe makes a subscription of a topic and deletes it again, as a JMS consumer does.
func subscribe(durable bool) func(context.Context, *goamqp.Session, string) error {
	return func(ctx context.Context, s *goamqp.Session, path string) error {
		o := &goamqp.ReceiverOptions{Name: "jms", SourceCapabilities: []string{"topic"}}
		if durable {
			o.SourceDurability, o.SourceExpiryPolicy = goamqp.DurabilityUnsettledState, goamqp.ExpiryPolicyNever
		}
		receiver, err := s.NewReceiver(ctx, path, o)
		if err != nil {
			return attached(err)
		}
		return receiver.Close(ctx)
	}
}

func makeTemporary(ctx context.Context, s *goamqp.Session, _ string) error {
	sender, err := s.NewSender(ctx, "", &goamqp.SenderOptions{DynamicAddress: true, TargetCapabilities: []string{"temporary-queue"}})
	if err != nil {
		return attached(err)
	}
	return sender.Close(ctx)
}

// relay sends a message over a link without an address.
func relay(ctx context.Context, s *goamqp.Session, path string) error {
	sender, err := s.NewSender(ctx, "", nil)
	if err != nil {
		return attached(err)
	}
	return attached(sender.Send(ctx, &goamqp.Message{Properties: &goamqp.MessageProperties{To: &path}, Data: [][]byte{[]byte("m")}}, nil))
}

var madeAtAttach atomic.Int64

func makeAtAttach(ctx context.Context, s *goamqp.Session, _ string) error {
	path := fmt.Sprintf("made-%d", madeAtAttach.Add(1))
	receiver, err := s.NewReceiver(ctx, path, &goamqp.ReceiverOptions{SourceCapabilities: []string{"queue"}})
	if err != nil {
		return attached(err)
	}
	return receiver.Close(ctx)
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
	{"GET", "$minibus/v1/namespaces", "", sas.Manage, false},
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

// forServer are the paths of the whole server. They take tokens of the default namespace, wherever they arrive.
var forServer = []string{"metrics", "$minibus/v1/namespaces"}

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
	inBothNamespaces(t, Config{}, func(t *testing.T, a *place) {
		for name, way := range a.transports() {
			if way.amqpOnly {
				continue
			}
			client := newWebClient(t, way)
			for _, o := range httpOperations {
				at := way.place
				if slices.Contains(forServer, o.path) {
					at = at.overall()
				}
				wantAccess(t, at, name+": "+o.method+" "+o.path, o.need, o.entity, func(token shown) error {
					before := stateOf(t, a)
					_, err := client.try(o.method, o.path, o.body, token(o.path))
					if after := stateOf(t, a); errors.Is(err, errRefused) && after != before {
						t.Errorf("%s %s: refused, but something happened:\n%s\nbefore:\n%s", o.method, o.path, after, before)
					}
					return err
				})
			}
		}
	})
}

// armOperations are requests to Resource Manager, of each kind.
var armOperations = []struct{ method, path, body string }{
	{"GET", "subscriptions", ""}, {"GET", "tenants", ""}, {"GET", armGroup[1:], ""}, {"PUT", armGroup[1:] + "2", `{"location":"local"}`}, {"DELETE", armGroup[1:], ""},
	{"GET", armDefault[1:], ""}, {"PATCH", armDefault[1:], `{"tags":{"a":"b"}}`}, {"PUT", armDefault[1:] + "2", `{"location":"local"}`}, {"DELETE", armDefault[1:], ""},
	{"GET", armDefault[1:] + "/queues", ""}, {"PUT", armDefault[1:] + "/queues/new", "{}"}, {"DELETE", armDefault[1:] + "/queues/q", ""},
	{"PUT", armDefault[1:] + "/topics/new", "{}"}, {"DELETE", armDefault[1:] + "/topics/t/subscriptions/sub", ""},
	{"GET", armDefault[1:] + "/authorizationRules", ""}, {"PUT", armDefault[1:] + "/authorizationRules/new", `{"properties":{"rights":["Send"]}}`},
	{"POST", armDefault[1:] + "/authorizationRules/manage/listKeys", ""}, {"POST", armDefault[1:] + "/authorizationRules/manage/regenerateKeys", `{"keyType":"PrimaryKey"}`},
	{"POST", armDefault[1:] + "/queues/q/authorizationRules/own-manage/listKeys", ""}, {"PUT", armDefault[1:] + "/networkRuleSets/default", "{}"},
	{"POST", "subscriptions/00000000-0000-0000-0000-000000000000/providers/Microsoft.ServiceBus/checkNameAvailability", `{"name":"x"}`},
}

// TestKeysDoNotOpenResourceManager: no shared access signature does, whatever its rights, and no web token of others.
// Else it would be a way around the keys, all of which it shows.
func TestKeysDoNotOpenResourceManager(t *testing.T) {
	inBothNamespaces(t, Config{}, func(t *testing.T, a *place) {
		for name, way := range a.transports() {
			if way.amqpOnly {
				continue
			}
			client, tokens := newWebClient(t, way), way.place.worthless()
			for _, policy := range []string{"manage", "own-manage", sas.DefaultKeyName} {
				tokens[policy] = way.place.good(policy)
				tokens[policy+" as a web token"] = func(path string) string { return "Bearer " + way.place.good(policy)(path) }
			}
			tokens["a web token of others"] = func(string) string { return "Bearer eyJhbGciOiJub25lIn0.eyJhdWQiOiJodHRwOi8vbG9jYWxob3N0In0." }
			before := stateOf(t, a)
			for _, o := range armOperations {
				for what, token := range tokens {
					if _, err := client.try(o.method, o.path+"?api-version=2024-01-01", o.body, token(o.path)); !errors.Is(err, errRefused) {
						t.Errorf("%s: %s %s with %s: %v", name, o.method, o.path, what, err)
					}
				}
			}
			if after := stateOf(t, a); after != before {
				t.Errorf("%s: something happened:\n%s\nbefore:\n%s", name, after, before)
			}
		}
	})
}
