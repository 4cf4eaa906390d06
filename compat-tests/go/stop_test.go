package compat

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
	"minibus/compat-tests/ledger"
	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp/frames"
)

const (
	stopRounds = 3
	allCredit  = 1 << 20
)

// stopSources lists the addresses to receive from, with the count and size of the messages that each round puts there. The clients of
// slow and long do not read before the server is gone. The server waits a little for such clients, so every other round does
// without them, and the server ends as fast as it can.
var stopSources = []struct {
	address string
	n, size int
}{
	{"orders", 3000, 1000},
	{"carts", 1000, 500}, // in two sessions
	{"news/Subscriptions/a", 600, 2000},
	{"news/Subscriptions/b", 0, 0}, // gets a copy of each
	{"web", 400, 1000},
	{"locked", 600, 1000},
	{"slow", 160, 100_000},
	{"long", 20, 500_000}, // messages of several frames
	{"flood", 0, 0},
}

// TestDEC21_RAD5_StopUnderLoadLosesNothing ends the server with SIGTERM in the middle of receives of every kind, again and again
// on one database. Afterwards every message is either at a client or in its entity. Locked ones are in their
// entity with unchanged delivery counts, unless their completion was acknowledged.
func TestDEC21_RAD5_StopUnderLoadLosesNothing(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	large := 1024
	o := harness.Options{
		Data: filepath.Join(t.TempDir(), "minibus.db"),
		Config: harness.WriteTopology(t, []harness.Queue{
			{Name: "orders"}, {Name: "carts", RequiresSession: true}, {Name: "web"}, {Name: "locked", LockDuration: "PT5M"},
			{Name: "slow"}, {Name: "flood"}, {Name: "long", MaxMessageSizeInKilobytes: large}, {Name: "inbox", ForwardTo: "orders"},
		}, []harness.Topic{{Name: "news", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "a"}}, {Queue: harness.Queue{Name: "b"}}}}}),
	}
	book := ledger.New()
	server := harness.Start(t, o)
	for round := range stopRounds {
		load := &stopLoad{t: t, server: server, book: book, round: round, enough: make(chan struct{})}
		load.put()
		load.run(300 + rand.Int64N(2000))
		server = harness.Start(t, o)
		found := load.look(server)
		book.Audit(found)
		t.Logf("round %d: %d messages were received, %d are there", round, load.received.Load(), len(found))
		if len(book.Faults()) > 0 {
			for _, fault := range book.Faults()[:min(len(book.Faults()), 20)] {
				t.Error(fault)
			}
			t.Fatalf("round %d: %d faults", round, len(book.Faults()))
		}
	}
}

// stopLoad is the work of one round.
type stopLoad struct {
	t        *testing.T
	server   *harness.Server
	book     *ledger.Ledger
	round    int
	received atomic.Int64
	wanted   int64
	enough   chan struct{} // closed when enough messages were received
	once     sync.Once
	workers  sync.WaitGroup
}

// copyOf names a message in an entity: each subscription has its own copy.
func copyOf(id, address string) string {
	if topic, name, ok := strings.Cut(address, "/Subscriptions/"); ok {
		return id + " in " + topic + "." + name
	}
	return id
}

func (w *stopLoad) must(what string, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("round %d: %s: %v", w.round, what, err)
	}
}

// put fills the entities.
func (w *stopLoad) put() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := connectTo(w.server)
	w.must("connect", err)
	defer closeClient(client)
	for _, source := range stopSources {
		entity, _, _ := strings.Cut(source.address, "/")
		sender, err := client.NewSender(entity, nil)
		w.must("create sender", err)
		var batch *azservicebus.MessageBatch
		for i := range source.n {
			id := fmt.Sprintf("r%d-%s-%d", w.round, entity, i)
			m := &azservicebus.Message{Body: []byte(id + ":" + strings.Repeat("x", source.size))}
			switch entity {
			case "carts":
				m.SessionID = to.Ptr(fmt.Sprint("s", i%2))
			case "news":
				w.stored(copyOf(id, "news/Subscriptions/b"))
			}
			w.stored(copyOf(id, source.address))
			if source.size > 200_000 { // too large for a batch
				w.must("send", sender.SendMessage(ctx, m, nil))
				continue
			}
			for batch == nil || batch.AddMessage(m, nil) != nil {
				if batch != nil {
					w.must("send", sender.SendMessageBatch(ctx, batch, nil))
				}
				batch, err = sender.NewMessageBatch(ctx, nil)
				w.must("make batch", err)
			}
		}
		if batch != nil {
			w.must("send", sender.SendMessageBatch(ctx, batch, nil))
		}
	}
}

