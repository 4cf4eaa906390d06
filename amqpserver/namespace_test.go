package amqpserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
	"minibus/internal/listen"
	"minibus/internal/sas"
)

// extra is a namespace besides the default one.
type extra struct {
	name    string
	options emulator.NamespaceOptions
}

// shops has two namespaces: orders with a port, depots with a port and an alias.
var shops = []extra{
	{"orders", emulator.NamespaceOptions{Port: 5701}},
	{"depots", emulator.NamespaceOptions{Port: 5702, Aliases: []string{"bus.example.org"}}},
}

// shopBubble runs f in a bubble with a bench that has shops, each with a queue "q" and one of its own name.
func shopBubble(t *testing.T, f func(t *testing.T, b *bench), options ...func(*amqpserver.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchWith(t, emulator.Options{}, shops, options...)
		for _, s := range shops {
			for _, path := range []string{"q", s.name} {
				if _, err := b.namespace(s.name).Entities().CreateQueue(path, emulator.QueueOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		f(t, b)
	})
}

func (b *bench) namespace(name string) *emulator.Namespace {
	b.t.Helper()
	ns, err := b.broker.Namespace(name)
	if err != nil {
		b.t.Fatal(err)
	}
	return ns
}

// active returns how many messages the queue "q" of each namespace has, by name.
func (b *bench) active() map[string]int64 {
	b.t.Helper()
	counts := make(map[string]int64)
	for _, ns := range b.broker.Namespaces() {
		q, err := ns.Entity("q")
		if err != nil {
			b.t.Fatal(err)
		}
		counts[ns.Name()] = q.Counts().Active
	}
	return counts
}

// arrival is the server's end of a connection that arrived at a port.
type arrival struct {
	net.Conn
	port int
}

func (a arrival) LocalAddr() net.Addr { return &net.TCPAddr{Port: a.port} }

// transports dial a host, and arrive at a port.
var transports = map[string]func(t *testing.T, b *bench, host string, port int) net.Conn{
	"AMQP": func(_ *testing.T, b *bench, _ string, port int) net.Conn {
		client, server := amqptest.Pipe()
		go b.server.ServeConn(arrival{server, port})
		return client
	},
	"TLS": func(t *testing.T, b *bench, host string, port int) net.Conn {
		m := listen.New(listen.Options{TLS: &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}})
		l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
		go func() { _ = m.Serve(l) }()
		go func() { _ = b.server.Serve(m.AMQP()) }()
		t.Cleanup(func() { _ = m.Close() })
		client, server := amqptest.Pipe()
		l.conns <- arrival{server, port}
		return tls.Client(client, &tls.Config{ServerName: host, InsecureSkipVerify: true})
	},
	"WebSocket": func(t *testing.T, b *bench, host string, port int) net.Conn {
		client, server := amqptest.Pipe()
		b.web(t).conns <- arrival{server, port}
		return upgradeAt(t, client, host, "Sec-WebSocket-Protocol: amqp\r\n")
	},
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// hosts says which host a client names where; an empty one is not named.
type hosts struct{ dialled, sasl, open string }

// openAt opens a connection and returns the peer, with the server's open read. Without a host for SASL it speaks none.
func openAt(t *testing.T, nc net.Conn, h hosts) *amqptest.Peer {
	t.Helper()
	p := amqptest.NewPeer(t, nc)
	if h.sasl != "" {
		p.Raw(amqptest.HeaderSASL)
		p.WantHeader(amqptest.HeaderSASL)
		amqptest.Want[*frames.SASLMechanisms](p)
		p.SendSASL(&frames.SASLInit{Mechanism: "ANONYMOUS", Hostname: h.sasl})
		amqptest.Want[*frames.SASLOutcome](p)
	}
	p.Raw(amqptest.HeaderAMQP)
	p.WantHeader(amqptest.HeaderAMQP)
	p.Send(0, &frames.Open{ContainerID: "c", Hostname: h.open})
	amqptest.Want[*frames.Open](p)
	return p
}

// at is openAt over plain AMQP with a session on channel 0.
func (b *bench) at(t *testing.T, host string) *amqptest.Peer {
	t.Helper()
	p := openAt(t, transports["AMQP"](t, b, "", 5672), hosts{open: host})
	p.Begin(0)
	return p
}

func TestDEC11_HostAndPortDecideAtOpen(t *testing.T) {
	const orders, depots = "orders.servicebus.windows.net", "depots.localhost"
	for _, c := range []struct {
		name  string
		hosts hosts
		port  int
		want  string
	}{
		{"alias", hosts{open: "Bus.Example.org."}, 5672, "depots"},
		{"suffix", hosts{open: orders}, 5672, "orders"},
		{"suffix, with a port of the client's", hosts{open: depots + ":5671"}, 5672, "depots"},
		{"open before sasl-init", hosts{sasl: orders, open: depots}, 5672, "depots"},
		{"sasl-init", hosts{sasl: orders}, 5672, "orders"},
		{"sasl-init before what was dialled", hosts{dialled: depots, sasl: orders}, 5672, "orders"},
		{"open before what was dialled", hosts{dialled: depots, open: orders}, 5672, "orders"},
		{"dialled", hosts{dialled: depots}, 5672, "depots"},
		{"host before port", hosts{open: orders}, 5702, "orders"},
		{"port", hosts{open: "localhost"}, 5702, "depots"},
		{"port of a client that names nothing", hosts{}, 5701, "orders"},
		{"default", hosts{open: "localhost"}, 5672, "sbemulatorns"},
		{"default by name", hosts{open: "sbemulatorns.localhost"}, 5702, "sbemulatorns"},
	} {
		for over, dial := range transports {
			if c.hosts.dialled != "" && over == "AMQP" {
				continue // nothing tells which host it was
			}
			t.Run(c.name+" over "+over, func(t *testing.T) {
				shopBubble(t, func(t *testing.T, b *bench) {
					p := openAt(t, dial(t, b, c.hosts.dialled, c.port), c.hosts)
					p.Begin(0)
					p.AttachSender(0, 0, "q")
					p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
					wantOutcome(t, p, 0, "")
					for name, n := range b.active() {
						if (n == 1) != (name == c.want) {
							t.Errorf("the message is in %v, want %s", b.active(), c.want)
						}
					}
				})
			})
		}
	}
}

// wantClosed reads the server's close and checks it.
func wantClosed(t *testing.T, p *amqptest.Peer, condition string, texts ...string) {
	t.Helper()
	e := amqptest.Want[*frames.Close](p).Error
	if e == nil || string(e.Condition) != condition {
		t.Fatalf("closed with %+v, want %s", e, condition)
	}
	for _, text := range texts {
		if !strings.Contains(e.Description, text) {
			t.Errorf("the error %q does not contain %q", e.Description, text)
		}
	}
}

func TestDEC11_AnUnknownNameIsRefused(t *testing.T) {
	for over, dial := range transports {
		t.Run(over, func(t *testing.T) {
			shopBubble(t, func(t *testing.T, b *bench) {
				p := openAt(t, dial(t, b, "depots.localhost", 5701), hosts{open: "order.servicebus.windows.net"})
				wantClosed(t, p, "amqp:not-found", "'order.servicebus.windows.net'",
					"'depots', 'orders', 'sbemulatorns'", "connection string")
			})
		})
	}
	t.Run("where tokens are checked it learns no names", func(t *testing.T) {
		shopBubble(t, func(t *testing.T, b *bench) {
			p := openAt(t, b.dial(), hosts{open: "order.localhost"})
			e := amqptest.Want[*frames.Close](p).Error
			if e == nil || e.Condition != "amqp:not-found" || strings.Contains(e.Description, "depots") {
				t.Errorf("closed with %+v", e)
			}
		}, checked)
	})
	t.Run("many names", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var more []extra
			for i := range 30 {
				more = append(more, extra{name: fmt.Sprintf("space%02d", i)})
			}
			b := newBenchWith(t, emulator.Options{}, more)
			wantClosed(t, openAt(t, b.dial(), hosts{open: "order.localhost"}), "amqp:not-found", "'space08', 21 more.")
		})
	})
}

