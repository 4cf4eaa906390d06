package storetest

import (
	"bytes"
	"maps"

	"minibus/emulator"
)

// draw notes the last number drawn of an entity's partition.
func (c *memoryContent) draw(op *emulator.Op) (undo func()) {
	k := counterKey{op.Record.Entity, op.Partition}
	old, had := c.last[k]
	c.last[k] = op.Record.Seq
	return func() {
		delete(c.last, k)
		if had {
			c.last[k] = old
		}
	}
}

// setSession stores or removes the state of a session.
func (c *memoryContent) setSession(op *emulator.Op) (undo func(), err error) {
	if err := c.known(op.Record.Entity); err != nil {
		return nil, err
	}
	k := sessionKey{op.Record.Entity, op.Record.SessionID}
	old, had := c.sessions[k]
	delete(c.sessions, k)
	if op.Data != nil {
		c.sessions[k] = memorySession{bytes.Clone(op.Data), op.Record.Enqueued}
	}
	return func() {
		delete(c.sessions, k)
		if had {
			c.sessions[k] = old
		}
	}, nil
}

// remember notes a key for duplicate detection.
func (c *memoryContent) remember(op *emulator.Op) (undo func(), err error) {
	if err := c.known(op.Record.Entity); err != nil {
		return nil, err
	}
	k := historyKey{op.Record.Entity, [16]byte(op.Data)}
	old, had := c.history[k]
	c.history[k] = op.Record.Enqueued
	return func() {
		delete(c.history, k)
		if had {
			c.history[k] = old
		}
	}, nil
}

func (c *memoryContent) prune(entity, before int64) (undo func()) {
	old := maps.Clone(c.history)
	maps.DeleteFunc(c.history, func(k historyKey, at int64) bool { return k.entity == entity && at < before })
	return func() { c.history = old }
}
