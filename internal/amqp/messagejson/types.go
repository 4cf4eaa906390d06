package messagejson

import (
	"maps"
	"slices"

	"minibus/internal/amqp"
)

// codes are the constructors with which arrays are made, by the names of the types: those that hold every value of
// the type.
var codes = map[string]byte{
	"boolean":    amqp.CodeBool,
	"byte":       amqp.CodeByte,
	"short":      amqp.CodeShort,
	"int":        amqp.CodeInt,
	"long":       amqp.CodeLong,
	"ubyte":      amqp.CodeUbyte,
	"ushort":     amqp.CodeUshort,
	"uint":       amqp.CodeUint,
	"ulong":      amqp.CodeUlong,
	"float":      amqp.CodeFloat,
	"double":     amqp.CodeDouble,
	"string":     amqp.CodeString32,
	"symbol":     amqp.CodeSymbol32,
	"binary":     amqp.CodeBinary32,
	"uuid":       amqp.CodeUUID,
	"timestamp":  amqp.CodeTimestamp,
	"char":       amqp.CodeChar,
	"decimal32":  amqp.CodeDecimal32,
	"decimal64":  amqp.CodeDecimal64,
	"decimal128": amqp.CodeDecimal128,
	"list":       amqp.CodeList32,
	"map":        amqp.CodeMap32,
	"array":      amqp.CodeArray32,
	"described":  amqp.CodeDescribed,
}

// narrow are the other constructors of the same types.
var narrow = map[byte]byte{
	amqp.CodeTrue:       amqp.CodeBool,
	amqp.CodeFalse:      amqp.CodeBool,
	amqp.CodeSmallInt:   amqp.CodeInt,
	amqp.CodeSmallLong:  amqp.CodeLong,
	amqp.CodeUint0:      amqp.CodeUint,
	amqp.CodeSmallUint:  amqp.CodeUint,
	amqp.CodeUlong0:     amqp.CodeUlong,
	amqp.CodeSmallUlong: amqp.CodeUlong,
	amqp.CodeString8:    amqp.CodeString32,
	amqp.CodeSymbol8:    amqp.CodeSymbol32,
	amqp.CodeBinary8:    amqp.CodeBinary32,
	amqp.CodeList0:      amqp.CodeList32,
	amqp.CodeList8:      amqp.CodeList32,
	amqp.CodeMap8:       amqp.CodeMap32,
	amqp.CodeArray8:     amqp.CodeArray32,
}

// CodeOf returns the constructor with which arrays of a named type are made.
func CodeOf(name string) (byte, bool) {
	code, ok := codes[name]
	return code, ok
}

// nameOf returns the name of the type of a constructor.
func nameOf(code byte) string {
	if wide, ok := narrow[code]; ok {
		code = wide
	}
	for name, c := range codes {
		if c == code {
			return name
		}
	}
	return "null"
}

func allTypes() []string { return slices.Sorted(maps.Keys(codes)) }
