package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

// samples are messages of every kind that the SDK can send.
func samples() []*azservicebus.AMQPAnnotatedMessage {
	full := &azservicebus.AMQPAnnotatedMessage{
		Header: &azservicebus.AMQPAnnotatedMessageHeader{Durable: true, Priority: 7, TTL: 90 * time.Minute},
		Properties: &azservicebus.AMQPAnnotatedMessageProperties{
			MessageID: "full", CorrelationID: amqp.UUID{1, 2, 3}, GroupID: new("s"), Subject: new("größer"), ContentType: new("text/plain"), ContentEncoding: new("x"),
			To: new("t"), ReplyTo: new("r"), ReplyToGroupID: new("rs"), UserID: []byte{0, 255}, GroupSequence: new(uint32(9)),
		},
		ApplicationProperties: map[string]any{
			"ubyte": uint8(200), "ushort": uint16(60000), "uint": uint32(4e9), "ulong": uint64(1) << 63, "byte": int8(-5), "short": int16(-300),
			"int": int32(-70000), "long": int64(-5), "long beyond 2^53": int64(1)<<62 + 1, "float": float32(1.5), "double": 0.1, "whole double": 5.0, "huge": 1e300,
			"bool": true, "string": "a\"b\n\u2028\x01", "symbol": amqp.Symbol("sym"), "binary": []byte{0, 1, 255}, "null": nil,
			"timestamp": time.UnixMilli(1767225599123).UTC(), "uuid": amqp.UUID{9, 8, 7},
		},
		MessageAnnotations: map[any]any{"x-opt-partition-key": "s", "x-mine": int32(4)},
		Footer:             map[any]any{"x-foot": "f"},
		Body:               azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{[]byte("text \x00 with <&> ü\n")}},
	}
	all := []*azservicebus.AMQPAnnotatedMessage{full}
	for i, body := range []azservicebus.AMQPAnnotatedMessageBody{
		{Data: [][]byte{{}}}, {Data: [][]byte{{0xff, 0xfe}}}, {Data: [][]byte{[]byte("a"), {0xff}}},
		{Value: "text"}, {Value: int32(5)}, {Value: []any{"a", int64(1), nil, []byte{1}}}, {Value: map[string]any{"k": int32(1)}}, {Value: []int32{1, -2}},
		{Value: []amqp.UUID{{1}}}, {Value: 2.0}, {Sequence: [][]any{{"a", int32(2)}, {true}}},
	} {
		all = append(all, &azservicebus.AMQPAnnotatedMessage{Body: body, Properties: &azservicebus.AMQPAnnotatedMessageProperties{MessageID: fmt.Sprint("body ", i)}})
	}
	return append(all, &azservicebus.AMQPAnnotatedMessage{Body: azservicebus.AMQPAnnotatedMessageBody{Value: "id"},
		Properties: &azservicebus.AMQPAnnotatedMessageProperties{MessageID: uint64(77), CorrelationID: []byte{1}}})
}

// content is what must survive the way through JSON.
func content(m *azservicebus.ReceivedMessage) any {
	raw := m.RawAMQPMessage
	p := *raw.Properties
	p.CreationTime, p.AbsoluteExpiryTime = nil, nil // from the time to live, anew
	mine := make(map[any]any)
	for key, v := range raw.MessageAnnotations {
		if name := fmt.Sprint(key); name == "x-opt-partition-key" || !strings.HasPrefix(name, "x-opt-") {
			mine[key] = v
		}
	}
	return []any{p, raw.ApplicationProperties, raw.Body, mine, raw.Footer, raw.Header.Durable, raw.Header.Priority, raw.Header.TTL}
}

