package message

import "minibus/internal/amqp"

// BatchFormat is the message-format of a transfer whose data sections each hold a whole message.
const BatchFormat = 0x80013700

// Batch opens the envelope of message-format [BatchFormat]. It returns one scanned message per data section, whose
// Raw is a part of raw. The envelope's own sections are checked and dropped; those of the messages count. An empty
// batch is an empty slice. One message that cannot be scanned refuses the whole batch.
func Batch(raw []byte) ([]Message, error) {
	env, err := Scan(raw)
	if err != nil {
		return nil, err
	}
	body := env.Bytes(env.Body)
	count := 0
	for r := amqp.NewReader(body); r.Len() > 0; count++ {
		if code, err := sectionCode(&r); err != nil || code != codeData {
			return nil, r.Fail("batch of anything but data sections", amqp.ErrWrongType)
		}
		if err := r.Skip(); err != nil {
			return nil, err
		}
	}
	out := make([]Message, 0, count)
	for r := amqp.NewReader(body); r.Len() > 0; {
		if _, err := sectionCode(&r); err != nil {
			return nil, err
		}
		inner, _, err := r.Bytes()
		if err != nil {
			return nil, err
		}
		m, err := Scan(inner)
		if err != nil {
			return nil, err
		}
		m.Part = true
		out = append(out, m)
	}
	return out, nil
}
