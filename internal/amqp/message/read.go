package message

import "minibus/internal/amqp"

// Property decodes one field of the properties section by its index. It returns nil if the field is null or missing.
func (m *Message) Property(index int) (any, error) {
	n, r := m.items(m.Properties)
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
	n, r := m.items(m.ApplicationProperties)
	return lookup(n, r, key)
}

// MessageAnnotation decodes one message annotation and none of the others.
func (m *Message) MessageAnnotation(key string) (any, bool) {
	n, r := m.items(m.MessageAnnotations)
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

// Entries iterates over the pairs of a map and decodes a value only when asked for it:
//
//	for e := m.UserProperties(); e.Next(); {
//		if string(e.Key()) == "color" { use(e.Value()) }
//	}
type Entries struct {
	left  int
	r     amqp.Reader
	key   []byte
	value []byte
}

// UserProperties iterates over the application properties.
func (m *Message) UserProperties() Entries {
	n, r := m.items(m.ApplicationProperties)
	return Entries{left: n, r: r}
}

// OverlayEntries iterates over an encoded map, such as [EncodeProperties] returns; nil is an empty map.
func OverlayEntries(props []byte) Entries {
	n, r, _ := overlayPairs(props)
	return Entries{left: n, r: r}
}

// Next moves to the next pair, at first to the first one, and reports whether there is one.
func (e *Entries) Next() bool {
	if e.left <= 0 {
		return false
	}
	e.left--
	e.key = keyOf(&e.r)
	var err error
	e.value, err = e.r.Raw()
	return err == nil
}

// Key returns the text of the key, or nothing if the key is not text. It aliases the map.
func (e *Entries) Key() []byte { return e.key }

// Encoded returns the encoded value. It aliases the map.
func (e *Entries) Encoded() []byte { return e.value }

// Value decodes the value.
func (e *Entries) Value() Scalar { return DecodeScalar(e.value) }

// Field decodes one field of the properties section, by its index; absent if the field or the section is missing.
func (m *Message) Field(index int) Scalar {
	n, r := m.items(m.Properties)
	if index < 0 || index >= n {
		return Scalar{}
	}
	for range index {
		if r.Skip() != nil {
			return Scalar{}
		}
	}
	raw, err := r.Raw()
	if err != nil {
		return Scalar{}
	}
	return DecodeScalar(raw)
}

// headerField decodes one field of the header section; absent if the field or the section is missing.
func (m *Message) headerField(index int) Scalar {
	n, r := m.items(m.Header)
	for i := range n {
		raw, err := r.Raw()
		if err != nil {
			break
		}
		if i == index {
			return DecodeScalar(raw)
		}
	}
	return Scalar{}
}

// Durable reports whether the sender asks that the message outlive a restart.
func (m *Message) Durable() bool { return m.headerField(headerDurable).Bits != 0 }

// Priority returns the priority that the sender gave, or the usual one [AMQP 3.2.1].
func (m *Message) Priority() uint8 {
	if p := m.headerField(headerPriority); p.Type == TypeUbyte {
		return uint8(p.Bits)
	}
	return 4
}

// Overlay builds an encoded map from encoded values. The zero Overlay is empty.
type Overlay struct {
	buf  []byte
	mark amqp.Mark
	n    int
}

// Add adds a value under a key that is not in the overlay yet.
func (o *Overlay) Add(key string, encoded []byte) {
	if o.n == 0 {
		o.buf, o.mark = amqp.BeginMap(o.buf[:0])
	}
	o.buf = append(amqp.AppendString(o.buf, key), encoded...)
	o.n++
}

// Bytes returns the encoded map, nil if it is empty. The Overlay must not be used afterwards.
func (o *Overlay) Bytes() []byte {
	if o.n == 0 {
		return nil
	}
	return amqp.EndMap(o.buf, o.mark, o.n)
}
