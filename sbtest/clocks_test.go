package sbtest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/emulator"
	"minibus/sbtest"
)

// timed is a namespace with a queue that has a message that someone has locked, one that is due in half an hour, and one that expires in 40
// minutes. Each namespace has a queue of the same name.
type timed struct {
	*testing.T
	ns       *emulator.Namespace
	client   *azservicebus.Client
	receiver *azservicebus.Receiver
	locked   *azservicebus.ReceivedMessage
}

var timedQueue = sbtest.Queue{Name: "orders", LockDuration: 5 * time.Minute, DeadLetteringOnMessageExpiration: true}

func newTimed(t *testing.T, ns *emulator.Namespace, connection string) *timed {
	t.Helper()
	x := &timed{T: t, ns: ns, client: clientOf(t, connection, nil)}
	send(t, x.client, "orders", body("locked"))
	x.receiver = receiver(t, x.client, "orders")
	x.locked = one(t, x.receiver, 10*time.Second)
	due, ttl := time.Now().Add(30*time.Minute), 40*time.Minute
	send(t, x.client, "orders", &azservicebus.Message{Body: []byte("scheduled"), ScheduledEnqueueTime: &due})
	send(t, x.client, "orders", &azservicebus.Message{Body: []byte("expiring"), TimeToLive: &ttl})
	return x
}

// wantTime fails unless the hour has passed: the scheduled message is there, the expiring one is dead, and the lock is lost. Before that
// hour, all is as newTimed left it.
func (x *timed) wantTime(passed bool) {
	x.Helper()
	want := emulator.Counts{Active: 2, Scheduled: 1}
	if passed {
		want = emulator.Counts{Active: 2, DeadLetter: 1}
	}
	wantCountsOf(x.T, x.ns, "orders", want)
	err := x.receiver.RenewMessageLock(context.Background(), x.locked, nil)
	if lost := err != nil; lost != passed {
		x.Errorf("%s: renew the lock: %v, want it lost: %v", x.ns.Name(), err, passed)
	}
	if !passed {
		return
	}
	counts := make(map[string]uint32)
	for range 2 {
		m := one(x.T, x.receiver, 10*time.Second)
		counts[string(m.Body)] = m.DeliveryCount
		if err := x.receiver.CompleteMessage(context.Background(), m, nil); err != nil {
			x.Errorf("%s: %v", x.ns.Name(), err)
		}
	}
	if counts["locked"] != 2 || counts["scheduled"] != 1 {
		x.Errorf("%s: received %v", x.ns.Name(), counts)
	}
	wantCountsOf(x.T, x.ns, "orders", emulator.Counts{DeadLetter: 1})
}

// TestDEC35_AdvanceOfANamespaceIsItsOwn: the hour passes in that namespace, and in no other of the server.
func TestDEC35_AdvanceOfANamespaceIsItsOwn(t *testing.T) {
	bus := sbtest.Start(t, timedQueue)
	first, second := bus.Namespace(t, timedQueue), bus.Namespace(t, timedQueue)
	a, b := newTimed(t, first.Namespace, first.ConnectionString()), newTimed(t, second.Namespace, second.ConnectionString())
	def := newTimed(t, bus.Default(), bus.ConnectionString())
	first.Advance(time.Hour)
	for _, other := range []*timed{b, def} {
		other.wantTime(false)
	}
	a.wantTime(true)
	send(t, a.client, "orders", body("later"))
	later, untilNow := one(t, a.receiver, 10*time.Second), time.Until(time.UnixMilli(first.Now()))
	if early := time.Until(*later.EnqueuedTime); early < 50*time.Minute || untilNow < 50*time.Minute {
		t.Errorf("afterwards a message is enqueued in %v, and it is %v later than here", early, untilNow)
	}
	bus.Advance(time.Hour)
	b.wantTime(true)
	def.wantTime(true)
	if ahead := first.Now() - second.Now(); ahead < (50 * time.Minute).Milliseconds() {
		t.Errorf("the first is only %d ms ahead of the second", ahead)
	}
}

