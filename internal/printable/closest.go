package printable

import "strings"

// longest is how many bytes of a word are compared. The time is the product of the lengths.
const longest = 300

// Closest returns the candidate nearest to s, or "" if none is near enough for a guess. Case does not matter.
func Closest(s string, candidates []string) string {
	word := strings.ToLower(s[:min(len(s), longest)])
	best, bestDistance := "", len(word)/3+1
	for _, c := range candidates {
		if apart := len(c) - len(word); apart > bestDistance || -apart > bestDistance {
			continue // so many letters are missing at least
		}
		if n := distance(word, strings.ToLower(c)); n <= bestDistance && (best == "" || n < bestDistance) {
			best, bestDistance = c, n
		}
	}
	return best
}

// distance returns the number of characters to insert, delete or replace, or of neighbours to swap, to get from a to b.
func distance(a, b string) int {
	row, before, old := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		old, before, row = before, row, old
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := before[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			row[j] = min(cost, before[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], old[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
