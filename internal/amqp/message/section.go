package message

import "minibus/internal/amqp"

// Descriptor codes of the sections [AMQP 3.2].
const (
	codeHeader                = 0x70
	codeDeliveryAnnotations   = 0x71
	codeMessageAnnotations    = 0x72
	codeProperties            = 0x73
	codeApplicationProperties = 0x74
	codeData                  = 0x75
	codeSequence              = 0x76
	codeValue                 = 0x77
	codeFooter                = 0x78
)

// unknownCode stands for a descriptor that is not a section's.
const unknownCode = ^uint64(0)

// sectionCode reads a section's descriptor in any of its forms.
func sectionCode(r *amqp.Reader) (uint64, error) {
	code, name, err := r.Descriptor()
	if name != nil && err == nil {
		code = codeOf(name)
	}
	return code, err
}

// codeOf returns the code of a symbolic descriptor. The conversion in the switch does not allocate.
func codeOf(name []byte) uint64 {
	switch string(name) {
	case "amqp:header:list":
		return codeHeader
	case "amqp:delivery-annotations:map":
		return codeDeliveryAnnotations
	case "amqp:message-annotations:map":
		return codeMessageAnnotations
	case "amqp:properties:list":
		return codeProperties
	case "amqp:application-properties:map":
		return codeApplicationProperties
	case "amqp:data:binary":
		return codeData
	case "amqp:amqp-sequence:list":
		return codeSequence
	case "amqp:amqp-value:*":
		return codeValue
	case "amqp:footer:map":
		return codeFooter
	}
	return unknownCode
}

// Field counts of the two sections that are lists [AMQP 3.2.1, 3.2.4].
const (
	headerFields   = 5
	propertyFields = 13
)

// Field indexes in the header section.
const (
	headerDurable = iota
	headerPriority
	headerTTL
	headerFirstAcquirer
	headerDeliveryCount
)

// Field indexes in the properties section [AMQP 3.2.4], for [Message.Property].
const (
	PropertyMessageID = iota
	PropertyUserID
	PropertyTo
	PropertySubject
	PropertyReplyTo
	PropertyCorrelationID
	PropertyContentType
	PropertyContentEncoding
	PropertyAbsoluteExpiryTime
	PropertyCreationTime
	PropertyGroupID
	PropertyGroupSequence
	PropertyReplyToGroupID
)

// Annotation keys of Service Bus (PROP-1 to PROP-13).
const (
	keySequenceNumber        = "x-opt-sequence-number"
	keyEnqueuedTime          = "x-opt-enqueued-time"
	keyLockedUntil           = "x-opt-locked-until"
	keyEnqueueSequenceNumber = "x-opt-enqueue-sequence-number"
	keyMessageState          = "x-opt-message-state"
	keyPartitionKey          = "x-opt-partition-key"
	keyViaPartitionKey       = "x-opt-via-partition-key"
	keyPartitionID           = "x-opt-partition-id"
	keyScheduledEnqueueTime  = "x-opt-scheduled-enqueue-time"
	keyDeadLetterSource      = "x-opt-deadletter-source"
	keyLockToken             = "x-opt-lock-token"
	keyOmittedBodySize       = "omitted-message-body-size"
)