// TestDEC35_AdvanceOfTheServerCountsForAllNamespaces, also for those that are made later.
func TestDEC35_AdvanceOfTheServerCountsForAllNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.WithoutNetwork(),
			sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{}, {"Name": "billing", "Queues": [{"Name": "q", "Properties": {"DefaultMessageTimeToLive": "PT1H"}}]}]}}`))
		queue := sbtest.Queue{Name: "q", DefaultMessageTimeToLive: time.Hour}
		ns, ahead := bus.Namespace(t, queue), bus.Namespace(t, queue)
		ahead.Advance(time.Minute)
		for _, one := range []string{ns.ConnectionString(), ahead.ConnectionString(), "Endpoint=sb://billing.localhost;SharedAccessKeyName=x;SharedAccessKey=y;UseDevelopmentEmulator=true"} {
			client := clientOf(t, one, bus.Dial)
			send(t, client, "q", body("x"))
			defer func() { _ = client.Close(context.Background()) }()
		}
		bus.Advance(2 * time.Hour)
		bus.Advance(-time.Hour)
		for _, one := range []*emulator.Namespace{ns.Namespace, ahead.Namespace, other(t, bus, "billing")} {
			wantCountsOf(t, one, "q", emulator.Counts{})
		}
		made := bus.Namespace(t, queue)
		q, err := made.Entity("q")
		if err != nil {
			t.Fatal(err)
		}
		now := bus.Default().Now()
		want := time.Now().Add(2 * time.Hour).UnixMilli()
		if now != want || ns.Now() != now || made.Now() != now || q.Times().Created != now || ahead.Now() != now+time.Minute.Milliseconds() {
			t.Errorf("it is %d, %d, %d made at %d, and %d; want %d", now, ns.Now(), made.Now(), q.Times().Created, ahead.Now(), want)
		}
	})
}

// other finds a namespace of a Config.json.
func other(t *testing.T, bus *sbtest.Server, name string) *emulator.Namespace {
	t.Helper()
	ns, err := sbtest.Find(bus, name)
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// TestDEC35_ANamespaceFollowsTheClockOfTheTest: WithClock is the time of day of all.
func TestDEC35_ANamespaceFollowsTheClockOfTheTest(t *testing.T) {
	newYear := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.WithClock(func() time.Time { return newYear }))
	ns := bus.Namespace(t, sbtest.Queue{Name: "q"})
	ns.Advance(time.Hour)
	if got := time.UnixMilli(ns.Now()).UTC(); !got.Equal(newYear.Add(time.Hour)) || bus.Default().Now() != newYear.UnixMilli() {
		t.Errorf("it is %v, and %v in the default namespace", got, time.UnixMilli(bus.Default().Now()).UTC())
	}
}

// TestDEC35_TimePassesInManyNamespacesAtOnce while others come and go.
func TestDEC35_TimePassesInManyNamespacesAtOnce(t *testing.T) {
	bus := sbtest.Start(t, sbtest.WithoutNetwork())
	const tests, steps = 20, 10
	var advanced sync.WaitGroup
	t.Run("tests", func(t *testing.T) {
		for range tests {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				ns := bus.Namespace(t, sbtest.Queue{Name: "q", AutoDeleteOnIdle: time.Hour})
				advanced.Go(func() { bus.Advance(time.Minute) })
				for range steps {
					ns.Advance(time.Hour)
				}
				if ns.Exists("q") {
					t.Error("the queue is still there after 10 hours")
				}
			})
		}
	})
	advanced.Wait()
	want := time.Now().Add(tests * time.Minute)
	made := bus.Namespace(t, sbtest.Queue{Name: "q"})
	for _, ns := range []*emulator.Namespace{made.Namespace, bus.Default()} {
		if off := time.UnixMilli(ns.Now()).Sub(want); off.Abs() > time.Minute {
			t.Errorf("%s is %v off", ns.Name(), off)
		}
	}
}
