package control

import (
	"fmt"
	"maps"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/entitypath"
)

// CanPut reports why [Put] would fail, or nil.
func CanPut(ns *emulator.Namespace, path string, m *messagejson.Message) error {
	e, sub, err := namedIn(ns, path)
	if err != nil {
		return err
	}
	scanned, _, err := encoded(sub, m, time.UnixMilli(ns.Now()))
	if err != nil {
		return err
	}
	return e.Messages().CanTake(sub, scanned)
}

// namedIn returns the entity and the sub-queue of a path in a file.
func namedIn(ns *emulator.Namespace, path string) (*emulator.Entity, emulator.SubQueue, error) {
	e, sub, err := ns.EntityAt(path)
	if err != nil {
		plain, _ := entitypath.CutSubQueue(path)
		if near := nearest(ns, plain); near != "" {
			err = fmt.Errorf("%w Did you mean %s?", err, near)
		}
	}
	return e, sub, err
}

// Put sends a message to the queue or topic of a path, or puts it into a subscription or a dead-letter queue, where
// clients can't send. done is told once whether it is durable, unless there is an error.
func Put(ns *emulator.Namespace, path string, m *messagejson.Message, done emulator.Completion) error {
	e, sub, err := namedIn(ns, path)
	if err != nil {
		return err
	}
	_, err = put(e, sub, m, time.UnixMilli(ns.Now()), done)
	return err
}

func put(e *emulator.Entity, sub emulator.SubQueue, m *messagejson.Message, now time.Time,
	done emulator.Completion) (int64, error) {
	scanned, dead, err := encoded(sub, m, now)
	if err != nil {
		return 0, err
	}
	if sub != emulator.Main || e.Kind() == emulator.KindSubscription {
		return e.Messages().Place(sub, scanned, dead, done)
	}
	numbers, err := e.Submit([]message.Message{scanned}, done)
	if err != nil {
		return 0, err
	}
	return numbers[0], nil
}

// encoded returns a message for a sub-queue, and the properties of its dead-lettering.
func encoded(sub emulator.SubQueue, m *messagejson.Message, now time.Time) (scanned message.Message, dead []byte,
	err error) {
	if sub == emulator.DeadLetter {
		if m, dead, err = apart(m); err != nil {
			return scanned, nil, err
		}
	}
	raw, err := m.Encode(now)
	if err != nil {
		return scanned, nil, badRequest("%v.", err)
	}
	scanned, err = scan(raw)
	return scanned, dead, err
}

// apart takes the properties of a dead-lettering out of a message, so that a resubmit finds them where it does with
// any dead letter.
func apart(m *messagejson.Message) (*messagejson.Message, []byte, error) {
	rest := *m
	rest.ApplicationProperties = maps.Clone(m.ApplicationProperties)
	var pairs []amqp.Pair
	for _, name := range []string{emulator.DeadLetterReason, emulator.DeadLetterErrorDescription} {
		v, given := rest.ApplicationProperties[name]
		if !given && name == emulator.DeadLetterReason && m.DeadLetterReason != "" {
			v, given = m.DeadLetterReason, true
		}
		if !given {
			continue
		}
		value, err := messagejson.FromJSON(v)
		if err != nil {
			return nil, nil, badRequest("applicationProperties: %s: %v.", name, err)
		}
		delete(rest.ApplicationProperties, name)
		pairs = append(pairs, amqp.Pair{Key: name, Value: value})
	}
	if len(pairs) == 0 {
		return &rest, nil, nil
	}
	encoded, err := message.EncodeProperties(pairs)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the properties of a dead letter: %w", err)
	}
	return &rest, encoded, nil
}

// putAll is [put] for several messages, which become durable together or one after another. The first error counts.
func (s *sending) putAll(e *emulator.Entity, sub emulator.SubQueue, now time.Time,
	client *emulator.Client) (numbers []int64, err error) {
	done := make(completion, len(s.messages))
	begun := 0
	for i := range s.messages {
		number, putErr := put(e, sub, &s.messages[i], now, emulator.By(client, done))
		if putErr != nil {
			if err = putErr; len(s.messages) > 1 {
				err = badRequest("message %d: %v", i+1, putErr)
			}
			break
		}
		begun++
		numbers = append(numbers, number)
	}
	for range begun {
		if failed := <-done; err == nil {
			err = failed
		}
	}
	return numbers, err
}
