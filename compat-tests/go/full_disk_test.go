//go:build linux

package compat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

// A disk of this size has room for about seven thousand messages.
const (
	smallDisk = "40m"
	fullBody  = 4000

	everything = 1 << 40
)

// TestFullDiskRefusesSendsDrainsAndComesBack fills a small file system under load. Sends are refused with an error and none of
// them is stored. Meanwhile messages can be completed, though senders go on. Sends work again once messages are gone, and once another
// program has freed space. Nothing acknowledged is lost.
func TestFullDiskRefusesSendsDrainsAndComesBack(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	d := newFullDisk(t)
	d.crowd(10 << 20)
	d.fill()
	d.leave()
	d.comesBack("another program gave space back")

	d.fill()
	stop := d.hammer()
	d.drain(1000) // senders fill the free space again
	stop()
	d.drain(500)
	d.comesBack("messages were completed")

	d.crowd(everything)
	d.fill()
	stop = d.hammer()
	d.drain(500)
	stop()
	d.drain(500)
	d.comesBack("messages were completed on a disk that is full of other things")
	d.audit()
}

// TestFullDiskSurvivesEveryEnd: on a disk without a free byte the server ends cleanly, starts, refuses sends and delivers its
// messages, after kill -9 too.
func TestFullDiskSurvivesEveryEnd(t *testing.T) {
	d := newFullDisk(t)
	for _, end := range []func(*harness.Server, testing.TB){(*harness.Server).Stop, (*harness.Server).Kill} {
		d.fill()
		d.crowd(everything)
		end(d.server, t)
		d.restart()
		d.fill()
		d.drain(500)
		end(d.server, t)
		d.restart()
		d.comesBack("messages were completed")
		d.leave()
	}
	d.audit()
}

// TestFullDisk_StartWithoutAnyRoomSaysSo: not even the reserve is left. The server says what is wrong, and once there is room everything
// is there.
func TestFullDisk_StartWithoutAnyRoomSaysSo(t *testing.T) {
	d := newFullDisk(t)
	d.fill()
	d.server.Stop(t)
	if err := os.Remove(d.options.Data + "-reserve"); err != nil {
		t.Fatal(err)
	}
	d.crowd(everything)
	out, err := exec.Command(harness.Binary(t), "--host", "127.0.0.1", "--amqp-port", "0", "--tls-port", "off", "--http-port", "0",
		"--data", d.options.Data, "--config", d.options.Config).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the disk is full") {
		t.Errorf("the start ended with %v and said %s", err, out)
	}
	d.leave()
	d.restart()
	d.audit()
}

// fullDisk is a server on a small file system, with what the clients know of its messages.
type fullDisk struct {
	*testing.T
	dir     string
	options harness.Options
	server  *harness.Server
	client  *azservicebus.Client

	next   atomic.Int64
	mu     sync.Mutex
	stored map[string]bool // acknowledged and not completed
}

func newFullDisk(t *testing.T) *fullDisk {
	dir := harness.SmallDisk(t, smallDisk)
	d := &fullDisk{T: t, dir: dir, stored: map[string]bool{}}
	d.options = harness.Options{
		Config: harness.WriteConfig(t, harness.Queue{Name: queueName, LockDuration: "PT5M", MaxDeliveryCount: 2000, TimeToLive: "PT1H"}),
		Data:   filepath.Join(dir, "minibus.db"),
	}
	d.restart()
	return d
}

func (d *fullDisk) restart() {
	d.Helper()
	d.server = harness.Start(d.T, d.options)
	client, err := connectTo(d.server)
	if err != nil {
		d.Fatal(err)
	}
	d.client = client
	d.Cleanup(func() { closeClient(client) })
}

func (d *fullDisk) newSender() *azservicebus.Sender {
	sender, err := d.client.NewSender(queueName, nil)
	if err != nil {
		d.Error(err)
	}
	return sender
}

// send sends one message. An error other than that of a full disk fails the test.
func (d *fullDisk) send(sender *azservicebus.Sender) error {
	id := fmt.Sprint("m", d.next.Add(1))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := sender.SendMessage(ctx, &azservicebus.Message{MessageID: &id, Body: make([]byte, fullBody)}, nil)
	if err == nil {
		d.mu.Lock()
		d.stored[id] = true
		d.mu.Unlock()
		return nil
	}
	var refused *amqp.Error // the SDK has no code for it
	if !errors.As(err, &refused) || refused.Condition != amqp.ErrCondResourceLimitExceeded {
		d.Errorf("a send to a full disk failed with %v", err)
	}
	return err
}