func TestDEC11_TheOnlyOneHasEveryName(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.at(t, "order.servicebus.windows.net")
		p.AttachSender(0, 0, "sb://depots.servicebus.windows.net/q")
		p.AttachSender(0, 1, "$cbs")
		replyLink(p, 0, 2, "$cbs", "r", "r", 10)
		request(t, p, 0, 1, 0, signedToken("sb://other.localhost/q", "r", "1"))
		if reply, _, _ := wantReply(t, p); reply.ApplicationProperties["status-code"] != int32(202) {
			t.Errorf("reply %v", reply.ApplicationProperties)
		}
	})
}

func TestDEC11_TokensForAnotherAreRefused(t *testing.T) {
	try := func(t *testing.T, b *bench) {
		p := b.at(t, "orders.localhost")
		p.AttachSender(0, 0, "$cbs")
		replyLink(p, 0, 1, "$cbs", "r", "r", 1000)
		for i, c := range []struct {
			audience, resource string
			status             int32
		}{
			{"sb://orders.localhost/q", "sb://orders.localhost/q", 202},
			{"amqp://ORDERS.servicebus.windows.net:5671/q", "http://orders.localhost/", 202},
			{"q", "sb://orders.localhost/q", 202},
			{"sb://depots.localhost/q", "sb://orders.localhost/q", 401},
			{"sb://bus.example.org/q", "sb://bus.example.org/q", 401},
			{"sb://orders.localhost/q", "sb://depots.localhost/q", 401},
			{"sb://orders.localhost/q", "depots.servicebus.windows.net/q", 401},
			{"q", "sb://sbemulatorns.localhost/q", 401},
			{"sb://order.localhost/q", "sb://orders.localhost/q", 401}, // there is none with that name
		} {
			m := putToken(c.audience, "r", fmt.Sprint(i))
			m.Value = sas.Sign(c.resource, "all", "all-key", in(time.Hour))
			request(t, p, 0, 0, uint32(i), m)
			reply, _, _ := wantReply(t, p)
			got := reply.ApplicationProperties
			if got["status-code"] != c.status {
				t.Errorf("audience %s, resource %s: %v", c.audience, c.resource, got)
			}
			if text := fmt.Sprint(got["status-description"]); c.status == 401 &&
				(fmt.Sprint(got["error-condition"]) != "amqp:unauthorized-access" ||
					!strings.HasPrefix(text, "InvalidAudience: ") || !strings.Contains(text, "'orders'")) {
				t.Errorf("refused with %v", got)
			}
		}
	}
	t.Run("unchecked", func(t *testing.T) { shopBubble(t, try) })
	t.Run("checked", func(t *testing.T) { shopBubble(t, try, checked) })
}

