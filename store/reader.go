package store

import (
	"bytes"
	"fmt"

	"minibus/emulator"
)

// reader answers ReadBodies. All its reads that have queued up share one read transaction.
type reader struct {
	s     *Store
	conn  *conn // its own; the writer's for an ephemeral database
	begin *stmt
	end   *stmt
	body  *stmt
	part  *stmt
}

func newReader(s *Store, c *conn) (*reader, error) {
	r := &reader{s: s, conn: c}
	return r, prepareAll(c, map[string]**stmt{
		"BEGIN":  &r.begin,
		"COMMIT": &r.end,
		"SELECT parts, data FROM body WHERE id=?":               &r.body,
		"SELECT data FROM body_part WHERE body=? ORDER BY part": &r.part,
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
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	if err := r.begin.exec(); err != nil {
		return readError(err)
	}
	for _, br := range reads {
		if err := r.read(br); err != nil {
			r.conn.rollback()
			return readError(err)
		}
	}
	if err := r.end.exec(); err != nil {
		r.conn.rollback()
		return readError(err)
	}
	return nil
}

func readError(err error) error {
	return &emulator.Error{Code: emulator.CodeInternal, Text: "The message store could not be read", Err: err}
}

func (r *reader) read(br *emulator.BodyRead) error {
	if len(br.Bodies) != len(br.IDs) {
		br.Bodies = make([][]byte, len(br.IDs))
	}
	for i, id := range br.IDs {
		b, err := r.readBody(id)
		if err != nil {
			return fmt.Errorf("read body %d: %w", id, err)
		}
		br.Bodies[i] = b
	}
	r.s.stats.bodyReads.Add(int64(len(br.IDs)))
	return nil
}

// readBody returns a copy of a body, nil if there is none.
func (r *reader) readBody(id int64) ([]byte, error) {
	r.body.bindInt(1, id)
	row, err := r.body.step()
	if err != nil || !row {
		return nil, err
	}
	parts := r.body.columnInt(0)
	var b []byte
	if parts == 0 {
		b = append([]byte{}, r.body.columnView(1)...)
	}
	r.body.reset()
	if parts == 0 {
		return b, nil
	}
	return r.readParts(id, int(parts))
}

func (r *reader) readParts(id int64, want int) ([]byte, error) {
	var buf bytes.Buffer
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
		return nil, fmt.Errorf("%d of %d parts are there", found, want)
	}
	return buf.Bytes(), nil
}
