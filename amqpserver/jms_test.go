package amqpserver_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"
)

// provider is the property by which Azure's JMS client says what it is.
var provider = amqp.Pair{Key: amqp.Symbol("com.microsoft:is-client-provider"), Value: true}

// qpidDesires are the capabilities that a JMS client wants of a connection.
var qpidDesires = []amqp.Symbol{"sole-connection-for-container", "DELAYED_DELIVERY", "ANONYMOUS-RELAY", "SHARED-SUBS"}

// jmsOpen writes the open of a JMS client and returns the answer.
func (b *bench) jmsOpen(t testing.TB, clientID string, properties ...amqp.Pair) (*amqptest.Peer, *frames.Open) {
	t.Helper()
	p := b.peer(t)
	p.Raw(amqptest.HeaderAMQP)
	p.WantHeader(amqptest.HeaderAMQP)
	p.Send(0, &frames.Open{ContainerID: clientID, MaxFrameSize: p.MaxFrameSize, HasMaxFrameSize: true,
		DesiredCapabilities: qpidDesires, Properties: properties})
	return p, amqptest.Want[*frames.Open](p)
}

// jms returns a JMS client with a session on channel 0.
func (b *bench) jms(t testing.TB, clientID string, properties ...amqp.Pair) *amqptest.Peer {
	t.Helper()
	p, _ := b.jmsOpen(t, clientID, properties...)
	p.Begin(0)
	return p
}

// consumerAttach returns the attach of a JMS consumer.
func consumerAttach(handle uint32, name, address string, capabilities ...amqp.Symbol) *frames.Attach {
	a := amqptest.ReceiverAttach(handle, address)
	a.LinkName, a.Source.Capabilities, a.Source.ExpiryPolicy = name, capabilities, "link-detach"
	a.RcvSettleMode = 0
	return a
}

// durableAttach returns the attach of a consumer of a durable subscription.
func durableAttach(handle uint32, name, address string, capabilities ...amqp.Symbol) *frames.Attach {
	a := consumerAttach(handle, name, address, append(capabilities, "topic")...)
	a.Source.Durable, a.Source.ExpiryPolicy, a.Source.DistributionMode = 2, "never", "copy"
	return a
}

// selecting gives an attach a selector.
func selecting(a *frames.Attach, text string) *frames.Attach {
	a.Source.Filter = append(a.Source.Filter, amqp.Pair{Key: amqp.Symbol("jms-selector"),
		Value: amqp.Described{Descriptor: uint64(0x0000468C00000004), Value: text}})
	return a
}

// unsubscribeAttach returns the attach by which a client looks up the durable subscription that it wants to delete.
func unsubscribeAttach(handle uint32, name string, desired ...amqp.Symbol) *frames.Attach {
	a := amqptest.ReceiverAttach(handle, "")
	a.LinkName, a.Source, a.DesiredCapabilities = name, nil, desired
	return a
}

// temporaryAttach returns the attach that makes a temporary queue or topic.
func temporaryAttach(handle uint32, capability amqp.Symbol) *frames.Attach {
	a := amqptest.SenderAttach(handle, "")
	a.LinkName = fmt.Sprintf("qpid-jms:temp-creator:%d", handle)
	a.Target = &frames.Target{Dynamic: true, ExpiryPolicy: "link-detach", Capabilities: []amqp.Symbol{capability},
		DynamicNodeProperties: amqp.Map{{Key: amqp.Symbol("lifetime-policy"),
			Value: amqp.Described{Descriptor: uint64(0x2b), Value: amqp.List{}}}}}
	return a
}

// temporary makes a temporary queue or topic and returns its address.
func temporary(t testing.TB, p *amqptest.Peer, handle uint32, capability amqp.Symbol) string {
	t.Helper()
	p.Send(0, temporaryAttach(handle, capability))
	a := amqptest.Want[*frames.Attach](p)
	if a.Target == nil {
		t.Fatalf("refused: %v", amqptest.Want[*frames.Detach](p).Error)
	}
	amqptest.Want[*frames.Flow](p)
	if a.Target.Address == "" || !a.Target.Dynamic || !slices.Equal(a.Target.Capabilities, []amqp.Symbol{capability}) {
		t.Fatalf("answered with %+v", a.Target)
	}
	return a.Target.Address
}

// paths lists the entities of the namespace.
func (b *bench) paths() (paths []string) {
	for _, q := range b.ns.Entities().Queues() {
		paths = append(paths, q.Path())
	}
	for _, t := range b.ns.Entities().Topics() {
		paths = append(paths, t.Path())
		subs, _ := b.ns.Entities().Subscriptions(t.Path())
		for _, s := range subs {
			paths = append(paths, s.Path())
		}
	}
	slices.Sort(paths)
	return paths
}

// wantPaths fails the test unless these are the entities, once everything that is under way has ended.
func (b *bench) wantPaths(t testing.TB, want ...string) {
	t.Helper()
	synctest.Wait()
	slices.Sort(want)
	if got := b.paths(); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}

