package message

import "minibus/internal/amqp"

// appendDeliveryAnnotations writes the sender's delivery annotations (PROP-11) and the lock token (LOCK-3) or the
// size of an omitted body (PEEK-14). Only the broker writes those two keys: a message that was received and is sent
// again still has the old ones.
func (p *Patch) appendDeliveryAnnotations(dst []byte, m *Message) []byte {
	start := len(dst)
	dst, mark := amqp.BeginMap(amqp.AppendDescriptor(dst, codeDeliveryAnnotations))
	n, r := m.pairs(m.DeliveryAnnotations)
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
	n, r := m.pairs(m.MessageAnnotations)
	dst, pairs := p.appendSenders(dst, n, r, codeMessageAnnotations, over)
	dst, set := over.appendAnnotations(dst)
	pairs += set
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
