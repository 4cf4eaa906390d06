package storetest

import (
	"fmt"
	"iter"
	"runtime"
	"slices"

	"minibus/emulator"
)

func (m *Memory) put(it memoryItem) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it.late = m.closed
	if it.change != nil && m.changing != nil {
		m.beginLocked(it.change)
	}
	m.queue = append(m.queue, it)
	m.startLocked()
}

// beginLocked notes the rows of a change. It panics if one of them has a change that is not completed, because the
// contract of [emulator.Journal] forbids that.
func (m *Memory) beginLocked(c *emulator.Change) {
	for row := range rowsOf(c) {
		if m.changing[row] > 0 && !c.Requeues {
			panic(fmt.Sprintf("row %d is changed before its last change is completed", row))
		}
	}
	for row := range rowsOf(c) {
		m.changing[row]++
	}
}

// end is called before the completion of a change.
func (m *Memory) end(c *emulator.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for row := range rowsOf(c) {
		if m.changing[row]--; m.changing[row] == 0 {
			delete(m.changing, row)
		}
	}
}

// rowsOf returns the rows of the messages that a change stores, changes or removes.
func rowsOf(c *emulator.Change) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range c.Ops {
			op := &c.Ops[i]
			switch op.Kind {
			case emulator.OpInsert, emulator.OpUpdate, emulator.OpDelete:
				for n := range max(1, len(op.Copies)) {
					if row := op.Record.Row; row != 0 && !yield(row+int64(n)) {
						return
					}
				}
			}
		}
	}
}

func (m *Memory) startLocked() {
	if !m.running && !m.paused && len(m.queue) > 0 {
		m.running = true
		go m.run()
	}
}

// run commits what is queued, batch by batch, until nothing is left. As the contract says, a fault lasts until the
// completions of all changes queued behind it have run.
func (m *Memory) run() {
	var fault error
	for {
		m.mu.Lock()
		if !slices.ContainsFunc(m.queue, memoryItem.isChange) {
			fault = nil
		}
		if len(m.queue) == 0 || m.paused {
			m.running = false
			m.idle.Broadcast()
			m.mu.Unlock()
			return
		}
		batch := m.queue
		m.queue = nil
		if fault == nil {
			fault = m.nextFaultLocked(batch)
		}
		errs := m.applyLocked(batch, fault)
		m.mu.Unlock()
		for i, it := range batch {
			if it.change != nil && m.changing != nil {
				m.end(it.change)
			}
			it.finish(errs[i])
		}
		if fault != nil && m.lingered < lingers {
			m.lingered++
			linger()
		}
	}
}

// lingers is how often a fault of a journal lingers: a test of one fault has few, and a random history thousands.
const lingers = 16

// linger makes a fault last a moment longer, so that a test that does not wait for its end fails always and not now
// and then.
func linger() {
	for range 50 {
		runtime.Gosched()
	}
}

// nextFaultLocked returns the error if a batch must fail. A batch without changes can't.
func (m *Memory) nextFaultLocked(batch []memoryItem) error {
	if m.failNext == 0 || !slices.ContainsFunc(batch, memoryItem.isChange) {
		return nil
	}
	if m.pass > 0 {
		m.pass--
		return nil
	}
	m.failNext--
	return m.failErr
}

// applyLocked makes one transaction of a batch and returns the result of each item.
func (m *Memory) applyLocked(batch []memoryItem, fault error) []error {
	errs := make([]error, len(batch))
	for i, it := range batch {
		switch {
		case it.late && it.isChange():
			errs[i] = ErrClosed
		case it.read != nil && m.readErr != nil:
			errs[i], m.readErr = m.readErr, nil
		case it.read != nil:
			m.content.read(it.read)
		case it.isChange() && fault != nil:
			errs[i] = fault
		case it.namespace != nil:
			errs[i] = it.namespace.apply(m.content)
		case it.change != nil:
			errs[i] = m.applyOneLocked(it.change)
		}
	}
	if fault == nil {
		m.commits++
	}
	return errs
}

// applyOneLocked applies a change, which may fail alone.
func (m *Memory) applyOneLocked(c *emulator.Change) error {
	err := c.Unmet()
	if err == nil {
		err, m.alone = m.alone, nil
	}
	if err == nil {
		err = m.content.apply(c)
	}
	if err != nil {
		c.Failed(err)
	}
	return err
}

func (it memoryItem) isChange() bool { return it.change != nil || it.namespace != nil }

func (it memoryItem) finish(err error) {
	var done emulator.Completion
	switch {
	case it.flush != nil:
		done = it.flush
	case it.read != nil:
		done = it.read.Done
	case it.namespace != nil:
		done = it.namespace.done
	default:
		done = it.change.Done
	}
	if done != nil {
		done.Completed(err)
	}
}