// fill sends with several senders until each was refused a few times in a row.
func (d *fullDisk) fill() {
	d.Helper()
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			sender := d.newSender()
			for refused := 0; refused < 5 && !d.Failed(); {
				if refused++; d.send(sender) == nil {
					refused = 0
				}
			}
		})
	}
	senders.Wait()
	d.Logf("full with %d messages: %s", len(d.stored), d.usage())
	d.wantHealth(http.StatusServiceUnavailable, "There is no space left on the disk of the message store.")
	if d.Failed() {
		d.FailNow()
	}
}

// wantHealth fails unless /health answers with this status and text.
func (d *fullDisk) wantHealth(status int, text string) {
	d.Helper()
	resp, err := http.Get("http://" + d.server.Addr() + "/health")
	if err != nil {
		d.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != status || !strings.Contains(string(body), text) {
		d.Errorf("/health: %d %s (%v), want %d; %s", resp.StatusCode, body, err, status, d.usage())
	}
}

// usage returns what is on the file system.
func (d *fullDisk) usage() (s string) {
	files, err := os.ReadDir(d.dir)
	if err != nil {
		d.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			s += fmt.Sprintf("%s %d KiB, ", f.Name(), info.Size()>>10)
		}
	}
	return s + fmt.Sprintf("free %d KiB", d.free()>>10)
}

func (d *fullDisk) free() int64 {
	var st syscall.Statfs_t
	if err := syscall.Statfs(d.dir, &st); err != nil {
		d.Fatal(err)
	}
	return int64(st.Bavail) * st.Bsize
}

// hammer sends until the returned function is called.
func (d *fullDisk) hammer() (stop func()) {
	var quit atomic.Bool
	var senders sync.WaitGroup
	for range 2 {
		senders.Go(func() {
			for sender := d.newSender(); !quit.Load(); {
				_ = d.send(sender)
			}
		})
	}
	stop = func() { quit.Store(true); senders.Wait() }
	d.Cleanup(stop) // also if the test fails early
	return stop
}

// drain completes n messages. None of the completions may fail.
func (d *fullDisk) drain(n int) {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	receiver, err := d.client.NewReceiverForQueue(queueName, nil)
	if err != nil {
		d.Fatal(err)
	}
	defer receiver.Close(ctx)
	for done := 0; done < n; {
		messages, err := receiver.ReceiveMessages(ctx, min(50, n-done), nil)
		if err != nil {
			d.Fatalf("receive message %d of %d: %v; %s", done, n, err, d.usage())
		}
		for _, m := range messages {
			if err := receiver.CompleteMessage(ctx, m, nil); err != nil {
				d.Fatalf("complete message %d of %d: %v; %s", done, n, err, d.usage())
			}
			d.completed(m)
			done++
		}
	}
}

func (d *fullDisk) completed(m *azservicebus.ReceivedMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stored[m.MessageID] {
		d.Errorf("message %s was received, and is either completed or was refused", m.MessageID)
	}
	delete(d.stored, m.MessageID)
}

// crowd lets another program take up to most bytes of the disk, and leave frees them.
func (d *fullDisk) crowd(most int) {
	d.Helper()
	f, err := os.Create(d.filler())
	if err != nil {
		d.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0 && most > 0; {
		n, err := f.Write(block)
		if most -= n; err != nil {
			block = block[:len(block)/2]
		}
	}
	d.Logf("crowded: %s", d.usage())
}

func (d *fullDisk) leave() {
	d.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.Fatal(err)
	}
}

func (d *fullDisk) filler() string { return filepath.Join(d.dir, "filler") }

// comesBack fails unless a hundred messages can be sent shortly after there is room again.
func (d *fullDisk) comesBack(after string) {
	d.Helper()
	sender, sent := d.newSender(), 0
	for deadline := time.Now().Add(patience); sent < 100; {
		if d.send(sender) == nil {
			sent++
		} else if time.Now().After(deadline) {
			d.Fatalf("only %d messages could be sent after %s: %s", sent, after, d.usage())
		}
	}
	d.wantHealth(http.StatusOK, "Service is healthy.")
}

// audit restarts the server, drains the queue and compares.
func (d *fullDisk) audit() {
	d.Helper()
	d.server.Stop(d.T)
	d.restart()
	d.drain(len(d.stored))
	if len(d.stored) > 0 {
		d.Errorf("%d acknowledged messages are lost", len(d.stored))
	}
	receiver, err := d.client.NewReceiverForQueue(queueName, nil)
	if err != nil {
		d.Fatal(err)
	}
	left, err := receiver.PeekMessages(context.Background(), 10, nil)
	if err != nil || len(left) > 0 {
		d.Errorf("%d messages (%v) are left that were refused", len(left), err)
	}
}
