package compat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
	"minibus/compat-tests/ledger"
)

const (
	crashRounds     = 20     // 5 without MINIBUS_COMPAT=all; MINIBUS_CRASH_ROUNDS changes it
	crashOperations = 10_000 // the plan of a round; the process is killed somewhere in the middle
)

// TestDEC21_SEQ4_Kill9LosesAndDoublesNothing kills the server in the middle of 10,000 sends, settlements and schedules,
// again and again on one database: every acknowledged send is there exactly once, every acknowledged settlement holds, no
// number names two messages, and the counter goes on with the next number.
func TestDEC21_SEQ4_Kill9LosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	proves(t, "restart.kill")
	o := harness.Options{
		Config: harness.WriteConfig(t, harness.Queue{Name: queueName, LockDuration: "PT5M", MaxDeliveryCount: 2000, TimeToLive: "PT1H"}),
		Data:   filepath.Join(t.TempDir(), "minibus.db"),
	}
	book := ledger.New()
	for round := range crashRoundsWanted(t) {
		server := harness.Start(t, o)
		work := newCrashLoad(t, server, book, round)
		killed := work.runAndKill(crashOperations/5 + rand.IntN(crashOperations*3/5))
		server = harness.Start(t, o)
		audit := newAuditor(t, server, book)
		audit.run(round)
		server.Stop(t)
		t.Logf("round %d: killed after %d answers, %d messages there, next number %d", round, killed, len(audit.found), book.Highest()+1)
		if faults := book.Faults(); len(faults) > 0 {
			for _, fault := range faults[:min(len(faults), 20)] {
				t.Error(fault)
			}
			t.Fatalf("round %d, killed after %d answers: %d faults", round, killed, len(faults))
		}
		book.Rest()
	}
}

// crashRoundsWanted returns how often a crash test kills the server.
func crashRoundsWanted(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MINIBUS_CRASH_ROUNDS")
	switch {
	case text == "" && harness.All():
		return crashRounds
	case text == "":
		return 5
	}
	rounds, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("MINIBUS_CRASH_ROUNDS: %v", err)
	}
	return rounds
}

// crashLoad is the work of one round.
type crashLoad struct {
	t       *testing.T
	server  *harness.Server
	clients []*azservicebus.Client
	book    *ledger.Ledger
	round   int
	ctx     context.Context
	cancel  context.CancelFunc
	answers atomic.Int64 // acknowledged operations
	target  int64        // kill after this many
	reached chan struct{}
	once    sync.Once
	workers sync.WaitGroup
	dead    atomic.Bool
}

func newCrashLoad(t *testing.T, server *harness.Server, book *ledger.Ledger, round int) *crashLoad {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	return &crashLoad{t: t, server: server, book: book, round: round, ctx: ctx, cancel: cancel, reached: make(chan struct{})}
}

// answered counts an acknowledged operation.
func (w *crashLoad) answered(n int) {
	if w.answers.Add(int64(n)) >= w.target {
		w.once.Do(func() { close(w.reached) })
	}
}

// runAndKill works until this many operations are acknowledged, kills the server, and waits for all workers.
func (w *crashLoad) runAndKill(after int) int64 {
	return w.runWhile(after, func() {
		for i := range 2 {
			client := w.connect()
			for j := range 4 {
				w.goWork(func() { w.sendSingles(client, fmt.Sprintf("r%d-s%d.%d", w.round, i, j)) })
			}
			w.goWork(func() { w.sendBatches(client, fmt.Sprintf("r%d-b%d", w.round, i)) })
			w.goWork(func() { w.schedule(client, fmt.Sprintf("r%d-t%d", w.round, i)) })
			w.goWork(func() { w.settle(client) })
		}
	})
}

// runWhile starts workers and kills the server once they have got this many answers.
func (w *crashLoad) runWhile(after int, begin func()) int64 {
	w.target = int64(after)
	begin()
	select {
	case <-w.reached:
	case <-w.ctx.Done():
		w.t.Errorf("round %d: only %d of %d operations were answered in %v", w.round, w.answers.Load(), after, patience)
	}
	w.dead.Store(true)
	w.server.Kill(w.t)
	w.cancel()
	// In go-amqp 1.7 a send whose frame could not be written waits until its link is closed, whatever its context says. The
	// client does not close the links of its requests to $management, so such a send waits for ever: it is left behind.
	for _, client := range w.clients {
		closeClient(client)
	}
	ended := make(chan struct{})
	go func() {
		w.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second): // the others have ended: their connections are closed
		w.t.Log("a client whose server was killed waits for ever")
	}
	return w.answers.Load()
}

func (w *crashLoad) goWork(work func()) { w.workers.Go(work) }

func (w *crashLoad) connect() *azservicebus.Client {
	client, err := connectTo(w.server)
	if err != nil {
		w.t.Fatalf("connect: %v", err)
	}
	w.clients = append(w.clients, client)
	return client
}

