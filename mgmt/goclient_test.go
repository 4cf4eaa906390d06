package mgmt

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/emulator"
)

// neverGo is the greatest time span, as Go's client writes it.
const neverGo = "P10675199DT2H48M5.4775807S"

// TestGoClientQueues runs every operation on queues with the official Go client over TLS, on the port that serves
// everything.
func TestGoClientQueues(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	c := serve(t, b.handler).goClient(t)

	if q, err := c.GetQueue(background, "orders", nil); q != nil || err != nil {
		t.Fatalf("a missing queue is %v, %v", q, err)
	}
	made, err := c.CreateQueue(background, "orders", nil)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	want := admin.QueueProperties{
		LockDuration: to.Ptr("PT1M"), MaxSizeInMegabytes: to.Ptr(int32(1024)), RequiresDuplicateDetection: to.Ptr(false),
		RequiresSession: to.Ptr(false), DefaultMessageTimeToLive: to.Ptr(neverGo), DeadLetteringOnMessageExpiration: to.Ptr(false),
		DuplicateDetectionHistoryTimeWindow: to.Ptr("PT10M"), MaxDeliveryCount: to.Ptr(int32(10)), EnableBatchedOperations: to.Ptr(true),
		Status: to.Ptr(admin.EntityStatusActive), AutoDeleteOnIdle: to.Ptr(neverGo), EnablePartitioning: to.Ptr(false),
		MaxMessageSizeInKilobytes: to.Ptr(int64(256)),
	}
	if made.QueueName != "orders" || !reflect.DeepEqual(made.QueueProperties, want) {
		t.Errorf("created %s with %+v", made.QueueName, made.QueueProperties)
	}
	changed := made.QueueProperties
	changed.MaxDeliveryCount, changed.LockDuration, changed.UserMetadata = to.Ptr(int32(100)), to.Ptr("PT45S"), to.Ptr("größer < & >")
	changed.ForwardTo = to.Ptr("sb://" + "localhost" + "/orders")
	changed.AuthorizationRules = []admin.AuthorizationRule{{
		AccessRights: []admin.AccessRight{admin.AccessRightSend, admin.AccessRightListen}, KeyName: to.Ptr("app"),
		PrimaryKey: to.Ptr("cHJpbWFyeQ=="), SecondaryKey: to.Ptr("c2Vjb25kYXJ5"),
	}}
	updated, err := c.UpdateQueue(background, "orders", changed, nil)
	if err != nil {
		t.Fatalf("update: %v", err)
	}
	if !reflect.DeepEqual(updated.QueueProperties, changed) {
		t.Errorf("updated to %+v", updated.QueueProperties)
	}
	got, err := c.GetQueue(background, "ORDERS", nil)
	if err != nil || !reflect.DeepEqual(got.QueueProperties, changed) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := c.DeleteQueue(background, "orders", nil); err != nil {
		t.Errorf("delete: %v", err)
	}
	if q, err := c.GetQueue(background, "orders", nil); q != nil || err != nil {
		t.Errorf("a deleted queue is %v, %v", q, err)
	}
}

func TestGoClientQueueWithEverything(t *testing.T) {
	b := newBus(t, emulator.ProfileStandard)
	c := serve(t, b.handler).goClient(t)
	p := admin.QueueProperties{
		LockDuration: to.Ptr("PT45S"), EnablePartitioning: to.Ptr(true), MaxSizeInMegabytes: to.Ptr(int32(4096)),
		RequiresDuplicateDetection: to.Ptr(true), RequiresSession: to.Ptr(true), DefaultMessageTimeToLive: to.Ptr(neverGo),
		DeadLetteringOnMessageExpiration: to.Ptr(true), DuplicateDetectionHistoryTimeWindow: to.Ptr("PT4H"),
		MaxDeliveryCount: to.Ptr(int32(100)), EnableBatchedOperations: to.Ptr(false),
		Status: to.Ptr(admin.EntityStatusReceiveDisabled), AutoDeleteOnIdle: to.Ptr("PT10M"), UserMetadata: to.Ptr("some metadata"),
	}
	if _, err := c.CreateQueue(background, "a/b.c-d_e1", &admin.CreateQueueOptions{Properties: &p}); err != nil {
		t.Fatalf("create: %v", err)
	}
	p.MaxSizeInMegabytes, p.MaxMessageSizeInKilobytes = to.Ptr(int32(65536)), to.Ptr(int64(256))
	for range 2 { // clients may send back what they were shown
		got, err := c.GetQueue(background, "a/b.c-d_e1", nil)
		if err != nil || !reflect.DeepEqual(got.QueueProperties, p) {
			t.Fatalf("got %+v, %v", got, err)
		}
		if _, err := c.UpdateQueue(background, "a/b.c-d_e1", got.QueueProperties, nil); err != nil {
			t.Fatalf("update: %v", err)
		}
	}
}

