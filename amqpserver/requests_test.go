package amqpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// encode encodes a message with go-amqp's codec.
func encode(t testing.TB, m *goamqp.Message) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decode decodes a message with go-amqp's codec.
func decode(t testing.TB, b []byte) *goamqp.Message {
	t.Helper()
	var m goamqp.Message
	if err := m.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	return &m
}

// putToken returns a put-token request.
func putToken(audience, replyTo string, id any) *goamqp.Message {
	m := &goamqp.Message{
		Properties: &goamqp.MessageProperties{MessageID: id},
		ApplicationProperties: map[string]any{"operation": "put-token",
			"type": "servicebus.windows.net:sastoken", "name": audience},
		Value: "SharedAccessSignature sr=x&sig=y&se=1&skn=z",
	}
	if replyTo != "" {
		m.Properties.ReplyTo = &replyTo
	}
	return m
}

// peekRequest returns a request for the first message.
func peekRequest(replyTo string, id any) *goamqp.Message {
	m := &goamqp.Message{
		Properties:            &goamqp.MessageProperties{MessageID: id},
		ApplicationProperties: map[string]any{"operation": "com.microsoft:peek-message"},
		Value:                 map[string]any{"from-sequence-number": int64(1), "message-count": int32(1)},
	}
	if replyTo != "" {
		m.Properties.ReplyTo = &replyTo
	}
	return m
}

// replyLink attaches a receiver for replies with credit.
func replyLink(p *amqptest.Peer, channel uint16, handle uint32, node, name, target string, credit uint32) {
	a := amqptest.ReceiverAttach(handle, node)
	a.LinkName = name
	a.Target = &frames.Target{Address: target, HasAddress: target != ""}
	p.AttachReceiver(channel, a)
	p.Send(channel, amqptest.Flow(handle, 0, credit))
}

// request sends an unsettled request and reads its disposition.
func request(t *testing.T, p *amqptest.Peer, channel uint16, handle, id uint32, m *goamqp.Message) {
	t.Helper()
	p.Send(channel, amqptest.Transfer(handle, id), encode(t, m)...)
	wantOutcome(t, p, id, "")
}

// wantReply returns the next reply, and its channel and handle.
func wantReply(t *testing.T, p *amqptest.Peer) (m *goamqp.Message, channel uint16, handle uint32) {
	t.Helper()
	f := p.Next()
	tr, ok := f.Body.(*frames.Transfer)
	if !ok {
		t.Fatalf("got %T, want a reply", f.Body)
	}
	if !tr.Settled || len(tr.DeliveryTag) != 4 || tr.More {
		t.Errorf("reply %+v", tr)
	}
	return decode(t, f.Payload), f.Channel, tr.Handle
}

func TestCBS_AttachGoldenValues(t *testing.T) { // amqp-data-plane 11
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		a, flow := p.AttachSender(0, 0, "$cbs")
		if a.MaxMessageSize != 1<<64-1 || a.HasSndSettleMode || a.HasRcvSettleMode || a.Source == nil ||
			a.Target.Address != "$cbs" {
			t.Errorf("answer %+v", a)
		}
		if flow.LinkCredit != 100 || flow.DeliveryCount != 0 || flow.IncomingWindow != 5000 ||
			flow.NextOutgoingID != 1 || flow.Echo {
			t.Errorf("flow %+v", flow)
		}
		r := amqptest.ReceiverAttach(1, "$cbs")
		r.Target = nil
		got := p.AttachReceiver(0, r)
		if got.MaxMessageSize != 1<<64-1 || got.Source.Address != "$cbs" || got.Target == nil {
			t.Errorf("answer %+v", got)
		}
	})
}

