package amqp

// Constructors of the primitive types [AMQP 1.6]. One stands before each encoded value, and once before an
// array's elements; [Array.Code] holds the latter.
const (
	CodeDescribed  byte = 0x00
	CodeNull       byte = 0x40
	CodeTrue       byte = 0x41
	CodeFalse      byte = 0x42
	CodeUint0      byte = 0x43
	CodeUlong0     byte = 0x44
	CodeList0      byte = 0x45
	CodeUbyte      byte = 0x50
	CodeByte       byte = 0x51
	CodeSmallUint  byte = 0x52
	CodeSmallUlong byte = 0x53
	CodeSmallInt   byte = 0x54
	CodeSmallLong  byte = 0x55
	CodeBool       byte = 0x56
	CodeUshort     byte = 0x60
	CodeShort      byte = 0x61
	CodeUint       byte = 0x70
	CodeInt        byte = 0x71
	CodeFloat      byte = 0x72
	CodeChar       byte = 0x73
	CodeDecimal32  byte = 0x74
	CodeUlong      byte = 0x80
	CodeLong       byte = 0x81
	CodeDouble     byte = 0x82
	CodeTimestamp  byte = 0x83
	CodeDecimal64  byte = 0x84
	CodeDecimal128 byte = 0x94
	CodeUUID       byte = 0x98
	CodeBinary8    byte = 0xa0
	CodeString8    byte = 0xa1
	CodeSymbol8    byte = 0xa3
	CodeBinary32   byte = 0xb0
	CodeString32   byte = 0xb1
	CodeSymbol32   byte = 0xb3
	CodeList8      byte = 0xc0
	CodeMap8       byte = 0xc1
	CodeList32     byte = 0xd0
	CodeMap32      byte = 0xd1
	CodeArray8     byte = 0xe0
	CodeArray32    byte = 0xf0
)

// A layout says how the bytes after a constructor are laid out; that is enough to skip a value.
type layout uint8

const (
	layoutUnknown   layout = iota // not a constructor of the standard
	layoutDescribed               // a descriptor value, then a value
	layoutFixed                   // a fixed number of bytes, see widths
	layoutSize8                   // one byte of size, then that many bytes
	layoutSize32                  // four bytes of size, then that many bytes
)

// layouts gives each constructor its layout. Codes that the standard leaves undefined stay unknown, although their
// category gives their width: a scan must not accept what a decoder can't.
var layouts = [256]layout{
	CodeDescribed: layoutDescribed,
	CodeNull:      layoutFixed, CodeTrue: layoutFixed, CodeFalse: layoutFixed,
	CodeUint0: layoutFixed, CodeUlong0: layoutFixed, CodeList0: layoutFixed,
	CodeUbyte: layoutFixed, CodeByte: layoutFixed, CodeSmallUint: layoutFixed, CodeSmallUlong: layoutFixed,
	CodeSmallInt: layoutFixed, CodeSmallLong: layoutFixed, CodeBool: layoutFixed,
	CodeUshort: layoutFixed, CodeShort: layoutFixed,
	CodeUint: layoutFixed, CodeInt: layoutFixed, CodeFloat: layoutFixed, CodeChar: layoutFixed,
	CodeDecimal32: layoutFixed,
	CodeUlong:     layoutFixed, CodeLong: layoutFixed, CodeDouble: layoutFixed, CodeTimestamp: layoutFixed,
	CodeDecimal64:  layoutFixed,
	CodeDecimal128: layoutFixed, CodeUUID: layoutFixed,
	CodeBinary8: layoutSize8, CodeString8: layoutSize8, CodeSymbol8: layoutSize8,
	CodeList8: layoutSize8, CodeMap8: layoutSize8, CodeArray8: layoutSize8,
	CodeBinary32: layoutSize32, CodeString32: layoutSize32, CodeSymbol32: layoutSize32,
	CodeList32: layoutSize32, CodeMap32: layoutSize32, CodeArray32: layoutSize32,
}
