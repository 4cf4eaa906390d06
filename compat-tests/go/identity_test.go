package compat

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/compat-tests/harness"
)

// TestDefaultAzureCredential runs TestIdentityClient and those that follow it in a process that has the variables of "minibus env --identity": Go reads some of
// them at its start.
func TestDefaultAzureCredential(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to mount a file with the name of a host")
	i := harness.StartIdentities(t)
	program, args := i.Program(os.Args[0], "-test.run", "^TestIdentity(Client|Receiver|OfAnApplication|OfCloudShell|OfDeveloper)$", "-test.v")
	harness.Run(t, i.Environ(), program, args...)
}

// TestTokensOfFiveSeconds runs TestIdentityLinks and TestIdentityLosesRole against a server whose tokens end soon.
func TestTokensOfFiveSeconds(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	i := harness.StartIdentities(t, "--identity-token-life", "5s")
	program, args := i.Program(os.Args[0], "-test.run", "^TestIdentity(Links|LosesRole)$", "-test.v")
	harness.Run(t, i.Environ(), program, args...)
}

// identityHosts returns the hosts of the server, in the process that TestDefaultAzureCredential runs.
func identityHosts(t *testing.T) (context.Context, []string) {
	t.Helper()
	hosts := os.Getenv("IDENTITY_TEST_HOSTS")
	if hosts == "" {
		t.Skip("TestDefaultAzureCredential runs it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx, strings.Split(hosts, ",")
}

// as returns a credential of an identity.
func as(t *testing.T, name string) azcore.TokenCredential {
	t.Helper()
	t.Setenv("AZURE_CLIENT_ID", os.Getenv("IDENTITY_TEST_"+name))
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		t.Fatal(err)
	}
	return credential
}

func TestIdentityClient(t *testing.T) {
	ctx, hosts := identityHosts(t)
	for _, host := range hosts {
		owner := as(t, "OWNER")
		exchange(ctx, t, host, owner)
		management, err := admin.NewClient(host, owner, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := management.CreateQueue(ctx, "made", nil); err != nil {
			t.Error(err)
		}
		if q, err := management.GetQueue(ctx, "made", nil); err != nil || q == nil {
			t.Error(q, err)
		}
		if _, err := management.DeleteQueue(ctx, "made", nil); err != nil {
			t.Error(err)
		}

		if err := sendBy(ctx, t, host, as(t, "SENDER"), "orders"); err != nil {
			t.Errorf("the sender: %v", err)
		}
		for what, err := range map[string]error{
			"'Send'":            sendBy(ctx, t, host, as(t, "NOBODY"), "orders"),
			"'Listen'":          receiveBy(ctx, t, host, as(t, "NOBODY"), "orders"),
			"'Listen' claim(s)": receiveBy(ctx, t, host, as(t, "SENDER"), "orders"),
			"'Send' claim(s)":   sendBy(ctx, t, host, as(t, "SENDER"), "orders2"),
		} {
			if !lacksClaim(err, what) {
				t.Errorf("%s: %v", what, err)
			}
		}
		management, err = admin.NewClient(host, as(t, "SENDER"), nil)
		if err != nil {
			t.Fatal(err)
		}
		var answer *azcore.ResponseError
		if _, err := management.GetQueue(ctx, "orders", nil); !errors.As(err, &answer) || answer.StatusCode != http.StatusUnauthorized {
			t.Error(err)
		}
	}
}

// TestIdentityReceiver uses an identity that may receive from a queue and from one of a topic's subscriptions.
func TestIdentityReceiver(t *testing.T) {
	ctx, hosts := identityHosts(t)
	for _, host := range hosts {
		for to, from := range map[string]string{"orders": "orders", "events": "events/Subscriptions/all"} {
			put(ctx, t, host, to)
			client := clientOf(ctx, t, host, as(t, "RECEIVER"))
			receiver := receiverAt(t, client, from)
			peeked, err := receiver.PeekMessages(ctx, 1, nil)
			if err != nil || len(peeked) != 1 || string(peeked[0].Body) != "for "+to {
				t.Fatalf("peek at %s: %v, %v", from, peeked, err)
			}
			messages, err := receiver.ReceiveMessages(ctx, 1, nil)
			if err != nil || len(messages) != 1 || string(messages[0].Body) != "for "+to {
				t.Fatalf("receive from %s: %v, %v", from, messages, err)
			}
			if err := receiver.CompleteMessage(ctx, messages[0], nil); err != nil {
				t.Errorf("complete at %s: %v", from, err)
			}
			if peeked, err := receiver.PeekMessages(ctx, 1, nil); err != nil || len(peeked) != 0 {
				t.Errorf("peek at %s once its message is completed: %v, %v", from, peeked, err)
			}

			sender, err := client.NewSender(to, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := sender.SendMessage(ctx, &azservicebus.Message{}, nil); !lacksClaim(err, "'Send' claim(s)") {
				t.Errorf("send to %s: %v", to, err)
			}
			if err := sendBy(ctx, t, host, as(t, "RECEIVER"), to); !lacksClaim(err, "'Send' claim(s)") {
				t.Errorf("schedule at %s: %v", to, err)
			}
		}
		for _, path := range []string{"orders2", "events/Subscriptions/other"} {
			if err := receiveBy(ctx, t, host, as(t, "RECEIVER"), path); !lacksClaim(err, "'Listen' claim(s)") {
				t.Errorf("receive from %s: %v", path, err)
			}
		}
	}
}

// TestIdentityOfAnApplication signs in with a secret and with an assertion, as AD FS does it: for that tenant no SDK asks a Microsoft host.
func TestIdentityOfAnApplication(t *testing.T) {
	ctx, hosts := identityHosts(t)
	t.Setenv("AZURE_AUTHORITY_HOST", "https://"+hosts[0]+":5671")
	t.Setenv("AZURE_TENANT_ID", "adfs")
	t.Setenv("AZURE_CLIENT_SECRET", os.Getenv("IDENTITY_HEADER"))
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", os.Getenv("IDENTITY_TEST_ASSERTION"))
	secret, err := azidentity.NewEnvironmentCredential(nil)
	if err != nil {
		t.Fatal(err)
	}
	assertion, err := azidentity.NewWorkloadIdentityCredential(nil)
	if err != nil {
		t.Fatal(err)
	}
	exchange(ctx, t, hosts[0], secret)
	exchange(ctx, t, hosts[0], assertion)
	t.Setenv("AZURE_CLIENT_SECRET", "wrong")
	if secret, err = azidentity.NewEnvironmentCredential(nil); err != nil {
		t.Fatal(err)
	}
	var refused *azidentity.AuthenticationFailedError
	if _, err := secret.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{"https://servicebus.azure.net/.default"}}); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "AADSTS7000215") {
		t.Error(err)
	}
}

