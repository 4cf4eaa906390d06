package dotnetfw

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/go-amqp"

	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp/frames"
)

// move does what NServiceBus does with a message in its mode SendsAtomicWithReceive: receiver, coordinator and
// senders share a session, a message is sent to each target, in batches, and the received one is completed, all
// with the id of one transaction.
func (c *client) move(_ context.Context, args []string) (string, error) {
	from, targets, end := args[0], args[1:len(args)-1], args[len(args)-1]
	conn, err := rawclient.Dial(c.p.server.Addr())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	session, err := conn.Begin()
	if err != nil {
		return "", err
	}
	coordinator, err := session.Coordinator()
	if err != nil {
		return "", refused(err)
	}
	receiver, err := session.Receiver("/" + from)
	if err != nil {
		return "", refused(err)
	}
	if err := receiver.Credit(1); err != nil {
		return "", err
	}
	d, err := receiver.Receive(patience)
	if err != nil {
		return "", err
	}
	txn, err := coordinator.Declare()
	if err != nil {
		return "", refused(err)
	}
	for _, target := range targets {
		sender, err := session.Sender("/" + target)
		if err != nil {
			return "", refused(err)
		}
		batch, err := message(fmt.Sprintf("%s for %s", d.Message.GetData(), target), []string{"batch=1"})
		if err != nil {
			return "", err
		}
		if err := sender.Send(batch, txn); err != nil {
			return "", refused(err)
		}
	}
	if err := receiver.Settle(d, &frames.Accepted{}, txn); err != nil {
		return "", refused(err)
	}
	return ok(refused(coordinator.Discharge(txn, end == "rollback")))
}

// refused makes an error of the other library of the server's error.
func refused(err error) error {
	var e *frames.Error
	if errors.As(err, &e) {
		return &amqp.Error{Condition: amqp.ErrCond(e.Condition), Description: e.Description}
	}
	return err
}
