package mgmt

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"

	"minibus/emulator"
	"minibus/mgmt/control/receive"
)

// timed runs a test in a bubble, with the queue q.
func timed(t *testing.T, o emulator.QueueOptions, f func(*testing.T, *bus)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newTimedBus(t, emulator.ProfileRelaxed)
		defer b.close()
		b.makeQueue("q", o)
		f(t, b)
	})
}

func TestReceiveWaitsAsLongAsItWasTold(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		for query, want := range map[string]time.Duration{"": time.Minute, "?timeout=60": time.Minute, "?timeout=0": 0, "?timeout=7": 7 * time.Second,
			"?timeout=3600": time.Minute, "?api-version=2021-05&timeout=2": 2 * time.Second} {
			for _, method := range []string{"POST", "DELETE"} {
				start := time.Now()
				wants(t, b.do(method, "/q/messages/head"+query, ""), 204)
				if took := time.Since(start); took != want {
					t.Errorf("%s %s took %v, want %v", method, query, took, want)
				}
			}
		}
	})
}

func TestReceiveAnswersWhenAMessageArrives(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		for method, status := range map[string]int{"POST": 201, "DELETE": 200} {
			answer, _ := b.begin(method, "/q/messages/head?timeout=30")
			time.Sleep(29 * time.Second)
			start := time.Now()
			b.post("q", "late")
			wants(t, <-answer, status, "late")
			if took := time.Since(start); took != 0 {
				t.Errorf("%s: the answer came %v after the message", method, took)
			}
		}
		b.wantCounts("q", 1, 0) // the one that is locked
	})
}

func TestORD4_ReceivesOverHTTPAreServedInTurn(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		var answers []<-chan *httptest.ResponseRecorder
		for range 3 {
			answer, _ := b.begin("DELETE", "/q/messages/head")
			answers = append(answers, answer)
			synctest.Wait()
		}
		for i, body := range []string{"first", "second", "third"} {
			b.post("q", body)
			wants(t, <-answers[i], 200, body)
		}
	})
}

// slowClient is a client that has not yet read the body of its answer.
type slowClient struct {
	*httptest.ResponseRecorder
	reads chan struct{}
}

func (c *slowClient) Write(b []byte) (int, error) {
	<-c.reads
	return c.ResponseRecorder.Write(b)
}

// TestLargeMessagesShareMemoryOnTheirWayOut: a receive waits for the memory that large messages of other requests take, and takes none before. Small
// messages need none.
func TestLargeMessagesShareMemoryOnTheirWayOut(t *testing.T) {
	timed(t, emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096}, func(t *testing.T, b *bus) {
		h := b.withRoomForOne()
		b.makeQueue("small", emulator.QueueOptions{})
		for range 3 {
			b.post("q", strings.Repeat("x", 2<<20))
		}
		slow := &slowClient{httptest.NewRecorder(), make(chan struct{})}
		answered := make(chan struct{})
		go func() {
			b.handler.ServeHTTP(slow, httptest.NewRequest(http.MethodDelete, "http://localhost/q/messages/head", http.NoBody))
			close(answered)
		}()
		synctest.Wait()
		start := time.Now()
		wants(t, b.do("DELETE", "/q/messages/head?timeout=10", ""), 503, "Too many large messages are being received over HTTP at once.")
		wants(t, b.do("DELETE", "/q/messages/head?timeout=0", ""), 503)
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("it was refused after %v", took)
		}
		b.post("small", "small")
		wants(t, b.do("DELETE", "/small/messages/head", ""), 200, "small")
		gone, leave := b.begin("DELETE", "/q/messages/head")
		synctest.Wait()
		leave()
		<-gone
		waiting, _ := b.begin("POST", "/q/messages/head")
		synctest.Wait()
		b.wantCounts("q", 2, 0)
		close(slow.reads)
		<-answered
		wants(t, <-waiting, 201, "xx")
		wants(t, b.do("DELETE", "/q/messages/head", ""), 200, "xx")
		b.wantFree(h)
	})
}

func (b *bus) wantFree(h *handler) {
	b.t.Helper()
	if !h.runtime.writing.TryAcquire(5 << 20) {
		b.t.Error("not all of the memory was given back")
		return
	}
	h.runtime.writing.Release(5 << 20)
}

