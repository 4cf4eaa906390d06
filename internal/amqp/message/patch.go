package message

import (
	"math"

	"minibus/internal/amqp"
)

// maxInstant is .NET's DateTime.MaxValue as a timestamp; clients read it as "never" and fail on anything later.
const maxInstant = 253402300800000

// Patch holds everything that the broker owns or changes in a delivered or peeked message. Append merges it while it
// writes the message out, so that a stored message keeps the sender's bytes. An absent value leaves the annotation
// out, except where a field says otherwise.
type Patch struct {
	DeliveryCount             uint32 // earlier failed deliveries (PROP-4)
	TTL                       int64  // effective, in milliseconds; 0: none (PROP-5)
	SequenceNumber            int64
	EnqueuedTime              Timestamp
	LockedUntil               Timestamp
	HasLockedUntil            bool
	EnqueuedSequenceNumber    int64
	HasEnqueuedSequenceNumber bool
	State                     int32 // 0 active, 1 deferred, 2 scheduled (PROP-6)
	HasState                  bool
	PartitionID               int16
	HasPartitionID            bool
	DeadLetterSource          string // empty keeps the sender's
	LockToken                 UUID   // goes into the delivery annotations
	HasLockToken              bool
	OmitBody                  bool   // PEEK-14
	MessageID                 string // for a message without one (PROP-10)
	Properties                []byte // overlay for the application properties, see EncodeProperties; nil: none
	System                    []byte // overlay for broker properties of the sender, see SystemMessageID; nil: none
}

// Append appends the message with the patch merged in: a header with all five fields; delivery annotations if there are
// any; message annotations; properties; application properties if there are any; body and footer as they were. It
// allocates nothing if dst has room and the overlay has fewer than dozens of entries.
func (p *Patch) Append(dst []byte, m *Message) []byte {
	head, tail := p.AppendHead(dst, m)
	return append(head, tail...)
}

// AppendHead is Append without the body and the footer, which it returns as they stand in the message.
func (p *Patch) AppendHead(dst []byte, m *Message) (head, tail []byte) {
	var over *system
	if p.System != nil {
		s := readSystem(p.System)
		over = &s
	}
	dst = p.appendHeader(dst, m)
	dst = p.appendDeliveryAnnotations(dst, m)
	dst = p.appendMessageAnnotations(dst, m, over)
	dst = p.appendProperties(dst, m, over)
	dst = p.appendApplicationProperties(dst, m, over != nil && over.replace)
	switch {
	case p.OmitBody || m.Body.Empty():
		return dst, m.Bytes(m.Footer)
	case m.Footer.Empty():
		return dst, m.Bytes(m.Body)
	case m.Footer.Start == m.Body.End:
		return dst, m.Raw[m.Body.Start:m.Footer.End]
	}
	return append(dst, m.Bytes(m.Body)...), m.Bytes(m.Footer)
}

// appendHeader writes the header section. It keeps the sender's encoding of durable, priority and first-acquirer
// (PROP-12). The delivery count is never null, because clients read it without a check.
func (p *Patch) appendHeader(dst []byte, m *Message) []byte {
	n, r := m.items(m.Header)
	dst, mark := amqp.BeginList(amqp.AppendDescriptor(dst, codeHeader))
	for i := range headerFields {
		var raw []byte
		if i < n {
			raw, _ = r.Raw()
		}
		switch {
		case i == headerDeliveryCount:
			dst = amqp.AppendUint(dst, p.DeliveryCount)
		case i == headerTTL && p.TTL > 0:
			dst = amqp.AppendUint(dst, uint32(min(p.TTL, math.MaxUint32)))
		case i == headerTTL || raw == nil:
			dst = amqp.AppendNull(dst)
		default:
			dst = append(dst, raw...)
		}
	}
	return amqp.EndList(dst, mark, headerFields)
}

// appendProperties writes the properties section, which is always present. It keeps the sender's bytes, unless it has
// to put in the message-id, the two times of PROP-5 or what an action has set.
func (p *Patch) appendProperties(dst []byte, m *Message, over *system) []byte {
	n, r := m.items(m.Properties)
	code, some := r.Peek()
	makeID := p.MessageID != "" && (n == 0 || some && code == amqp.CodeNull)
	if over != nil && over.fields[PropertyMessageID] != nil {
		makeID = p.MessageID != "" && over.fields[PropertyMessageID][0] == amqp.CodeNull
	}
	count := max(n, PropertyMessageID+1)
	switch {
	case over != nil:
		count = propertyFields
	case p.TTL > 0:
		count = max(n, PropertyCreationTime+1)
	case !makeID && !m.Properties.Empty():
		return append(dst, m.Bytes(m.Properties)...)
	}
	dst, mark := amqp.BeginList(amqp.AppendDescriptor(dst, codeProperties))
	for i := range count {
		var raw []byte
		if i < n {
			raw, _ = r.Raw()
		}
		if i == PropertyMessageID && makeID {
			dst = amqp.AppendString(dst, p.MessageID)
			continue
		}
		if over != nil && over.fields[i] != nil {
			raw = over.fields[i]
		}
		isTime := i == PropertyAbsoluteExpiryTime || i == PropertyCreationTime
		switch {
		case isTime && p.TTL > 0:
			at := p.EnqueuedTime
			if i == PropertyAbsoluteExpiryTime {
				at += Timestamp(min(p.TTL, maxInstant-int64(at))) // clients can't represent a later one
			}
			dst = amqp.AppendTimestamp(dst, at)
		case raw == nil || isTime && over.timesGone():
			dst = amqp.AppendNull(dst)
		default:
			dst = append(dst, raw...)
		}
	}
	return amqp.EndList(dst, mark, count)
}

