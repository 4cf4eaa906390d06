package message_test

import (
	"bytes"
	"errors"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func TestScan_FindsEverySection(t *testing.T) {
	m := scan(t, full(t))
	for name, c := range map[string]struct {
		span message.Span
		want []byte
	}{
		"header":                 {m.Header, header(t, true, uint8(7), uint32(60000), false, uint32(3))},
		"delivery-annotations":   {m.DeliveryAnnotations, delivery(t, one("x-user-delivery", "d"))},
		"properties":             {m.Properties, properties(t, "id", []byte("user"), "to", "subject", "reply", uint64(9), amqp.Symbol("text/plain"))},
		"application-properties": {m.ApplicationProperties, appProperties(t, amqp.Map{{Key: "a", Value: "1"}, {Key: "b", Value: int64(2)}})},
		"body":                   {m.Body, join(data(t, "hello "), data(t, "world"))},
		"footer":                 {m.Footer, footer(t, one("x-foot", true))},
	} {
		if got := text(*m, c.span); got != string(c.want) || c.span.Len() != len(c.want) {
			t.Errorf("%s: got % x, want % x", name, got, c.want)
		}
	}
}

func TestScan_AnyOrderOfSections(t *testing.T) {
	parts := [][]byte{header(t, true), annotations(t, one("a", 1)), properties(t, "id"), appProperties(t, one("p", 1)),
		join(data(t, "x"), data(t, "y")), footer(t, one("f", 1)), delivery(t, one("d", 1))}
	for shift := range parts {
		m := scan(t, join(append(append([][]byte{}, parts[shift:]...), parts[:shift]...)...))
		if text(*m, m.Body) != string(parts[4]) || text(*m, m.DeliveryAnnotations) != string(parts[6]) || m.Header.Empty() ||
			m.MessageAnnotations.Empty() || m.Properties.Empty() || m.ApplicationProperties.Empty() || m.Footer.Empty() {
			t.Errorf("shifted by %d: %+v", shift, m)
		}
	}
}

func TestScan_BodiesOfEveryKind(t *testing.T) {
	for name, body := range map[string][]byte{
		"none": nil, "data": data(t, "x"), "empty data": data(t, ""), "many data": join(data(t, "x"), data(t, "y")),
		"sequences": join(sequence(t, 1, 2), sequence(t)), "value": value(t, "v"), "value null": value(t, nil),
		"value map": value(t, amqp.Map{{Key: "k", Value: nil}}), "long data": data(t, string(make([]byte, 300))),
		"value described": value(t, amqp.Described{Descriptor: uint64(0x31), Value: amqp.List{}}),
		"sequence list0":  unhex(t, "00 53 76 45"), "data32": unhex(t, "00 53 75 b0 00000001 61"),
		"symbolic": unhex(t, "00 a3 10 616d71703a646174613a62696e617279 a0 01 61"), "ulong": unhex(t, "00 80 0000000000000075 a0 00"),
	} {
		m := scan(t, join(properties(t, "id"), body))
		if text(*m, m.Body) != string(body) || m.Body.Empty() != (body == nil) {
			t.Errorf("%s: %+v", name, m.Body)
		}
	}
}

func TestScan_SymbolicAndWideDescriptors(t *testing.T) {
	for sym, c := range map[amqp.Symbol]byte{
		"amqp:header:list": 0x70, "amqp:delivery-annotations:map": 0x71, "amqp:message-annotations:map": 0x72,
		"amqp:properties:list": 0x73, "amqp:application-properties:map": 0x74, "amqp:data:binary": 0x75,
		"amqp:amqp-sequence:list": 0x76, "amqp:amqp-value:*": 0x77, "amqp:footer:map": 0x78,
	} {
		m := scan(t, full(t))
		content := map[byte][]byte{0x70: header(t), 0x73: properties(t, "id"), 0x75: data(t, "x"), 0x76: sequence(t, 1), 0x77: value(t, 1)}[c]
		if content == nil {
			content = section(t, c, one("k", 1))
		}
		plain := scan(t, content)
		*m = *scan(t, append(amqp.AppendSymbol([]byte{0}, sym), content[3:]...))
		if plain.Header.Empty() != m.Header.Empty() || plain.Properties.Empty() != m.Properties.Empty() ||
			plain.DeliveryAnnotations.Empty() != m.DeliveryAnnotations.Empty() || plain.Footer.Empty() != m.Footer.Empty() ||
			plain.MessageAnnotations.Empty() != m.MessageAnnotations.Empty() || plain.Body.Empty() != m.Body.Empty() ||
			plain.ApplicationProperties.Empty() != m.ApplicationProperties.Empty() {
			t.Errorf("%s is not section %#x", sym, c)
		}
	}
}

func TestScan_EveryProperPrefix(t *testing.T) {
	raw := full(t)
	whole := map[int]bool{0: true}
	for r := amqp.NewReader(raw); r.Len() > 0; {
		if err := r.Skip(); err != nil {
			t.Fatal(err)
		}
		whole[r.Offset()] = true
	}
	for n := range raw {
		_, err := message.Scan(raw[:n])
		if whole[n] && err != nil {
			t.Errorf("%d bytes, a section's end: %v", n, err)
		}
		if !whole[n] && !errors.Is(err, amqp.ErrTruncated) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestScan_Refuses(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  []byte
		want error
	}{
		{"not a section", unhex(t, "45"), amqp.ErrWrongType},
		{"unknown section", unhex(t, "00 53 79 45"), amqp.ErrMalformed},
		{"unknown symbolic section", unhex(t, "00 a3 01 61 45"), amqp.ErrMalformed},
		{"two headers", join(header(t), header(t)), amqp.ErrMalformed},
		{"two footers", join(footer(t, nil), footer(t, nil)), amqp.ErrMalformed},
		{"data and value", join(data(t, "a"), value(t, "b")), amqp.ErrMalformed},
		{"sequence and data", join(sequence(t), data(t, "b")), amqp.ErrMalformed},
		{"two values", join(value(t, 1), value(t, 2)), amqp.ErrMalformed},
		{"data in two places", join(data(t, "a"), footer(t, nil), data(t, "b")), amqp.ErrMalformed},
		{"data that is text", unhex(t, "00 53 75 a1 00"), amqp.ErrWrongType},
		{"sequence that is a map", unhex(t, "00 53 76 c1 01 00"), amqp.ErrWrongType},
		{"header that is a map", unhex(t, "00 53 70 c1 01 00"), amqp.ErrWrongType},
		{"annotations that are null", unhex(t, "00 53 72 40"), amqp.ErrWrongType},
		{"header of six fields", header(t, nil, nil, nil, nil, nil, nil), amqp.ErrMalformed},
		{"properties of fourteen fields", properties(t, make([]any, 14)...), amqp.ErrMalformed},
		{"header with a bad field", unhex(t, "00 53 70 c0 02 01 4f"), amqp.ErrMalformed},
		{"header with bytes left over", unhex(t, "00 53 70 c0 03 01 40 40"), amqp.ErrMalformed},
		{"entry beyond its map", unhex(t, "00 53 72 c1 05 02 a3 00 a1 09 616161616161616161"), amqp.ErrTruncated},
		{"map that claims too much", unhex(t, "00 53 74 d1 00000004 fffffffe"), amqp.ErrTooMany},
	} {
		_, err := message.Scan(c.raw)
		var d *amqp.DecodeError
		if !errors.Is(err, c.want) || !errors.As(err, &d) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := message.Scan(bytes.Repeat(data(t, ""), 50_000)); err != nil {
		t.Errorf("fifty thousand data sections: %v", err)
	}
}

func TestScan_BodyIsNotDecoded(t *testing.T) {
	// The list claims items of an unknown type; only its size counts.
	m := scan(t, unhex(t, "00 53 77 c0 05 02 4f ff ff ff"))
	if m.Body.Len() != 10 {
		t.Errorf("body is %+v", m.Body)
	}
}

func TestBatch(t *testing.T) {
	a, b := full(t), join(properties(t, "b"))
	raw := join(properties(t, "envelope"), annotations(t, one("x-opt-partition-key", "p")),
		section(t, 0x75, a), section(t, 0x75, b), section(t, 0x75, []byte{}))
	got, err := message.Batch(raw)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	if !bytes.Equal(got[0].Raw, a) || !bytes.Equal(got[1].Raw, b) || len(got[2].Raw) != 0 {
		t.Errorf("got %v", got)
	}
	if &got[1].Raw[0] != &raw[len(raw)-5-len(b)] {
		t.Error("the messages were copied")
	}
	if id, err := got[1].Property(message.PropertyMessageID); id != "b" || err != nil {
		t.Errorf("id is %v, %v", id, err)
	}
	if got, err := message.Batch(properties(t, "envelope")); err != nil || got == nil || len(got) != 0 {
		t.Errorf("empty batch: %v, %v", got, err)
	}
}

func TestBatch_Refuses(t *testing.T) {
	for name, raw := range map[string][]byte{
		"value":             value(t, "x"),
		"sequence":          sequence(t, "x"),
		"truncated":         data(t, "x")[:4],
		"message in pieces": section(t, 0x75, full(t)[:20]),
		"one of two":        join(section(t, 0x75, full(t)), data(t, "x")),
	} {
		if got, err := message.Batch(raw); err == nil {
			t.Errorf("%s: got %d messages", name, len(got))
		}
	}
}
