package harness

import (
	"os"
	"strings"
	"testing"
)

// CompareGoldens compares the requests that two golden files of mgmt hold, each with the status of its answer; the rest of the
// answers is for mgmt to compare. want is the one that is kept.
func CompareGoldens(t testing.TB, want, got string) {
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