// appendApplicationProperties writes the sender's application properties merged with the overlay, or, with replace,
// the overlay's alone.
func (p *Patch) appendApplicationProperties(dst []byte, m *Message, replace bool) []byte {
	if len(p.Properties) == 0 && !replace {
		return append(dst, m.Bytes(m.ApplicationProperties)...)
	}
	over, ok := newOverlay(p.Properties)
	if !ok {
		if replace {
			return dst
		}
		return append(dst, m.Bytes(m.ApplicationProperties)...)
	}
	n, r := m.items(m.ApplicationProperties)
	if replace {
		n = 0
	}
	dst, mark := BeginApplicationProperties(dst)
	dst, pairs := over.merge(dst, n, r)
	return amqp.EndMap(dst, mark, pairs)
}

// appendDeliveryAnnotations writes the sender's delivery annotations (PROP-11) and the lock token (LOCK-3) or the
// size of an omitted body (PEEK-14). Only the broker writes those two keys: a message that was received and is sent
// again still has the old ones.
func (p *Patch) appendDeliveryAnnotations(dst []byte, m *Message) []byte {
	start := len(dst)
	dst, mark := amqp.BeginMap(amqp.AppendDescriptor(dst, codeDeliveryAnnotations))
	n, r := m.items(m.DeliveryAnnotations)
	dst, pairs := p.appendSenders(dst, n, r, codeDeliveryAnnotations, nil)
	if p.HasLockToken {
		dst = amqp.AppendUUID(amqp.AppendSymbol(dst, keyLockToken), p.LockToken)
		pairs++
	}
	if p.OmitBody {
		dst = amqp.AppendLong(amqp.AppendSymbol(dst, keyOmittedBodySize), int64(m.Body.Len()))
		pairs++
	}
	if pairs == 0 {
		return dst[:start]
	}
	return amqp.EndMap(dst, mark, pairs)
}

// appendMessageAnnotations writes the sender's message annotations and the broker's, with the types of
// amqp-data-plane 5.1: clients panic on others.
func (p *Patch) appendMessageAnnotations(dst []byte, m *Message, over *system) []byte {
	dst, mark := amqp.BeginMap(amqp.AppendDescriptor(dst, codeMessageAnnotations))
	n, r := m.items(m.MessageAnnotations)
	dst, pairs := p.appendSenders(dst, n, r, codeMessageAnnotations, over)
	if over != nil {
		var set int
		dst, set = over.appendAnnotations(dst)
		pairs += set
	}
	dst = amqp.AppendLong(amqp.AppendSymbol(dst, keySequenceNumber), p.SequenceNumber)
	dst = amqp.AppendTimestamp(amqp.AppendSymbol(dst, keyEnqueuedTime), p.EnqueuedTime)
	pairs += 2
	if p.HasLockedUntil {
		dst = amqp.AppendTimestamp(amqp.AppendSymbol(dst, keyLockedUntil), p.LockedUntil)
		pairs++
	}
	if p.HasEnqueuedSequenceNumber {
		dst = amqp.AppendLong(amqp.AppendSymbol(dst, keyEnqueueSequenceNumber), p.EnqueuedSequenceNumber)
		pairs++
	}
	if p.HasState {
		dst = amqp.AppendInt(amqp.AppendSymbol(dst, keyMessageState), p.State)
		pairs++
	}
	if p.HasPartitionID {
		dst = amqp.AppendShort(amqp.AppendSymbol(dst, keyPartitionID), p.PartitionID)
		pairs++
	}
	if p.DeadLetterSource != "" {
		dst = amqp.AppendString(amqp.AppendSymbol(dst, keyDeadLetterSource), p.DeadLetterSource)
		pairs++
	}
	return amqp.EndMap(dst, mark, pairs)
}

// appendSenders copies, of n pairs, those that the sender may write, as they are encoded, and counts them.
// It copies neighbours at once.
func (p *Patch) appendSenders(dst []byte, n int, r amqp.Reader, section byte, over *system) ([]byte, int) {
	if n == 0 {
		return dst, 0
	}
	pairs := 0
	run := r // start of the entries not yet copied
	for range n {
		entry := r
		key := keyOf(&r)
		if r.Skip() != nil {
			break
		}
		if p.owns(section, key) || over.annotation(key) != nil {
			dst = append(dst, between(run, entry)...)
			run = r
			continue
		}
		pairs++
	}
	return append(dst, between(run, r)...), pairs
}

// owns reports whether the broker's annotation, or its absence, replaces the sender's (SEQ-17, PROP-13). Partition keys
// and the scheduled time go out as sent (PROP-7), and so does a dead-letter source unless there is a newer one.
func (p *Patch) owns(section byte, key []byte) bool {
	if section == codeDeliveryAnnotations {
		switch string(key) {
		case keyLockToken, keyOmittedBodySize:
			return true
		}
		return false
	}
	switch string(key) {
	case keySequenceNumber, keyEnqueuedTime, keyLockedUntil, keyEnqueueSequenceNumber, keyMessageState, keyPartitionID:
		return true
	case keyDeadLetterSource:
		return p.DeadLetterSource != ""
	}
	return false
}
