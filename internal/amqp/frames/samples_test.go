package frames_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("bad hex in test: %v", err)
	}
	return b
}

var (
	someMap     = amqp.Map{{Key: amqp.Symbol("k"), Value: int32(1000)}}
	someSymbols = []amqp.Symbol{"a", "bc"}
	errSample   = &frames.Error{Condition: "amqp:not-found", Description: "no such queue", Info: someMap}
	someSource  = &frames.Source{
		Address: "queue", HasAddress: true, Durable: 1, ExpiryPolicy: "never", Timeout: 7, Dynamic: true,
		DynamicNodeProperties: someMap, DistributionMode: "move",
		Filter: amqp.Map{{Key: amqp.Symbol("com.microsoft:session-filter"),
			Value: amqp.Described{Descriptor: uint64(0x137000000c), Value: "session"}}},
		DefaultOutcome: amqp.Described{Descriptor: uint64(0x26), Value: amqp.List{}},
		Outcomes:       someSymbols, Capabilities: someSymbols,
	}
	someTarget = &frames.Target{
		Address: "", HasAddress: true, Durable: 2, ExpiryPolicy: "session-end", Timeout: 8, Dynamic: true,
		DynamicNodeProperties: someMap, Capabilities: someSymbols,
	}
)

// samples has each performative with every field set, and again with none, and each delivery state.
func samples() []frames.Performative {
	out := []frames.Performative{
		&frames.Open{ContainerID: "c", Hostname: "h", MaxFrameSize: 65536, HasMaxFrameSize: true, ChannelMax: 0, HasChannelMax: true,
			IdleTimeout: 240000, HasIdleTimeout: true, OutgoingLocales: someSymbols, IncomingLocales: someSymbols,
			OfferedCapabilities: someSymbols, DesiredCapabilities: []amqp.Symbol{}, Properties: someMap},
		&frames.Open{},
		&frames.Begin{RemoteChannel: 0, HasRemoteChannel: true, NextOutgoingID: 1, IncomingWindow: 5000, OutgoingWindow: 4294967295,
			HandleMax: 255, HasHandleMax: true, OfferedCapabilities: someSymbols, DesiredCapabilities: someSymbols, Properties: someMap},
		&frames.Begin{},
		&frames.Attach{LinkName: "l", Handle: 3, Role: frames.RoleReceiver, SndSettleMode: 2, HasSndSettleMode: true,
			RcvSettleMode: 0, HasRcvSettleMode: true, Source: someSource, Target: someTarget, Unsettled: amqp.Map{},
			IncompleteUnsettled: true, InitialDeliveryCount: 0, HasInitialDeliveryCount: true, MaxMessageSize: 1<<64 - 1,
			HasMaxMessageSize: true, OfferedCapabilities: someSymbols, DesiredCapabilities: someSymbols, Properties: someMap},
		&frames.Attach{},
		&frames.Attach{LinkName: "t", Source: &frames.Source{}, Coordinator: &frames.Coordinator{Capabilities: someSymbols}},
		&frames.Attach{LinkName: "t", Source: &frames.Source{Filter: amqp.Map{}}, Target: &frames.Target{}},
		&frames.Flow{NextIncomingID: 0, HasNextIncomingID: true, IncomingWindow: 5000, NextOutgoingID: 1, OutgoingWindow: 2048,
			Handle: 0, HasHandle: true, DeliveryCount: 0, HasDeliveryCount: true, LinkCredit: 100, HasLinkCredit: true,
			Available: 3, HasAvailable: true, Drain: true, Echo: true, Properties: someMap},
		&frames.Flow{},
		&frames.Transfer{Handle: 1, DeliveryID: 0, HasDeliveryID: true, DeliveryTag: []byte("tag"), MessageFormat: 0x80013700,
			HasMessageFormat: true, Settled: false, HasSettled: true, More: true, RcvSettleMode: 1, HasRcvSettleMode: true,
			State: &frames.Accepted{}, Resume: true, Aborted: true, Batchable: true},
		&frames.Transfer{DeliveryTag: []byte{}, Settled: true, HasSettled: true},
		&frames.Transfer{},
		&frames.Disposition{Role: frames.RoleReceiver, First: 1, Last: 9, HasLast: true, Settled: true, Batchable: true},
		&frames.Disposition{},
		&frames.Detach{Handle: 5, Closed: true, Error: errSample}, &frames.Detach{},
		&frames.End{Error: errSample}, &frames.End{},
		&frames.Close{Error: errSample}, &frames.Close{Error: &frames.Error{}}, &frames.Close{},
		&frames.SASLMechanisms{Mechanisms: someSymbols},
		&frames.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00user\x00secret"), Hostname: "h"},
		&frames.SASLInit{Mechanism: "ANONYMOUS"},
		&frames.SASLChallenge{Challenge: []byte{1}},
		&frames.SASLResponse{Response: []byte{}},
		&frames.SASLOutcome{Code: 1, AdditionalData: []byte{2}}, &frames.SASLOutcome{},
	}
	for _, s := range states() {
		out = append(out, &frames.Disposition{First: 7, State: s})
	}
	return out
}

func states() []frames.DeliveryState {
	txn := []byte("txn")
	out := []frames.DeliveryState{
		&frames.Received{SectionNumber: 1, SectionOffset: 1 << 40},
		&frames.Declared{TxnID: txn},
		&frames.TransactionalState{TxnID: txn},
	}
	for _, s := range []frames.DeliveryState{
		&frames.Accepted{}, &frames.Released{}, &frames.Rejected{}, &frames.Rejected{Error: errSample}, &frames.Modified{},
		&frames.Modified{DeliveryFailed: true, UndeliverableHere: true, MessageAnnotations: someMap},
	} {
		out = append(out, s, &frames.TransactionalState{TxnID: txn, Outcome: s})
	}
	return out
}