// ownKeys makes a server check tokens by keys that each namespace has for itself: the policy "all" with the key
// NAME-key.
func ownKeys(o *amqpserver.Options) {
	o.Access = func(ns *emulator.Namespace) *sas.Ring {
		return sas.NewRing([]sas.Policy{{Name: "all", Primary: ns.Name() + "-key",
			Claims: sas.Manage | sas.Send | sas.Listen}}, nil)
	}
}

func TestDEC11_KeysCountInTheirOwn(t *testing.T) {
	for _, key := range []string{"orders", "depots", "sbemulatorns"} {
		shopBubble(t, func(t *testing.T, b *bench) {
			p := b.at(t, "orders.localhost")
			p.AttachSender(0, 0, "$cbs")
			replyLink(p, 0, 1, "$cbs", "r", "r", 10)
			m := putToken("sb://orders.localhost/q", "r", "1")
			m.Value = sas.Sign("sb://orders.localhost/q", "all", key+"-key", in(time.Hour))
			request(t, p, 0, 0, 0, m)
			reply, _, _ := wantReply(t, p)
			if ok := reply.ApplicationProperties["status-code"] == int32(202); ok != (key == "orders") {
				t.Errorf("a key of %s in orders: %v", key, reply.ApplicationProperties)
			}
		}, ownKeys)
		t.Run("PLAIN with a key of "+key, func(t *testing.T) {
			shopBubble(t, func(t *testing.T, b *bench) {
				p := b.peer(t)
				p.Raw(amqptest.HeaderSASL)
				p.WantHeader(amqptest.HeaderSASL)
				amqptest.Want[*frames.SASLMechanisms](p)
				p.SendSASL(&frames.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00all\x00" + key + "-key")})
				if o := amqptest.Want[*frames.SASLOutcome](p); o.Code != 0 {
					t.Fatalf("outcome %+v", o)
				}
				p.Raw(amqptest.HeaderAMQP)
				p.WantHeader(amqptest.HeaderAMQP)
				p.Send(0, &frames.Open{ContainerID: "c", Hostname: "orders.localhost"})
				amqptest.Want[*frames.Open](p)
				if key != "orders" {
					wantClosed(t, p, "amqp:unauthorized-access", "'orders'")
					return
				}
				p.Begin(0)
				p.AttachSender(0, 0, "q")
			}, ownKeys)
		})
	}
}

// TestDEC11_NothingReachesAnother tries every way to name an entity: "depots" is a queue of the namespace depots alone.
func TestDEC11_NothingReachesAnother(t *testing.T) {
	shopBubble(t, func(t *testing.T, b *bench) {
		p := b.at(t, "orders.localhost")
		via := amqptest.SenderAttach(0, "q")
		via.Properties = amqp.Map{{Key: destinationKey, Value: "depots"}}
		elsewhere := amqptest.SenderAttach(0, "q")
		elsewhere.Properties = amqp.Map{{Key: destinationKey, Value: "sb://depots.localhost/q"}}
		for name, a := range map[string]*frames.Attach{
			"send":                   amqptest.SenderAttach(0, "depots"),
			"send, by host":          amqptest.SenderAttach(0, "amqps://depots.servicebus.windows.net/q"),
			"send through":           via,
			"send through, by host":  elsewhere,
			"receive":                amqptest.ReceiverAttach(0, "depots"),
			"receive, by host":       amqptest.ReceiverAttach(0, "sb://bus.example.org:5671/q"),
			"receive, unknown host":  amqptest.ReceiverAttach(0, "sb://order.localhost/q"),
			"manage":                 amqptest.SenderAttach(0, "depots/$management"),
			"manage, by host":        amqptest.SenderAttach(0, "sb://depots.localhost/q/$management"),
			"replies of $management": amqptest.ReceiverAttach(0, "sb://depots.localhost/q/$management"),
		} {
			p.Send(0, a)
			amqptest.Want[*frames.Attach](p)
			d := amqptest.Want[*frames.Detach](p)
			if d.Error == nil || d.Error.Condition != "amqp:not-found" {
				t.Errorf("%s: %+v", name, d.Error)
			}
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		}
		p.AttachSender(0, 1, "sb://orders.servicebus.windows.net/q")
		p.AttachSender(0, 2, "sb://orders.localhost/q/$management")
	})
}

func TestDEC11_TransactionsReachNoOtherNamespace(t *testing.T) {
	shopBubble(t, func(t *testing.T, b *bench) {
		p, other := b.at(t, "orders.localhost"), b.at(t, "depots.localhost")
		p.AttachSender(0, 1, "q")

		other.Begin(1)
		other.Send(1, controlAttach(7))
		amqptest.Want[*frames.Attach](other)
		amqptest.Want[*frames.Flow](other)
		txn := declare(t, other)
		tr := amqptest.Transfer(1, 0)
		tr.State = &frames.TransactionalState{TxnID: txn}
		p.Send(0, tr, amqptest.Message("x")...)
		wantOutcome(t, p, 0, "amqp:transaction:unknown-id")
		other.AttachSender(0, 3, "q")
		tr.Handle = 3
		other.Send(0, tr, amqptest.Message("x")...)
		if _, ok := nextDisposition(t, other).State.(*frames.TransactionalState); !ok {
			t.Error("the transaction does not work in its own namespace")
		}
		end(t, other, txn, false)
		if n := b.active(); n["orders"] != 0 || n["depots"] != 1 {
			t.Errorf("after the commit: %v", n)
		}
	})
}

func TestDEC11_LinesAndTraceTellWhich(t *testing.T) {
	var trace logBuffer
	set := func(o *amqpserver.Options) { o.Trace = &trace }
	shopBubble(t, func(t *testing.T, b *bench) {
		for _, host := range []string{"orders.localhost", "localhost"} {
			p := b.at(t, host)
			a := amqptest.ReceiverAttach(0, "nothing")
			p.Send(0, a)
			amqptest.Want[*frames.Attach](p)
			amqptest.Want[*frames.Detach](p)
		}
		for _, want := range []string{"namespace=orders operation=attach", "namespace=sbemulatorns operation=attach"} {
			if !strings.Contains(b.log.String(), want) {
				t.Errorf("no %q in the log:\n%s", want, b.log)
			}
		}
		for _, want := range []string{"c1@orders -> ch=0 begin", "c2@sbemulatorns <- ch=0 detach"} {
			if !strings.Contains(trace.String(), want) {
				t.Errorf("no %q in the trace:\n%s", want, trace.String())
			}
		}
	}, set)
	bubble(t, func(t *testing.T, b *bench) {
		p := b.at(t, "localhost")
		p.Send(0, amqptest.ReceiverAttach(0, "nothing"))
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Detach](p)
		if log := b.log.String(); strings.Contains(log, "namespace=") {
			t.Errorf("the log tells of the only namespace:\n%s", log)
		}
	})
}

