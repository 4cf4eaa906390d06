package amqpserver_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// only returns the one open connection.
func (b *bench) only(t *testing.T) amqpserver.Connection {
	t.Helper()
	synctest.Wait()
	list := b.server.Inspect(b.ns, nil)
	if len(list) != 1 {
		t.Fatalf("%d connections are open, want one: %+v", len(list), list)
	}
	return list[0]
}

func TestInspect_SaysThatAConnectionEnds(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		if b.only(t).Ending {
			t.Error("an open connection is said to end")
		}
		p.Raw([]byte{0, 0, 0, 1, 2, 0, 0, 0}) // a frame shorter than its header
		amqptest.Want[*frames.Close](p)       // which the peer does not answer
		if !b.only(t).Ending {
			t.Error("a connection that waits for the peer's close is not said to end")
		}
	})
}

// link returns the one link to an address.
func linkTo(t *testing.T, c amqpserver.Connection, address string) amqpserver.Link {
	t.Helper()
	i := slices.IndexFunc(c.Links, func(l amqpserver.Link) bool { return l.Address == address })
	if i < 0 {
		t.Fatalf("there is no link to %s in %+v", address, c.Links)
	}
	return c.Links[i]
}

// TestInspect_NamesTheProgram that gave its SDK an application id, as the SDKs put it in front of their own name;
// other containers have made-up ids.
func TestInspect_NamesTheProgram(t *testing.T) {
	for agent, want := range map[string]string{
		"billing-7 azsdk-go-azservicebus/v1.11.0 (go1.26; linux)": "billing-7",
		"azsdk-go-azservicebus/v1.11.0 (go1.26; linux)":           "made-up", "qpid": "made-up", "": "made-up",
		strings.Repeat("x", 300) + " azsdk-go": strings.Repeat("x", 255) + "...",
	} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.peer(t)
			p.Raw(amqptest.HeaderAMQP)
			p.WantHeader(amqptest.HeaderAMQP)
			p.Send(0, &frames.Open{ContainerID: "made-up", Hostname: "localhost",
				Properties: amqp.Map{{Key: amqp.Symbol("user-agent"), Value: agent}}})
			amqptest.Want[*frames.Open](p)
			if c := b.only(t); c.Container != want {
				t.Errorf("%.60q is named %q", agent, c.Container)
			}
		})
	}
}

func TestInspect_DescribesAConnectionAndItsLinks(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		if _, err := b.broker.Create("another", emulator.NamespaceOptions{}); err != nil {
			t.Fatal(err)
		}
		b.queue("s", emulator.QueueOptions{RequiresSession: true, LockDuration: time.Minute})
		b.put(t, "s", "a", "1", "2")
		since := time.Now()
		p := b.peer(t)
		p.Raw(amqptest.HeaderAMQP)
		p.WantHeader(amqptest.HeaderAMQP)
		p.Send(0, &frames.Open{ContainerID: "worker", Hostname: "localhost",
			Properties: amqp.Map{{Key: amqp.Symbol("product"), Value: "MSGolangClient"},
				{Key: amqp.Symbol("version"), Value: "v1.2.3"}, {Key: amqp.Symbol("platform"),
					Value: strings.Repeat("x", 300)}}})
		amqptest.Want[*frames.Open](p)
		p.Begin(0)
		p.AttachSender(0, 0, "q")
		p.AttachReceiver(0, sessionAttach(1, "s", nil))
		p.Send(0, amqptest.Flow(1, 0, 10))
		wantBody(t, p, "1")
		wantBody(t, p, "2")
		a := amqptest.ReceiverAttach(2, "q/$DeadLetterQueue")
		deleting(a)
		p.AttachReceiver(0, a)
		replyLink(p, 0, 3, "$cbs", "r", "r", 7)
		c := b.only(t)
		if c.ID != "c1" || c.Namespace != b.ns || c.Container != "worker" || c.Product != "MSGolangClient" ||
			c.Version != "v1.2.3" || !strings.HasSuffix(c.Platform, "xxx...") || len(c.Platform) > 300 ||
			c.Transport != amqpserver.InMemory || c.Host != "localhost" || !c.Since.Equal(since) ||
			c.Policies != nil || c.Busy || c.Ending || c.Remote == "" {
			t.Errorf("the connection is %+v", c)
		}
		if len(c.Links) != 4 {
			t.Fatalf("the links are %+v", c.Links)
		}
		if l := linkTo(t, c, "q"); l.Number != 1 || l.Receives || l.Entity != "q" || !l.Messages ||
			l.Credit != 1000 || l.Window == 0 || l.WaitsFor != amqpserver.ForMessage || l.Name != "sender to q" {
			t.Errorf("the sender is %+v", l)
		}
		l := linkTo(t, c, "s")
		if !l.Receives || l.Session == nil || *l.Session != "a" || l.Until != since.Add(time.Minute).UnixMilli() ||
			l.Credit != 8 || l.Unsettled != 2 || l.Passed != 2 || l.Mode != emulator.PeekLock || l.Window < 1000 {
			t.Errorf("the receiver with a session is %+v", l)
		}
		if l := linkTo(t, c, "q/$DeadLetterQueue"); l.Sub != emulator.DeadLetter ||
			l.Mode != emulator.ReceiveAndDelete || l.WaitsFor != amqpserver.ForCredit || l.Session != nil {
			t.Errorf("the receiver of dead letters is %+v", l)
		}
		if l := linkTo(t, c, "$cbs"); l.Credit != 7 || l.Messages || l.Entity != "" ||
			l.WaitsFor != amqpserver.ForMessage {
			t.Errorf("the link for replies is %+v", l)
		}
		another, err := b.broker.Namespace("another")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(b.server.Inspect(another, nil)) + len(b.server.Open(another)); n != 0 {
			t.Errorf("another namespace has %d connections", n)
		}
		if ids := b.server.Open(b.ns); !slices.Equal(ids, []string{"c1"}) {
			t.Errorf("open are %q", ids)
		}
		if n := len(b.server.Inspect(b.ns, func(c *amqpserver.Connection) bool { return c.ID == "c2" })); n != 0 {
			t.Errorf("%d connections are c2", n)
		}
	})
}

