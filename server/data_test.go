package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/config"
)

func nobody(string) {}

// blocked returns a path under which not even root can make a file: its parent is a file.
func blocked(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(file, "minibus.db")
}

func TestDEC6_GivenPathMustBeWritable(t *testing.T) {
	_, err := chooseData(config.Settings{Data: blocked(t)}, nobody)
	if err == nil || !strings.Contains(err.Error(), "cannot be written") || !strings.Contains(err.Error(), "--ephemeral") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

func TestDEC6_DefaultPathGivesWayToMemoryWithOneLine(t *testing.T) {
	d, err := chooseData(config.Settings{DataDefault: blocked(t)}, nobody)
	if err != nil || !d.ephemeral || !strings.Contains(d.note, "messages are kept in memory only") || strings.Contains(d.note, "\n") {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDEC6_PathsInTheirOrder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", dir)
	for _, tt := range []struct {
		s    config.Settings
		want string
	}{
		{config.Settings{}, filepath.Join(dir, "minibus", "minibus.db")},
		{config.Settings{DataDefault: filepath.Join(dir, "image", "x.db")}, filepath.Join(dir, "image", "x.db")},
		{config.Settings{DataDefault: filepath.Join(dir, "image", "x.db"), Data: filepath.Join(dir, "mine", "y.db")}, filepath.Join(dir, "mine", "y.db")},
		{config.Settings{Data: filepath.Join(dir, "z.db"), Ephemeral: true}, ""},
	} {
		owned := "unset"
		d, err := chooseData(tt.s, func(path string) { owned = path })
		if err != nil || d.path != tt.want || d.ephemeral != (tt.want == "") || owned != tt.want || d.note != "" {
			t.Errorf("%+v: %+v, %v, owner asked for %q", tt.s, d, err, owned)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "mine"))
	if err != nil || len(entries) != 0 {
		t.Errorf("the trial left %d files, %v", len(entries), err)
	}
}

func TestDEC6_WithoutAHomeThereIsMemory(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("HOME", "")
	d, err := chooseData(config.Settings{}, nobody)
	if err != nil || !d.ephemeral || !strings.Contains(d.note, "no home directory") {
		t.Errorf("%+v, %v", d, err)
	}
}
