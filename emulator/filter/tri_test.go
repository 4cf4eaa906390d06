package filter

import (
	"fmt"
	"testing"
)

// The truth tables of three-valued logic, written out, with the columns in the order True, False, Unknown.
func TestThreeValuedLogicTables(t *testing.T) {
	order := []Tri{True, False, Unknown}
	and := [][]Tri{{True, False, Unknown}, {False, False, False}, {Unknown, False, Unknown}}
	or := [][]Tri{{True, True, True}, {True, False, Unknown}, {True, Unknown, Unknown}}
	not := []Tri{False, True, Unknown}
	term := map[Tri]string{True: "quantity = 10", False: "quantity = 11", Unknown: "missing = 1"}
	for i, a := range order {
		if got := a.not(); got != not[i] {
			t.Errorf("NOT %v = %v, want %v", a, got, not[i])
		}
		evalM(t, expect{"NOT " + term[a], not[i]})
		for j, b := range order {
			if got := a.and(b); got != and[i][j] {
				t.Errorf("%v AND %v = %v, want %v", a, b, got, and[i][j])
			}
			if got := a.or(b); got != or[i][j] {
				t.Errorf("%v OR %v = %v, want %v", a, b, got, or[i][j])
			}
			evalM(t, expect{fmt.Sprintf("%s AND %s", term[a], term[b]), and[i][j]},
				expect{fmt.Sprintf("%s OR %s", term[a], term[b]), or[i][j]})
		}
	}
}

// When a result is unknown, construct by construct.
func TestUnknownOperands(t *testing.T) {
	evalM(t,
		expect{"missing + 1 = 1", Unknown}, expect{"-missing = 1", Unknown}, expect{"1 - empty = 1", Unknown},
		expect{"color = NULL", Unknown}, expect{"color <> NULL", Unknown}, expect{"empty = NULL", Unknown},
		expect{"missing < 1", Unknown}, expect{"missing >= 1", Unknown}, expect{"missing != missing", Unknown},
		expect{"missing LIKE '%'", Unknown}, expect{"missing NOT LIKE '%'", Unknown}, expect{"color LIKE missing", Unknown},
		expect{"color LIKE 'b%' ESCAPE missing", Unknown},
		expect{"missing IN (1, 2)", Unknown}, expect{"quantity IN (missing, 10)", True},
		expect{"quantity IN (missing, 11)", Unknown}, expect{"quantity NOT IN (missing, 11)", Unknown},
		expect{"quantity NOT IN (missing, 10)", False}, expect{"quantity IN (NULL)", Unknown},
		expect{"p(missing) = 1", Unknown}, expect{"p(color) IS NULL", True},
		expect{"missing + 1 IS NULL", True}, expect{"1 IS NOT NULL", True}, expect{"NULL IS NULL", True})
}

func TestTriNames(t *testing.T) {
	if got := fmt.Sprint(True, Unknown, False); got != "true unknown false" {
		t.Errorf("names are %q", got)
	}
}