// news makes a topic "news" without subscriptions.
func (b *bench) news() {
	b.t.Helper()
	if _, err := b.ns.Entities().CreateTopic("news", emulator.TopicOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

// publish stores messages past the server, each with an application property n that is its index.
func (b *bench) publish(t testing.TB, path string, bodies ...string) {
	t.Helper()
	q, err := b.ns.Entity(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, body := range bodies {
		properties, m := amqp.BeginMap(amqp.AppendDescriptor(nil, 0x74))
		properties = amqp.EndMap(amqp.AppendInt(amqp.AppendString(properties, "n"), int32(i)), m, 1)
		scanned, err := message.Scan(append(properties, amqptest.Message(body)...))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		if err := q.Send([]message.Message{scanned}, emulator.CompletionFunc(func(err error) { done <- err })); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// drain grants credit and drains it. It returns the bodies that come before the answer.
func drain(t *testing.T, p *amqptest.Peer, handle, count, credit uint32) (bodies []string) {
	t.Helper()
	f := amqptest.Flow(handle, count, credit)
	f.Drain = true
	p.Send(0, f)
	for {
		switch f := p.Next(); body := f.Body.(type) {
		case nil:
		case *frames.Transfer:
			bodies = append(bodies, string(decode(t, f.Payload).GetData()))
		case *frames.Flow:
			if !body.Drain || body.LinkCredit != 0 {
				t.Errorf("answered the drain with %+v", body)
			}
			return bodies
		default:
			t.Fatalf("got %s", body.Name())
		}
	}
}

func TestJMS_TheOpenDecides(t *testing.T) { // jms 0, 1.1, 4
	all := []amqp.Symbol{"DELAYED_DELIVERY", "ANONYMOUS-RELAY", "SHARED-SUBS"}
	for _, c := range []struct {
		limits   emulator.Profile
		provider bool
		offered  []amqp.Symbol
		refused  bool
	}{
		{emulator.ProfileRelaxed, false, all, false},
		{emulator.ProfileRelaxed, true, []amqp.Symbol{"DELAYED_DELIVERY", "SHARED-SUBS"}, false},
		{emulator.ProfilePremium, true, []amqp.Symbol{"DELAYED_DELIVERY", "SHARED-SUBS"}, false},
		{emulator.ProfilePremium, false, nil, false},
		{emulator.ProfileStandard, false, nil, false},
		{emulator.ProfileEmulator, false, nil, false},
		{emulator.ProfileStandard, true, nil, true},
		{emulator.ProfileEmulator, true, nil, true},
	} {
		name, _ := c.limits.MarshalText()
		t.Run(fmt.Sprintf("%s, %t", name, c.provider), func(t *testing.T) {
			limitedTo(t, c.limits, func(t *testing.T, b *bench) {
				var properties []amqp.Pair
				if c.provider {
					properties = append(properties, provider)
				}
				p, o := b.jmsOpen(t, "id", properties...)
				if !slices.Equal(o.OfferedCapabilities, c.offered) {
					t.Errorf("offered %v, want %v", o.OfferedCapabilities, c.offered)
				}
				failed, _ := o.Properties.Get("amqp:connection-establishment-failed")
				if (failed == true) != c.refused {
					t.Errorf("the open's properties are %v", o.Properties)
				}
				if !c.refused {
					p.Begin(0)
					return
				}
				e := amqptest.Want[*frames.Close](p).Error
				const text = "Full JMS 2.0 parity over AMQP is a feature supported only by a Premium Messaging namespace."
				if e == nil || e.Condition != "amqp:not-implemented" || !strings.HasPrefix(e.Description, text+" TrackingId:") {
					t.Errorf("closed with %v", e)
				}
			})
		})
	}
}

func TestJMS_SDKsAreOfferedNothing(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		if o := b.peer(t).Open(); len(o.OfferedCapabilities) > 0 || len(o.Properties) > 0 {
			t.Errorf("open %+v", o)
		}
	})
}

func TestJMS1_AReceiverFromATopicIsTheSubscriptionNamedLikeTheLink(t *testing.T) {
	for _, limits := range []emulator.Profile{emulator.ProfileStandard, emulator.ProfilePremium, emulator.ProfileRelaxed} {
		limitedTo(t, limits, func(t *testing.T, b *bench) {
			b.topic()
			p := b.jms(t, "id")
			a := p.AttachReceiver(0, durableAttach(0, "s", "t"))
			if a.Source.Durable != 2 || a.Source.DistributionMode != "copy" || a.Source.Address != "t" {
				t.Errorf("answered with %+v", a.Source)
			}
			b.publish(t, "t", "x")
			p.Send(0, amqptest.Flow(0, 0, 10))
			tr := wantBody(t, p, "x")
			if tr.Settled {
				t.Error("the message is not locked")
			}
			p.Send(0, &frames.Disposition{Role: frames.RoleReceiver, First: tr.DeliveryID, State: &frames.Accepted{}})
			amqptest.Want[*frames.Disposition](p)
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			amqptest.Want[*frames.Detach](p)
			b.wantPaths(t, "q", "t", "t/Subscriptions/s")
			if limits == emulator.ProfileRelaxed {
				return
			}
			const link = "qpid-jms:receiver:ID:1:1:1:t"
			text := wantRefused(t, p, consumerAttach(1, link, "t", "topic"), "amqp:not-found")
			if !strings.Contains(text, "'sbemulatorns:Topic:t|"+link+"' could not be found") {
				t.Errorf("refused with %q", text)
			}
			// A name can't lead to another topic's subscription.
			wantRefused(t, p, consumerAttach(1, "x/Subscriptions/s", "t", "topic"), "amqp:not-implemented")
		})
	}
}

func TestJMS4_WhatIsPublishedAfterTheAttachArrives(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		p := b.jms(t, "ID:1")
		a := consumerAttach(0, "qpid-jms:receiver:1", "news", "topic")
		p.Send(0, a)
		p.Send(0, amqptest.Flow(0, 0, 10)) // some clients don't wait for the answer
		if answer := amqptest.Want[*frames.Attach](p); answer.Source == nil {
			t.Fatalf("refused: %v", amqptest.Want[*frames.Detach](p).Error)
		}
		b.publish(t, "news", "x")
		wantBody(t, p, "x")
		if got := len(b.paths()); got != 3 {
			t.Errorf("there are %q", b.paths())
		}
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
		b.wantPaths(t, "news", "q") // before the answer
	})
}

// ending is a way in which a consumer ends.
type ending struct {
	name    string
	deletes bool // a durable subscription
	end     func(*amqptest.Peer)
}

var endings = []ending{
	{"detach", false, func(p *amqptest.Peer) {
		p.Send(0, &frames.Detach{Handle: 0})
		if amqptest.Want[*frames.Detach](p).Error != nil {
			panic("detached with an error")
		}
	}},
	{"closed link", true, func(p *amqptest.Peer) {
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
	}},
	{"ended session", false, func(p *amqptest.Peer) { p.Send(0, &frames.End{}); amqptest.Want[*frames.End](p) }},
	{"closed connection", false, func(p *amqptest.Peer) { p.Send(0, &frames.Close{}); amqptest.Want[*frames.Close](p) }},
	{"lost connection", false, func(p *amqptest.Peer) { p.Close() }},
}

func TestJMS_EndsOfSubscriptions(t *testing.T) { // jms 1.3
	for _, kind := range []struct {
		name    string
		attach  *frames.Attach
		durable bool
	}{
		{"unshared volatile", consumerAttach(0, "qpid-jms:receiver:ID:1", "news", "topic"), false},
		{"shared volatile", consumerAttach(0, "sub|volatile1", "news", "topic", "shared"), false},
		{"shared volatile without client id",
			consumerAttach(0, "sub|global-volatile1", "news", "topic", "shared", "global"), false},
		{"unshared durable", durableAttach(0, "sub", "news"), true},
		{"shared durable", durableAttach(0, "sub|1", "news", "shared"), true},
		{"shared durable without client id", durableAttach(0, "sub|global", "news", "shared", "global"), true},
	} {
		for _, e := range endings {
			t.Run(kind.name+", "+e.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					b.news()
					p := b.jms(t, "id")
					answer := p.AttachReceiver(0, kind.attach)
					if answer.Source.Durable != kind.attach.Source.Durable ||
						answer.Source.ExpiryPolicy != kind.attach.Source.ExpiryPolicy ||
						!slices.Equal(answer.Source.Capabilities, kind.attach.Source.Capabilities) {
						t.Errorf("answered with %+v", answer.Source)
					}
					paths := b.paths()
					if len(paths) != 3 {
						t.Fatalf("there are %q", paths)
					}
					e.end(p)
					if kind.durable && !e.deletes {
						b.wantPaths(t, paths...)
					} else {
						b.wantPaths(t, "news", "q")
					}
				})
			})
		}
	}
}