func TestInspect_SaysForWhatALinkWaits(t *testing.T) {
	flow := func(b *bench, p *amqptest.Peer) { p.Send(0, amqptest.Flow(0, 0, 10)) }
	type setup = func(*testing.T, *bench) *amqptest.Peer
	attach := func(window uint32, messages int, change ...func(*frames.Attach)) setup {
		return func(t *testing.T, b *bench) *amqptest.Peer {
			fill(t, b, messages)
			p := b.peer(t)
			p.Open()
			p.BeginWindow(0, window)
			a := amqptest.ReceiverAttach(0, "q")
			for _, f := range change {
				f(a)
			}
			p.AttachReceiver(0, a)
			return p
		}
	}
	for _, c := range []struct {
		what  string
		begin func(*testing.T, *bench) *amqptest.Peer
		then  func(*bench, *amqptest.Peer)
		want  amqpserver.WaitsFor
	}{
		{"no credit", attach(1<<20, 1), func(*bench, *amqptest.Peer) {}, amqpserver.ForCredit},
		{"no message", attach(1<<20, 0), flow, amqpserver.ForMessage},
		{"no window", attach(0, 1), func(_ *bench, p *amqptest.Peer) {
			f := amqptest.Flow(0, 0, 10)
			f.IncomingWindow = 0
			p.Send(0, f)
		}, amqpserver.ForWindow},
		{"unsettled ones in the window", attach(2, 5), func(_ *bench, p *amqptest.Peer) {
			p.Send(0, amqptest.Flow(0, 0, 10))
			for range 2 {
				amqptest.Want[*frames.Transfer](p)
			}
			p.Send(0, &frames.Flow{NextIncomingID: 3, HasNextIncomingID: true, IncomingWindow: 2, OutgoingWindow: 100})
		}, amqpserver.ForSettlement},
		{"the client does not read", attach(1<<20, 3000),
			func(_ *bench, p *amqptest.Peer) { p.Send(0, amqptest.Flow(0, 0, 3000)) }, amqpserver.ForReading},
		{"a removal is being written", attach(1<<20, 1, deleting), func(b *bench, p *amqptest.Peer) {
			b.journal.Pause()
			p.Send(0, amqptest.Flow(0, 0, 10))
		}, amqpserver.ForJournal},
		{"a session", func(t *testing.T, b *bench) *amqptest.Peer {
			b.queue("s", emulator.QueueOptions{RequiresSession: true})
			p := b.opened(t)
			p.Send(0, sessionAttach(0, "s", nil))
			return p
		}, func(*bench, *amqptest.Peer) {}, amqpserver.ForSession},
		{"a sender's message is being written", func(t *testing.T, b *bench) *amqptest.Peer {
			p := b.opened(t)
			p.AttachSender(0, 0, "q")
			return p
		}, func(b *bench, p *amqptest.Peer) {
			b.journal.Pause()
			p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("1")...)
		}, amqpserver.ForJournal},
		{"the detach of a link", func(t *testing.T, b *bench) *amqptest.Peer {
			p := b.opened(t)
			a := amqptest.ReceiverAttach(0, "q")
			deleting(a)
			p.AttachReceiver(0, a)
			fill(t, b, 1)
			return p
		}, func(b *bench, p *amqptest.Peer) {
			b.journal.Pause()
			p.Send(0, amqptest.Flow(0, 0, 1))
			synctest.Wait()
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		}, amqpserver.ForDetach},
	} {
		t.Run(c.what, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := c.begin(t, b)
				c.then(b, p)
				got := b.only(t)
				b.journal.Resume()
				if len(got.Links) != 1 || got.Links[0].WaitsFor != c.want {
					t.Errorf("the links are %+v, want one that waits for %s", got.Links, c.want)
				}
			})
		})
	}
}

