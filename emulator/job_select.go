package emulator

import "slices"

// look notes the next messages that the job may concern, as far as that shows without their content, and reports whether there may be more. It
// looks at few in one critical section.
func (j *Job) look() (found []*Delivery, more bool, err error) {
	q := j.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := j.goesOnLocked(); err != nil {
		return nil, false, err
	}
	if len(j.want.Seqs) > 0 {
		return j.lookForLocked()
	}
	now, looked, bytes := q.ns.Now(), 0, 0
	q.subQueue(j.sub).look(j.from, func(e *entry) bool {
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
	now, bytes := j.q.ns.Now(), 0
	start, _ := slices.BinarySearch(j.want.Seqs, j.from)
	for looked, seq := range j.want.Seqs[start:] {
		if looked == peekChunk || bytes >= quantumBytes {
			return found, true, nil
		}
		j.from = seq + 1
		there := false
		j.q.subQueue(j.sub).look(seq, func(e *entry) bool {
			if e.seq != seq {
				return false
			}
			if e.mark == markPending {
				return true
			}
			there = true
			if d := j.considerLocked(e, now); d != nil {
				found = append(found, d)
				bytes += int(d.size)
			}
			return false
		})
		if !there {
			j.note(func(p *JobProgress) { p.Examined++ })
			j.fail(seq, j.q.Messages().missing(seq))
		}
	}
	return found, false, nil
}

// considerLocked returns what is to be known of a message that the job may concern, else nil.
func (j *Job) considerLocked(e *entry, now int64) *Delivery {
	if e.mark == markPending || e.seq > j.last[j.q.counters.partitionOf(e.seq)] {
		return nil
	}
	fits := slices.Contains(j.want.States, e.state) && j.fits(e) && (j.options.Kind == PurgeJob || !e.expired(now))
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
