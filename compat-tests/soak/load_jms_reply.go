package main

import (
	"errors"
	"fmt"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/compat-tests/ledger"
	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// asker sends requests and waits for the replies.
type asker struct {
	*worker
	session  *rawclient.Session
	requests *rawclient.Sender
}

func (w *worker) newAsker() (*asker, func(), error) {
	session, end, err := w.jms("ID:" + w.name)
	if err != nil {
		return nil, nil, err
	}
	requests, err := session.Sender("requests")
	if err != nil {
		end()
		return nil, nil, err
	}
	return &asker{w, session, requests}, end, nil
}

// askWithTemporary gets its replies from temporary queues. Most end with the link that made them, others with the
// connection.
func (w *worker) askWithTemporary() error {
	a, end, err := w.newAsker()
	if err != nil {
		return err
	}
	defer end()
	for n := 0; n < 30 && !w.over(); n++ {
		w.began = time.Now()
		creator, err := a.session.AttachSender(temporaryQueue())
		if err != nil {
			return err
		}
		r, err := a.session.AttachReceiver(consumer("", creator.Address, everything, "temporary-queue"))
		if err != nil {
			return err
		}
		for range 4 {
			id, err := a.request(creator.Address)
			if err != nil {
				return err
			}
			d, err := a.await(r, id)
			if d == nil {
				return err
			}
			if err := w.settleRaw(r, d, &frames.Accepted{}, time.Now(), func() {}); err != nil {
				return err
			}
		}
		if n%5 == 4 {
			continue
		}
		w.began = time.Now()
		if err := errors.Join(r.Detach(true), creator.Detach(true)); err != nil {
			return err
		}
	}
	return nil
}

// temporaryQueue returns the attach that makes a temporary queue.
func temporaryQueue() *frames.Attach {
	lifetime := amqp.Described{Descriptor: uint64(0x2b), Value: amqp.List{}} // delete-on-close
	return &frames.Attach{Target: &frames.Target{
		Dynamic: true, ExpiryPolicy: "link-detach", Capabilities: []amqp.Symbol{"temporary-queue"},
		DynamicNodeProperties: amqp.Map{{Key: amqp.Symbol("lifetime-policy"), Value: lifetime}},
	}}
}

// askWithSelector gets its replies from a queue with other replies, each with a selector of its own.
func (w *worker) askWithSelector() error {
	a, end, err := w.newAsker()
	if err != nil {
		return err
	}
	defer end()
	for n := 0; n < 100 && !w.over(); n++ {
		id, err := a.request("replies")
		if err != nil {
			return err
		}
		x := selection{"JMSCorrelationID = '" + id + "'", everything.wants}
		r, err := a.session.AttachReceiver(consumer("", "replies", x, "queue"))
		if err != nil {
			return err
		}
		d, err := a.await(r, id)
		if d == nil {
			return err
		}
		if err := w.completeRaw(r, d, w.noted(d, "replies", "replies"), time.Now()); err != nil {
			return err
		}
		w.tally.selected.Add(1)
		w.began = time.Now()
		if err := r.Detach(true); err != nil {
			return err
		}
	}
	return nil
}

// request sends a request and returns its id.
func (a *asker) request(replyTo string) (id string, err error) {
	id = a.id()
	a.book.Sending("requests/"+id, ledger.InQueue)
	a.began = time.Now()
	request := &goamqp.Message{
		Properties: &goamqp.MessageProperties{MessageID: id, ReplyTo: &replyTo}, Data: [][]byte{body(id, 50)},
	}
	if err := a.requests.Send(request, nil); err != nil {
		return "", err
	}
	a.book.Sent("requests/" + id)
	a.tally.sent.Add(1)
	return id, nil
}

// await waits for the reply to a request. It gives up like mustCome.
func (a *asker) await(r *rawclient.Receiver, id string) (*rawclient.Delivery, error) {
	for {
		d, err := a.mustCome(r, "the reply to "+id)
		if d == nil {
			return nil, err
		}
		if _, err := idOf(d.Message.GetData()); err != nil {
			a.find("%s: %v", a.name, err)
		}
		to, _ := d.Message.Properties.CorrelationID.(string)
		if to == id {
			a.tally.replies.Add(1)
			return d, nil
		}
		// A request comes again to the replier if it could not be completed.
		if err := a.settleRaw(r, d, &frames.Accepted{}, time.Now(), func() {}); err != nil {
			return nil, err
		}
	}
}

// reply answers requests by a link that goes to no queue of its own.
func (w *worker) reply() error {
	session, end, err := w.jms("ID:" + w.name)
	if err != nil {
		return err
	}
	defer end()
	r, err := session.AttachReceiver(consumer("", "requests", everything, "queue"))
	if err != nil {
		return err
	}
	relay, err := session.AttachSender(&frames.Attach{Target: &frames.Target{}})
	if err != nil {
		return err
	}
	for !w.over() {
		d, err := w.receiveOne(r)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		got := time.Now()
		key := w.noted(d, "requests", "requests")
		if err := w.replyTo(relay, d); err != nil {
			return fmt.Errorf("reply: %w", err)
		}
		if err := w.completeRaw(r, d, key, got); err != nil {
			return err
		}
	}
	return nil
}

// replyTo sends the reply to a request, if the queue for it is still there.
func (w *worker) replyTo(relay *rawclient.Sender, request *rawclient.Delivery) error {
	id, to := w.id(), *request.Message.Properties.ReplyTo
	if to == "replies" {
		w.book.Sending("replies/"+id, ledger.InQueue)
	}
	reply := &goamqp.Message{
		Properties: &goamqp.MessageProperties{MessageID: id, To: &to, CorrelationID: request.Message.Properties.MessageID},
		Data:       [][]byte{body(id, 50)},
	}
	w.began = time.Now()
	err := relay.Send(reply, nil)
	var refused *frames.Error
	if to != "replies" && errors.As(err, &refused) && refused.Condition == amqp.CondNotFound {
		return nil // its client is gone
	}
	if err == nil && to == "replies" {
		w.book.Sent("replies/" + id)
	}
	return err
}
