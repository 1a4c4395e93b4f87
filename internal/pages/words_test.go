package pages

import (
	"slices"
	"strings"
	"testing"
)

// A long identifier may be broken between its parts only, and stays the same text.
func TestLongWordsBreakBetweenTheirParts(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"PostgreSQL":                     "PostgreSQL",
		"TestCheckoutSplitPayments":      "Test|Checkout|Split|Payments",
		"keep TestCheckoutSplitPayments": "keep Test|Checkout|Split|Payments",
		"internal/text/view/outcome.go":  "internal/|text/|view/|outcome.|go",
		"orders_v2_backup_of_november":   "orders_|v2_|backup_|of_|november",
		"a sentence of many short words": "a sentence of many short words",
		"aws_instance.runner[0]":         "aws_|instance.|runner[0]",
		"XMLHTTPRequestHandler2Test":     "XMLHTTPRequest|Handler2|Test",
		"größeÄnderungDerMaße":           "größe|Änderung|Der|Maße",
		"a\nTestCheckoutSplitPayments  ": "a\nTest|Checkout|Split|Payments  ",
		"........................./":     "........................./",
	} {
		got := wordParts(text)
		if strings.Join(got, "|") != want || strings.Join(got, "") != text || want != "" && slices.Contains(got, "") {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