func TestCBS_PutToken(t *testing.T) { // amqp-data-plane 2.2, 2.3
	for _, id := range []any{"text", uint64(7), goamqp.UUID{1, 2, 3}} {
		for _, settled := range []bool{false, true} { // .NET and Java settle their requests
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.AttachSender(0, 0, "$cbs")
				replyLink(p, 0, 1, "$cbs", "cbs", "reply", 10)
				tr := amqptest.Transfer(0, 0)
				tr.Settled, tr.DeliveryTag = settled, nil
				p.Send(0, tr, encode(t, putToken("sb://localhost/q", "reply", id))...)
				if !settled {
					wantOutcome(t, p, 0, "") // the disposition comes first, as the service does it
				}
				m, _, _ := wantReply(t, p)
				if m.Properties.CorrelationID != id {
					t.Errorf("correlation-id %v (%T), want %v (%T)", m.Properties.CorrelationID,
						m.Properties.CorrelationID, id, id)
				}
				if got := m.ApplicationProperties["status-code"]; got != int32(202) && got != int32(200) {
					t.Errorf("status-code %v (%T)", got, got)
				}
			})
		}
	}
}

func TestERR4_PutTokenForAMissingQueue(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "$cbs")
		replyLink(p, 0, 1, "$cbs", "cbs", "reply", 10)
		for i, name := range []string{"nosuch", "$nosuch", "a/$nosuch"} { // a name may begin with $ (DEC-9)
			request(t, p, 0, 0, uint32(i), putToken("amqp://myhost/"+name, "reply", "1"))
			m, _, _ := wantReply(t, p)
			text, _ := m.ApplicationProperties["status-description"].(string)
			missing := strings.Contains(text, "'sb://myhost/"+name+"' could not be found.")
			if m.ApplicationProperties["status-code"] != int32(404) || !missing {
				t.Errorf("reply %v", m.ApplicationProperties)
			}
		}
		if !strings.Contains(b.log.String(), "nosuch") {
			t.Error("the refusal is not in the log")
		}
	})
}

func TestERR10_OneSenderToCBSPerConnection(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "$cbs")
		wantRefused(t, p, amqptest.SenderAttach(1, "$cbs"), "amqp:not-allowed")
		p.Begin(1)
		p.Send(1, amqptest.SenderAttach(0, "$CBS"))
		if a := amqptest.Want[*frames.Attach](p); a.Target != nil {
			t.Error("accepted in another session")
		}
		amqptest.Want[*frames.Detach](p)
		p.Send(1, &frames.Detach{Handle: 0, Closed: true})
		// End frees the pair, before the next begin is looked at.
		p.Send(0, &frames.End{})
		p.Send(0, &frames.Begin{IncomingWindow: 1, OutgoingWindow: 1})
		p.Send(0, amqptest.SenderAttach(0, "$cbs"))
		amqptest.Want[*frames.End](p)
		amqptest.Want[*frames.Begin](p)
		if a := amqptest.Want[*frames.Attach](p); a.Target == nil {
			t.Error("refused after the first has gone")
		}
		// Another connection has its own.
		b.opened(t).AttachSender(0, 0, "$cbs")
	})
}

func TestRequests_ReplyRouting(t *testing.T) { // amqp-data-plane 2.1, per SDK
	type link struct {
		channel uint16
		handle  uint32
		node    string
		name    string
		target  string
	}
	for _, c := range []struct {
		name    string
		links   []link
		replyTo string
		want    int
	}{
		{"by target address", []link{{0, 1, "q/$management", "a", "x"}, {0, 2, "q/$management", "b", "y"}}, "x", 0},
		{"by link name", []link{{0, 1, "q/$management", "a", ""}, {0, 2, "q/$management", "b", ""}}, "a", 0},
		{"target before name", []link{{0, 1, "q/$management", "a", "x"}, {0, 2, "q/$management", "x", "y"}}, "x", 0},
		{"the only one", []link{{0, 1, "q/$management", "a", "x"}}, "", 0},
		{"the most recent one", []link{{0, 1, "q/$management", "a", "x"}, {0, 2, "q/$management", "b", "y"}}, "", 1},
		{"the only one, whatever is asked for", []link{{0, 1, "q/$management", "a", "x"}}, "q/$management", 0},
		{"same session first", []link{{0, 1, "q/$management", "a", "x"}, {1, 1, "q/$management", "a", "x"}}, "x", 0},
		{"other session", []link{{1, 1, "q/$management", "a", "x"}}, "x", 0},
		{"other node is no candidate", []link{{0, 1, "q/$management", "a", "x"}, {0, 2, "$cbs", "x", "x"},
			{0, 3, "q/$deadletterqueue/$management", "x", "x"}}, "x", 0},
		{"any spelling of the node", []link{{0, 1, "amqps://h/Q/%24management", "a", "x"}}, "x", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.Begin(1)
				p.AttachSender(0, 0, "q/$management")
				for _, l := range c.links {
					replyLink(p, l.channel, l.handle, l.node, l.name, l.target, 10)
				}
				request(t, p, 0, 0, 0, peekRequest(c.replyTo, "1"))
				_, channel, handle := wantReply(t, p)
				if l := c.links[c.want]; channel != l.channel || handle != l.handle {
					t.Errorf("reply on channel %d, handle %d", channel, handle)
				}
			})
		})
	}
}

