package emulator

import "minibus/internal/amqp/message"

// move moves messages in one change. An error ends the job; what it could not move is where it was.
func (j *Job) move(found []*Delivery) error {
	q := j.q
	target, err := j.target()
	if err != nil {
		return err
	}
	q.mu.Lock()
	entries, err := j.takeLocked(found)
	q.mu.Unlock()
	if err != nil || len(entries) == 0 {
		return err
	}
	defer j.giveUp(entries)
	list, err := q.forwarder.read(entries)
	if err != nil {
		j.putBack(entries)
		return err
	}
	list = j.prepare(list, target)
	if len(list) == 0 {
		return nil
	}
	op := newTransfer(q, target, j.options.Client)
	moving, err := op.startMove(list, j)
	if err != nil {
		j.putBack(entriesOf(list))
		return err
	}
	j.putBack(op.left)
	if moving == 0 {
		return nil
	}
	if err := <-op.result; err != nil {
		return err
	}
	j.note(func(p *JobProgress) { p.Done += int64(moving) })
	return nil
}

// putBack lays messages back that were taken.
func (j *Job) putBack(entries []*entry) {
	q := j.q
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range entries {
		if e.state == Scheduled {
			q.schedule.putBack(e)
			continue
		}
		q.messages.free(e, q.ns.Now())
	}
}

// prepare makes of messages what the target is to get, and puts those back that can't be moved.
func (j *Job) prepare(list []forwarded, target *Entity) (good []forwarded) {
	needsSession, limit := target.Options().RequiresSession, target.MaxMessageSize()
	for _, m := range list {
		err := j.dress(&m)
		switch size := int64(len(m.in.m.Raw)); {
		case err != nil:
		case m.damaged:
			err = errorf(CodeNotAllowed, target.path, "The body of the message is damaged on disk. It stays where it is.")
		case needsSession && !m.in.info.HasGroupID:
			err = errorf(CodeNotAllowed, target.path, "The message has no session id, which '%s' requires.", target.path)
		case size > limit:
			err = messageTooLarge(target.path, size, limit)
		}
		if err != nil {
			j.fail(m.e.seq, err)
			j.putBack([]*entry{m.e})
			continue
		}
		good = append(good, m)
	}
	return good
}

// dress carries out the edit. The message begins a new life: no transfers, and no dead-lettering but in its properties.
func (j *Job) dress(m *forwarded) error {
	edit, x := &j.options.Edit, extra{overlay: m.e.extras().overlay, system: m.e.extras().system}
	if edit.Strip || len(edit.Remove) > 0 || edit.Properties != nil {
		x.overlay, x.system = edit.rewrite(&m.in.m, x.overlay, x.system)
	}
	x.system = message.MergeProperties(x.system, edit.System)
	fresh := edit.Body != nil
	if fresh {
		if !m.in.info.HasMessageID { // the id that the broker made follows from the body's
			id, err := message.EncodeProperties(message.Map{{Key: message.SystemMessageID, Value: j.q.ns.ids.of(m.e.body.id)}})
			if err != nil {
				return err
			}
			x.system = message.MergeProperties(id, x.system)
		}
		if err := m.replaceBody(edit.Body); err != nil {
			return err
		}
	}
	if v, ok := message.LookupProperty(x.overlay, DeadLetterReason); ok {
		x.reason, _ = v.(string)
	}
	if len(x.overlay)+len(x.system) > maxHeaderBytes {
		return errorf(CodeArgument, j.q.path, "The changed properties have more than %d bytes.", maxHeaderBytes)
	}
	m.in.info.Overlay(x.system)
	m.moved = &moved{x, fresh}
	return nil
}

// rewrite returns the overlays of a message with the properties that the edit leaves and sets.
func (edit *Edit) rewrite(m *message.Message, overlay, system []byte) (users, brokers []byte) {
	gone := make(map[string]bool)
	for _, name := range edit.Remove {
		gone[name] = true
	}
	if edit.Strip {
		gone[DeadLetterReason], gone[DeadLetterErrorDescription] = true, true
	}
	for e := message.OverlayEntries(edit.Properties); e.Next(); {
		gone[string(e.Key())] = true // and comes again
	}
	p := message.Patch{Properties: overlay, System: system, OmitBody: true}
	now, err := message.Scan(p.Append(nil, m))
	if err != nil {
		return overlay, system // every stored message was scanned before
	}
	var o message.Overlay
	for e := now.UserProperties(); e.Next(); {
		if !gone[string(e.Key())] {
			o.Add(string(e.Key()), e.Encoded())
		}
	}
	for e := message.OverlayEntries(edit.Properties); e.Next(); {
		o.Add(string(e.Key()), e.Encoded())
	}
	var s message.Overlay
	s.Add(message.SystemReplace, message.Scalar{Type: message.TypeBool, Bits: 1}.Append(nil))
	return o.Bytes(), message.MergeProperties(system, s.Bytes())
}

// replaceBody puts other sections in the place of the body.
func (m *forwarded) replaceBody(body []byte) error {
	at := m.in.m.Body
	if at.Empty() {
		at = message.Span{Start: uint32(len(m.in.m.Raw)), End: uint32(len(m.in.m.Raw))}
	}
	raw := append(append(append([]byte(nil), m.in.m.Raw[:at.Start]...), body...), m.in.m.Raw[at.End:]...)
	info, hops := m.in.info, m.in.hops
	scanned, err := message.Scan(raw)
	m.in = incoming{m: scanned, info: info, hops: hops}
	return err
}
