package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"minibus/internal/filelock"
)

// Server is a Minibus that runs.
type Server struct {
	PID      int       `json:"pid"`
	Version  string    `json:"version"`
	Address  string    `json:"address"`            // host and port for clients on this machine
	Explorer string    `json:"explorer,omitempty"` // URL; empty: it has none
	Data     string    `json:"data,omitempty"`     // file of the database; empty: in memory
	CA       string    `json:"ca,omitempty"`       // file of its CA certificate; empty: in memory, or not its own
	Started  time.Time `json:"started"`
}

// Dir returns the directory with the files of this user.
func Dir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(cache, "minibus", "running"), nil
}

// Entry is the file of a server.
type Entry struct{ file *os.File }

// pattern matches the names of the files; each has a random part in the middle.
const pattern = "minibus-*.json"

// births bounds how often Announce tries: [List] may have a new file locked for a moment.
const births = 10

// Announce makes the file of a server. The caller removes it when the server no longer listens.
func Announce(dir string, s Server) (*Entry, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the entry: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for range births {
		var f *os.File
		if f, err = os.CreateTemp(dir, pattern); err != nil {
			return nil, err
		}
		e := &Entry{f}
		if err = filelock.Try(f); err == nil {
			if _, err = f.Write(text); err == nil {
				return e, nil
			}
		}
		e.Remove()
		if !errors.Is(err, filelock.ErrLocked) {
			break
		}
	}
	return nil, fmt.Errorf("lock the entry: %w", err)
}

// Remove removes the file.
func (e *Entry) Remove() {
	name := e.file.Name()
	_ = filelock.Close(e.file) // before the removal, or Windows refuses that
	_ = os.Remove(name)        // List does it otherwise
}

// List returns the servers that run, the oldest first. It removes the files of those that are gone.
func List(dir string) ([]Server, error) {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var all []Server
	for _, name := range files {
		if s, ok := read(name); ok {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(x, y Server) int { return x.Started.Compare(y.Started) })
	return all, nil
}

// birth is how long a file may be empty and not locked yet.
const birth = time.Minute

// read reads the file of a server. If that is gone it removes the file.
func read(name string) (s Server, ok bool) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return s, false // gone meanwhile, or another user's
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	if err != nil {
		return s, false
	}
	if err := filelock.Try(f); err != nil {
		return s, errors.Is(err, filelock.ErrLocked) && json.Unmarshal(text, &s) == nil
	}
	info, err := f.Stat()
	if err != nil || len(text) == 0 && time.Since(info.ModTime()) < birth {
		return s, false
	}
	_ = f.Close()
	_ = os.Remove(name)
	return s, false
}