func TestJMS_ADetachedDurableConsumerIsResumed(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		p := b.jms(t, "id")
		p.AttachReceiver(0, durableAttach(0, "sub", "news"))
		p.Send(0, &frames.Detach{Handle: 0})
		if amqptest.Want[*frames.Detach](p).Closed {
			t.Error("a detach that leaves a subscription behind is answered as closed")
		}
		b.publish(t, "news", "x")
		p.AttachReceiver(0, durableAttach(0, "sub", "news"))
		p.Send(0, amqptest.Flow(0, 0, 10))
		wantBody(t, p, "x")
	})
}

func TestJMS7_AnActiveConsumerKeepsOthersOut(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		first, second := b.jms(t, "id"), b.jms(t, "id")
		first.AttachReceiver(0, durableAttach(0, "sub", "news"))
		text := wantRefused(t, second, durableAttach(0, "sub", "news"), "amqp:not-allowed")
		if !strings.HasPrefix(text, "Cannot create a new consumer on subscriber sub$id$D because there is already a "+
			"subscriber using the same name with an active consumer on the same or different topic.") {
			t.Errorf("refused with %q", text)
		}
		first.Send(0, &frames.Detach{Handle: 0})
		amqptest.Want[*frames.Detach](first)
		second.AttachReceiver(0, durableAttach(0, "sub", "news"))
		other := b.jms(t, "other") // has a subscription of its own
		other.AttachReceiver(0, durableAttach(0, "sub", "news"))
		b.wantPaths(t, "news", "news/Subscriptions/sub$id$D", "news/Subscriptions/sub$other$D", "q")
	})
}

func TestJMS2_SharedConsumersShare(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		p, other := b.jms(t, "id"), b.jms(t, "id")
		p.AttachReceiver(0, durableAttach(0, "sub|1", "news", "shared"))
		p.AttachReceiver(0, durableAttach(1, "sub|2", "news", "shared"))
		other.AttachReceiver(0, durableAttach(0, "sub|1", "news", "shared"))
		b.wantPaths(t, "news", "news/Subscriptions/sub$id$D", "q")
		b.publish(t, "news", numbered(9)...)
		total := len(drain(t, p, 0, 0, 3)) + len(drain(t, p, 1, 0, 3)) + len(drain(t, other, 0, 0, 5))
		if total != 9 {
			t.Errorf("received %d messages", total)
		}
		// Closing deletes, but not under others.
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		if d := amqptest.Want[*frames.Detach](p); d.Error == nil || d.Error.Condition != "amqp:not-allowed" {
			t.Errorf("detached with %v", d.Error)
		}
		b.wantPaths(t, "news", "news/Subscriptions/sub$id$D", "q")
	})
}

func TestJMS_Unsubscribe(t *testing.T) { // jms 1.2
	for _, c := range []struct {
		attach *frames.Attach
		look   *frames.Attach
	}{
		{durableAttach(0, "sub", "news"), unsubscribeAttach(1, "sub")},
		{durableAttach(0, "sub|1", "news", "shared"), unsubscribeAttach(1, "sub")},
		{durableAttach(0, "sub|global", "news", "shared", "global"),
			unsubscribeAttach(1, "sub|global", "shared", "global")},
	} {
		bubble(t, func(t *testing.T, b *bench) {
			b.news()
			p := b.jms(t, "id")
			wantRefused(t, p, c.look, "amqp:not-found")
			p.AttachReceiver(0, c.attach)
			for _, active := range []bool{true, false} {
				p.Send(0, c.look)
				a := amqptest.Want[*frames.Attach](p)
				if a.Source == nil || a.Source.Durable != 2 || a.Source.ExpiryPolicy != "never" ||
					a.Source.DistributionMode != "copy" || !slices.Contains(a.Source.Capabilities, "topic") {
					t.Fatalf("answered with %+v", a.Source)
				}
				p.Send(0, &frames.Detach{Handle: 1, Closed: true})
				if d := amqptest.Want[*frames.Detach](p); (d.Error != nil) != active {
					t.Errorf("detached with %v", d.Error)
				}
				if active {
					p.Send(0, &frames.Detach{Handle: 0})
					amqptest.Want[*frames.Detach](p)
				}
			}
			b.wantPaths(t, "news", "q")
			wantRefused(t, p, c.look, "amqp:not-found")
		})
	}
}

// A client that names another's id gets at nothing on which it has no right, and does not learn what there is.
func TestJMS8_AnotherTopicsSubscriptionNeedsItsOwnRight(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		if _, err := b.ns.Entities().CreateTopic("sports", emulator.TopicOptions{}); err != nil {
			t.Fatal(err)
		}
		client := func(audience string) *amqptest.Peer {
			p := b.jms(t, "victim")
			p.AttachSender(0, 0, "$cbs")
			replyLink(p, 0, 1, "$cbs", "r", "r", 1000)
			wantPut(t, p, 0, signedBy("all", audience, in(time.Hour), "1"), 202, "Accepted")
			return p
		}
		victim := client("sb://localhost/news")
		victim.AttachReceiver(0, durableAttach(2, "sub", "news"))
		victim.Send(0, &frames.Detach{Handle: 2})
		amqptest.Want[*frames.Detach](victim)

		thief := client("sb://localhost/sports")
		wantRefused(t, thief, durableAttach(2, "sub", "sports"), "amqp:not-allowed")
		there := wantRefused(t, thief, unsubscribeAttach(3, "sub"), "amqp:unauthorized-access")
		absent := wantRefused(t, thief, unsubscribeAttach(4, "none"), "amqp:unauthorized-access")
		if strings.Contains(there, "news") || strings.Contains(absent, "none") {
			t.Errorf("refused with %q and %q", there, absent)
		}
		b.wantPaths(t, "news", "news/Subscriptions/sub$victim$D", "q", "sports")
	}, checked)
}

func TestJMS_ALookUpDeletesNothing(t *testing.T) {
	for _, e := range endings {
		if e.deletes {
			continue
		}
		bubble(t, func(t *testing.T, b *bench) {
			b.news()
			p := b.jms(t, "id")
			p.AttachReceiver(0, durableAttach(0, "sub", "news"))
			p.Send(0, &frames.Detach{Handle: 0})
			amqptest.Want[*frames.Detach](p)
			p.Send(0, unsubscribeAttach(0, "sub"))
			amqptest.Want[*frames.Attach](p)
			e.end(p)
			b.wantPaths(t, "news", "news/Subscriptions/sub$id$D", "q")
		})
	}
}

