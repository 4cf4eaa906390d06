package message

import "minibus/internal/amqp"

// Property decodes one field of the properties section by its index. It returns nil if the field is null or missing.
func (m *Message) Property(index int) (any, error) {
	n, r := m.list(m.Properties)
	if index < 0 || index >= n {
		return nil, nil
	}
	for range index {
		if err := r.Skip(); err != nil {
			return nil, err
		}
	}
	return r.Value()
}

// ApplicationProperty decodes one application property and none of the others.
func (m *Message) ApplicationProperty(key string) (any, bool) {
	n, r := m.pairs(m.ApplicationProperties)
	return lookup(n, r, key)
}

// MessageAnnotation decodes one message annotation and none of the others.
func (m *Message) MessageAnnotation(key string) (any, bool) {
	n, r := m.pairs(m.MessageAnnotations)
	return lookup(n, r, key)
}

// lookup finds an entry among n pairs; text keys of any type match. A value that cannot be decoded counts as absent.
func lookup(n int, r amqp.Reader, key string) (any, bool) {
	for range n {
		if string(keyOf(&r)) == key {
			v, err := r.Value()
			return v, err == nil
		}
		if r.Skip() != nil {
			return nil, false
		}
	}
	return nil, false
}

// BodyValue decodes the body of a management request: the value of an amqp-value section, or nil without a body. Any
// other body is an error.
func (m *Message) BodyValue() (any, error) {
	if m.Body.Empty() {
		return nil, nil
	}
	r := amqp.NewReader(m.Bytes(m.Body))
	code, err := sectionCode(&r)
	if err != nil {
		return nil, err
	}
	if code != codeValue {
		return nil, r.Fail("body that is no amqp-value", amqp.ErrWrongType)
	}
	return r.Value()
}
