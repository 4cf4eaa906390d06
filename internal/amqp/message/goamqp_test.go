package message_test

import (
	"reflect"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func ptr[T any](v T) *T { return &v }

// foreign returns messages made by another implementation's encoder.
func foreign() map[string]*goamqp.Message {
	at := time.UnixMilli(1_700_000_000_000).UTC()
	return map[string]*goamqp.Message{
		"bare": goamqp.NewMessage([]byte("body")),
		"full": {
			Header:              &goamqp.MessageHeader{Durable: true, Priority: 7, TTL: time.Minute, FirstAcquirer: true, DeliveryCount: 9},
			DeliveryAnnotations: goamqp.Annotations{"x-d": "d"},
			Annotations:         goamqp.Annotations{"x-opt-partition-key": "pk", "x-opt-scheduled-enqueue-time": at, "x-user": int64(5), "x-null": nil},
			Properties: &goamqp.MessageProperties{MessageID: goamqp.UUID{1, 2}, UserID: []byte("u"), To: ptr("to"), Subject: ptr("subject"),
				ReplyTo: ptr("reply"), CorrelationID: uint64(7), ContentType: ptr("text/plain"), ContentEncoding: ptr("gzip"),
				AbsoluteExpiryTime: &at, CreationTime: &at, GroupID: ptr("session"), GroupSequence: ptr(uint32(4)), ReplyToGroupID: ptr("rg")},
			ApplicationProperties: map[string]any{"s": "text", "i": int32(-5), "f": 1.5, "b": true, "t": at, "bin": []byte{1}},
			Data:                  [][]byte{[]byte("one"), []byte("two")},
			Footer:                goamqp.Annotations{"f": "x"},
		},
		"value":    {Value: map[string]any{"k": "v"}, Properties: &goamqp.MessageProperties{MessageID: "id"}},
		"sequence": {Sequence: [][]any{{"a", int64(1)}, {"b"}}},
		"long":     goamqp.NewMessage(make([]byte, 300)),
	}
}

func TestGoAMQP_WhatItEncodesScansAndWhatWeWriteItDecodes(t *testing.T) {
	for name, sent := range foreign() {
		t.Run(name, func(t *testing.T) {
			raw, err := sent.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			m := scan(t, raw)
			if _, err := m.Info(); err != nil {
				t.Fatal(err)
			}
			p := message.Patch{SequenceNumber: 1000, EnqueuedTime: 5000, LockedUntil: 6000, HasLockedUntil: true,
				LockToken: amqp.UUID{0xaa}, HasLockToken: true, DeliveryCount: 3, MessageID: "made"}
			var got goamqp.Message
			if err := got.UnmarshalBinary(p.Append(nil, m)); err != nil {
				t.Fatal(err)
			}
			wantDelivered(t, sent, &got)
		})
	}
}

// wantDelivered compares as azservicebus' live tests do: whole maps.
func wantDelivered(t *testing.T, sent, got *goamqp.Message) {
	t.Helper()
	want := *sent
	want.Header = &goamqp.MessageHeader{Priority: 4, DeliveryCount: 3}
	if sent.Header != nil {
		*want.Header = *sent.Header
		want.Header.TTL, want.Header.DeliveryCount = 0, 3
	}
	want.Annotations = goamqp.Annotations{"x-opt-sequence-number": int64(1000), "x-opt-enqueued-time": time.UnixMilli(5000).UTC(),
		"x-opt-locked-until": time.UnixMilli(6000).UTC()}
	for k, v := range sent.Annotations {
		want.Annotations[k] = v
	}
	want.DeliveryAnnotations = goamqp.Annotations{"x-opt-lock-token": goamqp.UUID{0xaa}}
	for k, v := range sent.DeliveryAnnotations {
		want.DeliveryAnnotations[k] = v
	}
	if sent.Properties == nil {
		want.Properties = &goamqp.MessageProperties{MessageID: "made"}
	}
	raw, err := want.MarshalBinary() // there and back, so that times and the like have the decoder's form
	if err != nil {
		t.Fatal(err)
	}
	want = goamqp.Message{}
	if err := want.UnmarshalBinary(raw); err != nil {
		t.Fatal(err)
	}
	w, g := reflect.ValueOf(want), reflect.ValueOf(*got)
	for i := range w.NumField() {
		if f := w.Type().Field(i); f.IsExported() && !reflect.DeepEqual(w.Field(i).Interface(), g.Field(i).Interface()) {
			t.Errorf("%s: got %v, want %v", f.Name, g.Field(i), w.Field(i))
		}
	}
}

func TestGoAMQP_Info(t *testing.T) {
	raw, err := foreign()["full"].MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	in, err := scan(t, raw).Info()
	want := message.Info{MessageID: "01020000-0000-0000-0000-000000000000", HasMessageID: true, GroupID: "session", HasGroupID: true,
		PartitionKey: "pk", HasPartitionKey: true, TTL: 60000, Scheduled: 1_700_000_000_000, HasScheduled: true}
	if err != nil || in != want {
		t.Errorf("got %+v, %v", in, err)
	}
}

func TestGoAMQP_DecodesOverlayAndTimes(t *testing.T) {
	raw, err := foreign()["full"].MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := message.EncodeProperties(amqp.Map{{Key: "DeadLetterReason", Value: "why"}, {Key: "i", Value: int32(1)}})
	if err != nil {
		t.Fatal(err)
	}
	p := message.Patch{TTL: 60000, EnqueuedTime: 5000, Properties: overlay, OmitBody: true}
	var got goamqp.Message
	if err := got.UnmarshalBinary(p.Append(nil, scan(t, raw))); err != nil {
		t.Fatal(err)
	}
	if got.ApplicationProperties["DeadLetterReason"] != "why" || got.ApplicationProperties["i"] != int32(1) ||
		got.ApplicationProperties["s"] != "text" || len(got.ApplicationProperties) != 7 {
		t.Errorf("application properties: %v", got.ApplicationProperties)
	}
	if got.Header.TTL != time.Minute || got.Properties.AbsoluteExpiryTime.Sub(*got.Properties.CreationTime) != time.Minute ||
		got.Properties.CreationTime.UnixMilli() != 5000 || *got.Properties.GroupID != "session" {
		t.Errorf("header %+v, properties %+v", got.Header, got.Properties)
	}
	if len(got.Data) != 0 || got.DeliveryAnnotations["omitted-message-body-size"] == nil {
		t.Errorf("body %v, delivery annotations %v", got.Data, got.DeliveryAnnotations)
	}
}