func TestJMS_TemporaryQueues(t *testing.T) { // jms 1.2, 1.3
	for _, capability := range []amqp.Symbol{"temporary-queue", "temporary-topic"} {
		for _, e := range endings {
			t.Run(string(capability)+", "+e.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					p := b.jms(t, "ID:1")
					address := temporary(t, p, 0, capability)
					p.Send(0, consumerAttach(1, "qpid-jms:receiver:1", address, capability, capabilityOf(capability)))
					amqptest.Want[*frames.Attach](p)
					replier := b.jms(t, "ID:2")
					replier.AttachSender(0, 0, address)
					replier.Send(0, amqptest.Transfer(0, 0), amqptest.Message("reply")...)
					amqptest.Want[*frames.Disposition](replier)
					p.Send(0, amqptest.Flow(1, 0, 1))
					wantBody(t, p, "reply")
					if e.name == "detach" || e.name == "closed link" { // its consumer first, as a client does
						p.Send(0, &frames.Detach{Handle: 1, Closed: true})
						amqptest.Want[*frames.Detach](p)
					}
					e.end(p)
					b.wantPaths(t, "q")
					if d := amqptest.Want[*frames.Detach](replier); d.Error == nil || d.Error.Condition != "amqp:not-found" {
						t.Errorf("the replier is detached with %v", d.Error)
					}
					wantRefused(t, b.jms(t, "ID:3"), amqptest.SenderAttach(0, address), "amqp:not-found")
				})
			})
		}
	}
}

// capabilityOf returns the capability of a consumer of a temporary destination, which some clients add.
func capabilityOf(temporary amqp.Symbol) amqp.Symbol {
	return amqp.Symbol(strings.TrimPrefix(string(temporary), "temporary-"))
}

func TestJMS_ATemporaryQueueNeverIdles(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.jms(t, "ID:1")
		address := temporary(t, p, 0, "temporary-queue")
		for range 60 {
			p.WantSilence(15 * time.Second)
			p.Raw(frames.Heartbeat)
		}
		b.wantPaths(t, address, "q")
	})
}

func TestJMS_OtherLifetimesAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		a := temporaryAttach(0, "temporary-queue")
		a.Target.DynamicNodeProperties[0].Value = amqp.Described{Descriptor: uint64(0x2c), Value: amqp.List{}}
		wantRefused(t, b.jms(t, "id"), a, "amqp:not-implemented")
	})
}

func TestJMS_EndsWhileTheAttachIsUnderWay(t *testing.T) {
	for name, attach := range map[string]*frames.Attach{
		"temporary": temporaryAttach(0, "temporary-queue"),
		"volatile":  consumerAttach(0, "qpid-jms:receiver:1", "news", "topic"),
	} {
		for _, e := range endings[1:] {
			t.Run(name+", "+e.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					b.news()
					p := b.jms(t, "ID:1")
					b.journal.Pause()
					p.Send(0, attach)
					synctest.Wait()
					switch e.name {
					case "closed link":
						p.Send(0, &frames.Detach{Handle: 0, Closed: true})
						if a := amqptest.Want[*frames.Attach](p); a.Source != nil || a.Target != nil {
							t.Errorf("answered with %+v", a)
						}
						amqptest.Want[*frames.Detach](p)
					default:
						e.end(p)
					}
					b.journal.Resume()
					b.wantPaths(t, "news", "q")
				})
			})
		}
	}
}

func TestJMS_ThousandsOfTemporaryQueues(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.jms(t, "ID:1")
		const n = 1000
		for i := range uint32(n) {
			p.Send(0, temporaryAttach(i, "temporary-queue"))
			if i%2 == 0 {
				p.Send(0, &frames.Detach{Handle: i, Closed: true})
			}
		}
		synctest.Wait()
		if got := len(b.paths()) - 1; got != n/2 {
			t.Errorf("there are %d temporary queues, want %d", got, n/2)
		}
		p.Close()
		b.wantPaths(t, "q")
	})
}

// attachRelay attaches a sender without an address on handle 0.
func attachRelay(p *amqptest.Peer) {
	a := amqptest.SenderAttach(0, "")
	a.Target = &frames.Target{}
	p.Send(0, a)
	amqptest.Want[*frames.Attach](p)
	amqptest.Want[*frames.Flow](p)
}

// addressed returns a message that names its queue or topic.
func addressed(to any) []byte {
	properties, m := amqp.BeginList(amqp.AppendDescriptor(nil, 0x73))
	properties = amqp.AppendNull(amqp.AppendNull(properties))
	properties, _ = amqp.AppendValue(properties, to)
	return append(amqp.EndList(properties, m, 3), amqptest.Message("x")...)
}

func TestJMS_Relay(t *testing.T) { // jms 1.2
	bubble(t, func(t *testing.T, b *bench) {
		b.topic()
		p := b.jms(t, "id")
		attachRelay(p)
		for i, c := range []struct {
			to        any
			condition amqp.Symbol
		}{
			{"q", ""}, {"amqp://localhost/t", ""}, {"nosuch", "amqp:not-found"}, {nil, "amqp:not-found"},
			{"q/$DeadLetterQueue", "amqp:not-allowed"}, {"$cbs", "amqp:not-found"}, {"q", ""},
		} {
			p.Send(0, amqptest.Transfer(0, uint32(i)), addressed(c.to)...)
			d := amqptest.Want[*frames.Disposition](p)
			rejected, ok := d.State.(*frames.Rejected)
			switch {
			case ok && (c.condition == "" || rejected.Error.Condition != c.condition):
				t.Errorf("to %v: %v", c.to, rejected.Error)
			case !ok && c.condition != "":
				t.Errorf("to %v: %s", c.to, d.State.Name())
			}
		}
		b.wantReceivable(t, "q", 2)
		b.wantReceivable(t, "t/Subscriptions/s", 1)
	})
}

// TestJMS_RefusalsOfARelayNameTheirEntity: not that of the message before or behind.
func TestJMS_RefusalsOfARelayNameTheirEntity(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("q2", emulator.QueueOptions{})
		p := b.jms(t, "id")
		attachRelay(p)
		p.Send(0, amqptest.Transfer(0, 0), addressed("q2")...)
		wantOutcome(t, p, 0, "")
		for id, c := range []struct {
			to                any
			condition, entity string
		}{
			{nil, "amqp:not-found", `""`}, {"nosuch", "amqp:not-found", "nosuch"},
			{"q/$DeadLetterQueue", "amqp:not-allowed", "q"},
		} {
			p.Send(0, amqptest.Transfer(0, uint32(id+1)), addressed(c.to)...)
			wantOutcome(t, p, uint32(id+1), amqp.Symbol(c.condition))
			if line := "entity=" + c.entity + " condition=" + c.condition; !strings.Contains(b.log.String(), line) {
				t.Errorf("to %v: the log does not have %q:\n%s", c.to, line, b.log)
			}
		}

		b.journal.Pause() // the first message fails after the second has come
		p.Send(0, amqptest.Transfer(0, 4), addressed("q")...)
		synctest.Wait()
		p.Send(0, amqptest.Transfer(0, 5), addressed("q2")...)
		synctest.Wait()
		b.journal.FailNext(1, fmt.Errorf("the disk is broken"))
		b.journal.Resume()
		wantOutcome(t, p, 4, "amqp:internal-error")
		if !strings.Contains(b.log.String(), "entity=q condition=amqp:internal-error") {
			t.Errorf("the log does not name the entity of the message whose commit failed:\n%s", b.log)
		}
	})
}

