package dotnetfw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/go-amqp"
)

// The steps of AMQP. The answer is a text: ok, what came, or the condition of the error.
//
//	token ENTITY                              puts a token; the status
//	sender ENTITY                             opens a link
//	limits ENTITY                             the largest message and batch that its link announces
//	send ENTITY BODY NAME=VALUE...            session, key, subject, id, p:NAME; at=SECONDS from now; batch=N of that body; size=N bytes
//	receive ENTITY CREDIT COUNT               opens a receiver or uses the open one; the bodies
//	nothing ENTITY CREDIT                     the same, where nothing comes
//	complete, abandon NAME=VALUE..., deadletter REASON TEXT, release     settles what came last
//	shown NAME                                what the last message has: count, subject, session, p:NAME or an annotation
//	releases ENTITY N                         releases a message N times, as fast as it comes; its delivery count after that
//	close ENTITY                              gives the credit back and closes the receiver
//	accept ENTITY SESSION                     a session, or the next one for "next"; its id
//	cancel-accept ENTITY                      stops to wait for the next one
//	accept-at-once ENTITY N                   N links that wait for the next one; their ids
//	peek ENTITY                               bodies with their states
//	schedule ENTITY BODY SECONDS, cancel ENTITY, renew ENTITY            a scheduled message; the lock of what came last
//	addrule SUBSCRIPTION NAME FILTER, removerule SUBSCRIPTION NAME       the status
//	setstate ENTITY SESSION TEXT, getstate ENTITY SESSION                the status; the text
//	move FROM TO... commit|rollback           completes a message and sends another to each target, in one transaction

const patience = 20 * time.Second

// client is a connection as the SDK opens it: with the host and without the port, links in sessions of their own.
type client struct {
	p         *player
	conn      *amqp.Conn
	senders   map[string]*amqp.Sender
	receivers map[string]*amqp.Receiver
	last      []*amqp.Message
	from      *amqp.Receiver // of the last messages
	number    int64          // of the last scheduled message
}

func (p *player) overAMQP(verb string, args []string) (string, error) {
	if p.amqp == nil {
		ctx, cancel := context.WithTimeout(p.Context(), patience)
		defer cancel()
		conn, err := amqp.Dial(ctx, "amqp://"+p.server.Addr(), &amqp.ConnOptions{
			HostName: "localhost", IdleTimeout: 30 * time.Second, SASLType: amqp.SASLTypeAnonymous()})
		if err != nil {
			return "", err
		}
		p.Cleanup(func() { conn.Close() })
		p.amqp = &client{p: p, conn: conn, senders: make(map[string]*amqp.Sender), receivers: make(map[string]*amqp.Receiver)}
	}
	step, known := steps[verb]
	if !known {
		return "", fmt.Errorf("there is no step %q", verb)
	}
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	return step(p.amqp, ctx, args)
}

var steps = map[string]func(*client, context.Context, []string) (string, error){
	"token": (*client).token, "sender": (*client).open, "limits": (*client).limits, "send": (*client).send,
	"receive": (*client).receive, "nothing": (*client).nothing, "complete": (*client).complete, "abandon": (*client).abandon,
	"deadletter": (*client).deadLetter, "release": (*client).release, "shown": (*client).shown, "releases": (*client).releases,
	"close": (*client).closeReceiver, "accept": (*client).accept, "cancel-accept": (*client).cancelAccept,
	"accept-at-once": (*client).acceptAtOnce, "peek": (*client).peek, "schedule": (*client).schedule, "cancel": (*client).cancel,
	"renew": (*client).renew, "addrule": (*client).addRule, "removerule": (*client).removeRule, "setstate": (*client).setState,
	"getstate": (*client).getState, "move": (*client).move,
}

// condition returns the condition of an error, or its text.
func condition(err error) string {
	var link *amqp.LinkError
	var session *amqp.SessionError
	var plain *amqp.Error
	switch {
	case errors.As(err, &link) && link.RemoteErr != nil:
		return string(link.RemoteErr.Condition)
	case errors.As(err, &session) && session.RemoteErr != nil:
		return string(session.RemoteErr.Condition)
	case errors.As(err, &plain):
		return string(plain.Condition)
	}
	return err.Error()
}

// sender returns the link to an entity, in a session of its own. The SDK's addresses begin with a slash.
func (c *client) sender(ctx context.Context, entity string) (*amqp.Sender, error) {
	if sender := c.senders[entity]; sender != nil {
		return sender, nil
	}
	if status, err := c.token(ctx, []string{entity}); err != nil || status != "202" {
		return nil, errors.Join(err, fmt.Errorf("token: %s", status))
	}
	session, err := c.conn.NewSession(ctx, nil)
	if err != nil {
		return nil, err
	}
	sender, err := session.NewSender(ctx, "/"+entity, nil)
	if err == nil {
		c.senders[entity] = sender
	}
	return sender, err
}

