package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

const queue = "golden"

// goScenario makes azservicebus do everything that it can do with a queue.
func goScenario(ctx context.Context, connectionString string) error {
	client, err := azservicebus.NewClientFromConnectionString(connectionString, nil)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	defer client.Close(ctx)
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		return fmt.Errorf("create sender: %w", err)
	}
	receiver, err := client.NewReceiverForQueue(queue, nil)
	if err != nil {
		return fmt.Errorf("create receiver: %w", err)
	}
	return errors.Join(
		scenarioSend(ctx, sender),
		scenarioSettle(ctx, receiver),
		scenarioSchedule(ctx, sender),
		scenarioDeferred(ctx, receiver),
		scenarioDeadLetters(ctx, client),
		scenarioMissing(ctx, client),
		sender.Close(ctx),
		receiver.Close(ctx),
	)
}

func scenarioSend(ctx context.Context, sender *azservicebus.Sender) error {
	full := &azservicebus.Message{
		Body: []byte("full"), MessageID: to.Ptr("id"), ContentType: to.Ptr("text/plain"), CorrelationID: to.Ptr("corr"),
		PartitionKey: to.Ptr("key"), ReplyTo: to.Ptr("reply"), ReplyToSessionID: to.Ptr("rs"), Subject: to.Ptr("subject"),
		To: to.Ptr("to"), TimeToLive: to.Ptr(time.Hour),
		ApplicationProperties: map[string]any{
			"string": "s", "int64": int64(-1), "int32": int32(7), "uint8": uint8(3), "float64": 1.5, "bool": true,
			"time": time.UnixMilli(1).UTC(), "bytes": []byte{1, 2, 3},
		},
	}
	large := &azservicebus.Message{Body: make([]byte, 70_000)}
	for _, m := range []*azservicebus.Message{full, {Body: []byte("bare")}, large} {
		if err := sender.SendMessage(ctx, m, nil); err != nil {
			return fmt.Errorf("send: %w", err)
		}
	}
	annotated := &azservicebus.AMQPAnnotatedMessage{
		Body:       azservicebus.AMQPAnnotatedMessageBody{Value: map[string]any{"k": []any{int32(1), "two", nil}}},
		Header:     &azservicebus.AMQPAnnotatedMessageHeader{Durable: true, Priority: 7},
		Footer:     map[any]any{"foot": "er"},
		Properties: &azservicebus.AMQPAnnotatedMessageProperties{MessageID: "annotated"},
	}
	if err := sender.SendAMQPAnnotatedMessage(ctx, annotated, nil); err != nil {
		return fmt.Errorf("send annotated message: %w", err)
	}
	batch, err := sender.NewMessageBatch(ctx, nil)
	if err != nil {
		return fmt.Errorf("create batch: %w", err)
	}
	for _, body := range []string{"one", "two", "three"} {
		if err := batch.AddMessage(&azservicebus.Message{Body: []byte(body)}, nil); err != nil {
			return fmt.Errorf("add to batch: %w", err)
		}
	}
	return sender.SendMessageBatch(ctx, batch, nil)
}

// scenarioSettle receives the seven messages and settles them in every way, numbers 5 and 6 as deferred.
func scenarioSettle(ctx context.Context, receiver *azservicebus.Receiver) error {
	if _, err := receiver.PeekMessages(ctx, 10, nil); err != nil {
		return fmt.Errorf("peek: %w", err)
	}
	var messages []*azservicebus.ReceivedMessage
	for len(messages) < 7 {
		got, err := receiver.ReceiveMessages(ctx, 7-len(messages), nil)
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		messages = append(messages, got...)
	}
	properties := map[string]any{"changed": "yes"}
	return errors.Join(
		receiver.RenewMessageLock(ctx, messages[0], nil),
		receiver.CompleteMessage(ctx, messages[0], nil),
		receiver.AbandonMessage(ctx, messages[1], &azservicebus.AbandonMessageOptions{PropertiesToModify: properties}),
		receiver.DeferMessage(ctx, messages[4], &azservicebus.DeferMessageOptions{PropertiesToModify: properties}),
		receiver.DeferMessage(ctx, messages[5], nil),
		receiver.DeadLetterMessage(ctx, messages[2], &azservicebus.DeadLetterOptions{Reason: to.Ptr("why"), ErrorDescription: to.Ptr("because"), PropertiesToModify: properties}),
		receiver.DeadLetterMessage(ctx, messages[3], nil),
	)
}

func scenarioSchedule(ctx context.Context, sender *azservicebus.Sender) error {
	due := time.Now().Add(time.Hour)
	numbers, err := sender.ScheduleMessages(ctx, []*azservicebus.Message{{Body: []byte("a")}, {Body: []byte("b")}}, due, nil)
	if err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	if err := sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("c"), ScheduledEnqueueTime: &due}, nil); err != nil {
		return fmt.Errorf("send with a scheduled time: %w", err)
	}
	return sender.CancelScheduledMessages(ctx, numbers, nil)
}

func scenarioDeferred(ctx context.Context, receiver *azservicebus.Receiver) error {
	messages, err := receiver.ReceiveDeferredMessages(ctx, []int64{5, 6}, nil)
	if err != nil {
		return fmt.Errorf("receive deferred: %w", err)
	}
	for _, m := range messages {
		if err := receiver.CompleteMessage(ctx, m, nil); err != nil {
			return fmt.Errorf("complete deferred: %w", err)
		}
	}
	return nil
}

func scenarioDeadLetters(ctx context.Context, client *azservicebus.Client) error {
	reader, err := client.NewReceiverForQueue(queue, &azservicebus.ReceiverOptions{
		SubQueue: azservicebus.SubQueueDeadLetter, ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete,
	})
	if err != nil {
		return fmt.Errorf("create dead-letter receiver: %w", err)
	}
	if _, err := reader.ReceiveMessages(ctx, 2, nil); err != nil {
		return fmt.Errorf("receive dead letters: %w", err)
	}
	return reader.Close(ctx)
}

// scenarioMissing provokes refusals; it ignores the errors.
func scenarioMissing(ctx context.Context, client *azservicebus.Client) error {
	sender, err := client.NewSender("missing", nil)
	if err != nil {
		return fmt.Errorf("create sender: %w", err)
	}
	if err := sender.SendMessage(ctx, &azservicebus.Message{}, nil); err == nil {
		return errors.New("a send to a missing queue was accepted")
	}
	return nil
}
