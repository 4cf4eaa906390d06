package amqpserver_test

import (
	"strings"
	"testing"
	"time"

	"minibus/amqpserver"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

func TestVersion_BareAMQPIsAnsweredInKind(t *testing.T) { // [AMQP 2.2]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderAMQP)
		p.WantHeader(amqptest.HeaderAMQP)
		p.WantSilence(time.Second) // our open follows the client's, or one client hangs (amqp-data-plane 1.1)
	})
}

func TestVersion_UnknownHeaderIsAnsweredWithOursAndClosed(t *testing.T) { // [AMQP 2.2]
	for _, c := range []struct {
		name string
		sent string
		want []byte
	}{
		{"newer version", "AMQP\x00\x01\x01\x00", amqptest.HeaderAMQP},
		{"older protocol", "AMQP\x01\x01\x00\x09", amqptest.HeaderAMQP},
		{"newer SASL", "AMQP\x03\x02\x00\x00", amqptest.HeaderSASL},
		{"TLS layer", "AMQP\x02\x01\x00\x00", amqptest.HeaderAMQP},
		{"something else", "GET / HT", amqptest.HeaderAMQP},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.peer(t)
				p.Raw([]byte(c.sent))
				p.WantHeader(c.want)
				p.WantEOF()
			})
		})
	}
}

func TestVersion_SilentPeerIsDropped(t *testing.T) {
	for _, sent := range []string{"", "AMQP", "AMQP\x00\x01\x00\x00"} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.peer(t)
			p.Raw([]byte(sent))
			time.Sleep(29 * time.Second)
			if n := b.server.Connections(); n != 1 {
				t.Fatalf("%q: %d connections before the time-out", sent, n)
			}
			time.Sleep(2 * time.Second)
			if n := b.server.Connections(); n != 0 {
				t.Errorf("%q: %d connections after the time-out", sent, n)
			}
		})
	}
}

func TestSASL_Mechanisms(t *testing.T) { // [AMQP 5.3.3]
	for _, mechanism := range []string{"ANONYMOUS", "PLAIN", "EXTERNAL", "MSSBCBS"} {
		t.Run(mechanism, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.peer(t)
				p.Raw(amqptest.HeaderSASL)
				p.WantHeader(amqptest.HeaderSASL)
				offer := amqptest.Want[*frames.SASLMechanisms](p)
				if len(offer.Mechanisms) != 4 || offer.Mechanisms[0] != "MSSBCBS" {
					t.Fatalf("offered %v", offer.Mechanisms)
				}
				p.SendSASL(&frames.SASLInit{Mechanism: "ANONYMOUS",
					InitialResponse: []byte("\x00RootManageSharedAccessKey")})
				if out := amqptest.Want[*frames.SASLOutcome](p); out.Code != 0 {
					t.Fatalf("outcome %d", out.Code)
				}
				p.WantSilence(time.Second)
				p.Open()
			})
		})
	}
}

func TestSASL_UnknownMechanismIsRefused(t *testing.T) { // [AMQP 5.3.3.6]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderSASL)
		p.WantHeader(amqptest.HeaderSASL)
		amqptest.Want[*frames.SASLMechanisms](p)
		p.SendSASL(&frames.SASLInit{Mechanism: "SCRAM-SHA-1"})
		if out := amqptest.Want[*frames.SASLOutcome](p); out.Code != 1 {
			t.Fatalf("outcome %d, want 1", out.Code)
		}
		p.WantEOF()
	})
}

func TestSASL_EverythingPipelined(t *testing.T) { // Java does not wait for the offer (amqp-data-plane 1.2)
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderSASL)
		p.SendSASL(&frames.SASLInit{Mechanism: "ANONYMOUS"})
		p.Raw(amqptest.HeaderAMQP)
		p.Send(0, &frames.Open{ContainerID: "java"})
		p.Send(0, &frames.Begin{IncomingWindow: 10, OutgoingWindow: 10})
		p.Send(0, amqptest.SenderAttach(0, "q"))
		p.WantHeader(amqptest.HeaderSASL)
		amqptest.Want[*frames.SASLMechanisms](p)
		amqptest.Want[*frames.SASLOutcome](p)
		p.WantHeader(amqptest.HeaderAMQP)
		amqptest.Want[*frames.Open](p)
		amqptest.Want[*frames.Begin](p)
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Flow](p)
	})
}

func TestSASL_FrameOfAnotherKindEndsTheHandshake(t *testing.T) { // [AMQP 5.3.1]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderSASL)
		p.WantHeader(amqptest.HeaderSASL)
		amqptest.Want[*frames.SASLMechanisms](p)
		p.Send(0, &frames.Open{ContainerID: "too early"})
		p.WantEOF()
	})
}

func TestTrace_OneLinePerFrameWithoutSecrets(t *testing.T) {
	var trace logBuffer
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderSASL)
		p.WantHeader(amqptest.HeaderSASL)
		amqptest.Want[*frames.SASLMechanisms](p)
		p.SendSASL(&frames.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00user\x00sesame")})
		amqptest.Want[*frames.SASLOutcome](p)
		p.Open()
		p.Begin(0)
		p.AttachSender(0, 0, "q")
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("confidential")...)
		amqptest.Want[*frames.Disposition](p)
	}, func(o *amqpserver.Options) { o.Trace = &trace })
	got := trace.String()
	for _, want := range []string{"-> ch=0 open", "<- ch=0 open", "-> ch=0 attach", "-> ch=0 transfer",
		"<- ch=0 disposition", "payload="} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the trace:\n%s", want, got)
		}
	}
	for _, secret := range []string{"sesame", "confidential"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in the trace:\n%s", secret, got)
		}
	}
}
