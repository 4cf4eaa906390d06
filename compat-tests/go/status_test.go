package compat

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// Each status refuses exactly the operations that it names, at the attach and on $management.
func TestSTAT1_STAT2_STAT6_WhatEachStatusRefuses(t *testing.T) {
	provesAnywhere(t, "entity.disabled")
	const condition = "com.microsoft:entity-disabled"
	for _, c := range []struct {
		status        string
		send, receive bool
	}{{"Active", true, true}, {"SendDisabled", false, true}, {"ReceiveDisabled", true, false}, {"Disabled", false, false}} {
		t.Run(c.status, func(t *testing.T) {
			b := serve(t, harness.Queue{Name: queueName, Status: c.status}, harness.Queue{Name: "open"})
			check := func(what string, err error, allowed bool) {
				t.Helper()
				switch {
				case allowed:
					b.must(what, err)
				default:
					b.wantErrorText(what, err, "disabled")
				}
			}
			err := b.to(queueName).SendMessage(b.ctx, message("x"), nil)
			check("send", err, c.send)
			if !c.send {
				b.wantErrorText("send", err, condition)
			}
			_, err = b.to(queueName).ScheduleMessages(b.ctx, []*azservicebus.Message{message("later")}, time.Now().Add(time.Hour), nil)
			check("schedule", err, c.send)
			session := b.dial()
			for _, path := range []string{b.name(queueName), b.name(queueName) + "/$DeadLetterQueue"} {
				_, err = session.NewReceiver(b.ctx, path, nil)
				check("receiver of "+path, err, c.receive)
				if !c.receive {
					b.wantErrorText("receiver of "+path, err, condition)
				}
			}
			var want []string
			if c.send {
				want = []string{"x", "later"}
			}
			b.wantTexts("peek works in any status (PEEK-13)", b.peekQueue(queueName), want...)
			b.put("open", message("y"))
			b.wantBodies("another queue", b.receive(b.from("open"), 1), "y")
		})
	}
}

// A restart with another configuration changes the status: messages stay, schedules go on, numbers continue.
func TestSTAT4_DEC7_SCHED25_DisabledAndEnabledAgain(t *testing.T) {
	b, _ := serveTwice(t, harness.Queue{Name: queueName})
	due := time.Now().Add(8 * time.Second)
	b.put(queueName, message("1"))
	_, err := b.sender.ScheduleMessages(b.ctx, []*azservicebus.Message{message("2")}, due, nil)
	b.must("schedule", err)
	restart := func(status string) {
		t.Helper()
		o := b.server.Options()
		b.server.Stop(t)
		o.Config = configOf(t, harness.Queue{Name: queueName, Status: status})
		began := b.began
		b = startServer(t, o)
		b.began = began
	}
	restart("Disabled")
	if !strings.Contains(b.server.Log(), queueName) {
		b.Error("the log does not tell that the queue was changed (DEC-7)")
	}
	b.wantErrorText("send", b.sender.SendMessage(b.ctx, message("x"), nil), "com.microsoft:entity-disabled")
	time.Sleep(time.Until(due.Add(300 * time.Millisecond)))
	restart("Active")
	b.put(queueName, message("3"))
	messages := b.receive(b.receiver, 3)
	b.check(messages[0], stamps{body: "1", seq: 1, count: 1})
	b.check(messages[1], stamps{body: "2", seq: 3, count: 1}) // activated while the queue was disabled
	b.check(messages[2], stamps{body: "3", seq: 4, count: 1})
	if at := messages[1].EnqueuedTime; at.Before(due.Truncate(time.Millisecond)) || at.After(due.Add(dueTolerance)) {
		b.Errorf("activated at %v, want %v", at, due)
	}
}