// TestRoundTrip feeds what peek writes to send, and compares the messages as the SDK sees them.
func TestRoundTrip(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "from"}, {Name: "to"}})
	sender, err := b.client.NewSender("from", nil)
	b.must("make a sender", err)
	for _, m := range samples() {
		b.must(fmt.Sprint("send ", m.Properties.MessageID), sender.SendAMQPAnnotatedMessage(b.ctx, m, nil))
	}
	text := b.run("peek", "from", "--all", "-o", "jsonl")
	if sent := b.feed(text, "send", "to", "--jsonl"); sent != fmt.Sprintf("sent %d messages to to\n", len(samples())) {
		t.Errorf("send prints %q", sent)
	}
	both := make([][]*azservicebus.ReceivedMessage, 2)
	for i, name := range []string{"from", "to"} {
		r, err := b.client.NewReceiverForQueue(name, nil)
		b.must("make a receiver", err)
		both[i], err = r.PeekMessages(b.ctx, 100, nil)
		b.must("peek", err)
	}
	if len(both[0]) != len(samples()) || len(both[1]) != len(both[0]) {
		t.Fatalf("there are %d and %d messages, want %d", len(both[0]), len(both[1]), len(samples()))
	}
	for i, m := range both[0] {
		if want, got := content(m), content(both[1][i]); !reflect.DeepEqual(got, want) {
			t.Errorf("message %d:\n got %#v\nwant %#v\nJSON %s", i, got, want, strings.Split(text, "\n")[i])
		}
	}
	if again := b.run("peek", "to", "--all", "-o", "jsonl"); len(strings.Split(again, "\n")) != len(strings.Split(text, "\n")) {
		t.Errorf("peek prints other lines for the copies: %s", again)
	}
}

func TestSend(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "q"}, {Name: "sessions", RequiresSession: true}})
	b.run("send", "q", "argument", "--message-id", "m1", "--subject", "about", "-p", "n=int:5", "-p", "url=http://x", "--ttl", "90s")
	file := filepath.Join(t.TempDir(), "body")
	b.must("write", os.WriteFile(file, []byte("from a file\n"), 0o600))
	b.run("send", "q", "--file", file)
	b.feed("from standard input", "send", "q")
	b.feed("one\ntwo\r\n\nlast", "send", "q", "--lines")
	b.feed("AP8=\n", "send", "q", "--base64")
	b.feed(`{"body":{"id":7,"a":1},"subject":"own"}`+"\n\n"+`{"messageId":"j2","body":"text","applicationProperties":{"u":{"uuid":"00000000-0000-0000-0000-000000000001"}}}`,
		"send", "q", "--jsonl", "--subject", "from the flag", "-p", "k=v")
	all := b.peek("q")
	b.wantBodies("sent", all, "argument", "from a file\n", "from standard input", "one", "two", "", "last", "", `{"id":7,"a":1}`, "text")
	first, last := all[0], all[len(all)-1]
	if first.MessageID != "m1" || first.Subject != "about" || first.TimeToLive != "PT1M30S" || first.ApplicationProperties["url"] != "http://x" ||
		!reflect.DeepEqual(first.ApplicationProperties["n"], map[string]any{"int": 5.0}) {
		t.Errorf("the first message is %+v", first)
	}
	if own := all[len(all)-2]; own.Subject != "own" || last.Subject != "from the flag" || last.ApplicationProperties["k"] != "v" || last.MessageID != "j2" {
		t.Errorf("the last messages are %+v and %+v", own, last)
	}
	b.run("send", "q", "later", "--schedule", "1h")
	if got := b.peek("q", "--from", fmt.Sprint(last.SequenceNumber+1)); len(got) != 1 || got[0].State != "scheduled" {
		t.Errorf("the scheduled message is %+v", got)
	}
	b.run("send", "sessions", "a", "--session", "s1")
	if got := b.run("send", "q", "many", "--repeat", "250", "-o", "json"); decode[map[string]any](b, got)["sent"] != 250.0 {
		t.Errorf("send prints %q", got)
	}
	ids := make(map[string]bool)
	for _, m := range b.peek("q") {
		ids[m.MessageID] = true
	}
	if len(ids) != 11+250 {
		t.Errorf("261 messages have %d ids", len(ids))
	}
	began := time.Now()
	b.run("send", "q", "slow", "--repeat", "5", "--rate", "10")
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("5 messages at 10 in a second took %v", took)
	}
}

