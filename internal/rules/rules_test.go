package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func TestIdsInTestNames(t *testing.T) {
	for name, want := range map[string][]string{
		"TestLOCK4_RenewSetsNowPlusDuration": {"LOCK-4"},
		"TestSCHED2_SCHED3_Cancelled":        {"SCHED-2", "SCHED-3"},
		"TestSCHED2SCHED3":                   {"SCHED-2", "SCHED-3"},
		"TestSCHED5a_Annotation":             {"SCHED-5"},
		"TestDLQR1_Reason":                   {"DLQ-R1"},
		"TestBDEL3_Twice_BDEL3":              {"BDEL-3"},
		"TestDEC21_Restart":                  {"DEC-21"},
		"TestUNLOCK4_IsNoRule":               nil,
		"TestDecode2Values":                  nil,
	} {
		if got := idsIn(name); !reflect.DeepEqual(got, want) {
			t.Errorf("idsIn(%s) = %v, want %v", name, got, want)
		}
	}
}

func TestCompareIDs(t *testing.T) {
	ids := []string{"LOCK-10", "DLQ-R1", "LOCK-9", "SEQ-2", "DLQ-17"}
	slices.SortFunc(ids, compareIDs)
	want := []string{"SEQ-2", "LOCK-9", "LOCK-10", "DLQ-17", "DLQ-R1"}
	if !slices.Equal(ids, want) {
		t.Errorf("sorted to %v, want %v", ids, want)
	}
}

// numbers holds the number of rules in some groups. docs/rules.md must list each of them, as
// claimed or with the reason why not.
var numbers = map[string]int{
	"SEQ-": 21, "TIME-": 7, "SCHED-": 26, "ORD-": 8, "PEEK-": 14, "LOCK-": 24, "RAD-": 5, "DC-": 16, "DEF-": 14,
	"DLQ-": 17, "DLQ-R": 7, "EXP-": 17, "PROP-": 13,
}

func TestEveryRuleOfTheGroupsIsListed(t *testing.T) {
	claims, err := readClaims(filepath.Join(root, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, c := range claims {
		listed[c.id] = true
		if !c.claimed() && !strings.Contains(c.status, ":") {
			t.Errorf("%s has status %q: want \"claimed\", or \"later: reason\" or \"never: reason\"", c.id, c.status)
		}
	}
	for group, count := range numbers {
		for n := 1; n <= count; n++ {
			if id := fmt.Sprintf("%s%d", group, n); !listed[id] {
				t.Errorf("%s is missing in docs/rules.md", id)
			}
		}
	}
}

func TestEveryClaimedRuleHasATest(t *testing.T) {
	tests, err := scanTests(root)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := readClaims(filepath.Join(root, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	if without := missing(claims, tests); len(without) > 0 {
		t.Errorf("claimed without a test: %s", strings.Join(without, " "))
	}
}