// TestIdentityOfCloudShell gets a token as in Cloud Shell, where no secret can be shown.
func TestIdentityOfCloudShell(t *testing.T) {
	ctx, _ := identityHosts(t)
	t.Setenv("IDENTITY_ENDPOINT", "")
	t.Setenv("IDENTITY_HEADER", "")
	_, _ = os.Unsetenv("IDENTITY_ENDPOINT"), os.Unsetenv("IDENTITY_HEADER") // t restores them
	t.Setenv("MSI_ENDPOINT", os.Getenv("IDENTITY_TEST_OPEN")+"/minibus/identity/token")
	credential, err := azidentity.NewManagedIdentityCredential(nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{"https://servicebus.azure.net/.default"}})
	if err != nil || strings.Count(token.Token, ".") != 2 {
		t.Error(token.Token, err)
	}
}

// TestIdentityOfDeveloper uses the credentials that ask az and azd, for which scripts stand.
func TestIdentityOfDeveloper(t *testing.T) {
	ctx, hosts := identityHosts(t)
	az, err := azidentity.NewAzureCLICredential(nil)
	if err != nil {
		t.Fatal(err)
	}
	azd, err := azidentity.NewAzureDeveloperCLICredential(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range hosts {
		exchange(ctx, t, host, az)
		exchange(ctx, t, host, azd)
	}
}

// exchange sends, receives and completes a message.
func exchange(ctx context.Context, t *testing.T, host string, credential azcore.TokenCredential) {
	t.Helper()
	client, err := azservicebus.NewClient(host, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	sender, err := client.NewSender("orders", nil)
	if err == nil {
		err = sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("for " + host)}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := receiver.ReceiveMessages(ctx, 1, nil)
	if err != nil || len(messages) != 1 || string(messages[0].Body) != "for "+host {
		t.Fatalf("%v, %v", messages, err)
	}
	if err := receiver.CompleteMessage(ctx, messages[0], nil); err != nil {
		t.Error(err)
	}
}

// sendBy tries to send, and takes the message away again if it may.
func sendBy(ctx context.Context, t *testing.T, host string, credential azcore.TokenCredential, queue string) error {
	t.Helper()
	client, err := azservicebus.NewClient(host, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		return err
	}
	numbers, err := sender.ScheduleMessages(ctx, []*azservicebus.Message{{}}, time.Now().Add(time.Hour), nil)
	if err != nil {
		return err
	}
	return sender.CancelScheduledMessages(ctx, numbers, nil)
}

func receiveBy(ctx context.Context, t *testing.T, host string, credential azcore.TokenCredential, path string) error {
	t.Helper()
	client, err := azservicebus.NewClient(host, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	_, err = receiverAt(t, client, path).ReceiveMessages(ctx, 1, nil)
	return err
}

// receiverAt returns a receiver of a queue or, with a path such as events/Subscriptions/all, of a subscription.
func receiverAt(t *testing.T, client *azservicebus.Client, path string) *azservicebus.Receiver {
	t.Helper()
	topic, subscription, found := strings.Cut(path, "/Subscriptions/")
	receiver, err := client.NewReceiverForQueue(path, nil)
	if found {
		receiver, err = client.NewReceiverForSubscription(topic, subscription, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return receiver
}

// clientOf returns a client that the end of the test closes.
func clientOf(ctx context.Context, t *testing.T, host string, credential azcore.TokenCredential) *azservicebus.Client {
	t.Helper()
	client, err := azservicebus.NewClient(host, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(ctx)) })
	return client
}

// put sends a message as the owner, whose body names where it was sent.
func put(ctx context.Context, t *testing.T, host, to string) {
	t.Helper()
	sender, err := clientOf(ctx, t, host, as(t, "OWNER")).NewSender(to, nil)
	if err == nil {
		err = sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("for " + to)}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lacksClaim reports whether an error says that an identity lacks a claim.
func lacksClaim(err error, claim string) bool {
	var refused *azservicebus.Error
	return errors.As(err, &refused) && refused.Code == azservicebus.CodeUnauthorizedAccess &&
		strings.Contains(err.Error(), claim) &&
		strings.Contains(err.Error(), "required to perform this operation")
}

// TestIdentityLinks uses links longer than a token lasts.
func TestIdentityLinks(t *testing.T) {
	ctx, hosts := identityHosts(t)
	credential := as(t, "OWNER")
	client, err := azservicebus.NewClient(hosts[0], credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := sender.SendMessage(ctx, &azservicebus.Message{}, nil); err != nil {
			t.Fatal(err)
		}
		messages, err := receiver.ReceiveMessages(ctx, 1, nil)
		if err != nil || len(messages) != 1 || receiver.CompleteMessage(ctx, messages[0], nil) != nil {
			t.Fatal(len(messages), err)
		}
		time.Sleep(6 * time.Second) // longer than a token lasts
	}
}

// TestIdentityLosesRole takes an identity's role away and gives it back while the identity's program runs.
func TestIdentityLosesRole(t *testing.T) {
	ctx, hosts := identityHosts(t)
	const (
		subscription = "/subscriptions/00000000-0000-0000-0000-000000000000"
		group        = subscription + "/resourceGroups/minibus/providers/"
		assignment   = group + "Microsoft.ServiceBus/namespaces/" + harness.DefaultSpace + "/queues/orders2/providers/" +
			"Microsoft.Authorization/roleAssignments/2d7a1f3e-5d0c-4b7e-9a51-6b0c6f0d7a11"
		receiverRole = subscription + "/providers/Microsoft.Authorization/roleDefinitions/" +
			"4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0"
	)
	owner := as(t, "OWNER")
	manage := func(method, id, body string) string {
		t.Helper()
		scopes := []string{"https://management.azure.com/.default"}
		token, err := owner.GetToken(ctx, policy.TokenRequestOptions{Scopes: scopes})
		if err != nil {
			t.Fatal(err)
		}
		return harness.Manage(t, os.Getenv("IDENTITY_TEST_SERVER"), token.Token, method, id, body)
	}
	var nobody struct {
		Properties struct{ PrincipalID string }
	}
	id := group + "Microsoft.ManagedIdentity/userAssignedIdentities/nobody"
	if err := json.Unmarshal([]byte(manage(http.MethodGet, id, "")), &nobody); err != nil {
		t.Fatal(err)
	}
	assign := `{"properties": {"principalId": "` + nobody.Properties.PrincipalID +
		`", "roleDefinitionId": "` + receiverRole + `"}}`
	manage(http.MethodPut, assignment, assign)

	client := clientOf(ctx, t, hosts[0], as(t, "NOBODY"))
	receiver := receiverAt(t, client, "orders2")
	receive := func() {
		t.Helper()
		put(ctx, t, hosts[0], "orders2")
		messages, err := receiver.ReceiveMessages(ctx, 1, nil)
		if err != nil || len(messages) != 1 {
			t.Fatalf("receive: %v, %v", messages, err)
		}
		if err := receiver.CompleteMessage(ctx, messages[0], nil); err != nil {
			t.Fatalf("complete: %v", err)
		}
	}
	receive()
	manage(http.MethodDelete, assignment, "")
	receive() // until the renewal

	// By itself this SDK renews a token after two minutes, however short its life. Another receiver puts it at once.
	_, err := receiverAt(t, client, "orders2").ReceiveMessages(ctx, 1, nil)
	if !lacksClaim(err, "'Listen'") {
		t.Errorf("another receiver once the role is away: %v", err)
	}
	err = nil
	for err == nil { // the SDK returns nothing when its link ends, and attaches again at the next call
		_, err = receiver.ReceiveMessages(ctx, 1, nil)
	}
	if !lacksClaim(err, "'Listen'") {
		t.Errorf("once the role is away: %v", err)
	}
	manage(http.MethodPut, assignment, assign)
	receive()
}
