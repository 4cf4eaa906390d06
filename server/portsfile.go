package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// portsFile is the content of --ports-file: the number of each bound port. It omits ports that are off.
type portsFile struct {
	AMQP  int   `json:"amqp,omitempty"`
	TLS   int   `json:"tls,omitempty"`
	HTTP  int   `json:"http,omitempty"`
	Extra []int `json:"extra,omitempty"` // in the order of --extra-ports

	Namespaces map[string]int `json:"namespaces,omitempty"` // ports of their own, by name
}

// writeFile writes the ports to a temporary file and renames it: programs that wait for the file find it complete.
func (p portsFile) writeFile(path string) error {
	data, err := json.Marshal(p)
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

// removePortsFile removes the ports file, so that it exists only while its ports serve: at the start, once the ports are bound, the
// file of an earlier process, and at the end our own. Before the ports are bound the file may belong to a Minibus that runs. It does
// nothing for an empty path.
func removePortsFile(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the ports file %s: %w", path, plain(err))
	}
	return nil
}

// readPortsFile reads the ports of another process.
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
