package store

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// rowBlock is how many ids are reserved at a time. A kill -9 skips at most this many; no id is used twice.
const rowBlock = 1 << 16

// Open opens or creates the database and starts the goroutines. The caller must call Close.
//
// Open refuses a file that is damaged, not a Minibus database, made by a newer version, or in use by another Minibus.
// The error is one line, and the file stays as it is.
func Open(path string, o Options) (*Store, error) {
	s := &Store{path: path, log: o.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Ephemeral {
		s.path = ""
		path = ":memory:"
	}
	sync, err := synchronous(o.Synchronous)
	if err != nil {
		return nil, err
	}
	if !o.Ephemeral {
		if s.lock, err = claim(path); err != nil {
			return nil, err
		}
		path = realPath(path)
		s.path = path
	}
	if err := s.open(path, sync, o.Ephemeral); err != nil {
		s.lock.release()
		return nil, err
	}
	if !o.Ephemeral {
		s.place = remember(path, s.log)
	}
	go s.writer.run()
	go s.reader.run()
	if s.checkpointer != nil {
		go s.checkpointer.run()
	}
	return s, nil
}

func synchronous(s string) (pragma string, err error) {
	switch s {
	case "", "normal":
		return "NORMAL", nil
	case "full":
		return "FULL", nil
	}
	return "", fmt.Errorf("open the message store: synchronous is %q, allowed are normal and full", s)
}

// cureForeign says what to do about a file that is not a Minibus database.
const cureForeign = "name another file with --data; one that does not exist is made"

// claim makes the directory, checks that the file can be a database, and locks it against other processes.
func claim(path string) (*fileLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of database %s: %w", path, err)
	}
	if err := checkMagic(path); err != nil {
		return nil, err
	}
	return lockDatabase(path)
}

// checkMagic refuses a file that cannot be an SQLite database, before anything is written beside it.
func checkMagic(path string) error {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open database %s: %w", path, err)
	}
	defer f.Close()
	magic := []byte("SQLite format 3\x00")
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	if n == 0 && errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("read database %s: %w", path, err)
	}
	if !bytes.Equal(head[:n], magic) {
		return fmt.Errorf("open database %s: this is not a Minibus database, or it is damaged: %s", path, cureForeign)
	}
	return nil
}

// open makes the connections, the writer, the reader and the checkpointer.
func (s *Store) open(path, sync string, ephemeral bool) error {
	if !ephemeral {
		room := newRoom(path)
		room.prepare()
	}
	c, err := openDatabase(path, sync, s.log)
	if err != nil {
		return err
	}
	rc := c
	if !ephemeral {
		if rc, err = openConn(path); err != nil {
			c.close()
			return openError(path, err)
		}
	}
	err = s.build(c, rc, ephemeral)
	if err == nil && !ephemeral {
		s.checkpointer, err = newCheckpointer(s, path, sync)
	}
	if err != nil {
		if rc != c {
			rc.close()
		}
		c.leaveLog()
		c.close()
		return openError(path, err)
	}
	return nil
}

func (s *Store) build(c, rc *conn, ephemeral bool) error {
	w := &writer{s: s, conn: c, entities: map[int64]*entityState{}, patience: patience, goneDue: goneTogether, room: newRoom(s.path)}
	if err := w.st.prepare(c); err != nil {
		return err
	}
	if err := w.prepareCare(ephemeral); err != nil {
		return err
	}
	if err := w.readState(); err != nil {
		return err
	}
	r, err := newReader(s, rc)
	if err != nil {
		return err
	}
	s.writer, s.reader, s.nextRow = w, r, w.reserved
	s.inbox.init()
	s.reads.init()
	if s.created, err = c.queryInt("SELECT 1000*unixepoch(value) FROM meta WHERE ns=1 AND key='created'"); err != nil {
		return err
	}
	return s.readSecret()
}

