package store

import (
	"bytes"
	"errors"
	"fmt"

	"minibus/emulator"
)

// reader answers ReadBodies. All reads that have queued up share one read transaction, so that neighbouring bodies are
// found in one walk.
type reader struct {
	s     *Store
	conn  *conn // its own; the writer's for an ephemeral database
	begin *stmt
	end   *stmt
	part  *stmt
	state *stmt

	// These have the same columns: id, parts, data and crc.
	single *stmt
	dense  *stmt // ids from, to
	gapped *stmt // ids from, to and a mask; for ids not in the mask, data is the size and crc NULL

	wants []want // memory for the next round
	gaps  gaps
}

func newReader(s *Store, c *conn) (*reader, error) {
	r := &reader{s: s, conn: c}
	return r, prepareAll(c, map[string]**stmt{
		"BEGIN":  &r.begin,
		"COMMIT": &r.end,
		"SELECT data FROM body_part WHERE body=? ORDER BY part":            &r.part,
		"SELECT id, parts, data, crc FROM body WHERE id=?":                 &r.single,
		"SELECT state FROM session WHERE entity=? AND id=?":                &r.state,
		"SELECT id, parts, data, crc FROM body WHERE id BETWEEN ?1 AND ?2": &r.dense,
		`SELECT id, parts, CASE WHEN (?3>>(id-?1))&1 THEN data ELSE length(data) END,
			CASE WHEN (?3>>(id-?1))&1 THEN crc END FROM body WHERE id BETWEEN ?1 AND ?2`: &r.gapped,
	})
}

// prepareAll fills in the statements of a table.
func prepareAll(c *conn, table map[string]**stmt) error {
	for sql, to := range table {
		st, err := c.prepare(sql)
		if err != nil {
			return err
		}
		*to = st
	}
	return nil
}

func (r *reader) run() {
	defer close(r.s.reads.done)
	for {
		reads, closed := r.s.reads.take()
		if len(reads) == 0 {
			if closed {
				return
			}
			<-r.s.reads.wake
			continue
		}
		err := r.readAll(reads)
		for i, br := range reads {
			reads[i] = nil
			finishRead(br, err)
		}
	}
}

func finishRead(br *emulator.BodyRead, err error) {
	if br.Done != nil {
		br.Done.Completed(err)
	}
}

func (r *reader) readAll(reads []*emulator.BodyRead) error {
	wants := r.gather(reads)
	defer r.release(wants)
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	if err := r.begin.exec(); err != nil {
		return readError(err)
	}
	err := r.fetch(wants)
	for _, br := range reads {
		if br.State != nil && err == nil {
			err = r.readState(br)
		}
	}
	if err != nil || r.end.exec() != nil { // after a damaged page COMMIT may fail too; the bodies read are good
		r.conn.rollback()
	}
	if err != nil {
		return readError(err)
	}
	r.s.stats.bodyReads.Add(int64(len(wants)))
	return nil
}

func readError(err error) error {
	return &emulator.Error{Code: emulator.CodeInternal, Text: "The message store could not be read", Err: err}
}

// readState reads the state of a session.
func (r *reader) readState(br *emulator.BodyRead) error {
	r.state.bindInt(1, br.State.Entity)
	r.state.bindText(2, br.State.SessionID)
	var state []byte
	err := r.state.each(func(st *stmt) error {
		state = append([]byte{}, st.columnView(0)...) // never nil: a state may be empty
		return nil
	})
	br.Bodies = [][]byte{state}
	return err
}

// copyBody returns a copy of the body in the current row of st. Each copy has its own memory: a receiver may keep a
// message locked for long, and shared memory would keep all bodies of the read alive with it.
func (r *reader) copyBody(st *stmt, id int64) ([]byte, error) {
	if parts := st.columnInt(1); parts > 0 {
		data, err := r.readParts(id, int(parts))
		if err != nil {
			return nil, err
		}
		return data, verify(st, data)
	}
	data := append([]byte{}, st.columnView(2)...)
	return data, verify(st, data)
}

func (r *reader) readParts(id int64, want int) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(min(want, mostParts) * maxInline) // or it would be copied as it grows
	r.part.bindInt(1, id)
	found := 0
	for {
		row, err := r.part.step()
		if err != nil {
			return nil, err
		}
		if !row {
			break
		}
		buf.Write(r.part.columnView(0))
		found++
	}
	if found != want {
		return nil, &damageError{fmt.Sprintf("%d of %d parts are there", found, want), buf.Bytes()}
	}
	return buf.Bytes(), nil
}

// damageError says what is wrong with a damaged body and keeps the rest of it.
type damageError struct {
	why  string
	rest []byte // what could be read; a copy
}

func (e *damageError) Error() string { return e.why }

// verify compares a body from the current row of st with the checksum in column 3.
func verify(st *stmt, data []byte) error {
	want := st.columnInt(3)
	if got := int64(checksum(data)); got != want {
		why := fmt.Sprintf("its %d bytes have the checksum %08x, and were stored with %08x", len(data), got, want)
		return &damageError{why, data}
	}
	return nil
}

// isBodyDamage reports whether err concerns the one body that was being read and will not pass.
func isBodyDamage(err error) bool {
	var de *damageError
	return errors.As(err, &de) || isDamage(err)
}
