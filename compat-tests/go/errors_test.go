package compat

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

func codeOf(err error) azservicebus.Code {
	var sdkError *azservicebus.Error
	if errors.As(err, &sdkError) {
		return sdkError.Code
	}
	return ""
}

// wantErrorText fails unless the error's text contains words: an AMQP condition, or the service's sentence.
func (b *bench) wantErrorText(what string, err error, words string) {
	b.Helper()
	if b.saw("%s: %v", what, err); err == nil || !strings.Contains(err.Error(), words) {
		b.Errorf("%s: got %v, want %s", what, err, words)
	}
}

// wantMissing fails unless a sequence number was refused: the SDK shows message-not-found as CodeNotFound and keeps the text.
func (b *bench) wantMissing(what string, err error, words string) {
	b.Helper()
	b.wantCode(what, err, codeNotFound)
	b.wantErrorText(what, err, words)
}

// Senders and receivers of a missing queue learn of it at once (ERR-4).
func TestERR4_MissingQueue(t *testing.T) {
	provesAnywhere(t, "err.queue")
	b := start(t)
	sender, err := b.client.NewSender(b.name("missing"), nil)
	b.must("create sender", err)
	b.wantCode("send to a missing queue", sender.SendMessage(b.ctx, message("x"), nil), codeNotFound)
	receiver, err := b.client.NewReceiverForQueue(b.name("missing"), nil)
	b.must("create receiver", err)
	_, err = receiver.ReceiveMessages(b.ctx, 1, nil)
	b.wantCode("receive from a missing queue", err, codeNotFound)
	if !b.elsewhere() && !strings.Contains(b.server.Log(), "missing") {
		b.Error("the log does not name the entity of the refused operation")
	}
	b.send("still alive")
}

// A message above the limit is refused, and the connection lives on (QUO-5).
func TestQUO5_TooLargeMessage(t *testing.T) {
	provesAnywhere(t, "send.toolarge", "send.large")
	b := start(t)
	err := b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: make([]byte, 1<<20)}, nil)
	if !errors.Is(err, azservicebus.ErrMessageTooLarge) {
		b.wantErrorText("send 1 MiB", err, "amqp:link:message-size-exceeded")
	}
	large := make([]byte, 250*1024)
	b.must("send 250 KiB", b.sender.SendMessage(b.ctx, &azservicebus.Message{Body: large}, nil))
	if got := b.receiveOne(b.receiver); len(got.Body) != len(large) {
		b.Errorf("received %d bytes, want %d", len(got.Body), len(large))
	}
}

// Entity names are compared without regard to case.
func TestDLQ1_NamesInAnyCase(t *testing.T) {
	b := start(t, func(q *harness.Queue) { q.Name = "Orders" })
	b.send("a")
	b.check(b.receiveOne(b.receiver), stamps{body: "a", seq: 1, count: 1})
}
