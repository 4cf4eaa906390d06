package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// busyTimeout is how long a statement waits, in milliseconds, for another program that holds a lock of the database.
// The writer's transactions wait longer (execPatiently).
const busyTimeout = 5000

func init() { lib.PatchIssue199() } // page size of arm64 Linux, as the driver of modernc.org/sqlite does

// conn is one connection. Only the goroutine that holds mu may use it.
type conn struct {
	mu  sync.Mutex // held for a transaction or a read; in memory, writer and reader share the connection
	tls *libc.TLS
	db  uintptr
	out uintptr // C memory for results by pointer: two words
	all []*stmt

	foundLog bool // the database had a log when it was opened: the process before was killed

	inside bool // a transaction of [transactions.run] has begun
	lost   bool // SQLite has ended it after an error; statements fail with errLost
}

// openConn opens path, which may be ":memory:". The file is created if it is missing.
func openConn(path string) (*conn, error) {
	c := &conn{tls: libc.NewTLS()}
	c.out = libc.Xcalloc(c.tls, 2, 8)
	name, err := libc.CString(path)
	if err != nil || c.out == 0 {
		c.tls.Close()
		return nil, fmt.Errorf("open database %s: out of memory", path)
	}
	defer libc.Xfree(c.tls, name)
	const flags = lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_CREATE |
		lib.SQLITE_OPEN_NOMUTEX | lib.SQLITE_OPEN_EXRESCODE
	rc := lib.Xsqlite3_open_v2(c.tls, name, c.out, flags, 0)
	c.db = *(*uintptr)(cPointer(c.out))
	if err := c.check(rc); err != nil {
		c.close()
		return nil, err
	}
	c.setBusyTimeout(busyTimeout)
	return c, nil
}

// setBusyTimeout sets how long a statement waits, in milliseconds, for other connections.
func (c *conn) setBusyTimeout(ms int32) { lib.Xsqlite3_busy_timeout(c.tls, c.db, ms) }

// close finalizes the statements and closes the connection. The last connection to a file checkpoints it.
func (c *conn) close() {
	for len(c.all) > 0 {
		c.all[0].finalize() // takes itself off the list
	}
	lib.Xsqlite3_close_v2(c.tls, c.db)
	libc.Xfree(c.tls, c.out)
	c.tls.Close()
}

// cPointer turns an address in C memory, which the garbage collector neither moves nor frees, into a pointer.
func cPointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

func (c *conn) check(rc int32) error {
	if rc == lib.SQLITE_OK || rc == lib.SQLITE_ROW || rc == lib.SQLITE_DONE {
		return nil
	}
	if c.db == 0 {
		return &sqliteError{code: rc, text: libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))}
	}
	return &sqliteError{code: rc, text: libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db))}
}

// exec runs statements without parameters and results.
func (c *conn) exec(sql string) error {
	z, err := libc.CString(sql)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, z)
	return c.check(lib.Xsqlite3_exec(c.tls, c.db, z, 0, 0, 0))
}

// each runs a query and hands over its rows.
func (c *conn) each(sql string, row func(st *stmt) error) error {
	st, err := c.prepare(sql)
	if err != nil {
		return err
	}
	defer st.finalize()
	return st.each(row)
}

// queryInt returns the first column of the first row, 0 if there is no row.
func (c *conn) queryInt(sql string) (int64, error) {
	s, err := c.prepare(sql)
	if err != nil {
		return 0, err
	}
	defer s.finalize()
	return s.one()
}