// receiver returns the link from an entity, which has no credit.
func (c *client) receiver(ctx context.Context, entity string) (*amqp.Receiver, error) {
	if receiver := c.receivers[entity]; receiver != nil {
		return receiver, nil
	}
	receiver, err := c.link(ctx, entity, nil)
	if err == nil {
		c.receivers[entity] = receiver
	}
	return receiver, err
}

const sessionFilter = "com.microsoft:session-filter"

// link opens a receiver in a session of its own, of a session of the entity or of the next one if there is a filter.
func (c *client) link(ctx context.Context, entity string, filter []amqp.LinkFilter) (*amqp.Receiver, error) {
	session, err := c.conn.NewSession(ctx, nil)
	if err != nil {
		return nil, err
	}
	o := &amqp.ReceiverOptions{Credit: -1, SettlementMode: amqp.ReceiverSettleModeSecond.Ptr(), Filters: filter}
	if filter != nil {
		o.Properties = map[string]any{"com.microsoft:timeout": uint32(10_000)}
	}
	receiver, err := session.NewReceiver(ctx, "/"+entity, o)
	if err != nil {
		ending, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer stop()
		err = errors.Join(err, session.Close(ending)) // the attach may still wait for its answer
	}
	return receiver, err
}

func (c *client) token(ctx context.Context, args []string) (string, error) {
	audience := "sb://localhost/" + args[0]
	answer, err := c.request(ctx, "$cbs", &amqp.Message{
		Value: token(audience), ApplicationProperties: map[string]any{
			"operation": "put-token", "type": "servicebus.windows.net:sastoken", "name": audience}})
	return status(answer, "status-code"), err
}

// request sends a request to a node and waits for the answer.
func (c *client) request(ctx context.Context, node string, m *amqp.Message) (*amqp.Message, error) {
	session, err := c.conn.NewSession(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close(ctx)
	receiver, err := session.NewReceiver(ctx, node, &amqp.ReceiverOptions{
		TargetAddress: "reply", Credit: 1, SettlementMode: amqp.ReceiverSettleModeFirst.Ptr(),
		RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr()})
	if err != nil {
		return nil, err
	}
	sender, err := session.NewSender(ctx, node, nil)
	if err != nil {
		return nil, err
	}
	m.Properties = &amqp.MessageProperties{MessageID: "request", ReplyTo: to("reply")}
	if err := sender.Send(ctx, m, nil); err != nil {
		return nil, err
	}
	return receiver.Receive(ctx, nil)
}

func to[T any](value T) *T { return &value }

// manage makes a request of an entity's $management.
func (c *client) manage(ctx context.Context, entity, operation string, body map[string]any) (*amqp.Message, error) {
	if _, err := c.token(ctx, []string{entity + "/$management"}); err != nil {
		return nil, err
	}
	return c.request(ctx, entity+"/$management", &amqp.Message{
		Value: body, ApplicationProperties: map[string]any{
			"operation": "com.microsoft:" + operation, "com.microsoft:server-timeout": uint32(20_000)}})
}

func status(answer *amqp.Message, key string) string {
	if answer == nil {
		return ""
	}
	return fmt.Sprint(answer.ApplicationProperties[key])
}

// ok is the answer to what has none.
func ok(err error) (string, error) { return "ok", err }

func (c *client) open(ctx context.Context, args []string) (string, error) {
	_, err := c.sender(ctx, args[0])
	return ok(err)
}

func (c *client) limits(ctx context.Context, args []string) (string, error) {
	sender, err := c.sender(ctx, args[0])
	if err != nil {
		return "", err
	}
	return fmt.Sprint(sender.MaxMessageSize(), " ", sender.Properties()["com.microsoft:max-message-batch-size"]), nil
}

func (c *client) send(ctx context.Context, args []string) (string, error) {
	sender, err := c.sender(ctx, args[0])
	if err != nil {
		return "", err
	}
	m, err := message(args[1], args[2:])
	if err != nil {
		return "", err
	}
	return ok(sender.Send(ctx, m, nil))
}

const batchFormat = 0x80013700

// message makes a message, or a batch of such messages.
func message(body string, options []string) (*amqp.Message, error) {
	m := &amqp.Message{Data: [][]byte{[]byte(body)}, Properties: &amqp.MessageProperties{MessageID: body},
		Annotations: make(amqp.Annotations), ApplicationProperties: make(map[string]any)}
	batch := 0
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		number, _ := strconv.Atoi(value)
		switch property, isProperty := strings.CutPrefix(name, "p:"); {
		case isProperty:
			m.ApplicationProperties[property] = value
		case name == "session":
			m.Properties.GroupID = &value
		case name == "key":
			m.Annotations["x-opt-partition-key"] = value
		case name == "subject":
			m.Properties.Subject = &value
		case name == "id":
			m.Properties.MessageID = value
		case name == "at":
			m.Annotations["x-opt-scheduled-enqueue-time"] = time.Now().Add(time.Duration(number) * time.Second)
		case name == "size":
			m.Data = [][]byte{bytes.Repeat([]byte("x"), number)}
		case name == "batch":
			batch = number
		default:
			return nil, fmt.Errorf("unknown option %s", option)
		}
	}
	if batch == 0 {
		return m, nil
	}
	encoded, err := m.MarshalBinary()
	return &amqp.Message{Format: batchFormat, Data: slices.Repeat([][]byte{encoded}, batch)}, err
}

