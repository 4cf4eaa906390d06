package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

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
		before := find(path)
		if s.lock, err = claim(path); err != nil {
			return nil, err
		}
		path = realPath(path)
		s.path = path
		before.tell(path, s.lock.left, s.log)
	}
	if err := s.open(path, sync, o.Ephemeral); err != nil {
		s.lock.release()
		return nil, err
	}
	if !o.Ephemeral {
		s.files = identify(path, s.log)
		s.files.databaseLength.Store(s.databaseLength())
		s.lock.note(true)
	}
	s.inline = sync == syncNormal
	go s.writer.run()
	go s.reader.run()
	if s.checkpointer != nil {
		go s.checkpointer.run()
	}
	return s, nil
}

// Pragmas of the modes of Options.Synchronous. On macOS a sync leaves the disk's cache alone unless it is a full one;
// elsewhere that changes nothing.
const (
	syncNormal = "PRAGMA synchronous=NORMAL"
	syncFull   = "PRAGMA synchronous=FULL; PRAGMA fullfsync=ON; PRAGMA checkpoint_fullfsync=ON"
)

func synchronous(s string) (pragmas string, err error) {
	switch s {
	case "", "normal":
		return syncNormal, nil
	case "full":
		return syncFull, nil
	}
	return "", fmt.Errorf("open the message store: synchronous is %q, allowed are normal and full", s)
}

// fixForeign says what to do about a file that is not a Minibus database.
const fixForeign = "name another file with --data; one that does not exist is made"

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
		return fmt.Errorf("open database %s: this is not a Minibus database, or it is damaged: %s", path, fixForeign)
	}
	return nil
}

// open makes the connections, the writer, the reader and the checkpointer.
func (s *Store) open(path, sync string, ephemeral bool) error {
	if !ephemeral {
		disk := newDiskSpace(nil, path)
		disk.freeForStart()
	}
	c, err := openDatabase(path, sync, s.log)
	if err != nil {
		return err
	}
	rc := c
	if !ephemeral {
		rc, err = openConn(path)
	}
	if err == nil {
		s.writer, err = newWriter(s, c, ephemeral)
	}
	if err == nil {
		s.reader, err = newReader(s, rc)
	}
	if err == nil {
		s.loads, err = newLoads(rc)
	}
	if err == nil && !ephemeral {
		s.checkpointer, err = newCheckpointer(s, path, sync)
	}
	if err != nil {
		if rc != nil && rc != c {
			rc.close()
		}
		c.leaveLog()
		c.close()
		return openError(path, err)
	}
	s.journal = s.journalOf(emulator.DefaultNamespaceID)
	s.inbox.init()
	s.reads.init()
	return nil
}
