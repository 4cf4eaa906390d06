package emulator_test

import (
	"bytes"
	"reflect"
	"regexp"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// properties makes a properties section with a message id.
func properties(id string) *goamqp.MessageProperties { return &goamqp.MessageProperties{MessageID: id} }

func ptr[T any](v T) *T { return &v }

// everything is a message with every field that a client can set.
func everything() *goamqp.Message {
	return &goamqp.Message{
		Header:              &goamqp.MessageHeader{Durable: true, Priority: 7, FirstAcquirer: true},
		DeliveryAnnotations: goamqp.Annotations{"da": "x"},
		Annotations: goamqp.Annotations{
			"x-opt-partition-key": "pk", "x-opt-via-partition-key": "via", "x-opt-deadletter-source": "elsewhere",
			"mine": int32(3), "null": nil,
		},
		Properties: &goamqp.MessageProperties{
			MessageID: "id", UserID: []byte("u"), To: ptr("to"), Subject: ptr("s"), ReplyTo: ptr("r"), CorrelationID: uint64(7),
			ContentType: ptr("text/plain"), ContentEncoding: ptr("none"), GroupID: ptr("g"), GroupSequence: ptr(uint32(1)),
			ReplyToGroupID: ptr("rg"),
		},
		ApplicationProperties: map[string]any{"s": "x", "i": int32(1), "n": nil, "u": goamqp.UUID{1}},
		Data:                  [][]byte{[]byte("one"), []byte("two")},
		Footer:                goamqp.Annotations{"f": "x"},
	}
}

func TestPROP9_PROP11_PROP12_WhatIsSentComesBackUnchanged(t *testing.T) {
	for _, o := range []emulator.Options{{}, {BodyBudget: 1}} {
		bubbleWith(t, o, emulator.QueueOptions{}, func(b *broker) {
			b.send(everything())
			b.send(everything())
			for _, g := range append(append(b.peek(), b.one()), b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)...) {
				wantEverything(t, g)
			}
		})
	}
}

// wantEverything checks a message that was sent as everything.
func wantEverything(t *testing.T, g *got) {
	t.Helper()
	want := everything()
	if !reflect.DeepEqual(g.Header, want.Header) {
		t.Errorf("header %+v, want %+v", g.Header, want.Header)
	}
	if !reflect.DeepEqual(g.Properties, want.Properties) {
		t.Errorf("properties %+v, want %+v", g.Properties, want.Properties)
	}
	if !reflect.DeepEqual(g.ApplicationProperties, want.ApplicationProperties) {
		t.Errorf("application properties %v, want %v", g.ApplicationProperties, want.ApplicationProperties)
	}
	if !reflect.DeepEqual(g.Data, want.Data) || !reflect.DeepEqual(g.Footer, want.Footer) {
		t.Errorf("body %q and footer %v, want %q and %v", g.Data, g.Footer, want.Data, want.Footer)
	}
	for k, v := range want.Annotations {
		if have, ok := g.Annotations[k]; !ok || have != v {
			t.Errorf("annotation %v: %v, want %v", k, have, v)
		}
	}
	equal(t, "the sender's delivery annotation", g.DeliveryAnnotations["da"], any("x"))
}

func TestPROP9_PROP13_ReceivedAndSentAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(everything())
		g := b.one()
		b.settle(emulator.Complete, g)
		// All annotations of the delivery go along, and those that only a peek has.
		g.Annotations["x-opt-message-state"] = int32(1)
		g.Annotations["x-opt-enqueue-sequence-number"] = int64(99)
		b.send(g.Message)
		again := b.one()
		wantEverything(t, again)
		equal(t, "number", again.seq(), 2)
		equal(t, "token", again.DeliveryAnnotations["x-opt-lock-token"], any(goamqp.UUID(again.token())))
		equal(t, "broker's annotations", len(again.Annotations), len(everything().Annotations)+3)
	})
}

// TestPROP1_PROP3_PROP8_ExactAnnotations pins the annotation map as a whole, as clients' tests do.
func TestPROP1_PROP3_PROP8_ExactAnnotations(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		seq := b.deferOne(text("ignored"))
		peeked, peekedDeferred := b.peekOne(emulator.Main, 2), b.peekOne(emulator.Main, seq)
		locked := b.one()
		deleted := b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)[0]
		deferred := b.fetch(seq)
		for _, c := range []struct {
			name string
			g    *got
			keys []string
		}{
			{"peeked", peeked, []string{"x-opt-message-state"}},
			{"peeked, deferred", peekedDeferred, []string{"x-opt-locked-until", "x-opt-message-state"}},
			{"locked", locked, []string{"x-opt-locked-until"}},
			{"deleted", deleted, nil},
			{"by number", deferred, []string{"x-opt-locked-until", "x-opt-message-state"}},
		} {
			keys := append([]string{"x-opt-sequence-number", "x-opt-enqueued-time"}, c.keys...)
			equal(t, c.name+": number of annotations", len(c.g.Annotations), len(keys))
			for _, k := range keys {
				equal(t, c.name+": has "+k, c.g.has(k), true)
			}
		}
	})
}