func TestRequests_ReplyNeverLeavesTheConnection(t *testing.T) { // Java uses the same reply-to everywhere
	bubble(t, func(t *testing.T, b *bench) {
		other := b.opened(t)
		replyLink(other, 0, 1, "$cbs", "cbs:receiver", "cbs-client-reply-to", 10)
		p := b.opened(t)
		p.AttachSender(0, 0, "$cbs")
		request(t, p, 0, 0, 0, putToken("sb://h/q", "cbs-client-reply-to", uint64(1)))
		p.WantSilence(time.Second)
		other.WantSilence(time.Second)
	})
}

func TestRequests_ReplyWaitsForCredit(t *testing.T) { // Java grants one by one
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q/$management")
		replyLink(p, 0, 1, "q/$management", "r", "r", 0)
		for id := range uint32(3) {
			request(t, p, 0, 0, id, peekRequest("r", uint64(id)))
		}
		p.WantSilence(time.Second)
		for id := range uint32(3) {
			p.Send(0, amqptest.Flow(1, id, 1))
			m, _, _ := wantReply(t, p)
			if m.Properties.CorrelationID != uint64(id) || m.ApplicationProperties["statusCode"] != int32(204) {
				t.Errorf("reply %v %v", m.Properties.CorrelationID, m.ApplicationProperties)
			}
			p.WantSilence(time.Second)
		}
	})
}

func TestRequests_RepliesInSeveralFrames(t *testing.T) { // [AMQP 2.6.14]
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", strings.Repeat("x", 50_000))
		p := b.peer(t)
		p.MaxFrameSize = 4096
		p.Open()
		p.Begin(0)
		p.AttachSender(0, 0, "q/$management")
		replyLink(p, 0, 1, "q/$management", "r", "r", 10)
		request(t, p, 0, 0, 0, peekRequest("r", "1"))
		var raw []byte
		for more := true; more; {
			tr, payload := amqptest.WantPayload[*frames.Transfer](p)
			raw, more = append(raw, payload...), tr.More
		}
		body := decode(t, raw).Value.(map[string]any)
		if len(body["messages"].([]any)) != 1 {
			t.Errorf("reply %v", body)
		}
	})
}

func TestQUO15_PipelinedRequestsAreAllAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		const n = 5000
		p := b.opened(t)
		p.AttachSender(0, 0, "q/$management")
		replyLink(p, 0, 1, "q/$management", "r", "r", n)
		go func() {
			for id := range uint32(n) { // without regard to credit, like Python
				tr := amqptest.Transfer(0, id)
				tr.Settled = true
				p.Send(0, tr, encode(t, peekRequest("r", uint64(id)))...)
			}
		}()
		seen := make(map[uint64]bool)
		for len(seen) < n {
			f := p.Next()
			if _, ok := f.Body.(*frames.Transfer); ok {
				seen[decode(t, f.Payload).Properties.CorrelationID.(uint64)] = true
			}
		}
	})
}

