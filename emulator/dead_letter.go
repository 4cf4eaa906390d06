package emulator

import (
	"fmt"

	"minibus/internal/amqp/message"
)

// deliveryFailedLocked adds to op what becomes of e after a failed delivery: an abandon or the end of its lock, as v
// says.
func (op *transition) deliveryFailedLocked(e *entry, properties []byte, v EventKind, f fallback, now int64) {
	count := e.count + 1
	if e.sub != Main {
		count = e.count // DC-8
	}
	overlay := e.merged(properties)
	switch {
	case e.expired(now) && e.state == Active: // EXP-8, EXP-9
		op.expireLocked(e, count, properties, f)
		op.failedLocked(v, count)
	case e.sub == Main && count >= op.q.options.maxDelivery(): // DC-7
		op.deadLetterLocked(e, count, message.MergeProperties(properties, maxDeliveryProperties(count)),
			EventDeadLettered, f)
		op.failedLocked(v, count)
	case e.sub == Main && len(overlay) > maxHeaderBytes:
		op.deadLetterLocked(e, count, headerSizeProperties(), EventDeadLettered, f)
		op.failedLocked(v, count)
	case count == e.count && properties == nil:
		op.freeLocked(e, v, f) // nothing to write
	default:
		op.changeLocked(e, e.state, count, overlay, v, f)
	}
}

// failedLocked adds to the last step how the delivery ended that caused it.
func (op *transition) failedLocked(v EventKind, count uint32) {
	last := &op.steps[len(op.steps)-1]
	last.failed, last.count = v, count
}

// merged returns e's changed properties with those of a settlement. In a dead-letter queue, where nothing can be
// dead-lettered for properties that are too long (DLQ-R3), such ones change nothing.
func (e *entry) merged(properties []byte) []byte {
	overlay := message.MergeProperties(e.extras().overlay, properties)
	if e.sub != Main && len(overlay) > maxHeaderBytes {
		return e.extras().overlay
	}
	return overlay
}

// deadLetterLocked adds that e moves to the dead-letter queue with its number and its enqueued time (DLQ-9) and the
// properties given (DLQ-8).
func (op *transition) deadLetterLocked(e *entry, count uint32, properties []byte, v EventKind, f fallback) {
	to := &entry{
		seq: e.seq, first: e.first, enqueued: e.enqueued, ttl: e.ttl, row: e.row, body: e.body,
		count: count, state: Active, sub: DeadLetter,
	}
	x := *e.extras()
	x.due = 0
	x.overlay, x.reason = deadLetterOverlay(e.extras().overlay, properties)
	if len(x.overlay) > maxHeaderBytes {
		x.overlay, x.reason = deadLetterOverlay(e.extras().overlay, headerSizeProperties())
	}
	to.extra = x.kept()
	op.replaceLocked(e, to, false, v, f)
}

const (
	headerSizeExceeded = "HeaderSizeExceeded"  // DLQ-R3
	sessionIDIsNull    = "Session id is null." // DLQ-R4
)

// maxDeliveryProperties are those of a message that was delivered count times in vain (DLQ-R1).
func maxDeliveryProperties(count uint32) []byte {
	return deadLetterProperties("MaxDeliveryCountExceeded",
		fmt.Sprintf("Message could not be consumed after %d delivery attempts.", count))
}

// headerSizeProperties are those of a message whose properties outgrew their limit (DLQ-R3).
func headerSizeProperties() []byte {
	return deadLetterProperties(headerSizeExceeded, "The size quota for this stream has been exceeded.")
}

// sessionIDProperties are those of a message without the session id that it needs (DLQ-R4).
func sessionIDProperties() []byte {
	return deadLetterProperties(sessionIDIsNull,
		"Session enabled entity doesn't allow a message whose session identifier is null.")
}

// deadLetterOverlay puts the properties of a dead-lettering on an overlay and returns it with the reason (DLQ-8).
func deadLetterOverlay(overlay, properties []byte) (merged []byte, reason string) {
	merged = message.MergeProperties(overlay, properties)
	if v, ok := message.LookupProperty(merged, DeadLetterReason); ok {
		reason, _ = v.(string)
	}
	return merged, reason
}

func deadLetterProperties(reason, description string) []byte {
	b, err := message.EncodeProperties(message.Map{
		{Key: DeadLetterReason, Value: reason}, {Key: DeadLetterErrorDescription, Value: description},
	})
	if err != nil {
		panic(err) // two strings can always be encoded
	}
	return b
}
