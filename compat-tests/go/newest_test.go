//go:build !oldest

package compat

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// What follows needs calls of the SDK that its oldest release with the emulator's flag does not have. oldest_test.go has the other half;
// the tag oldest chooses it.

const (
	column       = "go"
	codeNotFound = azservicebus.CodeNotFound
)

func setEndpoint(o *azservicebus.ClientOptions, address string) { o.CustomEndpoint = address }

// listSessions returns the sessions of the audit's queue.
func (a *mixedAudit) listSessions() (listed []string) {
	a.Helper()
	for pager := a.client.NewListSessionsForQueuePager(sessionQueue, nil); pager.More(); {
		page, err := pager.NextPage(a.ctx)
		a.must("list sessions", err)
		listed = append(listed, page.Sessions...)
	}
	return listed
}

// listSessions pages through all session ids.
func (b *bench) listSessions(o *azservicebus.ListSessionsOptions) (ids []string, pages int) {
	b.Helper()
	for pager := b.client.NewListSessionsForQueuePager(b.name(queueName), o); pager.More(); pages++ {
		page, err := pager.NextPage(b.ctx)
		b.must("list sessions", err)
		ids = append(ids, page.Sessions...)
	}
	slices.Sort(ids)
	return ids, pages
}

func TestSESS27_SESS28_SESS29_ListSessions(t *testing.T) {
	provesAnywhere(t, "sess.list")
	b := serve(t, sessions)
	if ids, _ := b.listSessions(nil); len(ids) != 0 {
		b.Fatalf("an empty queue has sessions %q", ids)
	}
	var want []string
	var messages []*azservicebus.Message
	for i := range 120 {
		want = append(want, fmt.Sprintf("s%03d", i))
		messages = append(messages, inSession(want[i], "x"))
	}
	sender := b.to(queueName)
	b.must("send", sender.SendMessageBatch(b.ctx, b.batchOf(sender, messages...), nil)) // PART-5: mixed sessions on a plain entity
	ids, pages := b.listSessions(nil)
	if !slices.Equal(ids, want) || pages != 2 {
		b.Errorf("listed %d sessions on %d pages: %q", len(ids), pages, ids)
	}
	before := time.Now().Add(-time.Minute)
	holder := b.accept(b.client, queueName, "s007")
	b.must("complete", holder.CompleteMessage(b.ctx, b.receiveOne(holder), nil))
	b.accept(b.client, queueName, "s008") // a locked one is listed too
	if ids, _ = b.listSessions(nil); len(ids) != 119 || slices.Contains(ids, "s007") {
		b.Errorf("listed %d sessions, with s007: %v", len(ids), slices.Contains(ids, "s007"))
	}
	b.must("set state", holder.SetSessionState(b.ctx, []byte("x"), nil))
	if ids, _ = b.listSessions(nil); len(ids) != 120 {
		b.Errorf("listed %d sessions, want that with a state too", len(ids))
	}
	if ids, _ = b.listSessions(&azservicebus.ListSessionsOptions{SessionStateUpdatedAfter: &before}); !slices.Equal(ids, []string{"s007"}) {
		b.Errorf("sessions with a state since %v: %q", before, ids)
	}
	after := time.Now().Add(time.Minute)
	if ids, _ = b.listSessions(&azservicebus.ListSessionsOptions{SessionStateUpdatedAfter: &after}); len(ids) != 0 {
		b.Errorf("sessions with a state since %v: %q", after, ids)
	}
}