// stored notes a message before it can be received.
func (w *stopLoad) stored(id string) {
	w.book.Sending(id, ledger.InQueue)
	w.book.Sent(id)
}

// got notes that a client has a message, which then must be nowhere else.
func (w *stopLoad) got(id string) {
	w.book.Delivered(id)
	w.book.Settling(id, ledger.Nowhere)
	w.book.SettledAt(id, ledger.Nowhere)
	if w.received.Add(1) >= w.wanted {
		w.once.Do(func() { close(w.enough) })
	}
}

// run receives and sends until wanted messages were received, stops the server, and waits for what clients still get.
func (w *stopLoad) run(wanted int64) {
	w.wanted = wanted
	slow := make(map[*rawclient.Receiver]string)
	if w.round%2 == 1 {
		slow[w.remover("slow", "")], slow[w.remover("long", "")] = "slow", "long"
	}
	receivers := map[*rawclient.Receiver]string{w.remover("carts", "s0"): "carts", w.remover("carts", "s1"): "carts"}
	for range 4 {
		receivers[w.remover("orders", "")] = "orders"
	}
	for _, address := range []string{"news/Subscriptions/a", "news/Subscriptions/b"} {
		receivers[w.remover(address, "")] = address
	}
	locker, err := w.session().Receiver("locked")
	w.must("attach", err)
	for r := range slow {
		w.must("grant credit", r.Credit(allCredit))
	}
	for r, address := range receivers {
		w.must("grant credit", r.Credit(allCredit))
		w.workers.Go(func() { w.drain(r, address) })
	}
	w.workers.Go(func() { w.complete(locker) })
	for range 3 {
		w.workers.Go(w.deleteOverHTTP)
	}
	for _, address := range []string{"orders", "inbox"} {
		w.workers.Go(func() { w.send(address) })
	}
	defer w.flood()()
	select {
	case <-w.enough:
	case <-time.After(patience):
		w.t.Errorf("round %d: only %d messages were received in %v", w.round, w.received.Load(), patience)
	}
	w.server.Stop(w.t)
	for r, address := range slow {
		w.workers.Go(func() { w.drain(r, address) })
	}
	w.workers.Wait()
}

func (w *stopLoad) session() *rawclient.Session {
	w.t.Helper()
	conn, err := rawclient.Dial(w.server.Addr())
	w.must("connect", err)
	w.t.Cleanup(conn.Close)
	s, err := conn.Begin()
	w.must("begin", err)
	return s
}

// remover opens a receiver that receives and deletes. It has no credit yet.
func (w *stopLoad) remover(address, session string) *rawclient.Receiver {
	w.t.Helper()
	r, err := w.session().RemovingReceiver(address, session)
	w.must("attach", err)
	return r
}

// drain receives until the connection ends. It grants all credit at once: writing to a connection that the other end has
// closed may lose messages that are still on their way.
func (w *stopLoad) drain(r *rawclient.Receiver, address string) {
	for {
		d, err := r.Receive(patience)
		if err != nil {
			return
		}
		w.got(copyOf(idOf(d.Message.GetData()), address))
	}
}

func idOf(body []byte) string {
	id, _, _ := strings.Cut(string(body), ":")
	return id
}

// complete locks messages, and completes some of them one after another, until the connection ends.
func (w *stopLoad) complete(r *rawclient.Receiver) {
	err := r.Credit(500)
	for err == nil {
		var d *rawclient.Delivery
		if d, err = r.Receive(patience); err != nil {
			return
		}
		id := idOf(d.Message.GetData())
		w.book.Settling(id, ledger.Nowhere)
		if err = r.Settle(d, &frames.Accepted{}, nil); err == nil {
			w.book.SettledAt(id, ledger.Nowhere)
		}
	}
}

