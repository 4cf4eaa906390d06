package config

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLoadReadsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Config.json")
	if err := os.WriteFile(path, []byte(queueProps("")), 0o600); err != nil {
		t.Fatal(err)
	}
	topology, report, err := Load([]string{path}, ProfileRelaxed)
	if err != nil || report.Err() != nil || len(topology.Entities) != 1 {
		t.Errorf("%+v, %v, %v", topology, report.Findings, err)
	}
}

func TestLoadSaysWhyAFileCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ path, want string }{
		{dir, "is a directory, not a file; container engines make one"},
		{filepath.Join(dir, "missing.json"), "missing.json does not exist; correct --config"},
		{filepath.Join(dir, "a\x00b"), "invalid argument"},
	} {
		_, _, err := Load([]string{tt.path}, ProfileRelaxed)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", tt.path, err)
		}
	}
}

// Root may read everything, so the test checks the hint in the function that makes the error.
func TestDEC8_UnreadableFileGetsAChmodHint(t *testing.T) {
	err := explain("/x/Config.json", os.ErrPermission)
	if err == nil || !strings.Contains(err.Error(), "run: chmod a+r /x/Config.json") {
		t.Errorf("error %v", err)
	}
}

func TestLoadRefusesAHugeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxFileSize+1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load([]string{path}, ProfileRelaxed); err == nil || !strings.Contains(err.Error(), "is larger than 64 MiB") {
		t.Errorf("error %v", err)
	}
}

func TestFindPrefersTheNamedFile(t *testing.T) {
	if files := Find("x.json\ny.json"); !slices.Equal(files, []string{"x.json", "y.json"}) {
		t.Errorf("%q", files)
	}
	_, statErr := os.Stat(standardPath)
	if files := Find(""); len(files) > 0 != (statErr == nil) || len(files) > 0 && files[0] != standardPath {
		t.Errorf("%q", files)
	}
}

func TestExamplesAreUsable(t *testing.T) {
	files, err := filepath.Glob("examples/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		_, report, err := Load([]string{file}, ProfileRelaxed)
		if err != nil || report.Err() != nil || report.Count(Warning) != 0 {
			t.Errorf("%s: %v, %v", file, err, report.Findings)
		}
	}
}

// TestLoadTakesStandardInputAsOneOfTheFiles and both count together.
func TestLoadTakesStandardInputAsOneOfTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Config.json")
	if err := os.WriteFile(path, []byte(queueProps("")), 0o600); err != nil {
		t.Fatal(err)
	}
	input := strings.Replace(queueProps(`"ForwardTo": "ORDERS"`), `"orders"`, `"more"`, 1)
	topology, report, err := LoadFrom([]string{path, Input}, bufio.NewReader(strings.NewReader(input)), false, ProfileRelaxed)
	if err != nil || report.Err() != nil || len(topology.Entities) != 2 || topology.Entities[1].Queue.ForwardTo != topology.Entities[0].Path {
		t.Errorf("%+v, %v, %v", topology, report.Findings, err)
	}
}
