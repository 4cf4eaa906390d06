package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkOut checks --out before a command does its work.
func checkOut(what, path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("write %s: %s is a directory: name a file in it with --out", what, path)
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: the directory %s does not exist: make it, or correct --out", what, dir)
	}
	return nil
}

// outError says that --out can't be written.
func outError(what, path string, err error) error {
	return fmt.Errorf("write %s: %s can't be written: %w; correct --out", what, path, plain(err))
}

// plain removes the operation and the path from an error of the os package, because the message around it names them.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
