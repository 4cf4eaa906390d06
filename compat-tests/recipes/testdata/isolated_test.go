package shop

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// isolated sends and receives in the queue orders while three others do the same.
func isolated(t *testing.T, connection string) {
	client, err := azservicebus.NewClientFromConnectionString(connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(context.Background())
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	var sent, received []string
	for n := range 3 {
		sent = append(sent, fmt.Sprintf("%s %d", t.Name(), n))
		if err := sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte(sent[n])}, nil); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := http.Get(os.Getenv("MINIBUS_MEETING") + "?" + url.QueryEscape(connection))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	for {
		wait := 30 * time.Second
		if len(received) >= len(sent) {
			wait = 2 * time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		messages, err := receiver.ReceiveMessages(ctx, 100, nil)
		cancel()
		if err != nil {
			break // nothing came in time
		}
		for _, m := range messages {
			received = append(received, string(m.Body))
			if err := receiver.CompleteMessage(t.Context(), m, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(received, sent) {
		t.Errorf("received %q, sent %q", received, sent)
	}
}