func TestDEC11_QuotasAreTheirOwn(t *testing.T) { // QUO-12
	limits := emulator.ProfileEmulator
	synctest.Test(t, func(t *testing.T) {
		b := newBenchWith(t, emulator.Options{}, []extra{{"orders", emulator.NamespaceOptions{Limits: &limits}}})
		var peers []*amqptest.Peer
		for range 10 {
			b.at(t, "localhost")
			peers = append(peers, b.at(t, "orders.localhost"))
		}
		wantClosed(t, openAt(t, b.dial(), hosts{open: "orders.localhost"}), "amqp:resource-limit-exceeded",
			"namespace: orders.")
		b.at(t, "localhost")
		for _, p := range peers {
			p.Close()
		}
		synctest.Wait()
		b.at(t, "orders.localhost")
	})
}

// untilClose reads until the server's close and checks its condition.
func untilClose(t *testing.T, p *amqptest.Peer, condition, text string) {
	t.Helper()
	for {
		f, ok := p.Rest()
		if !ok {
			t.Fatal("the connection ended without a close")
		}
		if c, ok := f.Body.(*frames.Close); ok {
			if c.Error == nil || string(c.Error.Condition) != condition ||
				!strings.Contains(c.Error.Description, text) {
				t.Errorf("closed with %+v, want %s", c.Error, condition)
			}
			return
		}
	}
}

