package message

import (
	"math"
	"strings"

	"minibus/internal/amqp"
)

// Keys of a system overlay ([Patch.System]): the broker properties that an action of a rule can set, by their names
// in the rule language. A null value clears the property.
const (
	SystemMessageID        = "MessageId"
	SystemTo               = "To"
	SystemLabel            = "Label"
	SystemReplyTo          = "ReplyTo"
	SystemCorrelationID    = "CorrelationId"
	SystemContentType      = "ContentType"
	SystemSessionID        = "SessionId"
	SystemReplyToSessionID = "ReplyToSessionId"
	SystemPartitionKey     = "PartitionKey"
	SystemViaPartitionKey  = "ViaPartitionKey"
	SystemScheduled        = "ScheduledEnqueueTimeUtc" // timestamp
	SystemTimeToLive       = "TimeToLive"              // ulong, milliseconds

	// SystemReplace is not a property: if it is present, the overlay of the application properties replaces all of the
	// sender's. That lets an overlay remove properties.
	SystemReplace = "$replace"
)

// system is a decoded system overlay: encoded values, nil where there is none.
type system struct {
	fields       [propertyFields][]byte // of the properties section, by index
	partitionKey []byte
	viaKey       []byte
	scheduled    []byte
	ttl          []byte
	replace      bool
}

func readSystem(props []byte) (s system) {
	for e := OverlayEntries(props); e.Next(); {
		if i := systemField(e.Key()); i >= 0 {
			s.fields[i] = e.Encoded()
			continue
		}
		switch string(e.Key()) {
		case SystemPartitionKey:
			s.partitionKey = e.Encoded()
		case SystemViaPartitionKey:
			s.viaKey = e.Encoded()
		case SystemScheduled:
			s.scheduled = e.Encoded()
		case SystemTimeToLive:
			s.ttl = e.Encoded()
		case SystemReplace:
			s.replace = true
		}
	}
	return s
}

// systemField returns the index of a broker property in the properties section, or -1 if it is not part of it.
func systemField(key []byte) int {
	switch string(key) {
	case SystemMessageID:
		return PropertyMessageID
	case SystemTo:
		return PropertyTo
	case SystemLabel:
		return PropertySubject
	case SystemReplyTo:
		return PropertyReplyTo
	case SystemCorrelationID:
		return PropertyCorrelationID
	case SystemContentType:
		return PropertyContentType
	case SystemSessionID:
		return PropertyGroupID
	case SystemReplyToSessionID:
		return PropertyReplyToGroupID
	}
	return -1
}

// timesGone reports whether to remove the sender's creation and expiry times: clients would compute from them a time
// to live that an action has removed (PROP-5).
func (s *system) timesGone() bool { return s != nil && len(s.ttl) > 0 && s.ttl[0] == amqp.CodeNull }

// annotation returns the encoded value that replaces a sender's message annotation; nil keeps the sender's.
func (s *system) annotation(key []byte) []byte {
	if s == nil {
		return nil
	}
	switch string(key) {
	case keyPartitionKey:
		return s.partitionKey
	case keyViaPartitionKey:
		return s.viaKey
	case keyScheduledEnqueueTime:
		return s.scheduled
	}
	return nil
}

// appendAnnotations appends the message annotations that the overlay sets and counts them.
func (s *system) appendAnnotations(dst []byte) ([]byte, int) {
	n := 0
	for _, a := range []struct {
		key     amqp.Symbol
		encoded []byte
	}{{keyPartitionKey, s.partitionKey}, {keyViaPartitionKey, s.viaKey}, {keyScheduledEnqueueTime, s.scheduled}} {
		if a.encoded != nil && a.encoded[0] != amqp.CodeNull {
			dst = append(amqp.AppendSymbol(dst, a.key), a.encoded...)
			n++
		}
	}
	return dst, n
}

// Overlay applies a system overlay to in. nil changes nothing.
func (in *Info) Overlay(props []byte) {
	if len(props) == 0 {
		return
	}
	s := readSystem(props)
	text := func(encoded []byte, to *string, has *bool) {
		if encoded != nil {
			v, ok := DecodeScalar(encoded).TextOf()
			*to, *has = strings.Clone(v), ok
		}
	}
	text(s.fields[PropertyMessageID], &in.MessageID, &in.HasMessageID)
	text(s.fields[PropertyGroupID], &in.GroupID, &in.HasGroupID)
	text(s.partitionKey, &in.PartitionKey, &in.HasPartitionKey)
	text(s.viaKey, &in.ViaPartitionKey, &in.HasViaPartitionKey)
	if s.scheduled != nil {
		v := DecodeScalar(s.scheduled)
		in.Scheduled, in.HasScheduled = Timestamp(v.Bits), v.Type == TypeTimestamp
	}
	if s.ttl != nil {
		in.TTL = int64(min(DecodeScalar(s.ttl).Bits, math.MaxInt64))
	}
}