// readState fetches the reservation of ids and the entities.
func (w *writer) readState() error {
	next, err := w.conn.queryInt("SELECT value FROM meta WHERE ns=1 AND key='next_row'")
	if err != nil {
		return err
	}
	w.reserved, w.high = next, next-1
	if err := w.readEntities(); err != nil {
		return err
	}
	parts, err := w.conn.queryInt("SELECT EXISTS(SELECT 1 FROM body_part)")
	w.hasParts = parts != 0
	return err
}

// tidy removes what a crash left behind. It runs before the first change, and not in Open, because a database whose
// Load fails must stay as it is.
func (w *writer) tidy() {
	w.tidied = true
	w.takeOverLog()
	w.resumeSweep()
	for _, e := range w.entities {
		if e.historyFrom > 0 {
			w.prune(e)
		}
	}
	if !w.hasParts {
		return
	}
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	const sql = "DELETE FROM body_part WHERE body NOT IN (SELECT id FROM body)"
	if err := w.withReserve(func() error { return w.conn.exec(sql) }); err != nil {
		w.s.log.Warn("parts of unfinished messages stay until the next start", "error", err)
	}
}

func (w *writer) readEntities() error {
	st, err := w.conn.prepare("SELECT id, path, history_from, deleted FROM entity")
	if err != nil {
		return err
	}
	defer st.finalize()
	for {
		row, err := st.step()
		if err != nil || !row {
			return err
		}
		e := &entityState{
			id: st.columnInt(0), path: string(st.columnView(1)), historyFrom: st.columnInt(2), dead: st.columnInt(3) != 0,
		}
		w.entities[e.id] = e
	}
}

// readSecret fetches the secret of the database, and makes one if it is missing.
func (s *Store) readSecret() error {
	c := s.writer.conn
	st, err := c.prepare("SELECT value FROM meta WHERE ns=1 AND key='secret'")
	if err != nil {
		return err
	}
	defer st.finalize()
	row, err := st.step()
	if err != nil {
		return err
	}
	if row {
		n := copy(s.secret[:], st.columnView(0))
		st.reset()
		if n != len(s.secret) {
			return fmt.Errorf("the secret has %d bytes: %w", n, &sqliteError{code: codeCorrupt, text: "malformed content"})
		}
		return nil
	}
	if _, err := rand.Read(s.secret[:]); err != nil {
		return fmt.Errorf("make a secret: %w", err)
	}
	ins, err := c.prepare("INSERT INTO meta(ns, key, value) VALUES(1, 'secret', ?)")
	if err != nil {
		return err
	}
	defer ins.finalize()
	if err := ins.bindBlob(1, s.secret[:]); err != nil {
		return err
	}
	return ins.exec()
}

// finish runs on the goroutine of Close when the writer's own has ended. It gives back the unused ids and empties the
// log. It does not touch a database that turned out to be damaged.
func (w *writer) finish() error {
	if len(w.gone) > 0 && !w.s.damaged.Load() {
		w.goneDue = 0
		w.removeGone()
	}
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	if w.s.damaged.Load() {
		w.conn.leaveLog()
		return nil
	}
	err := w.withReserve(func() error {
		if !w.tidied {
			return nil
		}
		return w.writeNextRow(w.high + 1)
	})
	if err == nil && w.care.durable {
		err = w.emptyLog()
	}
	if isFull(err) {
		w.s.log.Warn("the disk is full: the log stays beside the database, and the next start reads it", "error", err)
		w.conn.leaveLog()
		return nil
	}
	if err != nil {
		return fmt.Errorf("close database %s: %w", w.s.path, err)
	}
	return nil
}

// emptyLog copies all of the log into the file, if need be with the reserve's room.
func (w *writer) emptyLog() error {
	err := w.conn.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE)
	if isFull(err) {
		w.room.reserve.release()
		err = w.conn.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE)
		w.room.look()
	}
	return err
}

var _ emulator.Journal = (*Store)(nil)