func TestJMS3_SelectorOnAQueue(t *testing.T) { // jms 2, JMS-3
	bubble(t, func(t *testing.T, b *bench) {
		b.publish(t, "q", numbered(10)...)
		p := b.jms(t, "id")
		a := p.AttachReceiver(0, selecting(consumerAttach(0, "c", "q", "queue"), "n > 6"))
		if len(a.Source.Filter) != 1 || a.Source.Filter[0].Key != amqp.Symbol("jms-selector") {
			t.Errorf("the answer has the filter %v", a.Source.Filter)
		}
		if l := linkTo(t, b.only(t), "q"); l.Selector != "n > 6" || l.Browses {
			t.Errorf("the link is shown as %+v", l)
		}
		if got := drain(t, p, 0, 0, 10); !slices.Equal(got, []string{"7", "8", "9"}) {
			t.Errorf("selected %q", got)
		}
		p.AttachReceiver(0, consumerAttach(1, "plain", "q", "queue"))
		if got := drain(t, p, 1, 0, 10); !slices.Equal(got, numbered(7)) {
			t.Errorf("the others are %q", got)
		}
	})
}

// TestJMS_ADrainWaitsForTheSearch: what waits deep in a queue is found before the answer, even on disk.
func TestJMS_ADrainWaitsForTheSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBenchFor(t, emulator.Options{BodyBudget: 1})
		b.publish(t, "q", numbered(1000)...)
		p := b.jms(t, "id")
		p.AttachReceiver(0, selecting(consumerAttach(0, "c", "q", "queue"), "n = 999"))
		if got := drain(t, p, 0, 0, 2); !slices.Equal(got, []string{"999"}) {
			t.Errorf("selected %q", got)
		}
	})
}

// gatedLog is a log whose lines wait for its gate, if it has one: the loop that writes one goes on once that is closed.
type gatedLog struct{ gate atomic.Pointer[chan struct{}] }

func (l *gatedLog) Write(b []byte) (int, error) {
	if gate := l.gate.Load(); gate != nil {
		<-*gate
	}
	return len(b), nil
}

// TestJMS4_ASubscriptionThatIsReplacedBeforeTheAnswer: the consumer must not get what another one selects.
func TestJMS4_ASubscriptionThatIsReplacedBeforeTheAnswer(t *testing.T) {
	log := new(gatedLog)
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		p := b.jms(t, "id")
		p.AttachSender(0, 1, "q")
		b.journal.Pause()
		p.Send(0, selecting(durableAttach(0, "d", "news"), "n = 0"))
		synctest.Wait()
		gate := make(chan struct{})
		log.gate.Store(&gate)
		p.Send(0, &frames.Detach{Handle: 1, Closed: true}) // its line holds the loop
		time.Sleep(time.Second)
		b.journal.Resume()
		time.Sleep(time.Second)
		if err := b.ns.Entities().Delete("news/Subscriptions/d$id$D"); err != nil {
			t.Fatal(err)
		}
		other := emulator.SubscribeOptions{Name: "d", ClientID: "id", Durable: true, Selector: "n = 1"}
		if _, err := b.ns.Subscribe("news", other); err != nil {
			t.Fatal(err)
		}
		close(gate)
		amqptest.Want[*frames.Detach](p) // of the sender
		if a := amqptest.Want[*frames.Attach](p); a.Source != nil {
			t.Fatalf("the consumer gets a subscription with another selector: %+v", a.Source)
		}
		if d := amqptest.Want[*frames.Detach](p); d.Error == nil || d.Error.Condition != amqp.CondNotFound {
			t.Errorf("refused with %v", d.Error)
		}
		b.wantPaths(t, "news", "news/Subscriptions/d$id$D", "q")
	}, func(o *amqpserver.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
}

func TestJMS_SelectorsThatCantBeRead(t *testing.T) { // jms 1.5
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		p := b.jms(t, "id")
		for _, a := range []*frames.Attach{
			consumerAttach(0, "c", "q", "queue"), consumerAttach(0, "c", "news", "topic"),
		} {
			wantRefused(t, p, selecting(a, "n >"), "amqp:invalid-field")
			a.Source.Filter[0].Value = amqp.Described{Descriptor: uint64(0x0000468C00000004), Value: int32(1)}
			wantRefused(t, p, a, "amqp:invalid-field")
			a.Source.Filter[0].Value = amqp.Described{Descriptor: uint64(0x0000468C00000004), Value: "  "} // none
			if got := p.AttachReceiver(0, a); len(got.Source.Filter) > 0 {
				t.Errorf("the answer has the filter %v", got.Source.Filter)
			}
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			amqptest.Want[*frames.Detach](p)
		}
		b.wantPaths(t, "news", "q")
	})
}

func TestJMS_HostileSelectors(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.publish(t, "q", "x")
		for name, text := range map[string]string{
			"parentheses": strings.Repeat("(", 60_000), "NOTs": strings.Repeat("NOT ", 15_000) + "n = 1",
			"a quotation mark": "n = 'x", "ORs": strings.Repeat("n = 1 OR ", 6_000) + "n = 1",
			"a list": "s IN ('x'" + strings.Repeat(",'y'", 14_000) + ")", "signs": "n = " + strings.Repeat("-", 60_000) + "1",
		} {
			p := b.jms(t, "id")
			p.Send(0, selecting(consumerAttach(0, "c", "q", "queue"), text))
			if a := amqptest.Want[*frames.Attach](p); a.Source == nil {
				if d := amqptest.Want[*frames.Detach](p); d.Error == nil || d.Error.Condition != "amqp:invalid-field" {
					t.Errorf("%s: refused with %v", name, d.Error)
				}
				continue
			}
			drain(t, p, 0, 0, 1)
			p.Close()
		}
	})
}

func TestJMS_NoLocalHasNoEffect(t *testing.T) { // jms 1.2
	bubble(t, func(t *testing.T, b *bench) {
		a := consumerAttach(0, "c", "q", "queue")
		a.Source.Filter = amqp.Map{{Key: amqp.Symbol("no-local"),
			Value: amqp.Described{Descriptor: uint64(0x0000468C00000003), Value: "NoLocalFilter{}"}}}
		if got := b.jms(t, "id").AttachReceiver(0, a); len(got.Source.Filter) > 0 {
			t.Errorf("the answer has the filter %v", got.Source.Filter)
		}
	})
}