func TestDEC11_DeletingOneEndsItsConnectionsOnly(t *testing.T) {
	shopBubble(t, func(t *testing.T, b *bench) {
		var ends []*amqptest.Peer
		for range 3 {
			p := b.at(t, "orders.localhost")
			p.AttachSender(0, 0, "q")
			p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
			wantOutcome(t, p, 0, "")
			p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
			p.Send(0, amqptest.Flow(1, 0, 1))
			amqptest.Want[*frames.Transfer](p) // locked
			ends = append(ends, p)
		}
		stays := []*amqptest.Peer{b.at(t, "depots.localhost"), b.at(t, "localhost")}
		for _, p := range stays {
			p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
			p.Send(0, amqptest.Flow(1, 0, 1))
		}
		if err := b.broker.Delete("orders"); err != nil {
			t.Fatal(err)
		}
		for _, p := range ends {
			untilClose(t, p, "amqp:connection:forced", "The namespace 'orders' was deleted.")
		}
		wantClosed(t, openAt(t, b.dial(), hosts{open: "orders.localhost"}), "amqp:not-found",
			"'depots', 'sbemulatorns'.")
		for _, p := range stays {
			p.AttachSender(0, 0, "q")
			p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
			for range 2 { // the delivery and the outcome, in any order
				switch f := p.Next(); f.Body.(type) {
				case *frames.Transfer, *frames.Disposition:
				default:
					t.Errorf("got %+v", f.Body)
				}
			}
		}
		if _, err := b.broker.Create("orders", emulator.NamespaceOptions{}); err != nil {
			t.Fatal(err)
		}
		b.at(t, "orders.localhost")
	})
}

// TestDEC11_AnotherNamespaceLeavesConnectionsAlone makes one while a client is connected under a name that then is
// unknown.
func TestDEC11_AnotherNamespaceLeavesConnectionsAlone(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.at(t, "mine.servicebus.windows.net")
		p.AttachSender(0, 0, "$cbs")
		replyLink(p, 0, 1, "$cbs", "r", "r", 10)
		if _, err := b.broker.Create("orders", emulator.NamespaceOptions{}); err != nil {
			t.Fatal(err)
		}
		request(t, p, 0, 0, 0, signedToken("sb://mine.servicebus.windows.net/q", "r", "1"))
		if reply, _, _ := wantReply(t, p); reply.ApplicationProperties["status-code"] != int32(202) {
			t.Errorf("reply %v", reply.ApplicationProperties)
		}
		p.AttachSender(0, 2, "sb://mine.servicebus.windows.net/q")
		wantClosed(t, openAt(t, b.dial(), hosts{open: "mine.servicebus.windows.net"}), "amqp:not-found")
	})
}
