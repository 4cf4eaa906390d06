package emulator

import (
	"encoding/binary"
	"math"
	"strings"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// filterMessage is a message as filters and selectors see it: its properties, read one at a time from its bytes, so
// that a rule that looks at one property costs the decoding of that one and a true filter costs none (TOP-9). It
// implements [filter.Message].
type filterMessage struct {
	m        message.Message
	info     *message.Info // what the broker read of it already
	ns       *Namespace
	body     int64 // id, of which the message id is made that the sender did not give
	seq      int64 // the topic's number
	enqueued int64 // ms; when the topic accepted it
	ttl      int64 // ms; 0: none
	size     int64 // bytes
	known    [rememberedProperties]knownProperty
	asked    int // of known
}

// rememberedProperties is how many application properties a filterMessage remembers: the rules of a topic tend to ask
// for the same few, and those that can't be looked up in the index ask one after another.
const rememberedProperties = 4

// knownProperty is an application property that was asked for.
type knownProperty struct {
	name  string // as the rule spells it
	value filter.Value
	found bool
}

// User implements [filter.Message].
func (f *filterMessage) User(name string) (filter.Value, bool) {
	for i := range f.known[:f.asked] {
		if k := &f.known[i]; k.name == name {
			return k.value, k.found
		}
	}
	k := knownProperty{name: name}
	if raw, ok := lookUpUser(f.m.UserProperties(), name); ok {
		k.value, k.found = filterValue(message.DecodeScalar(raw)), true
	}
	if f.asked < rememberedProperties {
		f.known[f.asked] = k
		f.asked++
	}
	return k.value, k.found
}

// Exact implements [filter.Message].
func (f *filterMessage) Exact(name string) (filter.Value, bool) {
	for e := f.m.UserProperties(); e.Next(); {
		if string(e.Key()) == name {
			return filterValue(e.Value()), true
		}
	}
	return filter.Value{}, false
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
func (f *filterMessage) System(p filter.SystemProperty) filter.Value {
	if int(p) < len(propertyFields) && propertyFields[p] != 0 {
		text, ok := f.m.Field(propertyFields[p]).TextOf()
		return textValue(text, ok)
	}
	switch p {
	case filter.MessageID:
		if !f.info.HasMessageID {
			return filter.String(f.ns.ids.of(f.body))
		}
		return filter.String(f.info.MessageID)
	case filter.SessionID:
		return textValue(f.info.GroupID, f.info.HasGroupID)
	case filter.PartitionKey:
		return textValue(f.info.PartitionKey, f.info.HasPartitionKey)
	case filter.ViaPartitionKey:
		return textValue(f.info.ViaPartitionKey, f.info.HasViaPartitionKey)
	case filter.ScheduledEnqueueTimeUtc:
		if !f.info.HasScheduled {
			return filter.Null()
		}
		return filter.DateTime(int64(f.info.Scheduled))
	}
	if p >= filter.JMSMessageID {
		return f.header(p)
	}
	return f.given(p)
}

// header returns a header of JMS as receivers will see it. It needs no info.
func (f *filterMessage) header(p filter.SystemProperty) filter.Value {
	switch p {
	case filter.JMSMessageID:
		if !f.m.HasMessageID() {
			return filter.String(f.ns.ids.of(f.body))
		}
		return idValue(f.m.Field(message.PropertyMessageID))
	case filter.JMSCorrelationID:
		return idValue(f.m.Field(message.PropertyCorrelationID))
	case filter.JMSDeliveryMode:
		if f.m.Durable() {
			return filter.String("PERSISTENT")
		}
		return filter.String("NON_PERSISTENT")
	case filter.JMSPriority:
		return filter.Int32(int32(min(f.m.Priority(), 9)))
	case filter.JMSTimestamp:
		if f.ttl > 0 {
			return filter.Int64(f.enqueued) // PROP-5
		}
		if t := f.m.Field(message.PropertyCreationTime); t.Type == message.TypeTimestamp {
			return filter.Int64(int64(t.Bits))
		}
	case filter.JMSXGroupID:
		return filterValue(f.m.Field(message.PropertyGroupID))
	case filter.JMSXGroupSeq:
		return filterValue(f.m.Field(message.PropertyGroupSequence))
	case filter.JMSXUserID:
		if text, ok := f.m.Field(message.PropertyUserID).Binary(); ok {
			return filter.String(text)
		}
	}
	return filter.Null()
}

// idValue returns a message or correlation id as clients of JMS show it.
func idValue(s message.Scalar) filter.Value {
	text, ok := s.TextOf()
	switch {
	case !ok:
		return filter.Null()
	case s.Type == message.TypeUUID:
		text = "ID:AMQP_UUID:" + text
	case s.Type == message.TypeOther:
		text = "ID:AMQP_BINARY:" + strings.ToUpper(text)
	case s.Type != message.TypeString:
		text = "ID:AMQP_ULONG:" + text
	}
	return filter.String(text)
}

// given returns a property that the broker gives.
func (f *filterMessage) given(p filter.SystemProperty) filter.Value {
	switch p {
	case filter.DeliveryCount, filter.State:
		return filter.Int32(0)
	case filter.EnqueuedSequenceNumber, filter.SequenceNumber:
		return filter.Int64(f.seq)
	case filter.EnqueuedTimeUtc:
		return filter.DateTime(f.enqueued)
	case filter.ForcePersistence:
		return filter.Bool(false)
	case filter.Size:
		return filter.Int64(f.size)
	case filter.ExpiresAtUtc:
		if f.ttl > 0 {
			return filter.DateTime(f.enqueued + f.ttl)
		}
	case filter.TimeToLive:
		if f.ttl > 0 {
			return filter.TimeSpan(f.ttl * dotnet.Millisecond)
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

// filterValue returns a value of a message as the rule language has it. It allocates for decimals only; texts alias the
// message.
func filterValue(s message.Scalar) filter.Value {
	switch s.Type {
	case message.TypeAbsent, message.TypeNull:
		return filter.Null()
	case message.TypeBool:
		return filter.Bool(s.Bits != 0)
	case message.TypeString, message.TypeURI:
		return filter.String(s.Text)
	case message.TypeTimestamp:
		return filter.DateTime(int64(s.Bits))
	case message.TypeTimeSpan:
		return filter.TimeSpan(int64(s.Bits))
	case message.TypeDateTimeOffset:
		return filter.DateTimeOffset(int64(s.Bits))
	case message.TypeUUID:
		return filter.GUID(s.Bytes16())
	case message.TypeDecimal128:
		return decimalValue(s)
	case message.TypeOther:
		return filter.Opaque(s.Text)
	}
	return filterNumber(s)
}

func filterNumber(s message.Scalar) filter.Value {
	switch n := s.Bits; s.Type {
	case message.TypeUbyte:
		return filter.UInt8(uint8(n))
	case message.TypeUshort:
		return filter.UInt16(uint16(n))
	case message.TypeUint:
		return filter.UInt32(uint32(n))
	case message.TypeUlong:
		return filter.UInt64(n)
	case message.TypeByte:
		return filter.Int8(int8(n))
	case message.TypeShort:
		return filter.Int16(int16(n))
	case message.TypeInt:
		return filter.Int32(int32(n))
	case message.TypeLong:
		return filter.Int64(int64(n))
	case message.TypeFloat:
		return filter.Float32(float32(math.Float64frombits(n)))
	case message.TypeDouble:
		return filter.Float64(math.Float64frombits(n))
	case message.TypeChar:
		return filter.Char(rune(n))
	}
	return filter.Null()
}

// scalarKinds are the types of those kinds of values that are bits.
var scalarKinds = map[filter.Kind]message.Type{
	filter.KindInt8: message.TypeByte, filter.KindInt16: message.TypeShort, filter.KindInt32: message.TypeInt,
	filter.KindInt64: message.TypeLong, filter.KindUInt8: message.TypeUbyte, filter.KindUInt16: message.TypeUshort,
	filter.KindUInt32: message.TypeUint, filter.KindUInt64: message.TypeUlong, filter.KindChar: message.TypeChar,
}

// scalarOf returns a value of the rule language as a message has it.
func scalarOf(v filter.Value) message.Scalar {
	switch k := v.Kind(); k {
	case filter.KindMissing, filter.KindNull:
		return message.Scalar{Type: message.TypeNull}
	case filter.KindBool:
		if v.Bool() {
			return message.Scalar{Type: message.TypeBool, Bits: 1}
		}
		return message.Scalar{Type: message.TypeBool}
	case filter.KindString:
		return message.Scalar{Type: message.TypeString, Text: v.Text()}
	case filter.KindFloat32, filter.KindFloat64:
		t := message.TypeDouble
		if k == filter.KindFloat32 {
			t = message.TypeFloat
		}
		return message.Scalar{Type: t, Bits: math.Float64bits(v.Float())}
	case filter.KindDecimal:
		return wide(message.TypeDecimal128, v.Decimal128())
	case filter.KindGUID:
		return wide(message.TypeUUID, v.GUID())
	case filter.KindDateTime:
		return message.Scalar{Type: message.TypeTimestamp, Bits: uint64(v.UnixMilli())}
	case filter.KindDateTimeOffset:
		return message.Scalar{Type: message.TypeDateTimeOffset, Bits: uint64(v.Ticks())}
	case filter.KindTimeSpan:
		return message.Scalar{Type: message.TypeTimeSpan, Bits: uint64(v.Ticks())}
	case filter.KindOpaque:
		return message.Scalar{Type: message.TypeOther, Text: v.Text()}
	default:
		return message.Scalar{Type: scalarKinds[k], Bits: v.Uint()}
	}
}

// decimalValue returns a decimal; one that .NET cannot hold is carried as it is encoded.
func decimalValue(s message.Scalar) filter.Value {
	v := filter.Decimal128(s.Bytes16())
	if v.Kind() == filter.KindOpaque {
		return filter.Opaque(string(s.Append(nil)))
	}
	return v
}

func wide(t message.Type, b [16]byte) message.Scalar {
	return message.Scalar{Type: t, Bits: binary.BigEndian.Uint64(b[:8]), Low: binary.BigEndian.Uint64(b[8:])}
}

// ValueOf returns a value of the rule language as the type system of AMQP has it, which says the most of it; nil if
// it is missing or null.
func ValueOf(v filter.Value) any {
	decoded, err := message.DecodeValue(scalarOf(v).Append(nil))
	if err != nil {
		return nil // what is opaque was decoded when it came
	}
	return decoded
}