func TestMistakesInSending(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "q"}, {Name: "sessions", RequiresSession: true}})
	b.fails(3, []string{"send to none", "could not be found", "minibus queue ls"}, "send", "none", "x")
	b.fails(1, []string{"send to sessions", "SessionId"}, "send", "sessions", "x")
	b.fails(2, []string{"--property n", `"x"`, "int"}, "send", "q", "x", "-p", "n=int:x")
	b.fails(2, []string{"--property", `"n"`, "NAME=VALUE"}, "send", "q", "x", "-p", "n")
	b.fails(2, []string{"--ttl", `"soon"`}, "send", "q", "x", "--ttl", "soon")
	b.fails(2, []string{"--schedule", `"soon"`}, "send", "q", "x", "--schedule", "soon")
	b.fails(2, []string{"--file"}, "send", "q", "--file", filepath.Join(t.TempDir(), "none"))
	b.fails(2, []string{"argument or --file"}, "send", "q", "x", "--file", "y")
	for input, text := range map[string]string{
		`{"body":"ok"}` + "\n" + `{"bodi":"x"}`:                    `line 2: not a message in JSON: unknown field "bodi"`,
		`{"body":`:                                                 "line 1: not a message in JSON",
		`{"applicationProperties":{"a":{"int":1.5}}}`:              `line 1: applicationProperties: a: "1.5" is no value of type int`,
		`{"applicationProperties":{"a":[1]}}`:                      "line 1: applicationProperties: a: found [1]",
		`{"applicationProperties":{"a":{"inf":1}}}`:                `line 1: applicationProperties: a: there is no type "inf"`,
		`{"body":"x","bodyBase64":"AA=="}`:                         "more than one of body",
		`{"bodyBase64":"%"}`:                                       "line 1: bodyBase64 or bodySections: not base64",
		`{"timeToLive":"long"}`:                                    "line 1: timeToLive",
		`{"bodyValue":{"described":{"descriptor":1,"value":"x"}}}`: "can't be sent",
	} {
		cmd := b.command("send", "q", "--jsonl")
		cmd.Stdin = strings.NewReader(input)
		b.failed(b.finish(cmd), 2, []string{text}, "send", "q", "--jsonl", input)
	}
}

func TestPeek(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "q"}, {Name: "a/b"}, {Name: "sessions", RequiresSession: true}},
		harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "s"}}}})
	b.run("send", "q", "x", "--repeat", "600")
	b.run("send", "q", "evil \x1b[31m\x07 text")
	all := b.peek("q")
	if len(all) != 601 || all[600].SequenceNumber-all[0].SequenceNumber != 600 {
		t.Fatalf("peek --all prints %d messages", len(all))
	}
	if got := lines[peeked](b, b.run("peek", "q", "-n", "5", "--from", fmt.Sprint(all[300].SequenceNumber), "-o", "jsonl")); len(got) != 5 ||
		got[0].SequenceNumber != all[300].SequenceNumber {
		t.Errorf("peek --from prints %+v", got)
	}
	if table := b.run("peek", "q", "--all"); !strings.HasPrefix(table, "NUMBER ") || strings.Count(table, "\n") != 602 || !strings.Contains(table, "evil \uFFFD[31m\uFFFD text") {
		t.Errorf("peek prints %.300q", table)
	}
	if array := decode[[]peeked](b, b.run("peek", "q", "-o", "json")); len(array) != 20 {
		t.Errorf("peek -o json prints %d messages", len(array))
	}
	b.run("send", "events", "e")
	b.run("send", "a/b", "slash")
	b.wantBodies("subscription", b.peek("events/s"), "e")
	b.wantBodies("subscription, long", b.peek("events/Subscriptions/s"), "e")
	b.wantBodies("queue with a slash", b.peek("a/b"), "slash")
	b.run("receive", "events/s", "--dead-letter", "--reason", "r")
	for _, args := range [][]string{{"events/s", "--dlq"}, {"events/s/$DeadLetterQueue"}, {"events/subscriptions/s/$deadletterqueue"}} {
		b.wantBodies(fmt.Sprint(args), b.peek(args...), "e")
	}
	if table := b.run("peek", "events/s", "--dlq"); !strings.Contains(table, " REASON ") || !strings.Contains(table, " r ") {
		t.Errorf("peek --dlq prints %q", table)
	}
	if empty := b.try("peek", "events/s", "-o", "json"); empty.code != 0 || empty.out != "[]\n" || empty.errors != "no messages in events/s\n" {
		t.Errorf("peek at nothing gives %+v", empty)
	}
	b.run("send", "sessions", "a", "--session", "s1")
	b.run("send", "sessions", "b", "--session", "s2")
	b.wantBodies("session", b.peek("sessions", "--session", "s2"), "b")
	b.wantBodies("all sessions", b.peek("sessions"), "a", "b")
	b.fails(3, []string{"peek at none", "could not be found"}, "peek", "none")
	b.fails(3, []string{"no/ne", "could not be found"}, "peek", "no/ne")
	b.fails(2, []string{"--count", "0"}, "peek", "q", "-n", "0")
	b.fails(2, []string{"--dlq"}, "peek", "q", "--dlq", "--transfer-dlq")
}