// TestCNT1_CNT7_CNT8_GoClientRuntimeProperties reads true counts, sizes and times.
func TestCNT1_CNT7_CNT8_GoClientRuntimeProperties(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	c := serve(t, b.handler).goClient(t)
	if _, err := c.CreateQueue(background, "q", nil); err != nil {
		t.Fatalf("create: %v", err)
	}
	r, err := c.GetQueueRuntimeProperties(background, "q", nil)
	if err != nil || !r.AccessedAt.IsZero() || r.TotalMessageCount != 0 || r.SizeInBytes != 0 {
		t.Errorf("a fresh queue has %+v, %v", r, err)
	}
	b.clock.advance(time.Second)
	if _, err := c.UpdateQueue(background, "q", admin.QueueProperties{}, nil); err != nil {
		t.Fatalf("update: %v", err)
	}
	b.clock.advance(time.Second)
	b.send("q", time.Time{})
	b.send("q", time.Time{})
	b.send("q", b.clock.Now().Add(time.Hour))
	b.deadLetter("q")
	r, err = c.GetQueueRuntimeProperties(background, "q", nil)
	if err != nil {
		t.Fatalf("runtime properties: %v", err)
	}
	if r.ActiveMessageCount != 1 || r.DeadLetterMessageCount != 1 || r.ScheduledMessageCount != 1 || r.TotalMessageCount != 3 {
		t.Errorf("counts are %+v", r)
	}
	if r.SizeInBytes <= 0 || !r.CreatedAt.Before(r.UpdatedAt) || !r.UpdatedAt.Before(r.AccessedAt) {
		t.Errorf("size and times are %+v", r)
	}
	if r, err := c.GetQueueRuntimeProperties(background, "missing", nil); r != nil || err != nil {
		t.Errorf("those of a missing queue are %v, %v", r, err)
	}
	for pages := c.NewListQueuesRuntimePropertiesPager(nil); pages.More(); {
		page, err := pages.NextPage(background)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		for _, q := range page.QueueRuntimeProperties {
			if q.QueueName != "q" || q.TotalMessageCount != 3 {
				t.Errorf("listed %+v", q)
			}
		}
	}
}

