package sbtest_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// timed is a namespace with a queue that has a message that someone has locked, one that is due in half an hour, and
// one that expires in 40 minutes. Each namespace has a queue of the same name.
type timed struct {
	*testing.T
	ns       *sbtest.Namespace
	client   *azservicebus.Client
	receiver *azservicebus.Receiver
	locked   *azservicebus.ReceivedMessage
}

var timedQueue = sbtest.Queue{Name: "orders", LockDuration: 5 * time.Minute, DeadLetteringOnMessageExpiration: true}

func newTimed(t *testing.T, ns *sbtest.Namespace, connection string) *timed {
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

// wantTime fails unless the hour has passed: the scheduled message is there, the expiring one is dead, and the lock is
// lost. Before that hour, all is as newTimed left it.
func (x *timed) wantTime(passed bool) {
	x.Helper()
	want := sbtest.Counts{Active: 2, Scheduled: 1}
	if passed {
		want = sbtest.Counts{Active: 2, DeadLetter: 1}
	}
	wantCounts(x.T, x.ns, "orders", want)
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
	wantCounts(x.T, x.ns, "orders", sbtest.Counts{DeadLetter: 1})
}

// TestDEC35_AdvanceOfANamespaceIsItsOwn: the hour passes in that namespace, and in no other of the server.
func TestDEC35_AdvanceOfANamespaceIsItsOwn(t *testing.T) {
	bus := sbtest.Start(t, timedQueue)
	first, second := bus.NewNamespace(t, timedQueue), bus.NewNamespace(t, timedQueue)
	a, b := newTimed(t, first, first.ConnectionString()), newTimed(t, second, second.ConnectionString())
	def := newTimed(t, bus.Namespace, bus.ConnectionString())
	first.Advance(time.Hour)
	for _, other := range []*timed{b, def} {
		other.wantTime(false)
	}
	a.wantTime(true)
	send(t, a.client, "orders", body("later"))
	later, untilNow := one(t, a.receiver, 10*time.Second), time.Until(first.Now())
	if early := time.Until(*later.EnqueuedTime); early < 50*time.Minute || untilNow < 50*time.Minute {
		t.Errorf("afterwards a message is enqueued in %v, and it is %v later than here", early, untilNow)
	}
	bus.Advance(time.Hour)
	b.wantTime(true)
	def.wantTime(true)
	if ahead := first.Now().Sub(second.Now()); ahead < 50*time.Minute {
		t.Errorf("the first is only %v ahead of the second", ahead)
	}
}

// TestDEC35_AdvanceOfTheServerCountsForAllNamespaces, also for those that are made later.
func TestDEC35_AdvanceOfTheServerCountsForAllNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t,
			sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{}, {"Name": "billing", "Queues": [{"Name": "q", "Properties": {"DefaultMessageTimeToLive": "PT1H"}}]}]}}`))
		queue := sbtest.Queue{Name: "q", DefaultMessageTimeToLive: time.Hour}
		ns, ahead := bus.NewNamespace(t, queue), bus.NewNamespace(t, queue)
		ahead.Advance(time.Minute)
		for _, one := range []string{ns.ConnectionString(), ahead.ConnectionString(), "Endpoint=sb://billing.localhost;SharedAccessKeyName=x;SharedAccessKey=y;UseDevelopmentEmulator=true"} {
			client := clientOf(t, one, bus.Dial)
			send(t, client, "q", body("x"))
			defer func() { _ = client.Close(context.Background()) }()
		}
		bus.Advance(2 * time.Hour)
		bus.Advance(-time.Hour)
		for _, one := range []*sbtest.Namespace{ns, ahead, bus.Find(t, "billing")} {
			wantCounts(t, one, "q", sbtest.Counts{})
		}
		made := bus.NewNamespace(t, queue)
		q, err := made.Domain().Entity("q")
		if err != nil {
			t.Fatal(err)
		}
		now := bus.Now()
		want := time.Now().Add(2 * time.Hour).UTC()
		created := time.UnixMilli(q.Times().Created).UTC()
		if now != want || ns.Now() != now || made.Now() != now || created != now || ahead.Now() != now.Add(time.Minute) {
			t.Errorf("it is %v, %v, %v made at %v, and %v; want %v", now, ns.Now(), made.Now(), created, ahead.Now(), want)
		}
	})
}

// TestDEC35_ANamespaceFollowsTheClockOfTheTest: WithClock is the time of day of all.
func TestDEC35_ANamespaceFollowsTheClockOfTheTest(t *testing.T) {
	newYear := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.WithClock(func() time.Time { return newYear }))
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "q"})
	ns.Advance(time.Hour)
	if got := ns.Now(); !got.Equal(newYear.Add(time.Hour)) || !bus.Now().Equal(newYear) {
		t.Errorf("it is %v, and %v in the default namespace", got, bus.Now().UTC())
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
				ns := bus.NewNamespace(t, sbtest.Queue{Name: "q", AutoDeleteOnIdle: time.Hour})
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
	made := bus.NewNamespace(t, sbtest.Queue{Name: "q"})
	for _, ns := range []*sbtest.Namespace{made, bus.Namespace} {
		if off := ns.Now().Sub(want); off.Abs() > time.Minute {
			t.Errorf("%s is %v off", ns.Name(), off)
		}
	}
}