// TestAWaitForMemoryEnds when another receiver takes the large message, and when there is nothing to wait for any more.
func TestAWaitForMemoryEnds(t *testing.T) {
	timed(t, emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096}, func(t *testing.T, b *bus) {
		h := b.withRoomForOne()
		large := strings.Repeat("x", 2<<20)
		for name, c := range map[string]struct {
			meanwhile func()
			status    int
			text      string
		}{
			"another message comes": {func() { b.post("q", "small") }, 200, "small"},
			"the memory is free": {func() {
				h.runtime.writing.Release(5 << 20)
				time.Sleep(5 * time.Second)
				b.wantFree(h)
			}, 204, ""},
			"the entity is deleted": {func() {
				if err := b.ns.Entities().Delete("q"); err != nil {
					t.Error(err)
				}
			}, 404, ""},
		} {
			if !b.ns.Exists("q") {
				b.makeQueue("q", emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096})
			}
			h.runtime.writing.TryAcquire(5 << 20)
			b.post("q", large)
			waiting, _ := b.begin("DELETE", "/q/messages/head?timeout=30")
			synctest.Wait()
			w := receive.New(b.queue("q"), emulator.Main, emulator.ReceiveAndDelete, nil)
			if d, err := w.Next(context.Background(), 0); d == nil || err != nil {
				t.Fatalf("%s: the message can't be received by another client: %v", name, err)
			}
			w.Close()
			start := time.Now()
			c.meanwhile()
			wants(t, <-waiting, c.status, c.text)
			if took := time.Since(start); c.status != 204 && took > time.Second {
				t.Errorf("%s: it took %v", name, took)
			}
			if c.status == 204 {
				b.wantFree(h)
			} else {
				h.runtime.writing.Release(5 << 20)
			}
		}
	})
}

// withRoomForOne lets the bus have memory for one message of 2 MiB and its answer.
func (b *bus) withRoomForOne() *handler {
	h := &handler{options: Options{Broker: b.Broker, Ready: func() bool { return true }, Logger: slog.New(slog.DiscardHandler)}}
	h.runtime = newRuntimeAPI(h.authorize, false)
	h.runtime.writing = semaphore.NewWeighted(5 << 20)
	b.handler = h.routes()
	return h
}

// TestLOCK8_LocksOfHTTPExpire independently of their connection.
func TestLOCK8_LocksOfHTTPExpire(t *testing.T) {
	timed(t, emulator.QueueOptions{LockDuration: 30 * time.Second}, func(t *testing.T, b *bus) {
		b.post("q", "m")
		w := b.do("POST", "/q/messages/head", "")
		time.Sleep(29 * time.Second)
		wants(t, b.do("POST", location(t, w), ""), 200) // LOCK-4
		time.Sleep(29 * time.Second)
		wants(t, b.do("POST", "/q/messages/head?timeout=0", ""), 204)
		start := time.Now()
		again := b.do("POST", "/q/messages/head", "")
		if took := time.Since(start); took != time.Second || brokerProperties(t, again)["DeliveryCount"] != 2.0 {
			t.Errorf("after %v: %v", took, brokerProperties(t, again))
		}
		wants(t, b.do("DELETE", location(t, w), ""), 404, "The lock supplied is invalid.")
		wants(t, b.do("POST", location(t, w), ""), 404)
		wants(t, b.do("DELETE", location(t, again), ""), 200)
	})
}

func TestSCHED21_ScheduledOverHTTP(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		due := time.Now().Add(40 * time.Second).UTC()
		b.post("q", "later", "BrokerProperties", `{"ScheduledEnqueueTimeUtc":"`+due.Format("Mon, 02 Jan 2006 15:04:05 GMT")+`"}`)
		wants(t, b.do("DELETE", "/q/messages/head?timeout=0", ""), 204)
		start := time.Now()
		w := b.do("DELETE", "/q/messages/head", "")
		wants(t, w, 200, "later")
		p := brokerProperties(t, w)
		if took := time.Since(start); took != 40*time.Second || p["ScheduledEnqueueTimeUtc"] != p["EnqueuedTimeUtc"] || p["SequenceNumber"] != 2.0 {
			t.Errorf("after %v: %v", took, p)
		}
	})
}

func TestEXP1_TimeToLiveOverHTTP(t *testing.T) {
	timed(t, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(t *testing.T, b *bus) {
		b.post("q", "short", "BrokerProperties", `{"TimeToLive":1.5}`)
		b.post("q", "span", "BrokerProperties", `{"TimeToLiveTimeSpan":"0.00:00:40"}`)
		b.post("q", "long", "BrokerProperties", `{"TimeToLiveTimeSpan":"100.00:00:00"}`)
		b.post("q", "endless", "BrokerProperties", `{"TimeToLive":922337203685.47754}`)
		time.Sleep(1499 * time.Millisecond)
		b.wantCounts("q", 4, 0)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		b.wantCounts("q", 3, 1)
		time.Sleep(38500 * time.Millisecond)
		synctest.Wait()
		b.wantCounts("q", 2, 2)
		if p := brokerProperties(t, b.do("DELETE", "/q/messages/head", "")); p["TimeToLive"] != 8640000.0 {
			t.Errorf("%v", p)
		}
		if p := brokerProperties(t, b.do("DELETE", "/q/messages/head", "")); p["TimeToLive"] != 922337203685.47754 {
			t.Errorf("%v", p)
		}
		w := b.do("DELETE", "/q/$deadletterqueue/messages/head", "")
		wants(t, w, 200, "short")
		if got := exactly(w.Header(), "DeadLetterReason"); len(got) != 1 || got[0] != `"TTLExpiredException"` {
			t.Errorf("reason %v", got)
		}
	})
}

