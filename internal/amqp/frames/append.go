package frames

import "minibus/internal/amqp"

// The append helpers write one field each, null if it is unset.

func begin(dst []byte, code byte) ([]byte, amqp.Mark) {
	return amqp.BeginList(amqp.AppendDescriptor(dst, code))
}

func appendUint(dst []byte, v uint32, has bool) []byte {
	if !has {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendUint(dst, v)
}

func appendUlong(dst []byte, v uint64, has bool) []byte {
	if !has {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendUlong(dst, v)
}

func appendUshort(dst []byte, v uint16, has bool) []byte {
	if !has {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendUshort(dst, v)
}

func appendUbyte(dst []byte, v uint8, has bool) []byte {
	if !has {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendUbyte(dst, v)
}

// appendFlag writes true, or null for the default of false.
func appendFlag(dst []byte, v bool) []byte {
	if !v {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendBool(dst, true)
}

func appendString(dst []byte, v string, has bool) []byte {
	if !has {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendString(dst, v)
}

func appendSymbol(dst []byte, v amqp.Symbol) []byte {
	if v == "" {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendSymbol(dst, v)
}

func appendSymbols(dst []byte, v []amqp.Symbol) []byte {
	if v == nil {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendSymbolArray(dst, v)
}

func appendBinary(dst, v []byte) []byte {
	if v == nil {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendBinary(dst, v)
}

func appendMap(dst []byte, v amqp.Map) []byte {
	if v == nil {
		return amqp.AppendNull(dst)
	}
	return appendAny(dst, v)
}

// appendAny writes a value that was decoded or built from the types of package amqp. For any other value, a mistake of
// the program, it writes null, so that the frame stays well-formed.
func appendAny(dst []byte, v any) []byte {
	out, err := amqp.AppendValue(dst, v)
	if err != nil {
		return amqp.AppendNull(dst)
	}
	return out
}

func appendState(dst []byte, s DeliveryState) []byte {
	if s == nil {
		return amqp.AppendNull(dst)
	}
	return s.AppendTo(dst)
}
