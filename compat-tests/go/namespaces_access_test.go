package compat

import (
	"encoding/json"
	"fmt"
	"net"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// startCheckedSpaces starts a server that checks tokens. In both namespaces the queue has a policy of the same name, with another key.
func startCheckedSpaces(t *testing.T) *spaces {
	t.Helper()
	return startSpaces(t, []string{"--auth", "sas"}, func(space int) harness.Space {
		s := sameEntities("x")(space)
		s.Queues[0].Policies = []harness.Policy{{Name: "worker", Key: fmt.Sprint("worker-", space), Rights: []string{"Send", "Listen"}}}
		return s
	})
}

// TestKeysOfANamespaceOpenNothingInAnother tries the root key of the other namespace in every way over every transport, on links, over
// HTTP and for the administration. The own key opens everything.
func TestKeysOfANamespaceOpenNothingInAnother(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	s := startCheckedSpaces(t)
	for space, name := range spaceNames {
		for _, wayName := range wayNames {
			w := s.ways(space)[wayName]
			for _, transport := range transportNames {
				t.Run(name+"/"+wayName+"/"+transport, func(t *testing.T) {
					s := &spaces{T: t, ctx: s.ctx, server: s.server, tls: s.tls}
					own := s.bench(t, s.client(w, transport, spaceKeys[space]))
					own.put("q.x", message("x"))
					own.receiveOne(own.from("q.x"))
					s.refuses(s.client(w, transport, spaceKeys[1-space]))
				})
			}
			for _, scheme := range []string{"http", "https"} {
				own, other := rootToken(w.host, spaceKeys[space]), rootToken(w.host, spaceKeys[1-space])
				for _, path := range []string{"/q.x?api-version=2021-05", "/$Resources/queues?api-version=2021-05"} {
					s.wantAsk(200, w, scheme, "GET", path, "", "Authorization", own)
					s.wantAsk(401, w, scheme, "GET", path, "", "Authorization", other)
				}
				s.wantAsk(201, w, scheme, "POST", "/q.x/messages", "x", "Authorization", own)
				s.wantAsk(401, w, scheme, "POST", "/q.x/messages", "x", "Authorization", other)
				s.wantAsk(401, w, scheme, "DELETE", "/q.x/messages/head", "", "Authorization", other)
			}
		}
	}
}

// refuses fails unless a client is refused everything.
func (s *spaces) refuses(client *azservicebus.Client) {
	s.Helper()
	b := s.bench(s.T, client)
	const wrong = "InvalidSignature"
	b.wantUnauthorized("send", b.to("q.x").SendMessage(b.ctx, message("x"), nil), wrong)
	_, err := b.from("q.x").ReceiveMessages(b.ctx, 1, nil)
	b.wantUnauthorized("receive", err, wrong)
	_, err = b.from("q.x").PeekMessages(b.ctx, 1, nil)
	b.wantUnauthorized("peek", err, wrong)
	_, err = client.AcceptSessionForQueue(b.ctx, "s.x", "x", nil)
	b.wantUnauthorized("accept a session", err, wrong)
	b.wantUnauthorized("send to the topic", b.to("t.x").SendMessage(b.ctx, message("x"), nil), wrong)
}

// TestPoliciesOfTheSameNameAreOfTheirNamespace gives the key of an entity's policy to the other namespace, and makes a token for another host.
func TestPoliciesOfTheSameNameAreOfTheirNamespace(t *testing.T) {
	s := startCheckedSpaces(t)
	for space := range spaceNames {
		w, other := s.ways(space)["port"], s.ways(1 - space)["alias"]
		send := func(status int, host, policy, key string) {
			t.Helper()
			s.wantAsk(status, w, "http", "POST", "/q.x/messages", "x", "Authorization", tokenOf("sb://"+host+"/q.x", policy, key))
		}
		send(201, w.host, "worker", fmt.Sprint("worker-", space))
		send(401, w.host, "worker", fmt.Sprint("worker-", 1-space))
		send(201, spaceAliases[space], "worker", fmt.Sprint("worker-", space))
		send(201, "127.0.0.1", "worker", fmt.Sprint("worker-", space)) // means the namespace of the port
		send(401, other.host, "worker", fmt.Sprint("worker-", space))
		send(401, other.host, "RootManageSharedAccessKey", spaceKeys[space])
		send(401, "unknown.localhost", "RootManageSharedAccessKey", spaceKeys[space])
	}
}

// make makes a namespace by the control API, and returns the way to it and the key in its connection string.
func (s *spaces) make(control way, body string, headers ...string) (w way, key string) {
	s.Helper()
	var made struct {
		Port             int
		ConnectionString string
	}
	answer := s.wantAsk(201, control, "http", "POST", "/$minibus/v1/namespaces", body, headers...)
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Port == 0 {
		s.Fatalf("%v in %s", err, answer)
	}
	parsed, err := harness.ParseConnection(made.ConnectionString)
	if err != nil {
		s.Fatal(err)
	}
	return way{parsed.Host, net.JoinHostPort("localhost", fmt.Sprint(made.Port))}, parsed.Key
}

// TestANamespaceMadeWithItsEntitiesSurvivesAKill as soon as the request for it is answered.
func TestANamespaceMadeWithItsEntitiesSurvivesAKill(t *testing.T) {
	s := startCheckedSpaces(t)
	w, key := s.make(s.ways(0)["port"], `{"name": "third-ns", "Queues": [{"Name": "q.x"}], "Topics": [
		{"Name": "t.x", "Subscriptions": [{"Name": "s.x", "Properties": {"ForwardTo": "q.x"}}]}]}`, "Authorization", rootToken("localhost", spaceKeys[0]))
	s.server.Kill(t)
	s = connectSpaces(t, harness.Start(t, s.server.Options()))
	b := s.bench(t, s.client(w, "amqp", key))
	b.must("send to the topic", b.to("t.x").SendMessage(b.ctx, message("after the kill"), nil))
	b.wantBodies("forwarded", b.receive(b.from("q.x"), 1), "after the kill")
}

// TestDeletingANamespaceLeavesOthersUndisturbed makes one by the control API, deletes it under its clients, and starts again.
func TestDeletingANamespaceLeavesOthersUndisturbed(t *testing.T) {
	s := startCheckedSpaces(t)
	manage := []string{"Authorization", rootToken("localhost", spaceKeys[0])}
	control, path := s.ways(0)["port"], "/$minibus/v1/namespaces"
	w, key := s.make(control, `{"name": "third-ns", "Queues": [{"Name": "q.x"}]}`, manage...)

	third := s.bench(t, s.client(w, "amqp", key))
	sender := third.to("q.x")
	third.must("send to the third", sender.SendMessage(s.ctx, message("third"), nil))
	var others []*bench
	for space := range spaceNames {
		b := s.usual(space)
		b.sender, b.receiver = b.to("q.x"), b.from("q.x")
		b.send("before")
		b.receiveOne(b.receiver)
		others = append(others, b)
	}
	s.wantAsk(204, control, "http", "DELETE", path+"/third-ns", "", manage...)
	if err := sender.SendMessage(s.ctx, message("x"), nil); err == nil {
		t.Error("a client of the deleted namespace sends")
	}
	if conn, err := net.Dial("tcp", w.address); err == nil {
		t.Errorf("the port of the deleted namespace is open at %v", conn.RemoteAddr())
	}
	for _, b := range others { // on the same links: a client that retries nothing notices the end of its connection
		b.send("after")
		b.wantBodies("another namespace", b.receive(b.receiver, 1), "after")
	}
	gone := way{"third-ns.localhost", s.local(0)}
	b := s.bench(t, s.client(gone, "amqp", key))
	b.wantErrorText("send to the deleted namespace", b.to("q.x").SendMessage(s.ctx, message("x"), nil), "amqp:not-found")
	s.server.Kill(t)
	s = connectSpaces(t, harness.Start(t, s.server.Options()))
	if _, ok := s.server.Ports.Spaces["third-ns"]; ok || len(s.server.Ports.Spaces) != 1 {
		t.Errorf("after a restart there are %v", s.server.Ports.Spaces)
	}
	s.wantAsk(404, s.ways(0)["port"], "http", "GET", path+"/third-ns", "", manage...)
}
