package compat

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// partitioned is a queue of sixteen partitions.
var partitioned = harness.Queue{Name: queueName, Partitioned: true}

// withKey returns a message with a partition key.
func withKey(key, body string) *azservicebus.Message {
	m := message(body)
	m.PartitionKey = &key
	return m
}

// partitionOf and counterOf return the two parts of a number (SEQ-5).
func partitionOf(m *azservicebus.ReceivedMessage) int64 { return *m.SequenceNumber >> 48 }
func counterOf(m *azservicebus.ReceivedMessage) int64   { return *m.SequenceNumber & (1<<48 - 1) }

func TestPART2_SEQ3_SEQ5_ORD7_PROP8_KeysChooseThePartition(t *testing.T) {
	provesAnywhere(t, "entity.partition")
	b := serve(t, partitioned)
	const keys, each = 20, 3
	for i := range each {
		for k := range keys {
			b.put(queueName, withKey(fmt.Sprint("k", k), fmt.Sprint(i)))
		}
	}
	peeked := b.peekAll(b.receiver, 0) // merged by the whole number (PEEK-8)
	if !slices.IsSortedFunc(peeked, func(x, y *azservicebus.ReceivedMessage) int { return cmp.Compare(*x.SequenceNumber, *y.SequenceNumber) }) {
		b.Error("peek is not ascending")
	}
	counters := make(map[int64]int64)
	home := make(map[string]int64)
	for _, m := range peeked {
		partition := partitionOf(m)
		if counters[partition]++; counterOf(m) != counters[partition] {
			b.Errorf("partition %d: counter %d, want %d", partition, counterOf(m), counters[partition])
		}
		if first, known := home[*m.PartitionKey]; known && first != partition {
			b.Errorf("key %s is in the partitions %d and %d", *m.PartitionKey, first, partition)
		}
		home[*m.PartitionKey] = partition
		if id, ok := m.RawAMQPMessage.MessageAnnotations["x-opt-partition-id"]; !ok || fmt.Sprint(id) != fmt.Sprint(partition) {
			b.Errorf("partition id is %v (%T), want %d", id, id, partition)
		}
	}
	if len(peeked) != keys*each || len(counters) < 5 {
		b.Errorf("%d messages in %d partitions", len(peeked), len(counters))
	}
	last := make(map[string]string) // order holds within a key
	for _, m := range b.receive(b.receiver, keys*each) {
		if key := *m.PartitionKey; string(m.Body) <= last[key] {
			b.Errorf("key %s: %q came after %q", key, m.Body, last[key])
		} else {
			last[key] = string(m.Body)
		}
		b.must("complete", b.receiver.CompleteMessage(b.ctx, m, nil))
	}
}

func TestPART2_WithoutAKeyAllPartitionsAreUsed(t *testing.T) {
	b := serve(t, partitioned)
	for i := range 48 {
		b.put(queueName, message(fmt.Sprint(i)))
	}
	used := make(map[int64]int)
	for _, m := range b.peekAll(b.receiver, 0) {
		used[partitionOf(m)]++
	}
	if len(used) != 16 {
		b.Errorf("%d partitions are used: %v", len(used), used)
	}
}

func TestPART3_PART5_KeysThatDoNotFit(t *testing.T) {
	b := serve(t, partitioned, harness.Queue{Name: "plain"}, harness.Queue{Name: "sessions", Partitioned: true, RequiresSession: true})
	mixed := withKey("key", "x")
	session := "session"
	mixed.SessionID = &session
	for _, queue := range []string{queueName, "sessions"} {
		b.wantErrorText("session id and another partition key", b.to(queue).SendMessage(b.ctx, mixed, nil), "amqp:not-allowed")
	}
	b.must("the same to a plain queue", b.to("plain").SendMessage(b.ctx, mixed, nil))
	sender := b.to(queueName)
	batch := b.batchOf(sender, withKey("a", "1"), withKey("b", "2"))
	b.wantErrorText("batch of two keys", sender.SendMessageBatch(b.ctx, batch, nil), "amqp:not-allowed")
	b.must("batch of one key", sender.SendMessageBatch(b.ctx, b.batchOf(sender, withKey("a", "1"), withKey("a", "2")), nil))
	plain := b.to("plain")
	b.must("batch of two keys to a plain queue", plain.SendMessageBatch(b.ctx, b.batchOf(plain, withKey("a", "1"), withKey("b", "2")), nil))
	messages := b.receive(b.receiver, 2)
	b.wantBodies("received", messages, "1", "2")
	if *messages[1].SequenceNumber != *messages[0].SequenceNumber+1 {
		b.Errorf("numbers %d and %d", *messages[0].SequenceNumber, *messages[1].SequenceNumber)
	}
}

func TestPART1_SEQ6_DUP4_SettlingDetectingAndRestarting(t *testing.T) {
	b, again := serveTwice(t, harness.Queue{Name: queueName, Partitioned: true, DetectDuplicates: true, DuplicateWindow: "PT10M"})
	first := withKey("k", "1")
	id := "same"
	first.MessageID = &id
	other := withKey("another key", "2")
	other.MessageID = &id
	b.put(queueName, first, first, other) // the key is part of the identity
	before := b.peekAll(b.receiver, 0)
	if len(before) != 2 {
		b.Fatalf("%d messages are stored: %q", len(before), bodies(before))
	}
	b = again()
	b.put(queueName, first, withKey("k", "3"))
	after := b.peekAll(b.receiver, 0)
	if len(after) != 3 {
		b.Fatalf("%d messages are stored after the restart: %q", len(after), bodies(after))
	}
	var ofKey []int64
	for _, m := range after {
		if *m.PartitionKey == "k" {
			ofKey = append(ofKey, *m.SequenceNumber)
		}
	}
	if len(ofKey) != 2 || ofKey[1] != ofKey[0]+1 {
		b.Errorf("the key's numbers are %d", ofKey)
	}
	received := b.receive(b.receiver, 3)
	b.must("defer", b.receiver.DeferMessage(b.ctx, received[0], nil))
	b.must("dead-letter", b.receiver.DeadLetterMessage(b.ctx, received[1], nil))
	b.must("complete", b.receiver.CompleteMessage(b.ctx, received[2], nil))
	fetched, err := b.receiver.ReceiveDeferredMessages(b.ctx, []int64{*received[0].SequenceNumber}, nil)
	b.must("receive deferred", err)
	b.must("complete", b.receiver.CompleteMessage(b.ctx, fetched[0], nil))
	if dead := b.receiveOne(b.deadLetters()); *dead.SequenceNumber != *received[1].SequenceNumber {
		b.Errorf("number %d became %d", *received[1].SequenceNumber, *dead.SequenceNumber)
	}
}