func TestRequests_CreditIsHeldBackWhileRepliesWait(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		_, flow := p.AttachSender(0, 0, "q/$management")
		replyLink(p, 0, 1, "q/$management", "r", "r", 0)
		m := encode(t, peekRequest("r", uint64(1)))
		limit, sent := flow.LinkCredit, uint32(0)
		until := func(wanted func(amqptest.Frame) bool) {
			for {
				frame := p.Next()
				if f, ok := frame.Body.(*frames.Flow); ok && f.HasHandle {
					limit = f.DeliveryCount + f.LinkCredit // credit may come at any time
				}
				if wanted(frame) {
					return
				}
			}
		}
		grants := func() {
			p.Send(0, &frames.Flow{Echo: true})
			until(func(frame amqptest.Frame) bool {
				f, ok := frame.Body.(*frames.Flow)
				return ok && !f.HasHandle
			})
		}
		for ; sent < limit; grants() {
			for ; sent < limit; sent++ {
				tr := amqptest.Transfer(0, sent)
				tr.Settled = true
				p.Send(0, tr, m...)
			}
		}
		if sent < 1000 || sent > 8192 {
			t.Errorf("%d requests were taken without a reply being fetched", sent)
		}
		p.Send(0, amqptest.Flow(1, 0, sent))
		for range sent {
			until(func(frame amqptest.Frame) bool {
				_, ok := frame.Body.(*frames.Transfer)
				return ok
			})
		}
		grants()
		if limit <= sent {
			t.Error("no credit after the replies were fetched")
		}
	})
}

// Replies of many bytes that wait for credit hold back the credit for requests too; no flow says so.
func TestRequests_LargeRepliesHoldCreditBack(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", strings.Repeat("x", 200<<10))
		p := b.opened(t)
		p.AttachSender(0, 0, "q/$management")
		replyLink(p, 0, 1, "q/$management", "r", "r", 0)
		request := peekRequest("r", "1")
		const sent = 100 // all that the link has credit for
		for id := range uint32(sent) {
			if id == 60 {
				request.Value = map[string]any{"from-sequence-number": int64(1000), "message-count": int32(1)} // none
			}
			tr := amqptest.Transfer(0, id)
			tr.Settled = true
			p.Send(0, tr, encode(t, request)...)
			synctest.Wait()
		}
		p.WantSilence(time.Second)
		p.Send(0, amqptest.Flow(1, 0, sent))
		replies, credit := 0, uint32(0)
		for replies < sent || credit == 0 {
			switch f := p.Next().Body.(type) {
			case *frames.Transfer:
				if !f.More {
					replies++
				}
			case *frames.Flow:
				if !f.HasHandle {
					continue
				}
				if credit = f.LinkCredit; replies < 15 { // 8 MiB wait still
					t.Errorf("credit of %d after %d replies", credit, replies)
				}
			}
		}
	})
}

func TestRequests_BadOnesAreRejected(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q/$management")
		replyLink(p, 0, 1, "q/$management", "r", "r", 10)
		p.Send(0, amqptest.Transfer(0, 0), []byte("garbage")...)
		wantOutcome(t, p, 0, "amqp:decode-error")
		request(t, p, 0, 0, 1, &goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: "x"},
			ApplicationProperties: map[string]any{"operation": "com.microsoft:make-coffee"}})
		m, _, _ := wantReply(t, p)
		if m.ApplicationProperties["statusCode"] != int32(501) {
			t.Errorf("reply %v", m.ApplicationProperties)
		}
		if !strings.Contains(b.log.String(), "make-coffee") {
			t.Error("the refusal is not in the log")
		}
	})
}

func TestRequests_ReplyAfterTheClientHasGone(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		b.send(t, b.client(t), "q", "x")
		p := b.opened(t)
		p.AttachSender(0, 0, "q/$management")
		replyLink(p, 0, 1, "q/$management", "r", "r", 10)
		b.journal.Pause()
		m := &goamqp.Message{
			Properties:            &goamqp.MessageProperties{MessageID: "1"},
			ApplicationProperties: map[string]any{"operation": "com.microsoft:schedule-message"},
			Value: map[string]any{"messages": []any{map[string]any{"message-id": "1",
				"message": encode(t, &goamqp.Message{
					Annotations: goamqp.Annotations{"x-opt-scheduled-enqueue-time": time.Now().Add(time.Hour)},
					Data:        [][]byte{{1}}})}}},
		}
		request(t, p, 0, 0, 0, m)
		p.Send(0, &frames.End{})
		amqptest.Want[*frames.End](p)
		b.journal.Resume()
		p.WantSilence(time.Second)
		q, _ := b.ns.Entity("q")
		if q.Counts().Scheduled != 1 {
			t.Error("the request had no effect")
		}
		_ = ctx
	})
}