func TestInspect_NamesThePoliciesOfTokensAndKeys(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.authorized(t)
		wantPut(t, p, 0, signedBy("listener", "sb://localhost/q", in(time.Hour), "1"), 202, "Accepted")
		wantPut(t, p, 1, signedBy("sender", "sb://localhost/q/x", in(time.Hour), "2"), 404, "")
		wantPut(t, p, 1, signedBy("all", "sb://localhost/", in(time.Hour), "3"), 202, "Accepted")
		if got := b.only(t).Policies; !slices.Equal(got, []string{"all", "listener"}) {
			t.Errorf("the policies are %q", got)
		}
	}, checked)
}

// A connection whose loop is stuck is shown as busy, with what is known of it, and holds up nobody for long. It is
// asked once, however many look.
func TestInspect_AStuckConnectionIsBusy(t *testing.T) {
	var stuck chan struct{}
	bubble(t, func(t *testing.T, b *bench) {
		stuck = make(chan struct{}) // one of the bubble
		p := b.authorized(t)
		other := b.opened(t)
		other.AttachSender(0, 0, "q")
		m := putToken("sb://localhost/q", "r", "1")
		m.ApplicationProperties["type"], m.Value = "jwt", "eyJhbGciOiJub25lIn0.e30."
		p.Send(0, amqptest.Transfer(0, 0), encode(t, m)...)
		synctest.Wait()
		for range 3 {
			begun := time.Now()
			list := b.server.Inspect(b.ns, nil)
			slices.SortFunc(list, func(a, b amqpserver.Connection) int { return strings.Compare(a.ID, b.ID) })
			if len(list) != 2 || !list[0].Busy || list[0].Container != "peer" || list[0].Links != nil ||
				list[1].Busy || len(list[1].Links) != 1 {
				t.Fatalf("the connections are %+v", list)
			}
			if took := time.Since(begun); took != 250*time.Millisecond {
				t.Errorf("the list took %v", took)
			}
		}
		err := b.server.DetachLink(b.ns, "c1", 1)
		if err == nil || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("detach a link of a stuck connection: %v", err)
		}
		if err := b.server.CloseConnection(b.ns, "c1"); err != nil {
			t.Errorf("close a stuck connection: %v", err)
		}
		p.WantEOF()
		close(stuck)
		synctest.Wait()
		if list := b.server.Inspect(b.ns, nil); len(list) != 1 || list[0].ID != "c2" {
			t.Errorf("the connections are %+v", list)
		}
	}, func(o *amqpserver.Options) {
		o.Unverified = func() { <-stuck }
	})
}

func TestControl_ClosesConnectionsAndDetachesLinks(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		fill(t, b, 1)
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.Send(0, amqptest.Flow(0, 0, 1))
		amqptest.Want[*frames.Transfer](p)
		number := linkTo(t, b.only(t), "q").Number
		for _, err := range []error{b.server.DetachLink(b.ns, "c1", number+1),
			b.server.DetachLink(b.ns, "c2", number), b.server.CloseConnection(b.ns, "c2")} {
			wantDomain(t, err, emulator.CodeNotFound)
		}
		if err := b.server.DetachLink(b.ns, "c1", number); err != nil {
			t.Fatal(err)
		}
		d := amqptest.Want[*frames.Detach](p)
		if !d.Closed || d.Error == nil || d.Error.Condition != amqp.CondDetachForced ||
			!strings.HasPrefix(d.Error.Description,
				"The link 'receiver from q' is force detached. Code: ControlApi. Details: it was detached through the control API of Minibus; attach again.") {
			t.Errorf("the detach is %+v", d.Error)
		}
		wantDomain(t, b.server.DetachLink(b.ns, "c1", number), emulator.CodeNotFound)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		if again := linkTo(t, b.only(t), "q").Number; again == number {
			t.Error("the next link has the number of the last one")
		}
		if err := b.server.CloseConnection(b.ns, "c1"); err != nil {
			t.Fatal(err)
		}
		c := amqptest.Want[*frames.Close](p)
		if c.Error == nil || c.Error.Condition != amqp.CondForced ||
			!strings.HasPrefix(c.Error.Description,
				"The connection was closed through the control API of Minibus; connect again.") {
			t.Errorf("the close is %+v", c.Error)
		}
		p.Send(0, &frames.Close{})
		p.WantEOF()
		synctest.Wait()
		if list := b.server.Inspect(b.ns, nil); len(list) != 0 {
			t.Errorf("the connections are %+v", list)
		}
		wantDomain(t, b.server.CloseConnection(b.ns, "c1"), emulator.CodeNotFound)
	})
}