// deleteOverHTTP receives and deletes, and locks, over HTTP until the server is gone.
func (w *stopLoad) deleteOverHTTP() {
	for n := 0; ; n++ {
		method, address := http.MethodDelete, "http://"+w.server.Addr()+"/web/messages/head"
		if n%50 == 0 {
			method = http.MethodPost // the lock is never used
		}
		r, err := http.NewRequest(method, address, http.NoBody)
		if err != nil {
			w.t.Error(err)
			return
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case err != nil, answer.StatusCode == http.StatusServiceUnavailable:
			return
		case answer.StatusCode == http.StatusOK:
			w.got(idOf(body))
		}
	}
}

// send sends one message after another until the connection ends.
func (w *stopLoad) send(address string) {
	conn, err := rawclient.Dial(w.server.Addr())
	if err != nil {
		return
	}
	defer conn.Close()
	s, err := conn.Begin()
	var sender *rawclient.Sender
	if err == nil {
		sender, err = s.Sender(address)
	}
	for n := 0; err == nil; n++ {
		id := fmt.Sprintf("r%d-%s-s%d", w.round, address, n)
		w.book.Sending(id, ledger.InQueue)
		if err = sender.Send(amqp.NewMessage([]byte(id)), nil); err == nil {
			w.book.Sent(id)
		}
	}
}

// flood sends many messages at a time over one connection, so that some are always under way, until stop is called.
func (w *stopLoad) flood() (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	client, err := connectTo(w.server)
	w.must("connect", err)
	sender, err := client.NewSender("flood", nil)
	w.must("create sender", err)
	var workers sync.WaitGroup
	for i := range 100 {
		workers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				id := fmt.Sprintf("r%d-f%d.%d", w.round, i, n)
				w.book.Sending(id, ledger.InQueue)
				if sender.SendMessage(ctx, message(id), nil) != nil {
					return
				}
				w.book.Sent(id)
			}
		})
	}
	return func() {
		cancel()
		closeClient(client)
		workers.Wait()
	}
}

// look finds all messages of a restarted server.
func (w *stopLoad) look(server *harness.Server) map[string][]ledger.Place {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := connectTo(server)
	w.must("connect", err)
	defer closeClient(client)
	w.awaitForwards(ctx, server)
	found := make(map[string][]ledger.Place)
	for _, source := range stopSources {
		var browsers []browser
		switch entity, subscription, _ := strings.Cut(source.address, "/Subscriptions/"); {
		case entity == "carts":
			for _, id := range []string{"s0", "s1"} {
				r, err := client.AcceptSessionForQueue(ctx, entity, id, nil)
				w.must("accept session", err)
				browsers = append(browsers, r)
			}
		case subscription != "":
			r, err := client.NewReceiverForSubscription(entity, subscription, nil)
			w.must("create receiver", err)
			browsers = append(browsers, r)
		default:
			r, err := client.NewReceiverForQueue(entity, nil)
			w.must("create receiver", err)
			browsers = append(browsers, r)
		}
		for _, b := range browsers {
			w.browse(ctx, b, source.address, found)
			w.must("close receiver", b.Close(ctx))
		}
	}
	return found
}

// awaitForwards waits until all messages sent to inbox are in orders.
func (w *stopLoad) awaitForwards(ctx context.Context, server *harness.Server) {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.Addr()+"/inbox?api-version=2021-05", http.NoBody)
		w.must("make request", err)
		answer, err := http.DefaultClient.Do(r)
		w.must("look at inbox", err)
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		w.must("look at inbox", err)
		if strings.Contains(string(text), "<MessageCount>0<") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// browser is a receiver of any kind.
type browser interface {
	PeekMessages(context.Context, int, *azservicebus.PeekMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	Close(context.Context) error
}

func (w *stopLoad) browse(ctx context.Context, b browser, address string, found map[string][]ledger.Place) {
	for last := int64(0); ; {
		page, err := b.PeekMessages(ctx, 250, nil)
		w.must("peek", err)
		if len(page) == 0 {
			return
		}
		for _, m := range page {
			id := copyOf(idOf(m.Body), address)
			found[id] = append(found[id], ledger.InQueue)
			if m.DeliveryCount != 1 { // the SDK counts the next delivery too
				w.t.Errorf("%s was delivered %d times", id, m.DeliveryCount-1)
			}
			if *m.SequenceNumber <= last {
				w.t.Errorf("%s has number %d and stands behind %d", id, *m.SequenceNumber, last)
			}
			last = *m.SequenceNumber
		}
	}
}
