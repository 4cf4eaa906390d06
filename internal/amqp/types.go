package amqp

import (
	"encoding/hex"
	"time"
)

// MaxDepth bounds how deep lists, maps, arrays and described values may be nested in one value.
const MaxDepth = 32

// Symbol is a symbolic value from a constrained domain, such as a condition or a capability [AMQP 1.6.21].
type Symbol string

// Char is a single Unicode character [AMQP 1.6.16]. Surrogates are kept as they came, since .NET writes UTF-16 units.
type Char rune

// Timestamp is an instant in milliseconds since the Unix epoch, UTC [AMQP 1.6.17].
type Timestamp int64

// UUID is a universally unique id in the byte order of RFC 4122 [AMQP 1.6.18].
type UUID [16]byte

// Decimal32 is an IEEE 754 decimal32 as its raw big-endian bytes; it is passed on, never computed with [AMQP 1.6.13].
type Decimal32 [4]byte

// Decimal64 is an IEEE 754 decimal64 as its raw big-endian bytes [AMQP 1.6.14].
type Decimal64 [8]byte

// Decimal128 is an IEEE 754 decimal128 as its raw big-endian bytes [AMQP 1.6.15].
type Decimal128 [16]byte

// List is a sequence of values of any types [AMQP 1.6.22].
type List []any

// Pair is one entry of a [Map].
type Pair struct{ Key, Value any }

// Map is a map whose entries keep the order of the wire [AMQP 1.6.23].
type Map []Pair

// Array is a sequence of values of one type [AMQP 1.6.24]. Code is the constructor that its elements share; for
// described elements it is [CodeDescribed] and each item is a [Described].
type Array struct {
	Code  byte
	Items []any
}

// Described is a value annotated with a descriptor, usually a ulong or a symbol [AMQP 1.1.2].
type Described struct{ Descriptor, Value any }

// Get returns the value of the first entry with that key. The key on the wire may be a string, a symbol or a binary,
// since SDKs differ.
func (m Map) Get(key string) (v any, ok bool) {
	for i := range m {
		if keyIs(m[i].Key, key) {
			return m[i].Value, true
		}
	}
	return nil, false
}

func keyIs(k any, key string) bool {
	switch k := k.(type) {
	case string:
		return k == key
	case Symbol:
		return string(k) == key
	case []byte:
		return string(k) == key
	}
	return false
}

// TimestampOf returns the timestamp of t, cut to whole milliseconds.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.UnixMilli()) }

// Time returns the instant in UTC.
func (t Timestamp) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// String returns the canonical text form: 36 characters, lower case.
func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	b[8] = '-'
	hex.Encode(b[9:13], u[4:6])
	b[13] = '-'
	hex.Encode(b[14:18], u[6:8])
	b[18] = '-'
	hex.Encode(b[19:23], u[8:10])
	b[23] = '-'
	hex.Encode(b[24:36], u[10:16])
	return string(b[:])
}

// SwapGUID converts between the byte orders of RFC 4122 and of a .NET Guid, whose first three groups are little-endian.
// Delivery tags have lock tokens in the latter, maps and annotations in the former. It is its own inverse.
func (u UUID) SwapGUID() UUID {
	u[0], u[3] = u[3], u[0]
	u[1], u[2] = u[2], u[1]
	u[4], u[5] = u[5], u[4]
	u[6], u[7] = u[7], u[6]
	return u
}
