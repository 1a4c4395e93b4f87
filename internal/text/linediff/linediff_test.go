package linediff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/askback/askback/internal/text/linediff"
)

func signs(lines []linediff.Line) (out string) {
	for _, l := range lines {
		out += string(l.Sign) + l.Text
	}
	return out
}

// Removed lines come before added lines, and the number of unchanged lines is as large as possible.
func TestCompareReturnsRemovedAndAddedLines(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"", "", ""},
		{"", "x", "+x"},
		{"x", "", "-x"},
		{"a b c", "a x c", " a-b+x c"},
		{"a b c d", "b d e", "-a b-c d+e"},
		{"a a", "a a a", " a a+a"},
		{"a b", "b a", "-a b+a"},
	} {
		if got := signs(linediff.Compare(strings.Fields(tt.a), strings.Fields(tt.b))); got != tt.want {
			t.Errorf("%q and %q: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// Without the added lines, the comparison is the first text. Without the removed lines, it is the second
// text.
func TestComparisonContainsBothTexts(t *testing.T) {
	text := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		var before, after []string
		for _, l := range linediff.Compare(a, b) {
			if l.Sign != '+' {
				before = append(before, l.Text)
			}
			if l.Sign != '-' {
				after = append(after, l.Text)
			}
		}
		if !slices.Equal(before, a) || !slices.Equal(after, b) {
			t.Fatalf("got %q and %q, want %q and %q", before, after, a, b)
		}
	})
}

// Long texts are not compared between the first and the last change.
func TestMiddleOfLongTextsIsNotCompared(t *testing.T) {
	var a, b []string
	for i := range 1200 {
		a, b = append(a, fmt.Sprint("a", i), "same"), append(b, fmt.Sprint("b", i), "same")
	}
	got := linediff.Compare(a, b)
	if len(got) != 2*2399+1 || got[0].Sign != '-' || got[4797].Sign != '+' || got[4798].Sign != ' ' {
		t.Errorf("got %d lines", len(got))
	}
}