// TestRAD5_NothingIsTakenForAClientThatHasGone during its wait.
func TestRAD5_NothingIsTakenForAClientThatHasGone(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		for _, method := range []string{"POST", "DELETE"} {
			answer, gone := b.begin(method, "/q/messages/head")
			synctest.Wait()
			gone()
			<-answer
			b.post("q", method)
			w := b.do("DELETE", "/q/messages/head?timeout=0", "")
			wants(t, w, 200, method)
			if p := brokerProperties(t, w); p["DeliveryCount"] != 1.0 {
				t.Errorf("%v", p)
			}
		}
	})
}

// TestRAD5_AClientThatGoesWhileItsMessageIsRemoved: the message is stored again.
func TestRAD5_AClientThatGoesWhileItsMessageIsRemoved(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		b.post("q", "m")
		b.journal.Pause()
		answer, gone := b.begin("DELETE", "/q/messages/head")
		synctest.Wait()
		gone()
		<-answer
		b.journal.Resume()
		synctest.Wait()
		w := b.do("DELETE", "/q/messages/head?timeout=0", "")
		wants(t, w, 200, "m")
		if p := brokerProperties(t, w); p["SequenceNumber"] != 1.0 || p["DeliveryCount"] != 1.0 {
			t.Errorf("%v", p)
		}
	})
}

// late is the context of a request that ends after its message was taken.
type late struct {
	context.Context
	asked int
}

func (c *late) Err() error {
	if c.asked++; c.asked > 1 {
		return context.Canceled
	}
	return nil
}

// TestRAD5_AnAnswerThatSaysNothingOfTheMessage: a message taken when the server begins to shut down is given back, and the refusal has
// none of its properties.
func TestRAD5_AnAnswerThatSaysNothingOfTheMessage(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		b.post("q", "m", "Custom", "1")
		for _, method := range []string{"POST", "DELETE"} {
			w, ctx := httptest.NewRecorder(), &late{Context: context.Background()}
			b.handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, "/q/messages/head", http.NoBody))
			synctest.Wait()
			wants(t, w, 503, "shutting down")
			for _, name := range []string{"BrokerProperties", "Location", "Custom"} {
				if got := w.Header()[name]; ctx.asked < 2 || got != nil {
					t.Errorf("%s: %s %v", method, name, got)
				}
			}
			b.wantCounts("q", 1, 0)
		}
	})
}

// brokenWriter is the answer to a client whose connection breaks while it is written.
type brokenWriter struct{ *httptest.ResponseRecorder }

func (brokenWriter) Write([]byte) (int, error) { return 0, errClientGone }

// TestLOCK13_AnAnswerThatCouldNotBeWritten gives its message back, with the count as it was.
func TestLOCK13_AnAnswerThatCouldNotBeWritten(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		b.post("q", "m")
		for _, method := range []string{"POST", "DELETE"} {
			w := brokenWriter{httptest.NewRecorder()}
			b.handler.ServeHTTP(w, httptest.NewRequest(method, "/q/messages/head", nil))
			synctest.Wait()
			b.wantCounts("q", 1, 0)
		}
		w := b.do("DELETE", "/q/messages/head?timeout=0", "")
		wants(t, w, 200, "m")
		if p := brokerProperties(t, w); p["DeliveryCount"] != 1.0 || p["SequenceNumber"] != 1.0 {
			t.Errorf("%v", p)
		}
	})
}

// TestReceiveAndChangesOfTheEntity: a wait goes on after a change, if the entity still allows it.
func TestReceiveAndChangesOfTheEntity(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		update := func(o emulator.QueueOptions) {
			t.Helper()
			if _, err := b.ns.Entities().UpdateQueue("q", o); err != nil {
				t.Fatal(err)
			}
		}
		answer, _ := b.begin("DELETE", "/q/messages/head")
		synctest.Wait()
		update(emulator.QueueOptions{MaxDeliveryCount: 3})
		synctest.Wait()
		b.post("q", "m")
		wants(t, <-answer, 200, "m")

		answer, _ = b.begin("POST", "/q/messages/head")
		synctest.Wait()
		update(emulator.QueueOptions{Status: emulator.StatusReceiveDisabled})
		wants(t, <-answer, 403, "currently disabled")
		update(emulator.QueueOptions{})

		answer, _ = b.begin("POST", "/q/messages/head")
		synctest.Wait()
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatal(err)
		}
		wants(t, <-answer, 404, "could not be found")
	})
}

