package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// shownClock has what these tests read of a clock.
type shownClock struct {
	Now    time.Time
	Offset string
	Frozen bool
	Due    []struct {
		At           time.Time
		Entity, Kind string
	}
}

func (b *bench) clock(args ...string) shownClock {
	b.Helper()
	return decode[shownClock](b, b.run(append([]string{"clock", "-o", "json"}, args...)...))
}

// durable is a bench whose server has a database, and a function that kills the server and starts another one over the database, at the same ports.
func durable(t *testing.T) (b *bench, again func()) {
	t.Helper()
	t.Parallel()
	o := harness.Options{Config: harness.WriteTopology(t, queue("orders"), nil), Data: filepath.Join(t.TempDir(), "minibus.db")}
	server := harness.Start(t, o)
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	o.Ports = server.Ports
	return &bench{T: t, ctx: ctx, connection: server.ConnectionString()}, func() {
		t.Helper()
		server.Kill(t)
		server = harness.Start(t, o)
	}
}

// schedule sends a message that is due at an instant.
func (b *bench) schedule(text string, due time.Time) {
	b.Helper()
	client, err := azservicebus.NewClientFromConnectionString(b.connection, nil)
	b.must("connect", err)
	defer func() { _ = client.Close(context.Background()) }()
	sender, err := client.NewSender("orders", nil)
	b.must("make a sender", err)
	b.must("send", sender.SendMessage(b.ctx, &azservicebus.Message{Body: []byte(text), ScheduledEnqueueTime: &due}, nil))
}

// TestClock freezes, advances, sets and resumes it. It goes on from there after kill -9.
func TestClock(t *testing.T) {
	b, again := durable(t)
	frozen := b.clock("freeze")
	b.schedule("next week", frozen.Now.Add(7*24*time.Hour))
	if c := b.clock("show"); !c.Frozen || c.Now != frozen.Now || len(c.Due) != 1 || c.Due[0].Kind != "scheduled" || c.Due[0].Entity != "orders" {
		t.Errorf("clock show prints %+v", c)
	}
	if text := b.run("clock", "show"); !strings.Contains(text, "\nfrozen  true\n") || !strings.Contains(text, "  orders: a scheduled message becomes active\n") {
		t.Errorf("clock show prints %q", text)
	}
	if c := b.clock("advance", "6d"); c.Now != frozen.Now.Add(6*24*time.Hour) {
		t.Errorf("clock advance prints %+v", c)
	}
	again()
	if c := b.clock("show"); !c.Frozen || c.Now != frozen.Now.Add(6*24*time.Hour) {
		t.Errorf("after kill -9 the clock shows %+v", c)
	}
	week := frozen.Now.Add(7 * 24 * time.Hour)
	if c := b.clock("set", week.Format(time.RFC3339Nano)); c.Now != week || len(c.Due) != 1 || c.Due[0].Kind != "expires" {
		t.Errorf("clock set prints %+v", c)
	}
	if got := b.run("receive", "orders"); !strings.Contains(got, "next week") {
		t.Errorf("received %q", got)
	}
	if c := b.clock("resume"); c.Frozen || !strings.HasPrefix(c.Offset, "P6DT23H59M") && !strings.HasPrefix(c.Offset, "P7D") {
		t.Errorf("clock resume prints %+v", c)
	}
	again()
	if c := b.clock("show"); c.Frozen || c.Now.Before(week) || c.Now.After(week.Add(patience)) {
		t.Errorf("after another kill -9 the clock shows %+v", c)
	}
	b.fails(1, []string{"set the clock: The clock of the namespace ", "it never goes back"}, "clock", "set", "2001-01-01T00:00:00Z")
	b.fails(2, []string{`found "yesterday"; give an instant`}, "clock", "set", "yesterday")
	b.fails(2, []string{`found "-1h"; give a duration`}, "clock", "advance", "--", "-1h")
	b.fails(2, []string{"advance the clock: ", "at most 100 years ahead"}, "clock", "advance", "forever")
	b.fails(2, []string{"clock needs a second word: clock show|freeze|advance|set|resume"}, "clock")
	b.fails(6, []string{"nothing listens at localhost:1"}, "-c", "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true", "clock", "show")
}

// TestReset makes the namespace of the connection string what Config.json says. A namespace made by the command becomes what the command made; it is so after kill -9.
func TestReset(t *testing.T) {
	b, again := durable(t)
	b.run("send", "orders", "lost")
	b.run("queue", "create", "later")
	b.run("clock", "advance", "1h")
	made := decode[namespace](b, b.feed(`{"Queues": [{"Name": "jobs", "Properties": {"LockDuration": "PT10S"}}]}`, "namespace", "create", "worker-1", "--entities", "-", "-o", "json"))
	b.run("-c", made.ConnectionString, "send", "jobs", "x")
	b.run("-c", made.ConnectionString, "queue", "rm", "jobs")
	if text := b.run("reset"); text != "reset the namespace sbemulatorns\n" {
		t.Errorf("reset prints %q", text)
	}
	if text := b.run("-c", made.ConnectionString, "reset", "--yes", "-o", "json"); !strings.Contains(text, `"reset": "worker-1"`) {
		t.Errorf("reset prints %q", text)
	}
	again()
	if list := lines[struct{ Name string }](b, b.run("queue", "ls", "-o", "jsonl")); len(list) != 1 || list[0].Name != "orders" {
		t.Errorf("the queues are %v", list)
	}
	made = decode[namespace](b, b.run("namespace", "show", "worker-1", "-o", "json")) // with another port, if a program has taken its own
	if text := b.run("-c", made.ConnectionString, "queue", "show", "jobs", "-o", "json"); !strings.Contains(text, "PT10S") {
		t.Errorf("the queue of the other is %s", text)
	}
	if text := b.run("peek", "orders", "-o", "jsonl"); text != "" {
		t.Errorf("there is still %q", text)
	}
	if c := b.clock("show"); !strings.HasPrefix(strings.TrimLeft(c.Offset, "-"), "PT0") {
		t.Errorf("the clock shows %+v", c)
	}
	b.run("-c", made.ConnectionString, "namespace", "rm", "worker-1")
	b.fails(2, []string{`reset takes no argument "x"`}, "reset", "x")
	b.fails(6, []string{"nothing listens at localhost:1"}, "-c", "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true", "reset")
}

// TestDurationsFollowTheClockOfTheNamespace schedules messages after the clock was advanced.
func TestDurationsFollowTheClockOfTheNamespace(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"))
	b.run("clock", "freeze")
	now := b.clock("advance", "30d").Now
	b.run("send", "orders", "later", "--schedule", "10m")
	due := func(want time.Duration) {
		t.Helper()
		if c := b.clock("show"); len(c.Due) != 1 || c.Due[0].Kind != "scheduled" || !c.Due[0].At.Equal(now.Add(want).Truncate(time.Millisecond)) {
			t.Errorf("at %v there is due %+v, want the message after %v", now, c.Due, want)
		}
	}
	due(10 * time.Minute)
	b.run("message", "reschedule", "orders", "1", "2h")
	due(2 * time.Hour)
	b.fails(2, []string{`TIME: found "soon"; allowed: a duration from now`}, "message", "reschedule", "orders", "1", "soon")
	b.fails(2, []string{`--schedule: found "soon"; allowed: a duration from now`}, "send", "orders", "x", "--schedule", "soon")
}