func TestJMS_Browser(t *testing.T) { // jms 1.4, 5.3
	bubble(t, func(t *testing.T, b *bench) {
		b.publish(t, "q", numbered(100)...)
		p := b.jms(t, "id")
		p.AttachReceiver(0, consumerAttach(1, "locks", "q", "queue"))
		if got := drain(t, p, 1, 0, 3); len(got) != 3 {
			t.Fatalf("received %q", got)
		}
		a := consumerAttach(0, "browser", "q", "queue")
		a.Source.DistributionMode, a.SndSettleMode, a.HasSndSettleMode = "copy", 1, true
		if got := p.AttachReceiver(0, a); got.Source.DistributionMode != "copy" {
			t.Errorf("answered with %+v", got.Source)
		}
		for i := range uint32(100) { // one by one, as azure-servicebus-jms does
			if got := drain(t, p, 0, i, 1); len(got) != 1 || got[0] != fmt.Sprint(i) {
				t.Fatalf("message %d is %q", i, got)
			}
		}
		for range 3 {
			if got := drain(t, p, 0, 100, 1); len(got) > 0 {
				t.Fatalf("at the end there is %q", got)
			}
		}
		b.wantReceivable(t, "q", 64)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
	})
}

func TestJMS_BrowserWithAPrefetch(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.publish(t, "q", numbered(200)...)
		p := b.jms(t, "id")
		a := selecting(consumerAttach(0, "browser", "q", "queue"), "n >= 50")
		a.Source.DistributionMode, a.SndSettleMode, a.HasSndSettleMode = "copy", 1, true
		p.AttachReceiver(0, a)
		if got := drain(t, p, 0, 0, 1000); !slices.Equal(got, numbered(200)[50:]) {
			t.Errorf("browsed %q", got)
		}
		if l := linkTo(t, b.only(t), "q"); l.Selector != "n >= 50" || !l.Browses || !l.Receives || l.Unsettled != 0 {
			t.Errorf("the link is shown as %+v", l)
		}
	})
}

// TestJMS_LargeMessagesAreBrowsed one by one, as there is memory for them.
func TestJMS_LargeMessagesAreBrowsed(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 10 << 10})
		large := strings.Repeat("x", 3<<20)
		b.publish(t, "large", "first", large, large, "last")
		p := b.jms(t, "id")
		for _, selects := range []bool{false, true} {
			a := consumerAttach(0, "browser", "large", "queue")
			a.Source.DistributionMode, a.SndSettleMode, a.HasSndSettleMode = "copy", 1, true
			if selects {
				selecting(a, "n > 0")
			}
			p.AttachReceiver(0, a)
			f := amqptest.Flow(0, 0, 10)
			f.Drain = true
			p.Send(0, f)
			messages := 0
			for drained := false; !drained; {
				switch body := p.Next().Body.(type) {
				case *frames.Transfer:
					if !body.More {
						messages++
					}
				case *frames.Flow:
					drained = true
				}
			}
			if want := map[bool]int{false: 4, true: 3}[selects]; messages != want {
				t.Errorf("browsed %d messages, want %d", messages, want)
			}
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			amqptest.Want[*frames.Detach](p)
		}
	}, func(o *amqpserver.Options) { o.LargeBytes = 8 << 20 })
}

func TestJMS_EntitiesAreMadeAtAttach(t *testing.T) { // jms 3
	limitedTo(t, emulator.ProfilePremium, func(t *testing.T, b *bench) {
		p := b.jms(t, "id", provider, amqp.Pair{
			Key: amqp.Symbol("com.microsoft:queue-auto-delete-on-idle-duration-in-seconds"), Value: int64(600)})
		sender := func(address string, capability amqp.Symbol) *frames.Attach {
			a := amqptest.SenderAttach(0, address)
			a.Target.Capabilities = []amqp.Symbol{capability}
			return a
		}
		p.Send(0, sender("made", "queue"))
		if amqptest.Want[*frames.Attach](p).Target == nil {
			t.Fatalf("refused: %v", amqptest.Want[*frames.Detach](p).Error)
		}
		amqptest.Want[*frames.Flow](p)
		p.AttachReceiver(0, consumerAttach(1, "c", "other", "queue"))
		p.AttachReceiver(0, consumerAttach(2, "c2", "events", "topic"))
		synctest.Wait()
		if got := b.paths(); len(got) != 5 || got[0] != "events" || got[2] != "made" || got[3] != "other" {
			t.Errorf("there are %q", got)
		}
		q, err := b.ns.Entity("made")
		if err != nil || q.Options().AutoDeleteOnIdle != 10*time.Minute {
			t.Errorf("made with %+v, %v", q.Options(), err)
		}
		for _, a := range []*frames.Attach{
			sender("gone", "temporary-queue"), sender("t/Subscriptions/s", "queue"),
			sender("jms-temp-0d3aa3b9-7c8a-4a0c-9e56-3f1c0c3a9d11", "queue"), amqptest.SenderAttach(0, "gone"),
			consumerAttach(0, "c", "gone/$DeadLetterQueue", "queue"), consumerAttach(0, "c", "gone", "temporary-topic"),
		} {
			a.Handle = 3
			wantRefused(t, p, a, "amqp:not-found")
		}
		plain := b.jms(t, "id")
		wantRefused(t, plain, sender("gone", "queue"), "amqp:not-found")
	})
}

func TestSCHED5_DeliveryTimeOfJMSSchedules(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.jms(t, "id")
		a := amqptest.SenderAttach(0, "q")
		a.DesiredCapabilities = []amqp.Symbol{"DELAYED_DELIVERY"}
		p.Send(0, a)
		if got := amqptest.Want[*frames.Attach](p); !slices.Equal(got.OfferedCapabilities, a.DesiredCapabilities) {
			t.Errorf("offered %v", got.OfferedCapabilities)
		}
		amqptest.Want[*frames.Flow](p)
		due := time.Now().Add(time.Minute)
		annotations, m := amqp.BeginMap(amqp.AppendDescriptor(nil, 0x72))
		annotations = amqp.AppendLong(amqp.AppendSymbol(annotations, "x-opt-delivery-time"), due.UnixMilli())
		annotations = amqp.EndMap(annotations, m, 1)
		p.Send(0, amqptest.Transfer(0, 0), append(annotations, amqptest.Message("x")...)...)
		amqptest.Want[*frames.Disposition](p)
		b.wantReceivable(t, "q", 0)
		time.Sleep(time.Until(due))
		synctest.Wait()
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
		p.Send(0, amqptest.Flow(1, 0, 1))
		_, payload := amqptest.WantPayload[*frames.Transfer](p)
		if got := decode(t, payload).Annotations["x-opt-delivery-time"]; got != due.UnixMilli() {
			t.Errorf("the delivery time is %v, want %v", got, due.UnixMilli())
		}
	})
}

