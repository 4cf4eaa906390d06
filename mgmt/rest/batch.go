package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"minibus/internal/amqp"
)

// typeBatch is the content type of a batch.
const typeBatch = "application/vnd.microsoft.servicebus.json"

// IsBatch reports whether a request with that content type sends a batch.
func IsBatch(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		t, _, _ = strings.Cut(contentType, ";")
	}
	return strings.EqualFold(strings.TrimSpace(t), typeBatch)
}

// batchItem is one message of a batch in JSON.
type batchItem struct {
	Body   *string
	Broker map[string]json.RawMessage
	User   map[string]json.RawMessage
}

// ParseBatch reads a batch, an array of objects, and returns its encoded messages in order. Names are compared with
// case.
func ParseBatch(document []byte, now int64) ([][]byte, error) {
	if !utf8.Valid(document) {
		return nil, errorf("The batch is not valid UTF-8.")
	}
	// Decode item by item: a document of empty objects would take a hundred times its length as values.
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(document, []byte("\xEF\xBB\xBF"))))
	if err := expect(d, json.Delim('[')); err != nil {
		return nil, err
	}
	var messages [][]byte
	for d.More() {
		var fields map[string]json.RawMessage
		if err := d.Decode(&fields); err != nil {
			return nil, notABatch(err)
		}
		raw, err := encodeItem(fields, now)
		if err != nil {
			return nil, errorf("Message %d of the batch: %v", len(messages)+1, err)
		}
		messages = append(messages, raw)
	}
	if err := expect(d, json.Delim(']')); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, notABatch(errors.New("something follows the array"))
	}
	return messages, nil
}

// expect reads the opening or closing bracket of the array.
func expect(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	switch {
	case errors.Is(err, io.EOF):
		return notABatch(io.ErrUnexpectedEOF)
	case err != nil:
		return notABatch(err)
	case token != want:
		return notABatch(fmt.Errorf("%q is missing", want.String()))
	}
	return nil
}

func notABatch(err error) error {
	return errorf("The batch is not a JSON array of messages: %v.", err)
}

func encodeItem(fields map[string]json.RawMessage, now int64) ([]byte, error) {
	var item batchItem
	for name, to := range map[string]any{"Body": &item.Body, "BrokerProperties": &item.Broker,
		"UserProperties": &item.User} {
		if raw := fields[name]; len(raw) > 0 && json.Unmarshal(raw, to) != nil {
			what := "an object"
			if name == "Body" {
				what = "a string"
			}
			return nil, errorf("Its '%s' is not %s.", name, what)
		}
	}
	if item.Body == nil {
		return nil, errorf("It has no 'Body'.")
	}
	var m Message
	if err := m.set(item.Broker); err != nil {
		return nil, err
	}
	for name, raw := range item.User {
		v, err := jsonValue(name, raw)
		if err != nil {
			return nil, err
		}
		m.User = append(m.User, amqp.Pair{Key: name, Value: v})
	}
	sortByName(m.User)
	raw, err := m.AppendHead(nil, now)
	if err != nil {
		return nil, err
	}
	start := len(raw)
	raw = append(BeginData(raw), *item.Body...)
	EndData(raw, start)
	return raw, nil
}

// jsonValue returns the value of a property in a batch, with the type that JSON gives it.
func jsonValue(name string, raw json.RawMessage) (any, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, errorf("Its property %s can't be read.", clip(name))
	}
	switch v := v.(type) {
	case string, bool, nil:
		return v, nil
	case float64:
		if n, ok := parseNumber(string(raw)); ok {
			return n, nil
		}
	}
	return nil, errorf("Its property %s is neither a string, a number nor a boolean.", clip(name))
}
