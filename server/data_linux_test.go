package server

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"minibus/config"
)

// Opening a named pipe waits for somebody at its other end, so the start would wait for ever.
func TestDEC6_WhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	pipe, besides := filepath.Join(dir, "pipe"), filepath.Join(dir, "minibus.db")
	for _, path := range []string{pipe, besides + "-wal"} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{pipe: "not a file", "/dev/null": "not a file", besides: "minibus.db-wal belongs to it and is not a file"} {
		_, err := chooseData(config.Settings{Data: path}, func(string) { t.Errorf("%s: its owner would change", path) })
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--data") {
			t.Errorf("%s: %v", path, err)
		}
		if d, err := chooseData(config.Settings{DataDefault: path}, nobody); err != nil || !d.ephemeral || !strings.Contains(d.note, want) {
			t.Errorf("%s by default: %+v, %v", path, d, err)
		}
	}
}
