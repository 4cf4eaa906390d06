package sbtest_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// TestWaitForAMessageOfTheSDK until the program under test has dead-lettered it.
func TestWaitForAMessageOfTheSDK(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
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
	done := make(chan error, 1)
	go func() {
		ms, err := receiver.ReceiveMessages(t.Context(), 1, nil)
		if err == nil {
			reason := "poison"
			err = receiver.DeadLetterMessage(t.Context(), ms[0], &azservicebus.DeadLetterOptions{Reason: &reason})
		}
		done <- err
	}()
	if err := sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("for Ann")}, nil); err != nil {
		t.Fatal(err)
	}
	bus.WaitFor(t, sbtest.Holds("orders/$DeadLetterQueue", sbtest.Select{Reason: "poison", Text: "ann"}))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
