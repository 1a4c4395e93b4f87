// Package spelling compares words that a person may have mistyped.
package spelling

// Distance returns the minimum number of edits that turn a into b. An edit inserts, deletes
// or replaces a letter, or swaps two neighbours.
func Distance(a, b []rune) int {
	last, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range b {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = min(replaced, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], last[j-1]+1)
			}
		}
		last, row = row, next
	}
	return row[len(b)]
}
