package sbtest_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/internal/sas"
	"minibus/sbtest"
)

const withPolicies = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "orders", "Properties": {"AuthorizationRules": [
	{"KeyName": "reader", "PrimaryKey": "reader-key", "Rights": ["Listen"]}]}}]}]}}`

// with returns a client with a changed connection string.
func with(t *testing.T, bus *sbtest.Server, change func(*sas.Connection)) *azservicebus.Client {
	t.Helper()
	c, err := sas.ParseConnection(bus.ConnectionString())
	if err != nil {
		t.Fatal(err)
	}
	change(&c)
	client, err := azservicebus.NewClientFromConnectionString(c.String(), &azservicebus.ClientOptions{
		RetryOptions:     azservicebus.RetryOptions{MaxRetries: -1},
		NewWebSocketConn: sbtest.InMemory[azservicebus.NewWebSocketConnArgs](bus),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// wantUnauthorized fails unless the error is the SDK's own for credentials, with a text.
func wantUnauthorized(t *testing.T, err error, text string) {
	t.Helper()
	var refused *azservicebus.Error
	if !errors.As(err, &refused) || refused.Code != azservicebus.CodeUnauthorizedAccess || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want it unauthorized: %s", err, text)
	}
}

// sendAndReceive tries both and returns their errors.
func sendAndReceive(t *testing.T, client *azservicebus.Client) (sent, received error) {
	t.Helper()
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	sent = sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("x")}, nil)
	_, received = receiver(t, client, "orders").ReceiveMessages(ctx, 1, nil)
	if errors.Is(received, context.DeadlineExceeded) {
		received = nil // there was nothing
	}
	return sent, received
}

// The SDK's tokens last for two hours, and it puts a new one every few minutes: links live on through all of them.
func TestTheSDKRenewsItsTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log buffer
		bus := sbtest.Start(t, sbtest.ConfigJSON(withPolicies), sbtest.WithTokens(),
			sbtest.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		client := connect(t, bus)
		sender, err := client.NewSender("orders", nil)
		if err != nil {
			t.Fatal(err)
		}
		r := receiver(t, client, "orders")
		for range 5 * 60 {
			if err := sender.SendMessage(context.Background(), &azservicebus.Message{Body: []byte("hello")}, nil); err != nil {
				t.Fatal(err)
			}
			if err := r.CompleteMessage(context.Background(), one(t, r, time.Minute), nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if strings.Contains(log.String(), "RenewToken") {
			t.Errorf("links ended with their tokens:\n%s", log.String())
		}
	})
}

func TestERR1_TheSDKsOwnErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.ConfigJSON(withPolicies), sbtest.WithTokens())
		sent, received := sendAndReceive(t, with(t, bus, func(*sas.Connection) {}))
		if sent != nil || received != nil {
			t.Errorf("with the right key: %v, %v", sent, received)
		}
		for _, change := range []func(*sas.Connection){
			func(c *sas.Connection) { c.Key = "wrong" },
			func(c *sas.Connection) { c.KeyName = "nobody" },
		} {
			sent, received = sendAndReceive(t, with(t, bus, change))
			wantUnauthorized(t, sent, "InvalidSignature: The token has an invalid signature.")
			wantUnauthorized(t, received, "InvalidSignature: The token has an invalid signature.")
		}
		sent, received = sendAndReceive(t, with(t, bus, func(c *sas.Connection) { c.KeyName, c.Key = "reader", "reader-key" }))
		wantUnauthorized(t, sent, "Unauthorized access. 'Send' claim(s) are required to perform this operation")
		if received != nil {
			t.Errorf("with the right to listen: %v", received)
		}
	})
}

// A client may have a token instead of a key.
func TestERR1_TheSDKsOwnErrorForATokenThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.ConfigJSON(withPolicies), sbtest.WithTokens())
		token := func(expires time.Time) func(*sas.Connection) {
			return func(c *sas.Connection) {
				c.Signature, c.KeyName, c.Key = sas.Sign("sb://localhost/orders", c.KeyName, c.Key, expires), "", ""
			}
		}
		sent, received := sendAndReceive(t, with(t, bus, token(time.Now().Add(-10*time.Minute))))
		wantUnauthorized(t, sent, "status code 401 and description: ExpiredToken: The token is expired. Expiration time:")
		wantUnauthorized(t, received, "status code 401 and description: ExpiredToken: The token is expired. Expiration time:")
		if sent, received = sendAndReceive(t, with(t, bus, token(time.Now().Add(10*time.Minute)))); sent != nil || received != nil {
			t.Errorf("with a token: %v, %v", sent, received)
		}
	})
}
