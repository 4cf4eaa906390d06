package store

import (
	"fmt"
	"slices"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// stmt is a prepared statement with its own C memory for each text or blob parameter, so that binding allocates
// nothing once the memory is large enough. Parameters keep their values from one run to the next; every run of this
// package binds all of them. If one can't be set, the run fails with that error.
type stmt struct {
	c       *conn
	p       uintptr
	bufs    []cBuffer // by parameter index
	unbound error     // the first error of a parameter since the last run
}

type cBuffer struct {
	p    uintptr
	size int
}

// prepare compiles one statement. Closing the connection finalizes it.
func (c *conn) prepare(sql string) (*stmt, error) {
	z, err := libc.CString(sql)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, z)
	if err := c.check(lib.Xsqlite3_prepare_v2(c.tls, c.db, z, -1, c.out, 0)); err != nil {
		return nil, fmt.Errorf("prepare %q: %w", sql, err)
	}
	s := &stmt{c: c, p: *(*uintptr)(cPointer(c.out))}
	s.bufs = make([]cBuffer, lib.Xsqlite3_bind_parameter_count(c.tls, s.p)+1)
	c.all = append(c.all, s)
	return s, nil
}

func (s *stmt) finalize() {
	if s.p == 0 {
		return
	}
	lib.Xsqlite3_finalize(s.c.tls, s.p)
	s.p = 0
	for _, b := range s.bufs {
		if b.p != 0 {
			libc.Xfree(s.c.tls, b.p)
		}
	}
	s.c.all = slices.DeleteFunc(s.c.all, func(o *stmt) bool { return o == s })
}

// bindInt sets parameter i, counted from 1.
func (s *stmt) bindInt(i int, v int64) { lib.Xsqlite3_bind_int64(s.c.tls, s.p, int32(i), v) }

// bindInts sets the first parameters.
func (s *stmt) bindInts(values ...int64) {
	for i, v := range values {
		s.bindInt(i+1, v)
	}
}

func (s *stmt) bindNull(i int) { lib.Xsqlite3_bind_null(s.c.tls, s.p, int32(i)) }

// bindText sets parameter i to a text, which may be empty. SQLite keeps NUL and invalid UTF-8 as they are.
func (s *stmt) bindText(i int, v string) {
	if p := s.hold(i, len(v)); p != 0 {
		copy(unsafe.Slice((*byte)(cPointer(p)), len(v)), v)
		s.note(s.c.check(lib.Xsqlite3_bind_text(s.c.tls, s.p, int32(i), p, int32(len(v)), 0)))
	}
}

// bindTextOrNull stores the empty text as NULL.
func (s *stmt) bindTextOrNull(i int, v string) {
	if v == "" {
		s.bindNull(i)
	} else {
		s.bindText(i, v)
	}
}

// bindBlob sets parameter i to a blob; nil becomes NULL.
func (s *stmt) bindBlob(i int, v []byte) {
	if v == nil {
		s.bindNull(i)
	} else if p := s.hold(i, len(v)); p != 0 {
		copy(unsafe.Slice((*byte)(cPointer(p)), len(v)), v)
		s.note(s.c.check(lib.Xsqlite3_bind_blob(s.c.tls, s.p, int32(i), p, int32(len(v)), 0)))
	}
}

// hold returns memory for n bytes, or 0. It belongs to parameter i until the next hold for i.
func (s *stmt) hold(i, n int) uintptr {
	b := &s.bufs[i]
	if b.p != 0 && b.size >= n {
		return b.p
	}
	size := max(64, n+n/4)
	p := libc.Xmalloc(s.c.tls, libc.Tsize_t(size))
	if p == 0 {
		s.note(&sqliteError{code: lib.SQLITE_NOMEM, text: "out of memory"})
		return 0
	}
	if b.p != 0 {
		libc.Xfree(s.c.tls, b.p)
	}
	*b = cBuffer{p: p, size: size}
	return p
}

// note keeps the error of a parameter for the next run.
func (s *stmt) note(err error) {
	if s.unbound == nil {
		s.unbound = err
	}
}

// shrink frees the memory of parameter i and sets it to NULL.
func (s *stmt) shrink(i int) {
	s.bindNull(i)
	if b := &s.bufs[i]; b.p != 0 {
		libc.Xfree(s.c.tls, b.p)
		*b = cBuffer{}
	}
}

// exec runs the statement to its end and makes it ready for the next run.
func (s *stmt) exec() error {
	if err := s.unbound; err != nil {
		s.unbound = nil
		return err
	}
	if s.c.lost {
		return errLost
	}
	rc := lib.Xsqlite3_step(s.c.tls, s.p)
	if rc == lib.SQLITE_DONE {
		lib.Xsqlite3_reset(s.c.tls, s.p)
		return nil
	}
	err := s.c.check(rc)
	lib.Xsqlite3_reset(s.c.tls, s.p)
	s.c.lost = s.c.inside && !s.c.inTransaction()
	return err
}

// run sets the first parameters and runs the statement to its end.
func (s *stmt) run(values ...int64) error {
	s.bindInts(values...)
	return s.exec()
}

// one sets the first parameters and returns the only value of the first row, 0 if there is none.
func (s *stmt) one(values ...int64) (int64, error) {
	s.bindInts(values...)
	row, err := s.step()
	if err != nil || !row {
		return 0, err
	}
	defer s.reset()
	return s.columnInt(0), nil
}

// step fetches the next row. After the last one, or an error, the statement is ready for the next run.
func (s *stmt) step() (row bool, err error) {
	if err := s.unbound; err != nil {
		s.unbound = nil
		return false, err
	}
	rc := lib.Xsqlite3_step(s.c.tls, s.p)
	if rc == lib.SQLITE_ROW {
		return true, nil
	}
	err = s.c.check(rc)
	s.reset()
	if err != nil {
		s.c.lost = s.c.inside && !s.c.inTransaction()
	}
	return false, err
}

// each hands over the rows.
func (s *stmt) each(row func(s *stmt) error) error {
	for {
		more, err := s.step()
		if err != nil || !more {
			return err
		}
		if err := row(s); err != nil {
			s.reset()
			return err
		}
	}
}

// reset abandons the rows that were not fetched.
func (s *stmt) reset() { lib.Xsqlite3_reset(s.c.tls, s.p) }

// columnInt returns column i, counted from 0, of the current row.
func (s *stmt) columnInt(i int) int64 { return lib.Xsqlite3_column_int64(s.c.tls, s.p, int32(i)) }

func (s *stmt) columnIsNull(i int) bool {
	return lib.Xsqlite3_column_type(s.c.tls, s.p, int32(i)) == lib.SQLITE_NULL
}

// columnView returns the bytes of column i, valid until the next step; nil for NULL and for an empty value.
func (s *stmt) columnView(i int) []byte {
	p := lib.Xsqlite3_column_blob(s.c.tls, s.p, int32(i))
	if p == 0 {
		return nil
	}
	n := lib.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i))
	return unsafe.Slice((*byte)(cPointer(p)), int(n))
}

// changes returns the number of rows that the last statement touched.
func (c *conn) changes() int { return int(lib.Xsqlite3_changes(c.tls, c.db)) }
