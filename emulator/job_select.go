package emulator

import (
	"bytes"
	"slices"

	"minibus/emulator/filter"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// look notes the next messages that the job may concern, as far as that shows without their content, and reports whether there may be more. It
// looks at few in one critical section.
func (j *Job) look() (found []*Delivery, more bool, err error) {
	q := j.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := j.goesOnLocked(); err != nil {
		return nil, false, err
	}
	if len(j.options.Select.Seqs) > 0 {
		return j.lookForLocked()
	}
	now, looked, bytes := q.ns.Now(), 0, 0
	q.box(j.options.Sub).look(j.from, func(e *entry) bool {
		if looked >= peekChunk || bytes >= quantumBytes {
			more = true
			return false
		}
		looked++
		j.from = e.seq + 1
		if d := j.considerLocked(e, now); d != nil {
			found = append(found, d)
			bytes += int(d.size)
		}
		return true
	})
	return found, more, nil
}

// lookForLocked is look for messages of which the numbers are given.
func (j *Job) lookForLocked() (found []*Delivery, more bool, err error) {
	now, seqs := j.q.ns.Now(), j.options.Select.Seqs
	start, _ := slices.BinarySearch(seqs, j.from)
	for _, seq := range seqs[start:min(start+peekChunk, len(seqs))] {
		j.from = seq + 1
		there := false
		j.q.box(j.options.Sub).look(seq, func(e *entry) bool {
			if e.seq != seq {
				return false
			}
			if e.mark == markPending {
				return true
			}
			there = true
			if d := j.considerLocked(e, now); d != nil {
				found = append(found, d)
			}
			return false
		})
		if !there {
			j.note(func(p *JobProgress) { p.Examined++ })
			j.fail(seq, errorf(CodeMessageNotFound, j.q.path, "There is no message with the sequence number %d.", seq))
		}
	}
	return found, start+peekChunk < len(seqs), nil
}

// considerLocked returns what is to be known of a message that the job may concern, else nil.
func (j *Job) considerLocked(e *entry, now int64) *Delivery {
	if e.mark == markPending || e.seq > j.last[j.q.counters.partitionOf(e.seq)] {
		return nil
	}
	fits := j.fits(e) && (j.options.Kind == PurgeJob || !e.expired(now))
	held := fits && e.mark != markFree && !j.q.forwarder.parked.has(e)
	j.note(func(p *JobProgress) {
		p.Examined++
		if held {
			p.Skipped++
		}
	})
	if !fits || held {
		return nil
	}
	d := newDelivery(j.q, e, nil)
	d.e = nil // it may be shown in passing
	if j.reads() {
		d.body = e.body.data
	}
	return d
}

// fits reports whether a message is what the job concerns, as far as that shows without its content.
func (j *Job) fits(e *entry) bool {
	s := &j.options.Select
	switch {
	case !slices.Contains(s.States, e.state), s.Before != 0 && e.enqueued >= s.Before, s.Reason != nil && e.reason() != *s.Reason:
		return false
	case s.SessionID != nil && e.session != nil:
		return e.session.id == *s.SessionID
	}
	return true
}

// reads reports whether only the content of a message shows that the job concerns it.
func (j *Job) reads() bool {
	s := &j.options.Select
	return j.matcher != nil || s.Text != "" || s.SessionID != nil && (j.options.Sub != Main || !j.q.options.RequiresSession)
}

// matching leaves those messages whose content the job concerns.
func (j *Job) matching(found []*Delivery) ([]*Delivery, error) {
	if !j.reads() || len(found) == 0 {
		return found, nil
	}
	var missing []*Delivery
	for _, d := range found {
		if d.body == nil {
			missing = append(missing, d)
		}
	}
	if len(missing) > 0 {
		if err := await(func(done Completion) { j.q.bodies.read(missing, done.Completed) }); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(found, func(d *Delivery) bool { return d.body == nil || !j.selects(d) }), nil
}

// selects reports whether the content of a message is what the job concerns.
func (j *Job) selects(d *Delivery) bool {
	m, err := message.Scan(d.body)
	if err == nil && (d.overlay != nil || d.system != nil) {
		p := message.Patch{Properties: d.overlay, System: d.system}
		m, err = message.Scan(p.Append(nil, &m))
	}
	if err != nil {
		return false
	}
	info, err := m.Info()
	if err != nil {
		return false
	}
	s := &j.options.Select
	if s.SessionID != nil && (!info.HasGroupID || info.GroupID != *s.SessionID) {
		return false
	}
	if s.Text != "" && !contains(&m, s.Text) {
		return false
	}
	if j.matcher == nil {
		return true
	}
	answer, err := j.matcher.Eval(&view{m: m, info: &info, ns: j.q.ns, body: d.bodyID, seq: d.seq, enqueued: d.enqueued, ttl: d.ttl, size: int64(d.size)})
	return err == nil && answer == filter.True
}

// propertyTexts is how many fields the properties section has.
const propertyTexts = 13

// contains reports whether a text, in letters of any case, is in the body of a message, in a property or in the name of one.
func contains(m *message.Message, text string) bool {
	want := bytes.ToLower([]byte(text))
	has := func(b []byte) bool { return bytes.Contains(bytes.ToLower(b), want) }
	for i := range propertyTexts {
		if s, ok := m.Field(i).TextOf(); ok && has([]byte(s)) {
			return true
		}
	}
	for e := m.UserProperties(); e.Next(); {
		if s, ok := e.Value().TextOf(); has(e.Key()) || ok && has([]byte(s)) {
			return true
		}
	}
	for r := amqp.NewReader(m.Bytes(m.Body)); r.Len() > 0; {
		if _, _, err := r.Descriptor(); err != nil {
			return false
		}
		raw, err := r.Raw()
		if err != nil {
			return false
		}
		if has(contentOf(raw)) {
			return true
		}
	}
	return false
}

// contentOf returns the bytes of an encoded text or binary without its type and length; others as they are encoded.
func contentOf(raw []byte) []byte {
	switch raw[0] {
	case amqp.CodeBinary8, amqp.CodeString8, amqp.CodeSymbol8:
		return raw[2:]
	case amqp.CodeBinary32, amqp.CodeString32, amqp.CodeSymbol32:
		return raw[5:]
	}
	return raw
}
