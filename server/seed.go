package server

import (
	"errors"
	"fmt"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/seed"
	"minibus/mgmt/control"
)

// seedWindow is how many messages of a seed are being written at once.
const seedWindow = 500

// seed sends the messages that a Minibus has from its start. A database that has had messages already gets none, so
// that a restart doubles nothing. Each line is tried before the first message is sent.
func (a *Server) seed() error {
	lines := a.config.Seed
	if len(lines) == 0 {
		return nil
	}
	if !a.broker.Untouched() {
		a.log.Info("the seed is not sent: there have been messages in this database; minibus seed send sends it",
			"database", a.data.path)
		return nil
	}
	for _, l := range lines {
		ns, m, err := a.seedMessage(l)
		if err == nil {
			err = seedError(l, control.CanPut(ns, l.Entity, m))
		}
		if err != nil {
			return err
		}
	}
	for len(lines) > 0 {
		n := min(len(lines), seedWindow)
		if err := a.seedSome(lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	a.log.Info("seeded", "messages", len(a.config.Seed))
	return nil
}

// seedSome sends messages and waits until they are durable.
func (a *Server) seedSome(lines []*seed.Line) error {
	done := make(chan error, len(lines))
	begun := 0
	var failed error
	for _, l := range lines {
		if failed = a.seedOne(l, done); failed != nil {
			break
		}
		begun++
	}
	for range begun {
		if err := <-done; failed == nil {
			failed = err
		}
	}
	return failed
}

// seedOne begins to send a message. done is told the end, unless there is an error.
func (a *Server) seedOne(l *seed.Line, done chan<- error) error {
	ns, m, err := a.seedMessage(l)
	if err != nil {
		return err
	}
	told := emulator.CompletionFunc(func(err error) { done <- seedError(l, err) })
	return seedError(l, control.Put(ns, l.Entity, m, told))
}

// seedMessage returns the namespace and the message of a line.
func (a *Server) seedMessage(l *seed.Line) (ns *emulator.Namespace, m *messagejson.Message, err error) {
	if ns = a.broker.Default(); l.Namespace != "" {
		if ns, err = a.broker.Namespace(l.Namespace); err != nil {
			return nil, nil, fmt.Errorf("%s: send the seed to %s: %w Add the namespace to the configuration, "+
				"or correct the line", l.Place(), l.Target(), err)
		}
	}
	m, err = l.Message(time.UnixMilli(ns.Now()))
	return ns, m, err
}

// seedError says which line can't be sent.
func seedError(l *seed.Line, err error) error {
	missing := (*emulator.Error)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing) && missing.Code == emulator.CodeNotFound:
		return fmt.Errorf("%s: send the seed to %s: %w Add the entity to the configuration, or correct the line",
			l.Place(), l.Target(), err)
	}
	return fmt.Errorf("%s: send the seed to %s: %w", l.Place(), l.Target(), err)
}