func TestRefusals_NameTheLatestAttachesAndTokens(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.authorized(t)
		wantPut(t, p, 0, signedBy("sender", "sb://localhost/q", in(-time.Hour), "1"), 401, "")
		wantPut(t, p, 1, signedBy("all", "sb://localhost/nothing", in(time.Hour), "2"), 404, "")
		p.Send(0, amqptest.ReceiverAttach(5, "Q/$DeadLetterQueue"))
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Detach](p)
		list := b.server.Refusals(b.ns)
		if len(list) != 3 {
			t.Fatalf("the refusals are %+v", list)
		}
		for i, want := range []string{
			"attach Q 1 amqp:unauthorized-access Unauthorized access. 'Listen' claim(s) are required",
			"put-token nothing 0 amqp:not-found The messaging entity",
			"put-token q 0 amqp:unauthorized-access ",
		} {
			r := list[i]
			got := fmt.Sprint(r.Operation, " ", r.Entity, " ", uint8(r.Sub), " ", r.Condition, " ", r.Text)
			if !strings.HasPrefix(got, want) || r.Client.Connection != "c1" || r.Client.Container != "peer" ||
				!r.At.Equal(time.Now()) {
				t.Errorf("refusal %d is %s of %+v, want %s", i, got, r.Client, want)
			}
			if expired := i == 2; strings.Contains(r.Fix, "renew its token") != expired {
				t.Errorf("refusal %d has the fix %q", i, r.Fix)
			}
		}
		for i := range 300 {
			p.Send(0, amqptest.ReceiverAttach(6, fmt.Sprintf("n%d-%s", i, strings.Repeat("x", 1000))))
			amqptest.Want[*frames.Attach](p)
			amqptest.Want[*frames.Detach](p)
			p.Send(0, &frames.Detach{Handle: 6, Closed: true})
		}
		list = b.server.Refusals(b.ns)
		if len(list) != 256 || !strings.HasPrefix(list[0].Entity, "n299-") ||
			!strings.HasPrefix(list[255].Entity, "n44-") || len(list[0].Entity) > 300 || len(list[0].Text) > 600 {
			t.Errorf("%d refusals, the first is %+v, the last %+v", len(list), list[0], list[len(list)-1])
		}
	}, checked)
}

// wantDomain wants an error of the domain.
func wantDomain(t *testing.T, err error, code emulator.Code) {
	t.Helper()
	var e *emulator.Error
	if !errors.As(err, &e) || e.Code != code || e.Text == "" {
		t.Errorf("the error is %v, want code %d", err, code)
	}
}

// The real client of the Go SDK takes both for reasons to try again.
func TestControl_TheClientIsToldWhatItUnderstands(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		r, err := b.client(t).NewReceiver(t.Context(), "q", &goamqp.ReceiverOptions{Credit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.server.DetachLink(b.ns, "c1", linkTo(t, b.only(t), "q").Number); err != nil {
			t.Fatal(err)
		}
		_, err = r.Receive(t.Context(), nil)
		if gone := (*goamqp.LinkError)(nil); !errors.As(err, &gone) || gone.RemoteErr == nil ||
			gone.RemoteErr.Condition != goamqp.ErrCondDetachForced {
			t.Errorf("the receiver fails with %v", err)
		}
	})
}

// TestDEC9_LinksShowTheNameOfTheirEntity whatever case the client wrote.
func TestDEC9_LinksShowTheNameOfTheirEntity(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		if _, err := b.ns.Entities().CreateQueue("Orders", emulator.QueueOptions{}); err != nil {
			t.Fatal(err)
		}
		p := b.opened(t)
		p.AttachSender(0, 0, "ORDERS")
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "Orders/$deadletterqueue"))
		c := b.only(t)
		linkTo(t, c, "orders")
		if l := linkTo(t, c, "orders/$DeadLetterQueue"); l.Entity != "orders" {
			t.Errorf("the link's entity is %q", l.Entity)
		}
	})
}
