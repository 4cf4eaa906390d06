package harness

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// UpdateFlag adds the flag -update, for [Goldens], to a package's tests.
func UpdateFlag() *bool {
	return flag.Bool("update", false, "write the golden files of mgmt anew; then let its tests write the answers: go test ./mgmt -update")
}

// Goldens records an SDK's requests into files of these names in a directory, and compares them with the golden files that
// mgmt replays without the SDK. With update, the recorded files replace the golden ones.
func Goldens(t testing.TB, update bool, record func(dir string), names ...string) {
	t.Helper()
	dir := t.TempDir()
	record(dir)
	for _, name := range names {
		golden, recorded := filepath.Join("../../mgmt/testdata/golden", name), filepath.Join(dir, name)
		if update {
			text, err := os.ReadFile(recorded)
			if err != nil {
				t.Fatalf("read what was recorded: %v", err)
			}
			if err := os.WriteFile(golden, text, 0o644); err != nil {
				t.Fatalf("write golden file: %v", err)
			}
		}
		compareGoldens(t, golden, recorded)
	}
}

// compareGoldens compares the requests in two golden files of mgmt, and the status of each answer; mgmt compares the rest of the
// answers. want is the stored file.
func compareGoldens(t testing.TB, want, got string) {
	t.Helper()
	wanted, recorded := requests(t, want), requests(t, got)
	if len(wanted) == 0 {
		t.Errorf("%s holds no exchange", want)
	}
	for i := range max(len(wanted), len(recorded)) {
		if i >= len(wanted) || i >= len(recorded) || wanted[i] != recorded[i] {
			t.Errorf("%s: exchange %d changed; run the test with -update and look at the difference", want, i+1)
			return
		}
	}
}

func requests(t testing.TB, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("read golden file: %v", err)
	}
	var list []string
	for exchange := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n===") {
		if exchange == "" {
			continue
		}
		request, answer, _ := strings.Cut(exchange, "\n--- ")
		status, _, _ := strings.Cut(answer, "\n")
		list = append(list, request+"\n--- "+status)
	}
	return list
}