func TestAuthorize_LinksNeedAGrant(t *testing.T) { // ERR-1; DEC-10
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		wantRefused(t, p, amqptest.SenderAttach(0, "q"), "amqp:unauthorized-access")
		p.AttachSender(0, 0, "$cbs")
		replyLink(p, 0, 1, "$cbs", "r", "r", 10)
		for i, audience := range []string{"sb://h/bad/q", "sb://h/q"} { // no token that could be read
			request(t, p, 0, 0, uint32(i), putToken(audience, "r", "1"))
			if m, _, _ := wantReply(t, p); m.ApplicationProperties["status-code"] != int32(401) {
				t.Errorf("reply %v", m.ApplicationProperties)
			}
		}
		wantRefused(t, p, amqptest.SenderAttach(2, "q"), "amqp:unauthorized-access")
		request(t, p, 0, 0, 2, signedToken("sb://h/bad/q", "r", "2"))
		if m, _, _ := wantReply(t, p); m.ApplicationProperties["status-code"] != int32(404) {
			t.Errorf("reply %v", m.ApplicationProperties)
		}
		request(t, p, 0, 0, 3, signedToken("sb://h/Q/", "r", "3"))
		wantReply(t, p)
		p.AttachSender(0, 2, "q")
	}, checked)
}

func TestManagement_ManyNodesOnOneConnection(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for i, node := range []string{"q/$management", "q/$deadletterqueue/$management"} {
			h := uint32(2 * i)
			p.AttachSender(0, h, node)
			replyLink(p, 0, h+1, node, fmt.Sprint("r", i), "same", 10)
		}
		for i := range uint32(2) {
			request(t, p, 0, 2*i, i, peekRequest("same", "1"))
			if _, _, handle := wantReply(t, p); handle != 2*i+1 {
				t.Errorf("reply on handle %d", handle)
			}
		}
	})
}

func TestReplies_DrainAndEcho(t *testing.T) { // [AMQP 2.6.7]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q/$management")
		replyLink(p, 0, 1, "q/$management", "r", "r", 3)
		echo := amqptest.Flow(1, 0, 3)
		echo.Echo = true
		p.Send(0, echo)
		if f := amqptest.Want[*frames.Flow](p); f.LinkCredit != 3 || f.DeliveryCount != 0 || f.Handle != 1 {
			t.Errorf("the answer to an echo is %+v", f)
		}
		request(t, p, 0, 0, 0, peekRequest("r", "1"))
		wantReply(t, p)
		drain := amqptest.Flow(1, 1, 2)
		drain.Drain = true
		p.Send(0, drain)
		if f := amqptest.Want[*frames.Flow](p); !f.Drain || f.LinkCredit != 0 || f.DeliveryCount != 3 {
			t.Errorf("the answer to a drain is %+v", f)
		}
	})
}

func TestReplies_ThoseOfADetachedLinkAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q/$management")
		for round := range uint32(50) { // 10,000 requests in all, above what may wait at a time
			replyLink(p, 0, 1, "q/$management", "r", "r", 0)
			for i := range uint32(200) {
				tr := amqptest.Transfer(0, round*200+i)
				tr.Settled = true
				p.Send(0, tr, encode(t, peekRequest("r", "1"))...)
			}
			p.Send(0, &frames.Detach{Handle: 1, Closed: true})
			for detached := false; !detached; {
				_, detached = p.Next().Body.(*frames.Detach)
			}
		}
		if strings.Contains(b.log.String(), "resource-limit") {
			t.Error("requests were refused")
		}
	})
}
