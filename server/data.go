package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"minibus/config"
)

// dataChoice says where to keep the messages.
type dataChoice struct {
	path      string // database file; empty if ephemeral
	ephemeral bool
	note      string // why the default path is not used; one line, usually empty
}

// dir returns the directory of the database.
func (d dataChoice) dir() string { return filepath.Dir(d.path) }

// chooseData decides where to keep the messages (DEC-6). A path in the settings must work. If the default path does
// not, it chooses memory, with a note. It calls own with the path after it has made the directory and before it
// tries the path, to change the user of the process; own("") without a path.
func chooseData(s config.Settings, own func(path string)) (dataChoice, error) {
	if s.Ephemeral {
		own("")
		return dataChoice{ephemeral: true}, nil
	}
	path, given := s.Data, true
	if path == "" {
		given = false
		var err error
		if path, err = DefaultData(s.DataDefault); err != nil {
			own("")
			return dataChoice{ephemeral: true, note: "messages are kept in memory only: " + err.Error()}, nil
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return dataChoice{}, fmt.Errorf("find the database: %w", err)
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = checkKind(path)
	}
	if err == nil {
		own(path)
		err = tryWrite(path)
	}
	err = plain(err)
	switch {
	case err == nil:
		return dataChoice{path: path}, nil
	case given:
		return dataChoice{}, fmt.Errorf("the database %s cannot be written: %w; correct --data, or use --ephemeral",
			path, err)
	}
	return dataChoice{ephemeral: true,
		note: fmt.Sprintf("messages are kept in memory only: %s cannot be written (%v); give --data FILE to keep "+
			"them, --ephemeral to silence this", path, err)}, nil
}

// DefaultData returns the image's path, or minibus.db in the user's data directory.
func DefaultData(image string) (string, error) {
	if image != "" {
		return image, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, "minibus", "minibus.db"), nil
	}
	if dir := os.Getenv("LOCALAPPDATA"); dir != "" && runtime.GOOS == "windows" {
		return filepath.Join(dir, "Minibus", "minibus.db"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("this user has no home directory; give --data FILE to keep them")
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "Minibus", "minibus.db"), nil
	}
	return filepath.Join(home, ".local", "share", "minibus", "minibus.db"), nil
}

// CheckDatabase returns why no server can open a database at a path, if there is a reason. It changes nothing.
func CheckDatabase(path string) error {
	err := checkKind(path)
	if err == nil {
		err = tryWrite(path)
	}
	return plain(err)
}

// checkKind refuses a path under which, or beside which, something lies that can be no file of a database. Opening a
// named pipe would wait for somebody who writes to it.
func checkKind(path string) error {
	for _, p := range []string{path, path + "-wal", path + "-shm", path + "-lock"} {
		info, err := os.Stat(p)
		switch {
		case err != nil || info.Mode().IsRegular():
		case p != path:
			return fmt.Errorf("%s belongs to it and is not a file", p)
		case info.IsDir():
			return errors.New("it is a directory")
		default:
			return errors.New("it is a named pipe, a device or a socket, not a file")
		}
	}
	return nil
}

// tryWrite checks that the database can be opened for writing and that files can be made beside it.
func tryWrite(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil:
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("open it: %w", err)
		}
		_ = f.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look at it: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".minibus-*")
	if errors.Is(err, syscall.ENOSPC) && info != nil {
		return nil // the store has space in its files, or says what it lacks
	}
	if err != nil {
		return fmt.Errorf("make a file beside it: %w", err)
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return nil
}

// plain removes the operation and the path from an error of the os package, because the message around it names them.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
