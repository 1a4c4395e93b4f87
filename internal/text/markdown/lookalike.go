package markdown

import "github.com/askback/askback/internal/text/lookalike"

// Skeleton returns s with letters that look Latin replaced by Latin letters. Two names
// with the same skeleton look alike.
func Skeleton(s string) string { return lookalike.Latin(s) }
