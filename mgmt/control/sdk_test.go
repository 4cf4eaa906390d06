package control_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/emulator"
	"minibus/mgmt"
	"minibus/mgmt/control"
)

// TestControlAPIAndTheSDKSeeTheSame settings and rules, whichever of them wrote these, also after a restart.
func TestControlAPIAndTheSDKSeeTheSame(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.handler = mgmt.New(mgmt.Options{Broker: b.Broker, Control: controlled{b}})
	server := httptest.NewTLSServer(b.handler)
	defer server.Close()
	address := server.Listener.Addr().String()
	c, err := admin.NewClientFromConnectionString("Endpoint=sb://"+address+";SharedAccessKeyName=root;SharedAccessKey=key;UseDevelopmentEmulator=true",
		&admin.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: server.Client()}})
	if err != nil {
		t.Fatal(err)
	}
	const all = control.Prefix + "namespaces/$this/entities/"
	wants(t, b.do("PUT", all+"bulk", `{}`), 201)
	wants(t, b.do("PUT", all+"parcels", `{"Properties": {"LockDuration": "PT45S", "MaxDeliveryCount": 7, "DefaultMessageTimeToLive": "P2D", "RequiresSession": true, "AutoDeleteOnIdle": "PT1H",
		"RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "PT2M", "ForwardDeadLetteredMessagesTo": "bulk", "Status": "SendDisabled", "UserMetadata": "ä", "EnableBatchedOperations": false}}`), 201)
	q, err := c.GetQueue(background, "parcels", nil)
	if err != nil || q == nil {
		t.Fatal(err)
	}
	if *q.LockDuration != "PT45S" || *q.MaxDeliveryCount != 7 || *q.DefaultMessageTimeToLive != "P2D" || !*q.RequiresSession || *q.AutoDeleteOnIdle != "PT1H" || !*q.RequiresDuplicateDetection ||
		*q.DuplicateDetectionHistoryTimeWindow != "PT2M" || *q.Status != admin.EntityStatusSendDisabled || *q.UserMetadata != "ä" || *q.EnableBatchedOperations || q.ForwardDeadLetteredMessagesTo == nil {
		t.Errorf("the SDK sees %+v", q.QueueProperties)
	}
	if _, err := c.CreateTopic(background, "events", &admin.CreateTopicOptions{Properties: &admin.TopicProperties{DefaultMessageTimeToLive: to.Ptr("PT3H"), SupportOrdering: to.Ptr(false)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateSubscription(background, "events", "s", &admin.CreateSubscriptionOptions{Properties: &admin.SubscriptionProperties{MaxDeliveryCount: to.Ptr(int32(4)),
		EnableDeadLetteringOnFilterEvaluationExceptions: to.Ptr(false)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateRule(background, "events", "s", &admin.CreateRuleOptions{Name: to.Ptr("r"), Filter: &admin.SQLFilter{Expression: "a = @b", Parameters: map[string]any{"@b": int32(1)}}}); err != nil {
		t.Fatal(err)
	}
	const rules = all + "events%2FSubscriptions%2Fs/rules/"
	wants(t, b.do("PUT", rules+"c", `{"Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "red", "Properties": {"n": {"Type": "int", "Value": 5}}}}}`), 201)
	for range 2 {
		wants(t, b.do("GET", all+"events", ""), 200, `"DefaultMessageTimeToLive":"PT3H"`, `"SupportOrdering":false`)
		wants(t, b.do("GET", all+"events%2FSubscriptions%2Fs", ""), 200, `"MaxDeliveryCount":4`, `"DeadLetteringOnFilterEvaluationExceptions":false`)
		wants(t, b.do("GET", rules+"r", ""), 200, `"SqlFilter":{"SqlExpression":"a = @b","Parameters":{"@b":{"Type":"int","Value":1}}}`)
		r, err := c.GetRule(background, "events", "s", "c", nil)
		if err != nil || r == nil {
			t.Fatal(err)
		}
		if f, ok := r.Filter.(*admin.CorrelationFilter); !ok || *f.Subject != "red" || fmt.Sprint(f.ApplicationProperties["n"]) != "5" {
			t.Errorf("the SDK sees the filter %+v", r.Filter)
		}
		b.restart()
	}
}
