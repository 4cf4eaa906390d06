package control

import (
	"maps"
	"slices"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
)

// shownReceived returns a delivery as answers show it.
func shownReceived(d *emulator.Delivery) *messagejson.Message {
	raw := d.Append(nil)
	var r *messagejson.Message
	if m, err := message.Scan(raw); err == nil {
		r = messagejson.Of(&m, &m, -1)
	} else {
		r = messagejson.MalformedMessage(raw, err)
	}
	if t := d.Token(); t != (emulator.LockToken{}) {
		r.LockToken = t.String()
	}
	return r
}

// encodeProperties returns application properties that a request sets as an encoded map, nil if there are none.
func encodeProperties(p messagejson.Values, more ...amqp.Pair) ([]byte, error) {
	var list amqp.Map
	for _, name := range slices.Sorted(maps.Keys(p)) {
		v, err := messagejson.FromJSON(p[name])
		if err != nil {
			return nil, badRequest("properties: %q: %v.", name, err)
		}
		list = append(list, amqp.Pair{Key: name, Value: v})
	}
	encoded, err := message.EncodeProperties(append(list, more...))
	if err != nil {
		return nil, badRequest("properties: %v.", err)
	}
	return encoded, nil
}
