package emulator

import (
	"fmt"
	"strings"
	"time"
)

// String says in a sentence what happened, without the time.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.what())
	switch {
	case e.Kind == EventDelivered, e.Kind == EventDeliveredDeleted:
		b.WriteString(" to " + e.Client.String())
	case e.Client != nil:
		b.WriteString(" by " + e.Client.String())
	}
	switch e.Kind {
	case EventDelivered, EventRenewed:
		b.WriteString(", locked until " + clockTime(e.Until))
	case EventScheduled, EventRescheduled:
		b.WriteString(" for " + clockTime(e.Until))
	case EventAbandoned, EventLockExpired, EventDeferred:
		fmt.Fprintf(&b, ", delivery count %d", e.DeliveryCount)
	}
	if e.Kind == EventRefusedSend || e.Kind == EventRefusedSettlement {
		b.WriteString(" was refused: " + e.Text)
	}
	if e.Topic {
		fmt.Fprintf(&b, "; %s got a copy", count(int64(e.Copies), "subscription"))
	}
	return b.String()
}

// what says what happened where.
func (e *Event) what() string {
	at := e.Sub.Join(e.Entity)
	number := fmt.Sprintf("number %d", e.Sequence)
	switch e.Kind {
	case EventSent:
		return fmt.Sprintf("sent to %s as %s", at, number)
	case EventScheduled:
		return fmt.Sprintf("scheduled in %s as %s", at, number)
	case EventActivated:
		if e.NextSequence == 0 {
			return fmt.Sprintf("came due in %s as %s", at, number)
		}
		return fmt.Sprintf("came due in %s: %s is number %d from now on", at, number, e.NextSequence)
	case EventCopied:
		return fmt.Sprintf("copied to %s as %s by the rule %s", at, number, e.Text)
	case EventForwardedHere:
		return fmt.Sprintf("arrived in %s as %s", at, number) + from(e.Text)
	case EventForwarded:
		return fmt.Sprintf("left %s, where it had %s, for %s", at, number, e.Text)
	case EventDelivered:
		return fmt.Sprintf("%s of %s was delivered", number, at)
	case EventDeliveredDeleted:
		return fmt.Sprintf("%s of %s was delivered and deleted", number, at)
	case EventDeadLettered:
		return fmt.Sprintf("%s of %s was moved to the dead-letter queue", number, at) + because(e.Text)
	case EventExpired:
		return fmt.Sprintf("%s of %s expired", number, at) + because(e.Text)
	case EventDuplicate:
		return fmt.Sprintf("dropped by %s: the message id came before", at)
	case EventRefusedSend:
		return "a send to " + at
	case EventRefusedSettlement:
		return "a settlement in " + at
	case EventFault:
		if at == "" {
			return e.Text
		}
		if e.Sequence != 0 {
			return fmt.Sprintf("%s, %s of %s", e.Text, number, at)
		}
		return e.Text + " in " + at
	case EventSessionBroken:
		return fmt.Sprintf("the lock of %s, in %s was broken", e.Text, at)
	case EventLockExpired:
		return fmt.Sprintf("the lock of %s of %s ended", number, at)
	case EventRenewed:
		return fmt.Sprintf("the lock of %s of %s was renewed", number, at)
	case EventReturned:
		return fmt.Sprintf("%s of %s did not reach its receiver and is available again", number, at)
	}
	return fmt.Sprintf("%s of %s was %s", number, at, e.Kind)
}

func from(text string) string {
	if text == "" {
		return ""
	}
	return " from " + text
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return " because of " + text
}

func clockTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04:05.000") + "Z" }