// forget settles a delivery in a transaction as a JMS client does, which settles at once.
func forget(p *amqptest.Peer, txn []byte, id uint32) {
	p.Send(0, &frames.Disposition{Role: frames.RoleReceiver, First: id, Settled: true,
		State: &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}}})
}

func TestJMS5_ARollbackGivesUpWhatTheClientHasForgotten(t *testing.T) {
	for name, over := range map[string]func(*testing.T, *bench, *amqptest.Peer, []byte){
		"rollback": func(t *testing.T, _ *bench, p *amqptest.Peer, txn []byte) { end(t, p, txn, true) },
		"failed commit": func(t *testing.T, b *bench, p *amqptest.Peer, txn []byte) {
			b.journal.FailNext(1, fmt.Errorf("the disk is full"))
			if state := discharge(t, p, txn, false); state.Name() != "rejected" {
				t.Errorf("discharged with %s", state.Name())
			}
		},
		"control link lost": func(t *testing.T, _ *bench, p *amqptest.Peer, _ []byte) {
			p.Send(1, &frames.Detach{Handle: 7, Closed: true})
			amqptest.Want[*frames.Detach](p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				b.publish(t, "q", "x")
				p := b.controlled(t)
				p.AttachReceiver(0, consumerAttach(0, "c", "q", "queue"))
				for n := range uint32(10) { // the maximum delivery count
					p.Send(0, amqptest.Flow(0, n, 1))
					tr, payload := amqptest.WantPayload[*frames.Transfer](p.Within(10 * time.Second)) // the journal gets some time
					if m := decode(t, payload); m.Header == nil || m.Header.DeliveryCount != n {
						t.Fatalf("delivered with %+v, want a count of %d", m.Header, n)
					}
					txn := declare(t, p)
					forget(p, txn, tr.DeliveryID)
					over(t, b, p, txn)
					if name == "control link lost" {
						p.Send(1, controlAttach(7))
						amqptest.Want[*frames.Attach](p)
						amqptest.Want[*frames.Flow](p)
					}
				}
				q, _ := b.ns.Entity("q")
				time.Sleep(10 * time.Second)
				if c := q.Counts(); c.DeadLetter != 1 || c.Active != 0 {
					t.Errorf("counts %+v", c)
				}
			})
		})
	}
}

// TestJMS5_ATransactionThatTakesNothingGivesUpWhatTheClientHasForgotten: the link ends, and with it the locks of all
// that the client has settled, while another consumer gets the messages at once.
func TestJMS5_ATransactionThatTakesNothingGivesUpWhatTheClientHasForgotten(t *testing.T) {
	const unknown = "amqp:transaction:unknown-id"
	for name, c := range map[string]struct {
		condition amqp.Symbol
		over      func(*testing.T, *amqptest.Peer) (txn []byte)
	}{
		"never declared": {unknown, func(*testing.T, *amqptest.Peer) []byte { return []byte("nobody's") }},
		"discharged": {unknown, func(t *testing.T, p *amqptest.Peer) []byte {
			txn := declare(t, p)
			end(t, p, txn, false)
			return txn
		}},
		"control link lost": {unknown, func(t *testing.T, p *amqptest.Peer) []byte {
			txn := declare(t, p)
			p.Send(1, &frames.Detach{Handle: 7, Closed: true})
			amqptest.Want[*frames.Detach](p)
			return txn
		}},
		"timed out": {"amqp:transaction:timeout", func(t *testing.T, p *amqptest.Peer) []byte {
			txn := declare(t, p)
			p.AttachSender(0, 2, "long")
			sendWithin(t, p, txn, 2, 0, "y")
			time.Sleep(2*time.Minute + time.Second)
			return txn
		}},
		"of another entity": {"amqp:not-allowed", func(t *testing.T, p *amqptest.Peer) []byte {
			txn := declare(t, p)
			p.AttachSender(1, 2, "q")
			p.Send(1, within(txn, 2, 0), amqptest.Message("y")...)
			nextDisposition(t, p)
			return txn
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				b.queue("long", emulator.QueueOptions{LockDuration: 5 * time.Minute})
				b.publish(t, "long", numbered(3)...)
				p := b.controlled(t)
				p.AttachReceiver(0, consumerAttach(0, "c", "long", "queue"))
				p.Send(0, amqptest.Flow(0, 0, 3))
				for _, body := range numbered(3) {
					wantBody(t, p, body)
				}
				p.Send(0, &frames.Disposition{Role: frames.RoleReceiver, First: 0, Last: 1, HasLast: true, Settled: true,
					State: &frames.TransactionalState{TxnID: c.over(t, p), Outcome: &frames.Accepted{}}})
				if d := amqptest.Want[*frames.Detach](p); d.Error == nil || d.Error.Condition != c.condition {
					t.Errorf("detached with %v, want %s", d.Error, c.condition)
				}
				q, _ := b.ns.Entity("long")
				other, err := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				ds := other.Take(nil, 9)
				for _, d := range ds {
					if d.DeliveryCount() != 1 {
						t.Errorf("the delivery count of %d is %d", d.Seq(), d.DeliveryCount())
					}
				}
				if len(ds) != 2 {
					t.Errorf("another consumer gets %d messages, want the two that the client has settled", len(ds))
				}
				other.Close()
			})
		})
	}
}

func TestJMS5_ACommitCompletesIt(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.publish(t, "q", "x")
		p := b.controlled(t)
		p.AttachReceiver(0, consumerAttach(0, "c", "q", "queue"))
		p.Send(0, amqptest.Flow(0, 0, 1))
		tr := wantBody(t, p, "x")
		txn := declare(t, p)
		forget(p, txn, tr.DeliveryID)
		end(t, p, txn, false)
		if q, _ := b.ns.Entity("q"); q.Counts() != (emulator.Counts{}) {
			t.Errorf("counts %+v", q.Counts())
		}
	})
}

// TestJMS6_BrowsersAndTemporaryQueuesArePartOfNoTransaction: a transacted session takes browsers and reply queues beside
// the entity of its transactions.
func TestJMS6_BrowsersAndTemporaryQueuesArePartOfNoTransaction(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("q2", emulator.QueueOptions{})
		p := b.jms(t, "id")
		address := temporary(t, p, 9, "temporary-queue")
		p.Begin(1)
		p.Send(1, controlAttach(7))
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Flow](p)
		p.AttachReceiver(1, consumerAttach(0, "reply", address, "temporary-queue")) // does not bind the session
		relay := amqptest.SenderAttach(4, "")
		relay.Target = &frames.Target{}
		p.Send(1, relay)
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Flow](p)
		p.Send(1, amqptest.Transfer(4, 0), addressed(address)...) // nor does a reply
		amqptest.Want[*frames.Disposition](p)
		p.AttachReceiver(1, consumerAttach(1, "c", "q", "queue"))
		a := consumerAttach(2, "browser", "q2", "queue")
		a.Source.DistributionMode = "copy"
		p.AttachReceiver(1, a)
		p.Send(1, consumerAttach(3, "c2", "q2", "queue"))
		if amqptest.Want[*frames.Attach](p).Source != nil {
			t.Error("a second entity is received from")
		}
	})
}

