package safetext_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/askback/askback/internal/text/safetext"
)

func rows(texts []safetext.Text) []string {
	var s []string
	for _, t := range texts {
		s = append(s, t.String())
	}
	return s
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	tests := []struct {
		in    string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"four to be", 5, []string{"four", "to be"}},
		{"one   two", 5, []string{"one", "two"}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"  indented text", 10, []string{"  indented", "text"}},
		{"abcdefgh ij", 3, []string{"abc", "def", "gh", "ij"}},
		{"well-known", 6, []string{"well-", "known"}},
		{"数据库数据库", 5, []string{"数据", "库数", "据库"}},
		{"👩\u200d👧👩\u200d👧 🇩🇪🇫🇷", 4, []string{"👩\u200d👧", "👩\u200d👧", "🇩🇪", "🇫🇷"}},
		{"👩\u200d👧", 3, []string{"👩\u200d", "👧"}},
		{strings.Repeat("\u1100", 4), 5, []string{"\u1100\u1100", "\u1100\u1100"}},
		{strings.Repeat("\uff9e", 5), 3, []string{strings.Repeat("\uff9e", 3), "\uff9e\uff9e"}},
		{"😀🏽🏽🏽", 4, []string{"😀🏽", "🏽🏽"}},
		{"e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"宽", 1, []string{"宽"}},
		{"ab", 0, []string{"a", "b"}},
		{"end   ", 4, []string{"end "}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, rows(safetext.Wrap(safetext.Block(tt.in), tt.width))); diff != "" {
			t.Errorf("%q at %d: -want +got\n%s", tt.in, tt.width, diff)
		}
	}
}

func TestWidthCountsCells(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "数据": 4, "👩\u200d👧": 4, "e\u0301": 1, "❤\ufe0f": 2, "\u1100\u1100": 4, "a\uff9e": 2,
		"\u0915\u093e": 2, "\u0600": 1, "a\nlonger\nb": 6, "\x1b[31m": 1, "\u202e": 8,
	} {
		if got := safetext.Width(safetext.Block(s)); got != want {
			t.Errorf("%q: got %d, want %d", s, got, want)
		}
	}
}

// checkWrap reports rows that are too wide, broken characters that would fit into a row,
// and lost characters other than spaces and line feeds.
func checkWrap(t failer, text safetext.Text, width int) {
	wrapped := safetext.Wrap(text, width)
	var all strings.Builder
	whole, wide := map[string]bool{}, ""
	for g := uniseg.NewGraphemes(text.String()); g.Next(); {
		whole[g.Str()] = true
		if safetext.Width(safetext.Block(g.Str())) > max(width, 1) {
			wide += g.Str() + "\n"
		}
	}
	for _, row := range wrapped {
		all.WriteString(row.String())
		if strings.Contains(row.String(), "\n") {
			t.Errorf("%+q at %d: got a line feed in %+q", text, width, row)
		}
		if safetext.Width(row) > max(width, 1) && inked(row) > 1 {
			t.Errorf("%+q at %d: got a row of %d cells, %+q", text, width, safetext.Width(row), row)
		}
		for g := uniseg.NewGraphemes(row.String()); g.Next(); {
			if !whole[g.Str()] && !whole[g.Str()+" "] && !strings.Contains(wide, g.Str()) {
				t.Errorf("%+q at %d: %+q was broken", text, width, g.Str())
			}
		}
	}
	ink := strings.NewReplacer(" ", "", "\n", "")
	if got, want := ink.Replace(all.String()), ink.Replace(text.String()); got != want {
		t.Errorf("%+q at %d: got %+q", text, width, got)
	}
	if got, least := len(wrapped), strings.Count(text.String(), "\n")+1; got < least {
		t.Errorf("%+q at %d: got %d rows, want at least %d", text, width, got, least)
	}
}

// inked returns the number of runes of a row that take cells. It does not count combining
// marks and the spaces at both ends.
func inked(row safetext.Text) (n int) {
	for _, r := range strings.Trim(row.String(), " ") {
		if safetext.Cells(r) > 0 && !unicode.Is(unicode.M, r) {
			n++
		}
	}
	return n
}

func TestWrapKeepsEveryCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkWrap(t, safetext.Block(hostile().Draw(t, "text")), rapid.IntRange(-1, 20).Draw(t, "width"))
	})
}
