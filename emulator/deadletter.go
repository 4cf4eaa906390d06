package emulator

import (
	"fmt"

	"minibus/internal/amqp/message"
)

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