// TestJMS6_ATransactedSessionTakesRepliesAndSends: a reply, and a message for another queue, in any order.
func TestJMS6_ATransactedSessionTakesRepliesAndSends(t *testing.T) {
	for _, c := range []struct {
		name                string
		replyFirst, unbound bool
		fail                bool
	}{
		{name: "send, reply"}, {name: "reply, send", replyFirst: true}, {name: "rollback", fail: true},
		{name: "reply before the sender attaches", replyFirst: true, unbound: true},
		{name: "rollback before the sender attaches", replyFirst: true, unbound: true, fail: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.jms(t, "id")
				address := temporary(t, p, 9, "temporary-queue")
				p.Begin(1)
				p.Send(1, controlAttach(7))
				amqptest.Want[*frames.Attach](p)
				amqptest.Want[*frames.Flow](p)
				p.AttachReceiver(1, consumerAttach(0, "reply", address, "temporary-queue"))
				p.AttachSender(1, 1, address)
				if !c.unbound {
					p.AttachSender(1, 2, "q")
				}
				b.publish(t, address, "reply")
				p.Send(1, amqptest.Flow(0, 0, 1))
				tr := wantBody(t, p, "reply")
				txn := declare(t, p)
				reply := func() {
					p.Send(1, &frames.Disposition{Role: frames.RoleReceiver, First: tr.DeliveryID, Settled: true,
						State: &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}}})
					p.Send(1, within(txn, 1, 1), amqptest.Message("on")...)
					wantWithin(t, p, frames.RoleReceiver, txn, 1, &frames.Accepted{})
				}
				if c.replyFirst {
					reply()
				}
				if c.unbound {
					p.AttachSender(1, 2, "q")
				}
				p.Send(1, within(txn, 2, 2), amqptest.Message("next")...)
				wantWithin(t, p, frames.RoleReceiver, txn, 2, &frames.Accepted{})
				if !c.replyFirst {
					reply()
				}
				end(t, p, txn, c.fail)
				synctest.Wait() // what a rollback gives back is there a moment after its answer
				left := map[bool]int{true: 1}[c.fail]
				b.wantReceivable(t, "q", 1-left)
				b.wantReceivable(t, address, 1) // the message that was sent on, or the reply that came back
			})
		})
	}
}

// TestJMS_AStormOfDrains: each is answered once, with what there is.
func TestJMS_AStormOfDrains(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.publish(t, "q", numbered(1000)...)
		p := b.jms(t, "id")
		browser := consumerAttach(0, "browser", "q", "queue")
		browser.Source.DistributionMode = "copy"
		p.AttachReceiver(0, browser)
		p.AttachReceiver(0, selecting(consumerAttach(1, "c", "q", "queue"), "n = 999"))
		p.AttachReceiver(0, selecting(consumerAttach(2, "none", "q", "queue"), "n = -1"))
		const storms = 200
		for range storms {
			for handle, f := range []*frames.Flow{amqptest.Flow(0, 0, 10), amqptest.Flow(1, 0, 1), amqptest.Flow(2, 0, 1)} {
				f.Handle, f.Drain, f.HasDeliveryCount = uint32(handle), true, false
				p.Send(0, f)
			}
		}
		got := map[uint32]int{}
		for answered := false; !answered || got[0] < 10 || got[1] < 1; { // Next fails after a while
			f := p.Next()
			switch body := f.Body.(type) {
			case *frames.Transfer:
				got[body.Handle]++
			case *frames.Flow:
				if !body.Drain || body.LinkCredit != 0 {
					t.Fatalf("answered with %+v", body)
				}
				answered = answered || body.Handle == 2
			}
		}
		synctest.Wait()
		if got[0] > 10 || got[1] > 1 || got[2] > 0 {
			t.Errorf("received %v", got)
		}
	})
}

// TestJMS_TheSameNameAgainAtOnce: a client that closes a consumer and opens the next one without waiting is served in
// the order in which it asked.
func TestJMS_TheSameNameAgainAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		p := b.jms(t, "id")
		p.AttachReceiver(0, durableAttach(0, "sub", "news"))
		b.publish(t, "news", "x")
		p.Send(0, &frames.Detach{Handle: 0})
		p.Send(0, durableAttach(1, "sub", "news"))
		p.Send(0, amqptest.Flow(1, 0, 1))
		amqptest.Want[*frames.Detach](p)
		if a := amqptest.Want[*frames.Attach](p); a.Source == nil {
			t.Fatalf("refused: %v", amqptest.Want[*frames.Detach](p).Error)
		}
		wantBody(t, p, "x")
		p.Send(0, &frames.Detach{Handle: 1})
		p.Send(0, unsubscribeAttach(2, "sub"))
		p.Send(0, &frames.Detach{Handle: 2, Closed: true})
		for range 3 {
			if d, ok := p.Next().Body.(*frames.Detach); ok && d.Error != nil {
				t.Errorf("detached with %v", d.Error)
			}
		}
		b.wantPaths(t, "news", "q")
	})
}

// TestJMS_TheSessionEndsWhileItsConsumersLeave: what they have made goes, and the channel can be used again.
func TestJMS_TheSessionEndsWhileItsConsumersLeave(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		p := b.jms(t, "id")
		for i := range uint32(20) {
			p.AttachReceiver(0, consumerAttach(i, fmt.Sprintf("qpid-jms:receiver:%d", i), "news", "topic"))
		}
		b.journal.Pause()
		for i := range uint32(10) {
			p.Send(0, &frames.Detach{Handle: i, Closed: true})
		}
		p.Send(0, &frames.End{})
		synctest.Wait()
		b.journal.Resume()
		for {
			if _, ended := p.Next().Body.(*frames.End); ended {
				break
			}
		}
		b.wantPaths(t, "news", "q")
		p.Begin(0)
		p.AttachReceiver(0, consumerAttach(0, "qpid-jms:receiver:0", "news", "topic"))
	})
}

// TestJMS_AnEntityThatIsDeletedUnderItsConsumers: somebody deletes what a client has made.
func TestJMS_AnEntityThatIsDeletedUnderItsConsumers(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.news()
		p := b.jms(t, "id")
		address := temporary(t, p, 0, "temporary-queue")
		p.AttachReceiver(0, durableAttach(1, "sub", "news"))
		for _, path := range []string{address, "news"} {
			if err := b.ns.Entities().Delete(path); err != nil {
				t.Fatal(err)
			}
			if d := amqptest.Want[*frames.Detach](p); d.Error == nil || d.Error.Condition != "amqp:not-found" {
				t.Errorf("detached with %v", d.Error)
			}
		}
		b.wantPaths(t, "q")
	})
}
