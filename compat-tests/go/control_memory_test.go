package compat

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

const controlMessages = "/$minibus/v1/namespaces/$default/entities/%s/messages"

// TestControl_ALongQueueIsReadInBoundedMemory looks through a queue for texts that no message has, with a filter of either kind. The bodies are five times
// what the server keeps of bodies in memory.
func TestControl_ALongQueueIsReadInBoundedMemory(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	const batches, each, size = 400, 100, 8 << 10
	b := startStored(t, harness.WriteConfig(t, harness.Queue{Name: queueName, MaxMessageSizeInKilobytes: 4096}, harness.Queue{Name: "other"}))
	b.sendAtOnce(batches, func() error {
		batch, err := b.sender.NewMessageBatch(b.ctx, nil)
		for i := 0; err == nil && i < each; i++ {
			err = batch.AddMessage(blob(size), nil)
		}
		if err != nil {
			return err
		}
		return b.sender.SendMessageBatch(b.ctx, batch, nil)
	})
	for _, filter := range []string{"text=absent", "sql=" + url.QueryEscape("color = 'absent'")} {
		examined, from := 0, "1"
		for from != "" {
			var page struct {
				Items    []json.RawMessage
				Next     string
				Examined int
			}
			answer := b.wantHTTP(200, "GET", fmt.Sprintf(controlMessages, queueName)+"?"+filter+"&from="+from, "", nil)
			b.must("decode the page", json.Unmarshal([]byte(answer.body), &page))
			if len(page.Items) != 0 {
				t.Fatalf("%s: %s", filter, answer.body)
			}
			examined, from = examined+page.Examined, page.Next
		}
		if examined != batches*each {
			t.Errorf("%s: %d messages examined, want %d", filter, examined, batches*each)
		}
	}
	b.wantSlim("other")
}

// TestControl_ALargeBodyIsReadInBoundedMemory reads a body of 50 MiB many times, whole and as a part of its message.
func TestControl_ALargeBodyIsReadInBoundedMemory(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	const size, times = 50 << 20, 8
	b := startStored(t, harness.WriteConfig(t, harness.Queue{Name: queueName, MaxMessageSizeInKilobytes: 100 << 10}, harness.Queue{Name: "other"}))
	b.must("send", b.sender.SendMessage(b.ctx, blob(size), nil))
	b.must("send", b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: []byte("small")}, nil))
	for range times {
		if n := len(b.wantHTTP(200, "GET", fmt.Sprintf(controlMessages, queueName)+"/1/body", "", nil).body); n != size {
			t.Fatalf("a body of %d bytes, want %d", n, size)
		}
		for _, path := range []string{"/1", "?limit=100", "?text=absent"} {
			if n := len(b.wantHTTP(200, "GET", fmt.Sprintf(controlMessages, queueName)+path, "", nil).body); n > mebibyte {
				t.Fatalf("%s: an answer of %d bytes", path, n)
			}
		}
	}
	b.wantSlim("other")
}