func TestPROP5_OnlyWithATimeToLive(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		m := text("a")
		created, expires := now().Add(-time.Hour), now().Add(time.Hour)
		m.Properties = properties("id")
		m.Properties.CreationTime, m.Properties.AbsoluteExpiryTime = &created, &expires
		b.send(m, text("b"))
		gs := b.receive(2)
		equal(t, "creation time as sent", gs[0].Properties.CreationTime.UTC(), created)
		equal(t, "expiry time as sent", gs[0].Properties.AbsoluteExpiryTime.UTC(), expires)
		equal(t, "ttl", gs[0].Header.TTL, 0)
		if gs[1].Properties.CreationTime != nil || gs[1].Properties.AbsoluteExpiryTime != nil {
			t.Error("times were added without a time to live")
		}
	})
}

func TestPROP7_PROP13_OnlyWhatWasSentIsEchoed(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		m := text("a")
		m.Properties = &goamqp.MessageProperties{GroupID: ptr("session")}
		b.send(m)
		for _, k := range []string{"x-opt-partition-key", "x-opt-via-partition-key", "x-opt-scheduled-enqueue-time", "x-opt-partition-id"} {
			equal(t, "has "+k, b.peekOne(emulator.Main, 0).has(k), false)
		}
		m.Annotations = goamqp.Annotations{"x-opt-partition-key": nil, "x-opt-deadletter-source": nil}
		b.send(m)
		g := b.receive(2)[1]
		for k := range m.Annotations {
			v, ok := g.Annotations[k]
			equal(t, "null is echoed", ok && v == nil, true)
		}
	})
}

func TestPROP13_NullsThatRefuseTheSend(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for _, k := range []string{"x-opt-scheduled-enqueue-time", "x-opt-message-state", "x-opt-enqueue-sequence-number"} {
			m := text("a")
			m.Annotations = goamqp.Annotations{k: nil}
			wantCode(t, k, b.trySend(m), emulator.CodeArgument)
		}
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestPROP10_DEC16_MadeMessageID(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		hex := regexp.MustCompile(`^[0-9a-f]{32}$`)
		first := b.peek()
		ids := map[any]bool{}
		for _, g := range first {
			id, ok := g.Properties.MessageID.(string)
			if !ok || !hex.MatchString(id) {
				t.Errorf("made message id %v", g.Properties.MessageID)
			}
			ids[id] = true
		}
		equal(t, "different ids", len(ids), 2)
		b.restart()
		b.one()
		b.settle(emulator.Complete, b.one()) // the newest: its id must not come again
		b.restart()
		b.sendTexts("c")
		equal(t, "an id of a message that is gone", ids[b.peekOne(emulator.Main, 3).Properties.MessageID], false)
		g := b.one()
		equal(t, "the same later, and after a restart", g.Properties.MessageID, first[0].Properties.MessageID)
		b.settle(emulator.DeadLetterOutcome, g)
		equal(t, "and in the dead-letter queue", b.oneFrom(emulator.DeadLetter).Properties.MessageID, first[0].Properties.MessageID)
	})
}

func TestQUO5_QUO14_MessageSize(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		fit := b.encodeAll([]*goamqp.Message{text("")})[0]
		overhead := len(encode(t, goamqp.NewMessage(bytes.Repeat([]byte("x"), 1000))).Raw) - 1000
		equal(t, "default limit", b.q.MaxMessageSize(), 262144)
		b.send(goamqp.NewMessage(bytes.Repeat([]byte("x"), 262144-overhead)))
		err := b.trySend(text("small"), goamqp.NewMessage(bytes.Repeat([]byte("x"), 262144-overhead+1)))
		wantCode(t, "one byte more", err, emulator.CodeMessageTooLarge)
		b.wantCounts(1, 0, 0, 0)
		b.update(func(o *emulator.QueueOptions) { o.MaxMessageSizeInKilobytes = 1024 })
		b.send(goamqp.NewMessage(bytes.Repeat([]byte("x"), 1<<20-overhead)))
		b.update(func(o *emulator.QueueOptions) { o.MaxMessageSizeInKilobytes = 1 })
		equal(t, "received after the limit was lowered", len(b.receive(2)), 2)
		if len(fit.Raw) == 0 {
			t.Error("a message without a body has no bytes")
		}
		b.send(&goamqp.Message{})
		if err := b.trySend(); err != nil {
			t.Errorf("empty batch: %v", err)
		}
	})
}
