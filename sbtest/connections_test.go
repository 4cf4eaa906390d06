package sbtest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// receives returns the link that receives from an entity, with its connection.
func receives(t *testing.T, bus *sbtest.Server, entity string) (sbtest.Connection, sbtest.Link) {
	t.Helper()
	synctest.Wait()
	for _, c := range bus.Connections() {
		for _, l := range c.Links {
			if l.Role == "receiver" && l.Entity == entity && l.Mode != "" {
				return c, l
			}
		}
	}
	t.Fatalf("nobody receives from %s: %+v", entity, bus.Connections())
	return sbtest.Connection{}, sbtest.Link{}
}

// A receiver of the SDK that waits for a message goes on after its link was detached, and after its connection was
// closed.
func TestConnections_TheSDKRecovers(t *testing.T) {
	for what, end := range map[string]func(*testing.T, *sbtest.Server, sbtest.Connection, sbtest.Link){
		"detach": func(t *testing.T, bus *sbtest.Server, c sbtest.Connection, l sbtest.Link) {
			bus.DetachLink(t, c.ID, l.ID)
		},
		"close": func(t *testing.T, bus *sbtest.Server, c sbtest.Connection, _ sbtest.Link) {
			bus.CloseConnection(t, c.ID)
		},
	} {
		t.Run(what, func(t *testing.T) {
			whyBubble(t, func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client) {
				ctx := context.Background()
				r := receiver(t, client, "orders")
				got := make(chan error, 1)
				go func() {
					var messages []*azservicebus.ReceivedMessage
					var err error
					for err == nil && len(messages) == 0 { // the SDK returns nothing when it has lost the link
						messages, err = r.ReceiveMessages(ctx, 1, nil)
					}
					if err == nil {
						err = r.CompleteMessage(ctx, messages[0], nil)
					}
					got <- err
				}()
				before, link := receives(t, bus, "orders")
				if link.WaitsFor != "message" || link.Credit != 1 || before.Product != "MSGolangClient" || before.Version == "" || before.Transport != "memory" {
					t.Errorf("the receiver is %+v of %+v", link, before)
				}
				end(t, bus, before, link)
				time.Sleep(time.Minute) // the SDK waits a little before it tries again
				after, again := receives(t, bus, "orders")
				if before.ID == after.ID && link.ID == again.ID {
					t.Errorf("the receiver is still link %d of %s", link.ID, before.ID)
				}
				send(t, connect(t, bus), "orders", &azservicebus.Message{Body: []byte("1")})
				if err := <-got; err != nil {
					t.Errorf("receive after that: %v", err)
				}
				wantEmpty(t, bus, "orders")
			}, sbtest.Queue{Name: "orders"})
		})
	}
}

// A sender of the SDK sends on too. A receiver with a session has lost its session, which is free at once.
func TestConnections_SendersRecoverAndSessionsAreFree(t *testing.T) {
	whyBubble(t, func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client) {
		ctx, session := context.Background(), "a"
		sender, err := client.NewSender("orders", nil)
		if err != nil {
			t.Fatal(err)
		}
		m := &azservicebus.Message{Body: []byte("1"), SessionID: &session}
		if err := sender.SendMessage(ctx, m, nil); err != nil {
			t.Fatal(err)
		}
		holder, err := client.AcceptSessionForQueue(ctx, "orders", session, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, l := receives(t, bus, "orders")
		if l.SessionID == nil || *l.SessionID != session || l.SessionLockedUntil == nil {
			t.Errorf("the receiver is %+v", l)
		}
		bus.DetachLink(t, c.ID, l.ID)
		if _, err := client.AcceptSessionForQueue(ctx, "orders", session, nil); err != nil {
			t.Errorf("accept the session of the detached receiver: %v", err)
		}
		var lost error
		for range 5 {
			waiting, cancel := context.WithTimeout(ctx, 5*time.Second)
			var messages []*azservicebus.ReceivedMessage
			if messages, lost = holder.ReceiveMessages(waiting, 1, nil); len(messages) > 0 {
				t.Fatal("the detached receiver gets messages")
			}
			cancel()
			if lost != nil {
				break
			}
		}
		if lost == nil || !strings.Contains(lost.Error(), "The requested session 'a' cannot be accepted") { // it tried to get it back
			t.Errorf("the detached receiver fails with %v", lost)
		}
		bus.CloseConnection(t, c.ID)
		if err := sender.SendMessage(ctx, m, nil); err != nil {
			t.Errorf("send after the connection was closed: %v", err)
		}
	}, sbtest.Queue{Name: "orders", RequiresSession: true})
}

func wantEmpty(t *testing.T, bus *sbtest.Server, queue string) {
	t.Helper()
	if n := bus.Counts(t, queue).Active; n != 0 {
		t.Errorf("%s has %d messages", queue, n)
	}
}
