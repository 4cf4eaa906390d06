package compat

import (
	"context"
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
	program, args := i.Program(os.Args[0], "-test.run", "^TestIdentity(Client|OfAnApplication|OfCloudShell)$", "-test.v")
	harness.Run(t, i.Environ(), program, args...)
}

// TestTokensOfFiveSeconds runs TestIdentityLinks against a server whose tokens end soon.
func TestTokensOfFiveSeconds(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	i := harness.StartIdentities(t, "--identity-token-life", "5s")
	program, args := i.Program(os.Args[0], "-test.run", "^TestIdentityLinks$", "-test.v")
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
			var refused *azservicebus.Error
			if !errors.As(err, &refused) || refused.Code != azservicebus.CodeUnauthorizedAccess || !strings.Contains(err.Error(), what) ||
				!strings.Contains(err.Error(), "required to perform this operation") {
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

func receiveBy(ctx context.Context, t *testing.T, host string, credential azcore.TokenCredential, queue string) error {
	t.Helper()
	client, err := azservicebus.NewClient(host, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	receiver, err := client.NewReceiverForQueue(queue, nil)
	if err != nil {
		return err
	}
	_, err = receiver.ReceiveMessages(ctx, 1, nil)
	return err
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
