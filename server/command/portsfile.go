package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"minibus/config"
	"minibus/internal/filelock"
)

// writePorts writes the ports to a temporary file and renames it: programs that wait for the file find it complete.
func writePorts(path string, ports config.Ports) error {
	data, err := json.Marshal(ports)
	if err != nil {
		return fmt.Errorf("encode the ports: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".minibus-ports-*")
	if err != nil {
		return fmt.Errorf("write the ports file %s: %w", path, plain(err))
	}
	defer func() { _ = os.Remove(f.Name()) }() // has no effect once it is renamed
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the ports file %s: %w", path, err)
	}
	return nil
}

// publication is the ports file of a process. The file exists only while its ports serve, and the process has it
// locked as long as it is there, so that another one with the same path leaves it alone. A path that is empty means
// that there is none.
type publication struct {
	path string
	file *os.File // nil before there is one
}

// clear removes the file of a process that has ended without doing so.
func (p *publication) clear() error {
	if p.path == "" {
		return nil
	}
	info, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("the ports file %s is not a file; correct --ports-file", p.path)
	}
	if err := p.lock(); err != nil {
		return err
	}
	return p.remove()
}

// write makes the file.
func (p *publication) write(ports config.Ports) error {
	if p.path == "" {
		return nil
	}
	if err := p.clear(); err != nil { // another process may have begun with ours
		return err
	}
	if err := writePorts(p.path, ports); err != nil {
		return err
	}
	return p.lock()
}

// lock takes the file that is at the path.
func (p *publication) lock() error {
	f, err := os.OpenFile(p.path, os.O_RDWR, 0)
	if err == nil {
		err = filelock.Try(f)
	}
	switch {
	case err == nil:
		p.file = f
		return nil
	case f != nil:
		_ = f.Close() // nothing was written
	}
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("the ports file %s belongs to another Minibus, which is running: stop that one, or name "+
			"another file with --ports-file", p.path)
	}
	return fmt.Errorf("lock the ports file %s: %w", p.path, plain(err))
}

// remove removes the file that lock has taken, unless another one has taken its place.
func (p *publication) remove() error {
	if p.file == nil {
		return nil
	}
	ours, err := p.file.Stat()
	_ = filelock.Close(p.file) // before the removal, or Windows refuses that
	p.file = nil
	if now, statErr := os.Stat(p.path); err != nil || statErr != nil || !os.SameFile(ours, now) {
		return nil
	}
	if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the ports file %s: %w", p.path, plain(err))
	}
	return nil
}