func TestGoClientErrors(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	c := serve(t, b.handler).goClient(t)
	made, err := c.CreateQueue(background, "q", nil)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	withSession := made.QueueProperties
	withSession.RequiresSession = to.Ptr(true)
	for _, tt := range []struct {
		name   string
		do     func() error
		status int
		text   string
	}{
		{"create again", func() error { _, err := c.CreateQueue(background, "Q", nil); return err }, 409, "SubCode=40900."},
		{"update missing", func() error { _, err := c.UpdateQueue(background, "x", made.QueueProperties, nil); return err }, 404, "404 Not Found"},
		{"delete missing", func() error { _, err := c.DeleteQueue(background, "x", nil); return err }, 404, "No service is hosted at the specified address"},
		{"immutable", func() error { _, err := c.UpdateQueue(background, "q", withSession, nil); return err }, 400,
			"The value for the RequiresSession property of an existing Queue cannot be changed"},
		{"bad value", func() error {
			_, err := c.CreateQueue(background, "x", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{LockDuration: to.Ptr("P25D")}})
			return err
		}, 400, "The supplied lock time exceeds the allowed maximum of '5' minutes."},
		{"no target", func() error {
			_, err := c.CreateQueue(background, "x", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{ForwardTo: to.Ptr("sb://h/none")}})
			return err
		}, 400, "The auto forwarding destination entity does not exist."},
	} {
		err := tt.do()
		var r *azcore.ResponseError
		if !errors.As(err, &r) || r.StatusCode != tt.status || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestGoClientNamespace(t *testing.T) {
	for l, sku := range map[emulator.Profile]string{emulator.ProfileRelaxed: "Standard", emulator.ProfilePremium: "Premium"} {
		c := serve(t, newBus(t, l).handler).goClient(t)
		n, err := c.GetNamespaceProperties(background, nil)
		if err != nil || n.SKU != sku || n.Name != "sbemulatorns" || n.CreatedTime.IsZero() || (n.MessagingUnits != nil) != (sku == "Premium") {
			t.Errorf("%s: %+v, %v", sku, n, err)
		}
	}
}

// TestChecklist12_GoClientPages lists with and without a page size.
func TestChecklist12_GoClientPages(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	c := serve(t, b.handler).goClient(t)
	for _, name := range []string{"q2", "q10", "q1", "Q3"} {
		if _, err := c.CreateQueue(background, name, nil); err != nil {
			t.Fatalf("create: %v", err)
		}
	}
	for size, wantPages := range map[int32]int{0: 2, 2: 3, 3: 2, 5: 1} {
		var names []string
		pages := 0
		for p := c.NewListQueuesPager(&admin.ListQueuesOptions{MaxPageSize: size}); p.More(); pages++ {
			page, err := p.NextPage(background)
			if err != nil {
				t.Fatalf("list: %v", err)
			}
			for _, q := range page.Queues {
				names = append(names, q.QueueName)
			}
		}
		if pages != wantPages || strings.Join(names, " ") != "q1 q10 q2 q3" {
			t.Errorf("pages of %d: %d with %v", size, pages, names)
		}
	}
}

// TestChecklist18_OnePortForTLSAndPlain: addresses in answers have the scheme that the client used.
func TestChecklist18_OnePortForTLSAndPlain(t *testing.T) {
	p := serve(t, newBus(t, emulator.ProfileRelaxed).handler)
	c := p.client()
	defer c.CloseIdleConnections()
	for _, scheme := range []string{"http", "https"} {
		address := scheme + "://" + p.addr + "/$namespaceinfo?api-version=2017-04"
		resp, err := c.Get(address)
		if err != nil {
			t.Fatalf("%s: %v", scheme, err)
		}
		body := make([]byte, 4096)
		n, _ := resp.Body.Read(body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body[:n]), "<id>"+address+"</id>") {
			t.Errorf("%s: %d %s", scheme, resp.StatusCode, body[:n])
		}
	}
}

// goQueues is the recorded scenario of the Go client on queues.
func goQueues(t *testing.T, c *goClient) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	missing, err := c.GetQueue(background, "orders", nil)
	must(err)
	if missing != nil {
		t.Fatal("a missing queue is there")
	}
	_, err = c.CreateQueue(background, "target", nil)
	must(err)
	_, err = c.CreateQueue(background, "orders", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{
		LockDuration: to.Ptr("PT45S"), EnablePartitioning: to.Ptr(true), MaxSizeInMegabytes: to.Ptr(int32(4096)),
		RequiresDuplicateDetection: to.Ptr(true), DuplicateDetectionHistoryTimeWindow: to.Ptr("PT4H"), DefaultMessageTimeToLive: to.Ptr("PT6H"),
		Status: to.Ptr(admin.EntityStatusReceiveDisabled), AutoDeleteOnIdle: to.Ptr("PT10M"), UserMetadata: to.Ptr("metadata"),
		ForwardDeadLetteredMessagesTo: to.Ptr("sb://localhost:5300/target"),
		AuthorizationRules: []admin.AuthorizationRule{{AccessRights: []admin.AccessRight{admin.AccessRightSend}, KeyName: to.Ptr("k"),
			PrimaryKey: to.Ptr("cHJpbWFyeQ=="), SecondaryKey: to.Ptr("c2Vjb25kYXJ5")}},
	}})
	must(err)
	got, err := c.GetQueue(background, "orders", nil)
	must(err)
	_, err = c.UpdateQueue(background, "orders", got.QueueProperties, nil)
	must(err)
	_, err = c.UpdateQueue(background, "orders", admin.QueueProperties{}, nil)
	must(err)
	_, err = c.GetQueueRuntimeProperties(background, "orders", nil)
	must(err)
	_, err = c.NewListQueuesPager(nil).NextPage(background)
	must(err)
	_, err = c.NewListQueuesPager(&admin.ListQueuesOptions{MaxPageSize: 1}).NextPage(background)
	must(err)
	_, err = c.DeleteQueue(background, "orders", nil)
	must(err)
	_, err = c.DeleteQueue(background, "orders", nil)
	if err == nil {
		t.Error("a missing queue was deleted")
	}
	_, err = c.GetNamespaceProperties(background, nil)
	must(err)
}
