package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// portsFile is what --ports-file gets: what each port became. A port that is off is left out.
type portsFile struct {
	AMQP  int   `json:"amqp,omitempty"`
	TLS   int   `json:"tls,omitempty"`
	HTTP  int   `json:"http,omitempty"`
	Extra []int `json:"extra,omitempty"` // in the order of --extra-ports
}

// writeFile writes the ports under a temporary name and renames it: whoever waits for the file to appear finds it complete.
func (p ports) writeFile(path string) error {
	data, err := json.Marshal(portsFile{p.amqp, p.tls, p.http, p.extra})
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

// removePortsFile removes the file of an earlier start before the ports are bound, and our own when they are about to close, so
// that the file is there only while its ports serve. An empty path names none.
func removePortsFile(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the ports file %s: %w", path, plain(err))
	}
	return nil
}

// readPortsFile reads what another process wrote.
func readPortsFile(path string) (portsFile, error) {
	var p portsFile
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read the ports file %s: %w", path, err)
	}
	return p, nil
}
