package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"minibus/emulator"
)

// TestRefusedDatabasesStayAsTheyAre: Open refuses each with an error of one line and does not write to it.
func TestRefusedDatabasesStayAsTheyAre(t *testing.T) {
	ran := func(sql string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) { run(t, path, sql) }
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string)
		want  string
	}{
		"another file":          {func(t *testing.T, p string) { write(t, p, []byte("A diary")) }, "not a Minibus database"},
		"damaged header":        {func(t *testing.T, p string) { scribble(t, p, 20, 60) }, "damaged"},
		"damaged schema":        {func(t *testing.T, p string) { scribble(t, p, 100, 4000) }, "damaged"},
		"cut off":               {func(t *testing.T, p string) { truncate(t, p, 10000) }, "damaged"},
		"of a newer version":    {ran("PRAGMA user_version=99"), "newer version of Minibus (schema 99"},
		"of an older build":     {ran("PRAGMA user_version=6"), "before the first release (schema 6"},
		"of another program":    {ran("PRAGMA application_id=7"), "not a Minibus database"},
		"newer, with a log":     {leaveLogOf("PRAGMA user_version=99"), "newer version of Minibus (schema 99"},
		"without its secret":    {ran("UPDATE namespace SET secret=x'01'"), "damaged"},
		"without its own table": {ran("DROP VIEW messages; DROP VIEW entities; DROP TABLE body"), "body"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			s := mustOpen(t, path, Options{})
			wait(t, s, putQueue(1, "q"))
			wait(t, s, insertOp(5, 1, make([]byte, 50_000)))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, path)
			before := read(t, path)
			_, err := Open(path, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v, want one line about %q", err, c.want)
			}
			if !bytes.Equal(read(t, path), before) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestDamagedRowsStopTheLoad: Load finds damage that Open cannot see.
func TestDamagedRowsStopTheLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	wait(t, s, putQueue(1, "q"))
	for i := range int64(2000) {
		begin(s, insertOp(5+i, 1+i, nil))
	}
	drain(s)
	root := int64(0)
	onWriter(s, func() { root, _ = s.writer.conn.queryInt("SELECT rootpage FROM sqlite_schema WHERE name='message'") })
	_ = s.Close()
	leaveLogOf("UPDATE namespace SET next_row=next_row+1")(t, path)
	scribble(t, path, (root-1)*pageSize, 400)
	before := read(t, path)
	s = mustOpen(t, path, Options{})
	err := s.Load(rows{})
	_ = s.Close()
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("load says %v", err)
	}
	if !bytes.Equal(read(t, path), before) {
		t.Error("the file was changed")
	}
}

// The locks keep a second Minibus out under every name of the database, or both would use the same numbers.
func TestSecondMinibusIsKeptOutUnderAnotherName(t *testing.T) {
	s := newStore(t)
	dir := t.TempDir()
	for name, link := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		other := filepath.Join(dir, name+".db")
		if err := link(s.Path(), other); err != nil {
			t.Fatal(err)
		}
		second, err := Open(other, Options{})
		if err == nil {
			_ = second.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "in use by another Minibus") {
			t.Errorf("open by a %s link says %v", name, err)
		}
	}
	wait(t, s, insertOp(5, 1, nil)) // the refused ones left SQLite's own locks alone
}

// Only the owner may read the database, its log, the lock file, and a directory that Open makes.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	path := filepath.Join(dir, "a.db")
	s := mustOpen(t, path, Options{})
	wait(t, s, putQueue(1, "q"))
	for name, want := range map[string]os.FileMode{
		dir: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + "-lock": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info, err, want)
		}
	}
}

// TestSecondMinibusIsKeptOut; a reader with a shell is not.
func TestSecondMinibusIsKeptOut(t *testing.T) {
	s := newStore(t)
	wait(t, s, insertOp(5, 1, nil))
	_, err := Open(s.Path(), Options{})
	if err == nil || !strings.Contains(err.Error(), "in use by another Minibus (process ") {
		t.Errorf("second open says %v", err)
	}
	shell, err := openConn(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer shell.close()
	n, err := shell.queryInt("SELECT count(*) FROM messages WHERE entity='q' AND state='active' AND seq=1")
	if err != nil || n != 1 {
		t.Errorf("a reader beside Minibus sees %d, %v", n, err)
	}
	wait(t, s, emulator.Op{
		Kind: emulator.OpSessionState, Record: emulator.MessageRecord{Entity: 1, SessionID: "a"}, Data: []byte("four"),
	})
	wait(t, s, rememberOp(1, 1000), rememberOp(2, 1000), rememberOp(3, 1001))
	for sql, want := range map[string]int64{
		"SELECT messages FROM entities WHERE path='q'":                       1,
		"SELECT bytes FROM sessions WHERE entity='q' AND session='a'":        4,
		"SELECT remembered FROM duplicate_detection WHERE entity='q'":        3,
		"SELECT last_seq FROM counter WHERE entity=1 AND partition=0":        1,
		"SELECT count(*) FROM history WHERE entity=1 AND length(keys) <= 32": 2,
	} {
		if n, err := shell.queryInt(sql); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", sql, n, err, want)
		}
	}
}

func TestUnwritablePlacesAreRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), nil)
	for _, path := range []string{filepath.Join(dir, "file", "a.db"), dir} {
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "b.db"), Options{Synchronous: "sometimes"}); err == nil {
		t.Error("an unknown synchronous mode was accepted")
	}
}

