package messagejson

import (
	"bytes"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// Descriptor codes of body sections [AMQP 3.2].
const (
	codeData     = 0x75
	codeSequence = 0x76
	codeValue    = 0x77
)

// symbolic are the descriptors of body sections as symbols.
var symbolic = map[string]uint64{"amqp:data:binary": codeData, "amqp:amqp-sequence:list": codeSequence,
	"amqp:amqp-value:*": codeValue}

// bodySection is one section of a body.
type bodySection struct {
	code uint64
	raw  []byte // the value, encoded
}

// sections takes a body apart.
func sections(m *message.Message) ([]bodySection, error) {
	var all []bodySection
	for r := amqp.NewReader(m.Bytes(m.Body)); r.Len() > 0; {
		code, name, err := r.Descriptor()
		if err != nil {
			return nil, err
		}
		if name != nil {
			code = symbolic[string(name)]
		}
		raw, err := r.Raw()
		if err != nil {
			return nil, err
		}
		all = append(all, bodySection{code, raw})
	}
	return all, nil
}

// Data returns the bytes of a body, a slice for each of its sections: of data sections what is in them, of a value
// that is a string or a binary its bytes, and of anything else the value as AMQP encodes it. They are those of the
// message, not copies.
func Data(m *message.Message) ([][]byte, error) {
	all, err := sections(m)
	if err != nil {
		return nil, err
	}
	data := make([][]byte, len(all))
	for i, s := range all {
		data[i] = s.raw
		switch s.raw[0] {
		case amqp.CodeBinary8, amqp.CodeBinary32, amqp.CodeString8, amqp.CodeString32:
			r := amqp.NewReader(s.raw)
			if data[i], _, err = r.Bytes(); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

// setBody shows the body as the kind of section that it is.
func (m *Message) setBody(from *message.Message, most int64) error {
	all, err := sections(from)
	if err != nil || len(all) == 0 {
		return err
	}
	data, err := Data(from)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, d := range data {
		size += int64(len(d))
	}
	m.BodyBytes, m.BodyCut = &size, most >= 0 && size > most
	switch {
	case all[0].code == codeData && len(all) == 1:
		m.setData(data[0], most)
		return nil
	case m.BodyCut:
		return nil
	case all[0].code == codeData:
		for _, d := range data {
			m.BodySections = append(m.BodySections, bytes.Clone(d))
		}
		return nil
	}
	return m.setValues(all)
}

// setData shows a single data section, or its beginning.
func (m *Message) setData(data []byte, most int64) {
	if m.BodyCut {
		data = data[:most]
	}
	if text, ok := validText(data, m.BodyCut); ok {
		m.Body = string(text)
		return
	}
	m.BodyBase64 = bytes.Clone(data) // what is shown outlives the message
}

func (m *Message) setValues(all []bodySection) error {
	for _, s := range all {
		v, err := message.DecodeValue(s.raw)
		if err != nil {
			return err
		}
		if items, ok := v.(amqp.List); ok && s.code == codeSequence {
			m.BodySequence = append(m.BodySequence, listToJSON(items))
			continue
		}
		if m.BodyValue = ToJSON(v); v == nil {
			m.BodyValue = tagged("null", nil)
		}
	}
	return nil
}