// TestQUO12_AWaitKeepsItsPlace among the receivers of an entity when that is updated, even if there is no room for another.
func TestQUO12_AWaitKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTimedBus(t, emulator.ProfileEmulator)
		defer b.close()
		q := b.makeQueue("q", emulator.QueueOptions{})
		for range 199 {
			c, err := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		answer, _ := b.begin("DELETE", "/q/messages/head")
		synctest.Wait()
		wants(t, b.do("DELETE", "/q/messages/head?timeout=0", ""), 403, "maximum number of concurrent receive requests")
		for deliveries := range 2 {
			if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{MaxDeliveryCount: 3 + deliveries}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		b.post("q", "m")
		wants(t, <-answer, 200, "m")
	})
}

// Times are milliseconds (TIME-7): finer ones are rounded up, so that a tiny time to live does not become none, which means for
// ever, and no message comes before it is due.
func TestTIME7_FractionsOfAMillisecondOverHTTP(t *testing.T) {
	for given, want := range map[string]float64{
		`"TimeToLive":0.0000001`: 0.001, `"TimeToLive":0.0011`: 0.002, `"TimeToLive":0.029`: 0.029, `"TimeToLive":1e-12`: 0.001, `"TimeToLiveTimeSpan":"00:00:00.0000001"`: 0.001,
		`"TimeToLiveTimeSpan":"00:00:00.0010000"`: 0.001, `"TimeToLiveTimeSpan":"00:00:00.0010001"`: 0.002,
	} {
		timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
			b.post("q", "x", "BrokerProperties", "{"+given+"}")
			wants(t, b.do("POST", "/q/messages", `[{"Body":"y","BrokerProperties":{`+given+`}}]`, "Content-Type", "application/vnd.microsoft.servicebus.json"), 201)
			for range 2 {
				if p := brokerProperties(t, b.do("POST", "/q/messages/head?timeout=0", "")); p["TimeToLive"] != want {
					t.Errorf("%s: %v", given, p)
				}
			}
		})
	}
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		start := time.Now()
		b.post("q", "x", "BrokerProperties", `{"ScheduledEnqueueTimeUtc":"`+start.Add(time.Second+1).UTC().Format(time.RFC3339Nano)+`"}`)
		wants(t, b.do("DELETE", "/q/messages/head", ""), 200)
		if took := time.Since(start); took != time.Second+time.Millisecond {
			t.Errorf("it came after %v", took)
		}
	})
}

// TestReceiveAndAResetOfTheNamespace: a receive that waits is told to try again at once, and then it gets what comes.
func TestReceiveAndAResetOfTheNamespace(t *testing.T) {
	timed(t, emulator.QueueOptions{}, func(t *testing.T, b *bus) {
		answer, _ := b.begin("DELETE", "/q/messages/head?timeout=60")
		synctest.Wait()
		if err := b.ns.Reset([]emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{}}}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		wants(t, <-answer, 503, "SubCode=50004. ", "was reset. Attach again")
		if took := time.Since(start); took != 0 {
			t.Errorf("the answer came after %v", took)
		}
		b.post("q", "new")
		wants(t, b.do("DELETE", "/q/messages/head", ""), 200, "new")
	})
}

// TestTOP1_FewMessagesWithManyCopiesAreUnderWayOverHTTP: others need not wait behind all that many requests send to a
// topic with many subscriptions.
func TestTOP1_FewMessagesWithManyCopiesAreUnderWayOverHTTP(t *testing.T) {
	const subscriptions, sends = 100, 50
	synctest.Test(t, func(t *testing.T) {
		b := newTimedBus(t, emulator.ProfileRelaxed)
		defer b.close()
		var o emulator.TopicOptions
		for i := range subscriptions {
			o.Subscriptions = append(o.Subscriptions, emulator.SubscriptionOptions{
				Name:  fmt.Sprint("s", i),
				Rules: []emulator.RuleOptions{{Name: "r", SQL: "1=1", Action: fmt.Sprintf("SET copy = %d", i)}},
			})
		}
		if _, err := b.ns.Entities().CreateTopic("t", o); err != nil {
			t.Fatal(err)
		}
		b.post("t", "first")
		b.journal.Pause()
		var gone []context.CancelFunc
		for range sends {
			_, cancel := b.begin("POST", "/t/messages")
			gone = append(gone, cancel)
		}
		synctest.Wait()
		for _, cancel := range gone { // those that wait send nothing any more
			cancel()
		}
		synctest.Wait()
		b.journal.Resume()
		synctest.Wait()
		if n := b.queue("t/Subscriptions/s0").Counts().Active - 1; n < 1 || n > 10 {
			t.Errorf("%d messages were on their way to the journal", n)
		}
	})
}
