package cli

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// TestClockAfterACrashOnTheWay kills the server while a clock is advanced over thousands of schedules. The next process stands at the end of the way, and has every message
// once, in the order of the schedules.
func TestClockAfterACrashOnTheWay(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	const messages = 3000
	b, again := durable(t)
	start := b.clock("freeze").Now
	b.scheduleMany(messages, start)
	advanced := make(chan result, 1)
	cmd := b.command("clock", "advance", fmt.Sprint(messages, "s"))
	go func() { advanced <- b.finish(cmd) }()
	for b.clock("show").Now.Equal(start) {
		if b.ctx.Err() != nil {
			t.Fatal("the clock does not move")
		}
	}
	again()
	if r := <-advanced; r.code == 0 {
		t.Errorf("the clock was there before the crash: %s", r.out)
	}
	if c := b.clock("show"); !c.Now.Equal(start.Add(messages * time.Second)) {
		t.Errorf("after the crash the clock shows %v, which is %v after the start", c.Now, c.Now.Sub(start))
	}
	list := lines[struct{ Body, State string }](b, b.run("peek", "orders", "-n", fmt.Sprint(messages+1), "-o", "jsonl"))
	for i, m := range list {
		if want := fmt.Sprint(i + 1); m.Body != want || m.State != "active" {
			t.Fatalf("message %d is %v, want %s", i, m, want)
		}
	}
	if len(list) != messages {
		t.Errorf("%d messages are there", len(list))
	}
}

// scheduleMany sends messages that are due one second after another. The last one is sent first.
func (b *bench) scheduleMany(n int, start time.Time) {
	b.Helper()
	client, err := azservicebus.NewClientFromConnectionString(b.connection, nil)
	b.must("connect", err)
	defer func() { _ = client.Close(context.Background()) }()
	sender, err := client.NewSender("orders", nil)
	b.must("make a sender", err)
	for n > 0 {
		batch, err := sender.NewMessageBatch(b.ctx, nil)
		b.must("make a batch", err)
		for ; n > 0; n-- {
			due := start.Add(time.Duration(n) * time.Second)
			m := &azservicebus.Message{Body: []byte(fmt.Sprint(n)), ScheduledEnqueueTime: &due}
			if err := batch.AddMessage(m, nil); err != nil {
				break // it is full
			}
		}
		b.must("send", sender.SendMessageBatch(b.ctx, batch, nil))
	}
}
