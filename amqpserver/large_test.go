package amqpserver_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

const (
	mebibyte     = 1 << 20
	stallTimeout = 30 * time.Second // the server gives up what stands still for so long while others wait
)

// crowd is a bench whose memory is for all that a connection may send that sends large messages of up to 4 MiB to
// "large", and 5 MiB of others.
func crowd(t *testing.T, f func(t *testing.T, b *bench), sets ...func(*amqpserver.Options)) {
	t.Helper()
	sets = slices.Insert(sets, 0, func(o *amqpserver.Options) { o.LargeBytes = (16 + 4 + 5) * mebibyte })
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, sets...)
		b.queue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096})
		f(t, b)
	})
}

// sender returns a peer with a link to a queue.
func (b *bench) sender(t *testing.T, queue string) *amqptest.Peer {
	t.Helper()
	p := b.opened(t)
	p.AttachSender(0, 0, queue)
	return p
}

func large(bytes int) []byte { return amqptest.Message(strings.Repeat("x", bytes)) }

// sendPart sends the beginning of a delivery.
func sendPart(p *amqptest.Peer, id uint32, bytes int) {
	p.Send(0, &frames.Transfer{DeliveryID: id, HasDeliveryID: true, More: true})
	continuePart(p, bytes)
}

// continuePart sends more of it.
func continuePart(p *amqptest.Peer, bytes int) {
	for chunk := 60_000; bytes > 0; bytes -= chunk {
		p.Send(0, &frames.Transfer{More: true}, make([]byte, min(chunk, bytes))...)
	}
}

// waiting returns a peer whose message of 3 MiB waits behind two others that have begun.
func (b *bench) waiting(t *testing.T) (holders [2]*amqptest.Peer, p *amqptest.Peer) {
	t.Helper()
	for i := range holders {
		holders[i] = b.sender(t, "large")
		sendPart(holders[i], 7, 2*mebibyte)
	}
	synctest.Wait()
	p = b.sender(t, "large")
	go sendInFrames(p, 0, 1, large(3*mebibyte))
	p.WantSilence(time.Second)
	return holders, p
}

func TestLarge_WaitsForRoomWhileSmallOnesPass(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		holders, p := b.waiting(t)
		small := b.sender(t, "large")
		sendInFrames(small, 0, 3, large(900<<10))
		wantOutcome(t, small, 3, "")
		p.WantSilence(10 * time.Second)
		holders[1].Send(0, &frames.Transfer{Aborted: true})
		wantOutcome(t, p, 1, "")
	})
}

func TestLarge_RoomIsGivenBack(t *testing.T) {
	for name, end := range map[string]func(p *amqptest.Peer){
		"aborted":        func(p *amqptest.Peer) { p.Send(0, &frames.Transfer{Aborted: true}) },
		"detached":       func(p *amqptest.Peer) { p.Send(0, &frames.Detach{Closed: true}) },
		"session ended":  func(p *amqptest.Peer) { p.Send(0, &frames.End{}) },
		"closed":         func(p *amqptest.Peer) { p.Send(0, &frames.Close{}) },
		"vanished":       func(p *amqptest.Peer) { p.Close() },
		"broken":         func(p *amqptest.Peer) { p.Raw([]byte{0, 0, 0, 1, 2, 3, 4, 5}) },
		"too large":      func(p *amqptest.Peer) { continuePart(p, 3*mebibyte) },
		"whole":          func(p *amqptest.Peer) { p.Send(0, &frames.Transfer{}) },
		"nothing, ended": func(p *amqptest.Peer) { time.Sleep(30 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			crowd(t, func(t *testing.T, b *bench) {
				holders, p := b.waiting(t)
				end(holders[0])
				begun := time.Now()
				wantOutcome(t, p, 1, "")
				if d := time.Since(begun); d > 5*time.Second {
					t.Errorf("the memory was given back after %v", d)
				}
			})
		})
	}
}

func TestLarge_RoomOfAnEntityThatIsDeleted(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		b.queue("other", emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096})
		for range 2 {
			sendPart(b.sender(t, "other"), 7, 2*mebibyte)
		}
		synctest.Wait()
		p := b.sender(t, "large")
		go sendInFrames(p, 0, 1, large(3*mebibyte))
		p.WantSilence(time.Second)
		if err := b.ns.Entities().Delete("other"); err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, p, 1, "")
	})
}