// TestPeekShowsTypesThatTheSDKLacks: .NET's decimals are among them.
func TestPeekShowsTypesThatTheSDKLacks(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("q"), harness.Topic{Name: "t", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "s"}}}})
	host := regexp.MustCompile(`localhost:\d+`).FindString(b.connection)
	for _, entity := range []string{"q", "t"} {
		b.run("send", entity, "first")
		answer, err := http.Post("http://"+host+"/$minibus/v1/namespaces/$default/entities/"+entity+"/messages", "application/json", strings.NewReader(
			`[{"body":"second","applicationProperties":{"price":{"decimal128":"12.50"},"c":{"char":"é"}}},`+
				`{"body":"`+strings.Repeat("x", 9000)+`","applicationProperties":{"d":{"decimal32":"AAAAAQ=="}}}]`))
		b.must("send", err)
		if _ = answer.Body.Close(); answer.StatusCode != http.StatusCreated {
			t.Fatalf("send: %s", answer.Status)
		}
	}
	for _, entity := range []string{"q", "t/s"} {
		all := b.peek(entity)
		b.wantBodies("peek", all, "first", "second", strings.Repeat("x", 9000))
		want := map[string]any{"price": map[string]any{"decimal128": "12.50"}, "c": map[string]any{"char": "é"}}
		if len(all) == 3 && !reflect.DeepEqual(all[1].ApplicationProperties, want) {
			t.Errorf("peek prints %v, want %v", all[1].ApplicationProperties, want)
		}
		b.wantBodies("tail", lines[peeked](b, b.run("tail", entity, "-n", "2", "-o", "jsonl")), "second", strings.Repeat("x", 9000))
		b.wantBodies("from", b.peek(entity, "--from", fmt.Sprint(all[1].SequenceNumber)), "second", strings.Repeat("x", 9000))
	}
}

func TestTail(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("q"))
	if got := b.try("tail", "q"); got.code != 0 || got.errors != "no messages in q\n" {
		t.Errorf("tail of nothing gives %+v", got)
	}
	b.run("send", "q", "x", "--repeat", "300")
	b.run("receive", "q", "-n", "40", "--receive-and-delete")
	b.run("send", "q", "--lines", "--file", file(t, "l1\nl2\nl3\n"))
	b.wantBodies("tail", lines[peeked](b, b.run("tail", "q", "-n", "4", "-o", "jsonl")), "x", "l1", "l2", "l3")
	if got := lines[peeked](b, b.run("tail", "q", "-n", "1000", "-o", "jsonl")); len(got) != 263 {
		t.Errorf("tail -n 1000 prints %d of 263 messages", len(got))
	}
	cmd := b.command("tail", "q", "-f", "-n", "1", "--interval", "50ms", "-o", "jsonl")
	var out syncBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	b.must("start", cmd.Start())
	b.until("the last message", func() bool { return strings.Contains(out.String(), "l3") })
	b.run("send", "q", "new 1")
	b.until("a new message", func() bool { return strings.Contains(out.String(), "new 1") })
	b.run("send", "q", "new 2")
	b.until("another message", func() bool { return strings.Contains(out.String(), "new 2") })
	b.must("interrupt", cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("tail -f ended with %d", cmd.ProcessState.ExitCode())
	}
	b.wantBodies("tail -f", lines[peeked](b, out.String()), "l3", "new 1", "new 2")
	received := b.run("receive", "q", "-n", "300", "--wait", "1s", "-o", "jsonl")
	if got := lines[peeked](b, received); len(got) != 265 || slices.ContainsFunc(got, func(m peeked) bool { return m.DeliveryCount != 0 }) {
		t.Errorf("after tail %d messages are there; it must lock none", len(got))
	}
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// until waits for a condition.
func (b *bench) until(what string, done func() bool) {
	b.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// syncBuffer collects the output of a running process.
type syncBuffer struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.String()
}
