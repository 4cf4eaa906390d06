package emulator

import (
	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// view is a message as the rules of a topic see it: its properties, read one at a time from its bytes, so that a rule that
// looks at one property costs the decoding of that one and a true filter costs none (TOP-9). It implements
// [filter.Message].
type view struct {
	m        message.Message
	info     *message.Info // what the broker read of it already
	ns       *Namespace
	body     int64 // id, of which the message id is made that the sender did not give
	seq      int64 // the topic's number
	enqueued int64 // ms; when the topic accepted it
	ttl      int64 // ms; 0: none
	size     int64 // bytes
	known    [viewMemory]knownProperty
	asked    int // of known
}

// viewMemory is how many application properties a view remembers: the rules of a topic tend to ask for the same few, and those
// that can't be looked up in the index ask one after another.
const viewMemory = 4

// knownProperty is an application property that was asked for.
type knownProperty struct {
	name  string // as the rule spells it
	value filter.Value
	found bool
}

// User implements [filter.Message].
func (v *view) User(name string) (filter.Value, bool) {
	for i := range v.known[:v.asked] {
		if k := &v.known[i]; k.name == name {
			return k.value, k.found
		}
	}
	k := knownProperty{name: name}
	if raw, ok := lookUpUser(v.m.UserProperties(), name); ok {
		k.value, k.found = filterValue(message.DecodeScalar(raw)), true
	}
	if v.asked < viewMemory {
		v.known[v.asked] = k
		v.asked++
	}
	return k.value, k.found
}

// lookUpUser finds a property by its name: the one that is spelled so, else the first that differs by case only.
func lookUpUser(e message.Entries, name string) (encoded []byte, found bool) {
	for e.Next() {
		switch filter.MatchName(e.Key(), name) {
		case filter.ExactMatch:
			return e.Encoded(), true
		case filter.FoldedMatch:
			if !found {
				encoded, found = e.Encoded(), true
			}
		}
	}
	return encoded, found
}

// propertyFields tells where in the properties section the broker properties are that a sender sets there; 0, which is
// the message id's place, for those that are not.
var propertyFields = [...]int{
	filter.ContentType: message.PropertyContentType, filter.CorrelationID: message.PropertyCorrelationID,
	filter.Label: message.PropertySubject, filter.ReplyTo: message.PropertyReplyTo,
	filter.ReplyToSessionID: message.PropertyReplyToGroupID, filter.To: message.PropertyTo,
}

// System implements [filter.Message].
func (v *view) System(p filter.SystemProperty) filter.Value {
	if int(p) < len(propertyFields) && propertyFields[p] != 0 {
		text, ok := v.m.Field(propertyFields[p]).TextOf()
		return textValue(text, ok)
	}
	switch p {
	case filter.MessageID:
		if !v.info.HasMessageID {
			return filter.String(v.ns.ids.of(v.body))
		}
		return filter.String(v.info.MessageID)
	case filter.SessionID:
		return textValue(v.info.GroupID, v.info.HasGroupID)
	case filter.PartitionKey:
		return textValue(v.info.PartitionKey, v.info.HasPartitionKey)
	case filter.ViaPartitionKey:
		return textValue(v.info.ViaPartitionKey, v.info.HasViaPartitionKey)
	case filter.ScheduledEnqueueTimeUtc:
		if !v.info.HasScheduled {
			return filter.Null()
		}
		return filter.DateTime(int64(v.info.Scheduled))
	}
	return v.given(p)
}

// given returns a property that the broker gives.
func (v *view) given(p filter.SystemProperty) filter.Value {
	switch p {
	case filter.DeliveryCount, filter.State:
		return filter.Int32(0)
	case filter.EnqueuedSequenceNumber, filter.SequenceNumber:
		return filter.Int64(v.seq)
	case filter.EnqueuedTimeUtc:
		return filter.DateTime(v.enqueued)
	case filter.ForcePersistence:
		return filter.Bool(false)
	case filter.Size:
		return filter.Int64(v.size)
	case filter.ExpiresAtUtc:
		if v.ttl > 0 {
			return filter.DateTime(v.enqueued + v.ttl)
		}
	case filter.TimeToLive:
		if v.ttl > 0 {
			return filter.TimeSpan(v.ttl * dotnet.Millisecond)
		}
	}
	return filter.Null()
}

func textValue(text string, ok bool) filter.Value {
	if !ok {
		return filter.Null()
	}
	return filter.String(text)
}