func (c *client) receive(ctx context.Context, args []string) (string, error) {
	receiver, err := c.receiver(ctx, args[0])
	if err != nil {
		return "", err
	}
	credit, _ := strconv.Atoi(args[1])
	count, _ := strconv.Atoi(args[2])
	if err := receiver.IssueCredit(uint32(credit)); err != nil {
		return "", err
	}
	c.last, c.from = nil, receiver
	var bodies []string
	for range count {
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			return strings.Join(bodies, " "), err
		}
		c.last = append(c.last, m)
		bodies = append(bodies, shortened(m.GetData()))
	}
	return strings.Join(bodies, " "), nil
}

// shortened shows a long body by its length.
func shortened(body []byte) string {
	if len(body) > 100 {
		return fmt.Sprint(len(body), " bytes")
	}
	return string(body)
}

func (c *client) nothing(ctx context.Context, args []string) (string, error) {
	brief, stop := context.WithTimeout(ctx, 500*time.Millisecond)
	defer stop()
	receiver, err := c.receiver(ctx, args[0])
	if err != nil {
		return "", err
	}
	credit, _ := strconv.Atoi(args[1])
	if err := receiver.IssueCredit(uint32(credit)); err != nil {
		return "", err
	}
	m, err := receiver.Receive(brief, nil)
	if errors.Is(err, context.DeadlineExceeded) {
		return "ok", nil
	}
	if err != nil {
		return "", err
	}
	return shortened(m.GetData()), nil
}

// settled settles what came last.
func (c *client) settled(settle func(*amqp.Message) error) (string, error) {
	for _, m := range c.last {
		if err := settle(m); err != nil {
			return "", err
		}
	}
	return "ok", nil
}

func (c *client) complete(ctx context.Context, _ []string) (string, error) {
	return c.settled(func(m *amqp.Message) error { return c.from.AcceptMessage(ctx, m) })
}

func (c *client) abandon(ctx context.Context, args []string) (string, error) {
	annotations := make(amqp.Annotations)
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		annotations[name] = value
	}
	return c.settled(func(m *amqp.Message) error {
		return c.from.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{Annotations: annotations})
	})
}

func (c *client) deadLetter(ctx context.Context, args []string) (string, error) {
	return c.settled(func(m *amqp.Message) error {
		return c.from.RejectMessage(ctx, m, &amqp.Error{Condition: "com.microsoft:dead-letter",
			Info: map[string]any{"DeadLetterReason": args[0], "DeadLetterErrorDescription": args[1], "Attempt": "1"}})
	})
}

func (c *client) release(ctx context.Context, _ []string) (string, error) {
	return c.settled(func(m *amqp.Message) error { return c.from.ReleaseMessage(ctx, m) })
}

func (c *client) shown(_ context.Context, args []string) (string, error) {
	m := c.last[len(c.last)-1]
	switch property, isProperty := strings.CutPrefix(args[0], "p:"); {
	case isProperty:
		return fmt.Sprint(m.ApplicationProperties[property]), nil
	case args[0] == "count":
		return fmt.Sprint(m.Header.DeliveryCount), nil
	case args[0] == "subject":
		return *m.Properties.Subject, nil
	case args[0] == "session":
		return *m.Properties.GroupID, nil
	}
	return fmt.Sprint(m.Annotations[args[0]]), nil
}

func (c *client) releases(ctx context.Context, args []string) (string, error) {
	times, _ := strconv.Atoi(args[1])
	for range times {
		if _, err := c.receive(ctx, []string{args[0], "1", "1"}); err != nil {
			return "", err
		}
		if _, err := c.release(ctx, nil); err != nil {
			return "", err
		}
	}
	if _, err := c.receive(ctx, []string{args[0], "1", "1"}); err != nil {
		return "", err
	}
	return c.shown(ctx, []string{"count"})
}

func (c *client) closeReceiver(ctx context.Context, args []string) (string, error) {
	receiver := c.receivers[args[0]]
	delete(c.receivers, args[0])
	if err := receiver.DrainCredit(ctx, nil); err != nil {
		return "", err
	}
	for { // as the SDK does with what came since
		m := receiver.Prefetched()
		if m == nil {
			return ok(receiver.Close(ctx))
		}
		if err := receiver.ReleaseMessage(ctx, m); err != nil {
			return "", err
		}
	}
}