// closeClient closes a client whose server may be gone. A link whose token could not be written holds a lock for ever, for the same reason
// as such a send, and then closing waits for it, whatever its context says: the client is left behind.
func closeClient(client *azservicebus.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	go func() {
		defer cancel()
		_ = client.Close(ctx) // the server may be gone
	}()
	<-ctx.Done()
}

func connectTo(server *harness.Server) (*azservicebus.Client, error) {
	return azservicebus.NewClientFromConnectionString(server.ConnectionString(), &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}, // the broker may store a repeated send twice
	})
}

// failed reports whether a worker must stop. An error is expected once the server is dead, and a finding before.
func (w *crashLoad) failed(what string, err error) bool {
	if err == nil {
		return false
	}
	if !w.dead.Load() && !errors.Is(err, context.Canceled) {
		// The kill may be under way: only the end of the process counts.
		time.Sleep(100 * time.Millisecond)
		if !w.dead.Load() {
			w.t.Errorf("round %d: %s: %v", w.round, what, err)
		}
	}
	return true
}

func (w *crashLoad) sendSingles(client *azservicebus.Client, name string) {
	sender, err := client.NewSender(queueName, nil)
	for n := 0; !w.failed("send", err); n++ {
		id := fmt.Sprintf("%s.%d", name, n)
		w.book.Sending(id, ledger.InQueue)
		if err = sender.SendMessage(w.ctx, message(id), nil); err == nil {
			w.book.Sent(id)
			w.answered(1)
		}
	}
}

func (w *crashLoad) sendBatches(client *azservicebus.Client, name string) {
	sender, err := client.NewSender(queueName, nil)
	for n := 0; !w.failed("send batch", err); n++ {
		var batch *azservicebus.MessageBatch
		if batch, err = sender.NewMessageBatch(w.ctx, nil); err != nil {
			continue
		}
		var ids []string
		for i := range 10 {
			id := fmt.Sprintf("%s.%d.%d", name, n, i)
			ids = append(ids, id)
			w.book.Sending(id, ledger.InQueue)
			if err := batch.AddMessage(message(id), nil); err != nil {
				w.t.Errorf("add to batch: %v", err)
			}
		}
		if err = sender.SendMessageBatch(w.ctx, batch, nil); err != nil {
			w.book.DoubtfulBatch(fmt.Sprintf("%s.%d", name, n), ids)
			continue
		}
		for _, id := range ids {
			w.book.Sent(id)
		}
		w.answered(len(ids))
	}
}

// schedule sends in turn messages for much later, some of which it cancels, and messages for now.
func (w *crashLoad) schedule(client *azservicebus.Client, name string) {
	sender, err := client.NewSender(queueName, nil)
	for n := 0; !w.failed("schedule", err); n++ {
		id := fmt.Sprintf("%s.%d", name, n)
		due, where := time.Now().Add(time.Hour), ledger.AsScheduled
		if n%3 == 0 {
			due, where = time.Now().Add(100*time.Millisecond), ledger.AsScheduled|ledger.InQueue
		}
		w.book.Sending(id, where)
		var numbers []int64
		if numbers, err = sender.ScheduleMessages(w.ctx, []*azservicebus.Message{message(id)}, due, nil); err != nil {
			continue
		}
		w.book.Sent(id)
		w.book.Seen(id, numbers[0])
		w.answered(1)
		if n%3 == 1 {
			w.book.Settling(id, ledger.Nowhere)
			if err = sender.CancelScheduledMessages(w.ctx, numbers, nil); err == nil {
				w.book.SettledAt(id, ledger.Nowhere)
				w.answered(1)
			}
		}
	}
}

func (w *crashLoad) settle(client *azservicebus.Client) {
	receiver, err := client.NewReceiverForQueue(queueName, nil)
	for !w.failed("receive", err) {
		var messages []*azservicebus.ReceivedMessage
		if messages, err = receiver.ReceiveMessages(w.ctx, 40, nil); err != nil {
			continue
		}
		var group sync.WaitGroup
		for _, m := range messages {
			id := string(m.Body)
			w.book.Seen(id, *m.SequenceNumber)
			w.book.Delivered(id)
			group.Go(func() { w.settleOne(receiver, m, id) })
		}
		group.Wait()
	}
}

func (w *crashLoad) settleOne(receiver *azservicebus.Receiver, m *azservicebus.ReceivedMessage, id string) {
	where, settle := ledger.Nowhere, func() error { return receiver.CompleteMessage(w.ctx, m, nil) }
	switch *m.SequenceNumber % 10 {
	case 3:
		where, settle = ledger.AsDeferred, func() error { return receiver.DeferMessage(w.ctx, m, nil) }
	case 7:
		where, settle = ledger.InDeadLetters, func() error { return receiver.DeadLetterMessage(w.ctx, m, nil) }
	}
	w.book.Settling(id, where)
	if err := settle(); !w.failed("settle", err) {
		w.book.SettledAt(id, where)
		w.answered(1)
	}
}
