package compat

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/compat-tests/harness"
)

// startChecked runs a server that checks tokens, on its own database, with policies named reader and writer on the queue.
// The client and the administration client have the root key.
func startChecked(t *testing.T) *bench {
	t.Helper()
	t.Parallel()
	queue := harness.Queue{Name: queueName, Policies: []harness.Policy{
		{Name: "reader", Key: "reader-key", Rights: []string{"Listen"}}, {Name: "writer", Key: "writer-key", Rights: []string{"Send"}}}}
	return startServer(t, harness.Options{Config: harness.WriteConfig(t, queue), Data: filepath.Join(t.TempDir(), "minibus.db"), Args: []string{"--auth", "sas"}})
}

// as returns a client with the key of a policy.
func (b *bench) as(policy, key string) *azservicebus.Client {
	b.Helper()
	s := fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=%s;SharedAccessKey=%s;UseDevelopmentEmulator=true", b.server.Addr(), policy, key)
	client, err := azservicebus.NewClientFromConnectionString(s, &azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	b.must("create client", err)
	b.Cleanup(func() { client.Close(context.Background()) })
	return client
}

// wantUnauthorized fails unless an error is the SDK's own for bad credentials and has this text.
func (b *bench) wantUnauthorized(what string, err error, text string) {
	b.Helper()
	var refused *azservicebus.Error
	if !errors.As(err, &refused) || refused.Code != azservicebus.CodeUnauthorizedAccess || !strings.Contains(err.Error(), text) {
		b.Errorf("%s: %v, want it unauthorized: %s", what, err, text)
	}
}

const missingClaim = "Unauthorized access. '%s' claim(s) are required to perform this operation"

func TestERR1_PoliciesOfAQueue(t *testing.T) {
	proves(t, "auth.policy", "auth.wrongkey")
	b := startChecked(t)
	b.send("by the root")
	writer, reader := b.as("writer", "writer-key"), b.as("reader", "reader-key")
	sender := b.newSender(writer)
	b.must("send", sender.SendMessage(b.ctx, message("by the writer"), nil))
	numbers, err := sender.ScheduleMessages(b.ctx, []*azservicebus.Message{message("later")}, time.Now().Add(time.Hour), nil)
	b.must("schedule", err)
	b.must("cancel", sender.CancelScheduledMessages(b.ctx, numbers, nil))
	_, err = b.newReceiver(writer, nil).ReceiveMessages(b.ctx, 1, nil)
	b.wantUnauthorized("receive with the right to send", err, fmt.Sprintf(missingClaim, "Listen"))
	_, err = b.newReceiver(writer, nil).PeekMessages(b.ctx, 1, nil)
	b.wantUnauthorized("peek with the right to send", err, fmt.Sprintf(missingClaim, "Listen"))

	receiver := b.newReceiver(reader, nil)
	_, err = receiver.PeekMessages(b.ctx, 1, nil)
	b.must("peek", err)
	for _, m := range b.receive(receiver, 2) {
		b.must("renew", receiver.RenewMessageLock(b.ctx, m, nil))
		b.must("complete", receiver.CompleteMessage(b.ctx, m, nil))
	}
	b.wantUnauthorized("send with the right to listen", b.newSender(reader).SendMessage(b.ctx, message("x"), nil), fmt.Sprintf(missingClaim, "Send"))
	_, err = b.newSender(reader).ScheduleMessages(b.ctx, []*azservicebus.Message{message("x")}, time.Now().Add(time.Hour), nil)
	b.wantUnauthorized("schedule with the right to listen", err, fmt.Sprintf(missingClaim, "Send"))

	wrong := b.as("RootManageSharedAccessKey", "wrong")
	b.wantUnauthorized("send with a wrong key", b.newSender(wrong).SendMessage(b.ctx, message("x"), nil), "InvalidSignature: The token has an invalid signature.")
	if log := b.server.Log(); strings.Contains(log, "reader-key") || strings.Contains(log, "sig=") {
		t.Error("a key or a token is in the log")
	}
}

func TestPoliciesMadeByTheAdministration(t *testing.T) {
	proves(t, "admin.queuepolicies", "admin.policy")
	b := startChecked(t)
	c := b.administer()
	_, err := c.CreateQueue(b.ctx, "made", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{
		ForwardDeadLetteredMessagesTo: to.Ptr(queueName), // the SDK sends a token for the target
		AuthorizationRules: []admin.AuthorizationRule{{
			AccessRights: []admin.AccessRight{admin.AccessRightManage, admin.AccessRightSend, admin.AccessRightListen},
			KeyName:      to.Ptr("maker"), PrimaryKey: to.Ptr("bWFrZXItcHJpbWFyeS1rZXktb2YtMzItYnl0ZXMtISE="), SecondaryKey: to.Ptr("bWFrZXItc2Vjb25kLWtleS1vZi0zMi1ieXRlcy0hISE="),
		}}}})
	b.must("create queue", err)
	for _, key := range []string{"bWFrZXItcHJpbWFyeS1rZXktb2YtMzItYnl0ZXMtISE=", "bWFrZXItc2Vjb25kLWtleS1vZi0zMi1ieXRlcy0hISE="} {
		sender, err := b.as("maker", key).NewSender("made", nil)
		b.must("create sender", err)
		b.must("send with a key that was just made", sender.SendMessage(b.ctx, message("x"), nil))
		maker := b.administerAs("maker", key)
		got, err := maker.GetQueue(b.ctx, "made", nil)
		b.must("get the queue by its own policy", err)
		if len(got.AuthorizationRules) != 1 {
			t.Errorf("rules %+v", got.AuthorizationRules)
		}
		_, err = maker.GetQueue(b.ctx, queueName, nil)
		b.wantStatus("get another queue", err, 401, "InvalidSignature: The token has an invalid signature.")
	}

	reader := b.administerAs("reader", "reader-key")
	_, err = reader.GetQueue(b.ctx, queueName, nil)
	b.wantStatus("get", err, 401, ">Manage,EntityRead claims required for this operation")
	_, err = reader.UpdateQueue(b.ctx, queueName, admin.QueueProperties{}, nil)
	b.wantStatus("update", err, 401, "Authorization failed for specified action: Manage,EntityWrite.")
	_, err = reader.DeleteQueue(b.ctx, queueName, nil)
	b.wantStatus("delete", err, 401, "Authorization failed for specified action: Manage,EntityDelete.")

	b.server.Kill(t)
	b = connectBench(t, harness.Start(t, b.server.Options()))
	sender, err := b.as("maker", "bWFrZXItcHJpbWFyeS1rZXktb2YtMzItYnl0ZXMtISE=").NewSender("made", nil)
	b.must("create sender", err)
	b.must("send after a restart", sender.SendMessage(b.ctx, message("x"), nil))
}

// wantStatus fails unless an error is the administration client's own, with this status and text.
func (b *bench) wantStatus(what string, err error, status int, text string) {
	b.Helper()
	var refused *azcore.ResponseError
	if b.saw("%s: %v", what, err); !errors.As(err, &refused) || refused.StatusCode != status || !strings.Contains(err.Error(), text) {
		b.Errorf("%s: %v, want %d %s", what, err, status, text)
	}
}
