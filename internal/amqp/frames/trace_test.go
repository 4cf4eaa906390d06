package frames_test

import (
	"strings"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

func TestTrace_Golden(t *testing.T) {
	for _, c := range []struct {
		p       frames.Performative
		payload int
		want    string
	}{
		{nil, 0, "-> ch=1 heartbeat"},
		{&frames.Open{ContainerID: "c", MaxFrameSize: 512, HasMaxFrameSize: true, Properties: someMap}, 0,
			`-> ch=1 open container-id="c" max-frame-size=512 properties=["k"]`},
		{&frames.Begin{HasRemoteChannel: true, IncomingWindow: 5}, 0,
			"-> ch=1 begin remote-channel=0 next-outgoing-id=0 incoming-window=5 outgoing-window=0"},
		{&frames.Attach{LinkName: "l", HasSndSettleMode: true, Source: someSource, Role: frames.RoleReceiver}, 0,
			`-> ch=1 attach name="l" handle=0 role=receiver snd-settle-mode=0 source="queue" durable=configuration expiry-policy=never timeout=7 dynamic ` +
				`distribution-mode=move filter=["com.microsoft:session-filter" (0x137000000c)] capabilities=[a bc] target=null`},
		{&frames.Attach{LinkName: "l", Role: frames.RoleReceiver, DesiredCapabilities: []amqp.Symbol{"SHARED-SUBS"}, OfferedCapabilities: []amqp.Symbol{"x"},
			Source: &frames.Source{Address: "s", Durable: 2, DistributionMode: "copy", Filter: amqp.Map{
				{Key: amqp.Symbol("jms-selector"), Value: amqp.Described{Descriptor: amqp.Symbol("apache.org:selector-filter:string"), Value: "secret"}},
				{Key: amqp.Symbol("plain"), Value: "secret"}}},
			Target: &frames.Target{Address: "t", Durable: 7, ExpiryPolicy: "session-end", Dynamic: true, Capabilities: []amqp.Symbol{"topic"}}}, 0,
			`-> ch=1 attach name="l" handle=0 role=receiver source="s" durable=unsettled-state distribution-mode=copy ` +
				`filter=["jms-selector" (apache.org:selector-filter:string) "plain"] target="t" durable=7 expiry-policy=session-end dynamic capabilities=[topic] ` +
				`offered-capabilities=[x] desired-capabilities=[SHARED-SUBS]`},
		{&frames.Open{ContainerID: "c", OfferedCapabilities: []amqp.Symbol{"x"}, DesiredCapabilities: []amqp.Symbol{"ANONYMOUS-RELAY"}}, 0,
			`-> ch=1 open container-id="c" offered-capabilities=[x] desired-capabilities=[ANONYMOUS-RELAY]`},
		{&frames.Attach{LinkName: "l", Coordinator: &frames.Coordinator{Capabilities: []amqp.Symbol{"amqp:local-transactions"}}}, 0,
			`-> ch=1 attach name="l" handle=0 role=sender source=null target=coordinator capabilities=[amqp:local-transactions]`},
		{&frames.Transfer{HasDeliveryID: true, DeliveryID: 3}, 5, "-> ch=1 transfer handle=0 delivery-id=3 settled=false payload=5"},
		{&frames.Transfer{Settled: true, HasSettled: true}, 5, "-> ch=1 transfer handle=0 settled=true payload=5"},
		{&frames.Attach{LinkName: "l", Coordinator: &frames.Coordinator{}}, 0,
			`-> ch=1 attach name="l" handle=0 role=sender source=null target=coordinator`},
		{&frames.Flow{HasHandle: true, LinkCredit: 9, HasLinkCredit: true, Drain: true}, 0,
			"-> ch=1 flow incoming-window=0 next-outgoing-id=0 outgoing-window=0 handle=0 link-credit=9 drain"},
		{&frames.Transfer{DeliveryTag: []byte{0xab}, More: true}, 1024,
			"-> ch=1 transfer handle=0 delivery-tag=ab more payload=1024"},
		{&frames.Disposition{Settled: true, State: &frames.TransactionalState{TxnID: []byte{1}, Outcome: &frames.Rejected{Error: errSample}}}, 0,
			`-> ch=1 disposition role=sender first=0 settled=true state=transactional-state txn-id=01 state=rejected error="amqp:not-found: no such queue"`},
		{&frames.Disposition{State: &frames.Modified{UndeliverableHere: true, MessageAnnotations: someMap}}, 0,
			`-> ch=1 disposition role=sender first=0 settled=false state=modified undeliverable-here message-annotations=["k"]`},
		{&frames.Detach{Closed: true, Error: &frames.Error{Condition: "a"}}, 0, `-> ch=1 detach handle=0 closed=true error="a"`},
		{&frames.End{}, 0, "-> ch=1 end"},
		{&frames.SASLMechanisms{Mechanisms: []amqp.Symbol{"PLAIN"}}, 0, "-> ch=1 sasl-mechanisms mechanisms=[PLAIN]"},
		{&frames.SASLInit{Mechanism: "PLAIN hostname=x"}, 0, `-> ch=1 sasl-init mechanism="PLAIN hostname=x" initial-response-bytes=0`},
		{&frames.SASLMechanisms{Mechanisms: []amqp.Symbol{"A B", "", "C]", "a=b", "D"}}, 0, `-> ch=1 sasl-mechanisms mechanisms=["A B" "" "C]" "a=b" D]`},
	} {
		if got := frames.Trace("->", 1, c.p, c.payload); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestTrace_OneLineWithoutSecrets(t *testing.T) {
	secret := amqp.Map{{Key: amqp.Symbol("token"), Value: "secret"}}
	all := append(samples(), &frames.SASLResponse{Response: []byte("secret")}, &frames.SASLChallenge{Challenge: []byte("secret")},
		&frames.Open{Properties: secret}, &frames.Attach{Properties: secret},
		&frames.Attach{Source: &frames.Source{Filter: secret, DynamicNodeProperties: secret, ExpiryPolicy: "two\nlines", DistributionMode: "two\nlines",
			Capabilities: []amqp.Symbol{"two\nlines"}}},
		&frames.Attach{Source: &frames.Source{Filter: amqp.Map{{Key: "k", Value: amqp.Described{Descriptor: amqp.Symbol("two\nlines"), Value: "secret"}}}}},
		&frames.Attach{Source: &frames.Source{Filter: amqp.Map{{Key: "k", Value: amqp.Described{Descriptor: []byte("secret"), Value: "x"}}}}},
		&frames.Attach{LinkName: "two\nlines", Source: &frames.Source{Address: "two\nlines"}, Target: &frames.Target{Address: "two\nlines"}})
	for _, p := range all {
		line := frames.Trace("<-", 0, p, 0)
		if strings.Contains(line, "secret") || strings.Contains(line, "\n") {
			t.Errorf("%s: %s", p.Name(), line)
		}
	}
}
