// Package suggest guesses what a misspelt name was meant to be.
package suggest

import "strings"

// Name returns the known name with the fewest changes from name, ignoring
// case, or "" when none is within most changes. Of equals the first wins.
func Name(name string, most int, known []string) string {
	lower := strings.ToLower(name)
	best, least := "", most+1
	for _, k := range known {
		candidate := strings.ToLower(k)
		// There are at least as many changes as the lengths differ by: a long text
		// costs nothing.
		if max(len(lower)-len(candidate), len(candidate)-len(lower)) >= least {
			continue
		}
		if d := distance(lower, candidate); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the single changes of a byte (Levenshtein) from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