// A delivery that stands still is refused once others wait for its memory, and one that progresses is not.
func TestLarge_StalledDeliveryIsRefused(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		alone := b.sender(t, "large")
		sendPart(alone, 5, 2*mebibyte)
		time.Sleep(time.Minute)
		alone.Send(0, &frames.Transfer{Aborted: true}) // nobody waited: it was not refused
		alone.WantSilence(time.Second)
		holders, p := b.waiting(t)
		time.Sleep(20 * time.Second)
		continuePart(holders[1], mebibyte)
		wantOutcome(t, holders[0].Within(stallTimeout-20*time.Second), 7, amqp.CondServerBusy)
		wantOutcome(t, p, 1, "")
		holders[1].WantSilence(time.Second)
		continuePart(holders[0], mebibyte) // what still comes of it is of no interest
		holders[0].Send(0, &frames.Transfer{})
		holders[0].WantSilence(time.Second)
		sendInFrames(holders[0], 0, 8, large(2*mebibyte))
		wantOutcome(t, holders[0], 8, "")
	})
}

// A connection that waits for memory is neither silent nor are its links idle.
func TestLarge_WaitingIsNotIdle(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		holders, p := b.waiting(t)
		for range 6 {
			time.Sleep(4 * time.Second)
			for _, h := range holders {
				continuePart(h, 10<<10)
			}
		}
		p.WantSilence(time.Second)
		holders[0].Send(0, &frames.Transfer{Aborted: true})
		wantOutcome(t, p, 1, "")
	}, func(o *amqpserver.Options) { o.IdleTimeout, o.LinkIdle = 5*time.Second, 5*time.Second })
}

// What is on its way to the journal takes memory, even if its connection has ended.
func TestLarge_CountsUntilTheJournalHasIt(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		b.journal.Pause()
		for range 6 { // 24 MiB, which leave too little for another one
			p := b.sender(t, "large")
			sendInFrames(p, 0, 0, large(4*mebibyte-1024))
			synctest.Wait()
			p.Close()
		}
		synctest.Wait()
		p := b.sender(t, "large")
		go func() {
			sendPart(p, 1, 4*mebibyte-1024)
			p.Send(0, &frames.Detach{Closed: true})
		}()
		p.WantSilence(time.Minute) // it is not read
		b.journal.Resume()
		amqptest.Want[*frames.Detach](p)
	})
}

func TestLarge_ServerStopsWhileAConnectionWaits(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		_, p := b.waiting(t)
		stopped := make(chan error, 1)
		go func() { stopped <- b.server.Shutdown(t.Context()) }()
		if c := amqptest.Want[*frames.Close](p); c.Error == nil || c.Error.Condition != amqp.CondForced {
			t.Errorf("closed with %v", c.Error)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

// The buffer that a delivery has for what it announces counts when another large one arrives on the same connection.
func TestLarge_AnnouncedBufferCounts(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		first := b.sender(t, "large")
		first.AttachSender(0, 1, "large")
		message := large(4*mebibyte - 1024)
		begin := func(p *amqptest.Peer, handle, id uint32, bytes int) {
			for i := 0; i < bytes; i += 60_000 {
				p.Send(0, &frames.Transfer{Handle: handle, DeliveryID: id, HasDeliveryID: i == 0, More: true},
					message[i:i+60_000]...)
			}
		}
		begin(first, 0, 1, 3*mebibyte/2)
		synctest.Wait()
		begin(first, 1, 2, 3*mebibyte/2)
		synctest.Wait()
		second := b.sender(t, "large")
		go sendInFrames(second, 0, 1, large(3*mebibyte))
		second.WantSilence(time.Second)
		first.Send(0, &frames.Transfer{Handle: 1, Aborted: true})
		wantOutcome(t, second.Within(2*time.Second), 1, "")
	})
}