func TestEmptyFileAndMissingDirectoryAreFine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a.db")
	s := mustOpen(t, path, Options{})
	_ = s.Close()
	path = filepath.Join(t.TempDir(), "empty.db")
	write(t, path, nil)
	s = mustOpen(t, path, Options{})
	wait(t, s, putQueue(1, "q"))
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// TestEphemeralLeavesNothing (DEC-6): no file, and nothing kept.
func TestEphemeralLeavesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	s := mustOpen(t, "a.db", Options{Ephemeral: true})
	wait(t, s, putQueue(1, "q"))
	if s.Path() != "" {
		t.Errorf("path is %q", s.Path())
	}
	for _, stage := range []string{"while open", "after Close"} {
		if files, _ := filepath.Glob("*"); len(files) > 0 {
			t.Errorf("%s there are %v", stage, files)
		}
		_ = s.Close()
	}
	again := mustOpen(t, "a.db", Options{Ephemeral: true})
	defer again.Close()
	if err := <-begin(again, insertOp(5, 1, nil)); err == nil {
		t.Error("the next ephemeral database knows the entity of the first")
	}
}

// TestOrphanedPartsGoAtStart: pieces of a body whose message was never committed.
func TestOrphanedPartsGoAtStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	wait(t, s, putQueue(1, "q"))
	wait(t, s, insertOp(5, 1, make([]byte, 3<<20)))
	large := emulator.Change{Ops: []emulator.Op{insertOp(6, 2, make([]byte, 2<<20))}}
	onWriter(s, func() {
		if err := s.writer.writeParts(&large); err != nil {
			t.Error(err)
		}
	})
	_ = s.Close()
	s = mustOpen(t, path, Options{})
	defer s.Close()
	stored(t, s)
	onWriter(s, func() {
		if n, err := s.writer.conn.queryInt("SELECT count(*) FROM body_part"); n != 3 || err != nil {
			t.Errorf("%d parts are there (%v), want those of the one message", n, err)
		}
	})
}

// TestDatabaseUnderASymbolicLink: all files beside the database lie beside the link's target, where SQLite keeps its
// log.
func TestDatabaseUnderASymbolicLink(t *testing.T) {
	for _, there := range []bool{true, false} {
		resolved, link := filepath.Join(t.TempDir(), "real.db"), filepath.Join(t.TempDir(), "link.db")
		if err := os.Symlink(resolved, link); err != nil {
			t.Fatal(err)
		}
		if there {
			if err := mustOpen(t, resolved, Options{}).Close(); err != nil {
				t.Fatal(err)
			}
		}
		s := mustOpen(t, link, Options{})
		smallDisk(s, 16<<20)
		wait(t, s, putQueue(1, "q"))
		wait(t, s, insertOp(10, 1, make([]byte, 4000)))
		var log, held int64
		onWriter(s, func() { log, held = s.writer.disk.logSize(), fileSize(resolved+"-reserve") })
		if log == 0 || held == 0 {
			t.Errorf("the log has %d bytes, the reserve %d", log, held)
		}
		if err := os.Remove(resolved + "-wal"); err != nil {
			t.Fatal(err)
		}
		if s.files.check(0) == nil {
			t.Error("the log was deleted, and that is not noticed")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBodyWithoutAllItsPartsIsDamaged and not a shorter message.
func TestBodyWithoutAllItsPartsIsDamaged(t *testing.T) {
	s := newStore(t)
	wait(t, s, insertOp(5, 1, make([]byte, 3<<20)))
	onWriter(s, func() { _ = s.writer.conn.exec("DELETE FROM body_part WHERE part=1") })
	res := make(chan error, 1)
	r := &emulator.BodyRead{IDs: []int64{5}, Done: emulator.CompletionFunc(func(err error) { res <- err })}
	s.ReadBodies(r)
	if err := <-res; err != nil || r.Bodies[0] != nil || !strings.Contains(r.Damaged[0].Why, "2 of 3 parts") {
		t.Errorf("read %d bytes, %v, %+v", len(r.Bodies[0]), err, r.Damaged[0].Why)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func scribble(t *testing.T, path string, at, n int64) {
	t.Helper()
	b := read(t, path)
	copy(b[at:], bytes.Repeat([]byte{0x5a}, int(n)))
	write(t, path, b)
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, path, sql string) {
	t.Helper()
	c, err := openConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.exec(sql); err != nil {
		t.Fatal(err)
	}
}

// leaveLogOf changes the database only in its log, as after a kill -9.
func leaveLogOf(sql string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		c, err := openConn(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.exec("PRAGMA wal_autocheckpoint=0;" + sql); err != nil {
			t.Fatal(err)
		}
		c.leaveLog()
		c.close()
	}
}

// TestFullSyncsReachTheDisk: what a mode promises holds for the log and for the database, on macOS too.
func TestFullSyncsReachTheDisk(t *testing.T) {
	for mode, want := range map[string][3]int64{"normal": {1, 0, 0}, "full": {2, 1, 1}} {
		s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{Synchronous: mode})
		for name, c := range map[string]*conn{"writer": s.writer.conn, "checkpointer": s.checkpointer.conn} {
			var got [3]int64
			for i, pragma := range []string{"synchronous", "fullfsync", "checkpoint_fullfsync"} {
				c.mu.Lock()
				n, err := c.queryInt("PRAGMA " + pragma)
				c.mu.Unlock()
				if got[i] = n; err != nil {
					t.Fatal(err)
				}
			}
			if got != want {
				t.Errorf("%s, %s: synchronous, fullfsync and checkpoint_fullfsync are %v, want %v", mode, name, got, want)
			}
		}
		must(t, s.Close())
	}
}