// inTransaction reports whether a transaction is open. SQLite rolls back by itself on some errors (full disk, I/O,
// out of memory) and leaves the transaction open on others.
func (c *conn) inTransaction() bool { return lib.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// rollback ends the transaction if SQLite has not already done so.
func (c *conn) rollback() {
	if c.inTransaction() {
		_ = c.exec("ROLLBACK") // cannot fail in a way that leaves it open
	}
}

// pagesWritten returns how many pages were written to the file or its log since the last call that reset the count.
func (c *conn) pagesWritten(reset bool) int {
	var r int32
	if reset {
		r = 1
	}
	if lib.Xsqlite3_db_status(c.tls, c.db, lib.SQLITE_DBSTATUS_CACHE_WRITE, c.out, c.out+8, r) != lib.SQLITE_OK {
		return 0
	}
	return int(*(*int32)(cPointer(c.out)))
}

// checkpoint copies the log into the database file. Mode PASSIVE copies what no reader holds up; RESTART and TRUNCATE
// copy all of it, so that the log can be restarted.
func (c *conn) checkpoint(mode int32) error {
	return c.check(lib.Xsqlite3_wal_checkpoint_v2(c.tls, c.db, 0, mode, c.out, c.out+8))
}

// logFrames returns how many frames of the log SQLite knows, and how many of them are in the database file; none
// without a log.
func (c *conn) logFrames() (all, copied int, err error) {
	rc := lib.Xsqlite3_wal_checkpoint_v2(c.tls, c.db, 0, lib.SQLITE_CHECKPOINT_NOOP, c.out, c.out+8)
	return max(0, int(*(*int32)(cPointer(c.out)))), max(0, int(*(*int32)(cPointer(c.out + 8)))), c.check(rc)
}

// leaveLog keeps close from copying and deleting the log, so that a refused database stays as it was.
func (c *conn) leaveLog() {
	args := libc.Xcalloc(c.tls, 2, 8)
	if args == 0 {
		return
	}
	defer libc.Xfree(c.tls, args)
	lib.Xsqlite3_db_config(c.tls, c.db, lib.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, libc.VaList(args, int32(1), uintptr(0)))
}

// readOnly reports whether the file could be opened for reading only.
func (c *conn) readOnly() bool {
	z, err := libc.CString("main")
	if err != nil {
		return false
	}
	defer libc.Xfree(c.tls, z)
	return lib.Xsqlite3_db_readonly(c.tls, c.db, z) == 1
}

// sqliteError is a result code of SQLite with its message.
type sqliteError struct {
	code int32 // extended result code
	text string
}

func (e *sqliteError) Error() string { return fmt.Sprintf("%s (SQLite code %d)", e.text, e.code) }

// primary is the result code without its extension.
func (e *sqliteError) primary() int32 { return e.code & 0xff }

// errMalformed says that the file is damaged, although SQLite did not notice.
var errMalformed = &sqliteError{code: lib.SQLITE_CORRUPT, text: "malformed content"}

// errLost is the error of statements in a transaction that SQLite has ended after an error. They would be
// transactions of their own.
var errLost = &sqliteError{code: lib.SQLITE_ABORT_ROLLBACK, text: "the transaction has been rolled back"}

func isCode(err error, codes ...int32) bool {
	var se *sqliteError
	if !errors.As(err, &se) {
		return false
	}
	for _, c := range codes {
		if se.primary() == c {
			return true
		}
	}
	return false
}

// isFull reports whether err says that the disk has no space left.
func isFull(err error) bool {
	if err == nil {
		return false // without an allocation
	}
	var se *sqliteError
	return errors.As(err, &se) && (se.primary() == lib.SQLITE_FULL || se.code == lib.SQLITE_IOERR_SHMSIZE)
}

// isBusy reports whether err says that another program holds a lock.
func isBusy(err error) bool { return isCode(err, lib.SQLITE_BUSY, lib.SQLITE_LOCKED) }

// isDamage reports whether err says that the file is damaged or not a database.
func isDamage(err error) bool { return isCode(err, lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB) }

// isOwnFault reports whether err is the fault of the change itself, so that others of its batch may still succeed.
// SQLite has then undone the statement and left the transaction open. A full disk or an I/O error fails the whole
// batch.
func isOwnFault(err error) bool {
	var de *emulator.Error
	return errors.As(err, &de) || isCode(err, lib.SQLITE_CONSTRAINT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH)
}

const textFull = "There is no space left on the disk of the message store. Receive messages, or free space there"

// domainError returns the error that completions get for a failure of the database.
func domainError(err error) error {
	var de *emulator.Error
	if errors.As(err, &de) {
		return err
	}
	result := &emulator.Error{Code: emulator.CodeInternal, Text: "The message store could not be written", Err: err}
	switch {
	case isFull(err):
		result.Code, result.Text = emulator.CodeQuotaExceeded, textFull
	case isBusy(err):
		result.Code, result.Text = emulator.CodeServerBusy, "The message store is locked by another program"
	case isCode(err, lib.SQLITE_TOOBIG):
		result.Code, result.Text = emulator.CodeMessageTooLarge, "The message is too large to be stored"
	}
	return result
}

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