// A large message arrives as it was sent, whatever its sections are, and also if the deliveries of two links take
// turns.
func TestLarge_ArrivesAsItWasSent(t *testing.T) {
	random := func(bytes int) []byte {
		b := make([]byte, bytes)
		_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
		return b
	}
	data := func(body []byte) []byte { return amqp.AppendBinary(amqp.AppendDescriptor(nil, 0x75), body) }
	footer := []byte{0x00, 0x53, 0x78, 0xc1, 0x01, 0x00}
	one := data(random(3 * mebibyte))
	for name, message := range map[string][]byte{
		"one section":             one,
		"with a footer":           slices.Concat(one, footer),
		"two large sections":      slices.Concat(data(random(1050<<10)), data(random(2*mebibyte))),
		"a small one first":       slices.Concat(data([]byte("small")), one),
		"many small sections":     bytes.Repeat(data(random(1000)), 3000),
		"a value":                 slices.Concat([]byte{0x00, 0x53, 0x77}, one[3:]),
		"just above the boundary": data(random(mebibyte)),
	} {
		t.Run(name, func(t *testing.T) {
			crowd(t, func(t *testing.T, b *bench) {
				p := b.sender(t, "large")
				p.AttachSender(0, 1, "large")
				sendInFrames(p, 0, 0, message)
				wantOutcome(t, p, 0, "")
				if got := b.receiveRaw(t, "large"); !bytes.HasSuffix(got, message) {
					t.Error("the message received is not the one sent")
				}
				sendInTurns(p, message, one)
				both := [][]byte{b.receiveRaw(t, "large"), b.receiveRaw(t, "large")}
				for i, want := range [][]byte{message, one} {
					if !slices.ContainsFunc(both, func(got []byte) bool { return bytes.HasSuffix(got, want) }) {
						t.Errorf("of two that took turns, number %d was not received as it was sent", i)
					}
				}
			})
		})
	}
}

// sendInTurns sends deliveries 1 and 2 on the links 0 and 1, frame by frame in turns.
func sendInTurns(p *amqptest.Peer, messages ...[]byte) {
	const chunk = 60_000
	for i := 0; ; i += chunk {
		left := false
		for handle, m := range messages {
			if i < len(m) {
				id, end := uint32(handle+1), min(i+chunk, len(m))
				p.Send(0, &frames.Transfer{Handle: uint32(handle), DeliveryID: id, HasDeliveryID: i == 0,
					More: end < len(m)}, m[i:end]...)
				left = true
			}
		}
		if !left {
			return
		}
	}
}

// Connections claim what arrives and not what may come: two send at the same time where the memory is for one that
// sends all that it may.
func TestLarge_ClaimsWhatArrives(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		first, second := b.sender(t, "large"), b.sender(t, "large")
		sendPart(first, 7, 2*mebibyte)
		synctest.Wait()
		sendInFrames(second, 0, 1, large(2*mebibyte))
		wantOutcome(t, second, 1, "")
		first.Send(0, &frames.Transfer{Aborted: true})
	})
}

// slowly sends one large message at less than 1 MiB in 10 s, until it has its end.
func slowly(p *amqptest.Peer) {
	sendPart(p, 7, mebibyte+100_000)
	for range 28 {
		time.Sleep(time.Second)
		continuePart(p, 100_000)
	}
	p.Send(0, &frames.Transfer{})
}

// A client that is slow has what it has sent, and others pass it. It is not refused, and gets its turn.
func TestLarge_OthersPassASlowOne(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		slow := b.sender(t, "large")
		done := make(chan struct{})
		go func() {
			defer close(done)
			slowly(slow)
		}()
		time.Sleep(5 * time.Second)
		results := make(chan time.Duration)
		const others, each = 4, 5
		for range others {
			p := b.sender(t, "large")
			go func() {
				for id := range uint32(each) {
					begun := time.Now()
					sendInFrames(p, 0, id, large(4*mebibyte-1024))
					wantOutcome(t, p, id, "")
					results <- time.Since(begun)
				}
			}()
		}
		for range others * each {
			if d := <-results; d > 2*time.Second {
				t.Errorf("a message took %v beside a slow one", d)
			}
		}
		<-done
		wantOutcome(t, slow, 7, amqp.CondDecode) // it came whole: it is no message
	})
}

// Where slow clients have so much that nobody can pass them, the first has to get on, even if it does not stand still.
func TestLarge_SlowOneInTheWayIsRefused(t *testing.T) {
	crowd(t, func(t *testing.T, b *bench) {
		b.queue("larger", emulator.QueueOptions{MaxMessageSizeInKilobytes: 64 << 10})
		slow := b.sender(t, "larger")
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			sendPart(slow, 7, 3*mebibyte)
			for {
				select {
				case <-time.After(time.Second):
					continuePart(slow, 100_000)
				case <-stop:
					return
				}
			}
		}()
		time.Sleep(5 * time.Second)
		p := b.sender(t, "larger")
		go sendInFrames(p, 0, 1, large(4*mebibyte))
		p.WantSilence(25 * time.Second)
		wantOutcome(t, p.Within(10*time.Second), 1, "")
		wantOutcome(t, slow, 7, amqp.CondServerBusy)
		close(stop)
		<-stopped
	}, func(o *amqpserver.Options) { o.LargeBytes = (64 + 16 + 2) * mebibyte })
}
