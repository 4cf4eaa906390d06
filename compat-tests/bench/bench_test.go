package main

import (
	"net"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp/frames"
)

// TestAims: the least favorable line decides, and each round counts beside the better rival of that round.
func TestAims(t *testing.T) {
	const classic, quorum = "RabbitMQ, classic", "RabbitMQ, quorum"
	run := func(server, mode string, rate, cpu, p50 float64) result {
		return result{
			Server: server, Label: mode, Mode: mode, Lean: true, Aimed: true, CPUMicros: cpu,
			Series: []summary{{Name: mode, Rate: rate, P50: p50}},
		}
	}
	var out strings.Builder
	report([]result{
		run("Minibus", "send", 100_000, 10, 0), run(classic, "send", 20_000, 40, 0), run(quorum, "send", 25_000, 50, 0),
		run("Minibus", "send", 90_000, 10, 0), run(classic, "send", 30_000, 20, 0), run(quorum, "send", 10_000, 30, 0),
		run("Minibus", "send", 80_000, 10, 0), run(classic, "send", 20_000, 40, 0), run(quorum, "send", 10_000, 30, 0),
		run("Minibus", "receive", 50_000, 10, 0), run(classic, "receive", 10_000, 15, 0),
		run("Minibus", "latency", 0, 10, 100), run(classic, "latency", 0, 100, 1000),
		{Label: "alone", Mode: "send", CPUMicros: 12, Series: []summary{{Name: "send", Rate: 1234}}},
	}, &out)
	for _, want := range []string{
		"| alone | send | 1 | 1,234 |",
		"| | Minibus | RabbitMQ, classic | RabbitMQ, quorum | Factor |",
		"| send, messages/s | 90,000 (80,000 to 100,000) | 20,000 (20,000 to 30,000) | 10,000 (10,000 to 25,000) | 4.00 (3.00 to ",
		"| receive, messages/s | 50,000 | 10,000 |  | 5.00 |",
		"reached: throughput with the lean client, at least 4 times wanted, 4.00 measured (send)",
		"missed: processor time per message, at most 0.4 times wanted, 0.67 measured (receive)",
		"reached: p50, one after another, at most 0.22 times wanted, 0.10 measured (latency)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

// TestLeanNumbers: the lean client counts from where the broker begins, over the end of the numbers, and keeps to its
// credit.
func TestLeanNumbers(t *testing.T) {
	first := uint32(1<<32 - 2)
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	broker := rawclient.NewWire(server, leanFrame)
	l := &lean{Wire: rawclient.NewWire(client, leanFrame)}
	go func() {
		broker.Append(0, &frames.Begin{NextOutgoingID: first, IncomingWindow: 2})
		broker.Append(0, &frames.Attach{Role: frames.RoleSender, HasInitialDeliveryCount: true, InitialDeliveryCount: first - 1})
		broker.Append(0, &frames.Flow{
			HasNextIncomingID: true, IncomingWindow: 2, Handle: leanSender, HasHandle: true,
			HasDeliveryCount: true, LinkCredit: 1, HasLinkCredit: true,
		})
		for id := range uint32(3) {
			broker.Append(0, &frames.Transfer{
				Handle: leanReceiver, DeliveryID: first + 5 + id, HasDeliveryID: true, More: id == 0,
			})
			if id == 0 {
				broker.Append(0, &frames.Transfer{Handle: leanReceiver})
			}
		}
		_ = broker.Flush()
	}()
	for range 7 {
		if _, err := l.take(); err != nil {
			t.Fatal(err)
		}
	}
	if !l.maySend() {
		t.Error("the client may not send with credit for one")
	}
	l.sent++
	if l.maySend() {
		t.Error("the client may send without credit")
	}
	go func() {
		l.credit(7)
		l.accept(l.delivery, 2, false)
		_ = l.Flush()
	}()
	flow, ok := nextFrame(t, broker).(*frames.Flow)
	if !ok || flow.NextIncomingID != first+4 || flow.DeliveryCount != first-1+3 {
		t.Errorf("the client answered with %+v", flow)
	}
	disposition, ok := nextFrame(t, broker).(*frames.Disposition)
	if !ok || disposition.First != first+6 || disposition.Last != first+7 {
		t.Errorf("the client accepted %+v", disposition)
	}
}

func nextFrame(t *testing.T, w *rawclient.Wire) frames.Performative {
	t.Helper()
	_, body, err := w.Next()
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := frames.DecodeBody(body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFairnessTable: the slowest message of all rounds decides, and the median of the rounds' medians.
func TestFairnessTable(t *testing.T) {
	of := func(middle, most time.Duration) result {
		return result{Series: []summary{{Name: "send"}, {
			Name: "total", P50: float64(middle.Microseconds()), P99: 2e3, Max: float64(most.Microseconds()),
		}}}
	}
	var table fairnessTable
	for _, most := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, 30 * time.Millisecond} {
		table.add("light", of(400*time.Microsecond, most))
		table.add("slow", of(51*time.Millisecond, most))
		table.add("late", of(time.Millisecond, most+time.Millisecond))
	}
	var out strings.Builder
	table.print(&out)
	for _, want := range []string{
		"| light | 0.40 | 2.0 | 300 | reached |", "| slow | 51.00 | 2.0 | 300 | missed |", "| late | 1.00 | 2.0 | 301 | missed |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}
