package search_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/text/search"
)

func phrase(words string) search.Phrase { return search.Phrase{Words: strings.Fields(words)} }

func prefix(words string) search.Phrase {
	return search.Phrase{Words: strings.Fields(words), Prefix: true}
}

func TestParseReturnsPhrases(t *testing.T) {
	for query, want := range map[string][]search.Phrase{
		"":                nil,
		" !? ":            nil,
		"Post":            {prefix("post")},
		"drop Table ":     {phrase("drop"), phrase("table")},
		"drop t":          {phrase("drop"), phrase("t")},
		"drop ta":         {phrase("drop"), prefix("ta")},
		`"drop table"`:    {phrase("drop table")},
		`"drop table" or`: {phrase("drop table"), prefix("or")},
		`or "drop ta`:     {phrase("or"), phrase("drop ta")},
		"db.migrate":      {prefix("db migrate")},
		"a AND b* NEAR(c) -d ^e:f": {
			phrase("a"), phrase("and"), phrase("b"), phrase("near c"), phrase("d"), phrase("e f"),
		},
		`""""`:             nil,
		"Ärger ГОРОД":      {phrase("ärger"), prefix("город")},
		"数据库":              {phrase("数 据 库")},
		"x\x00\xff'; drop": {phrase("x"), prefix("drop")},
	} {
		if d := cmp.Diff(want, search.Parse(query)); d != "" {
			t.Errorf("Parse(%q): want - got +\n%s", query, d)
		}
	}
}

func TestAppendWordsSplitsTextIntoWords(t *testing.T) {
	long := strings.Repeat("a", 130)
	for text, want := range map[string]string{
		"Drop the table, now!": "drop the table now ",
		"/etc/passwd-2":        "etc passwd 2 ",
		"数据 base":              "数 据 base ",
		long:                   long[:60] + " " + long[:60] + " " + long[:10] + " ",
	} {
		if got := string(search.AppendWords(nil, text, 1000)); got != want {
			t.Errorf("AppendWords(%q): got %q, want %q", text, got, want)
		}
	}
	if got := string(search.AppendWords([]byte("one "), "two three", 9)); got != "one two " {
		t.Errorf("with a limit: got %q", got)
	}
}

func TestFindReturnsTheMatches(t *testing.T) {
	for query, want := range map[string]string{
		"tab":          "Drop the [tables], now: DROP [TABLE]!",
		"drop":         "[Drop] the tables, now: [DROP] TABLE!",
		`"drop table"`: "Drop the tables, now: [DROP TABLE]!",
		"the now":      "Drop [the] tables, [now]: DROP TABLE!",
		"none":         "Drop the tables, now: DROP TABLE!",
	} {
		text := "Drop the tables, now: DROP TABLE!"
		got, at := "", 0
		for _, m := range search.Find(text, search.Parse(query), 10) {
			got += text[at:m.Start] + "[" + text[m.Start:m.End] + "]"
			at = m.End
		}
		if got += text[at:]; got != want {
			t.Errorf("Find(%q): got %q, want %q", query, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`drop "ta" x* NEAR(`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range search.Parse(s) {
			for _, w := range p.Words {
				if words := string(search.AppendWords(nil, w, 1<<20)); words != w+" " {
					t.Errorf("%q has the word %q, which is %q", s, w, words)
				}
			}
		}
		search.Find(s, search.Parse(s), 100)
	})
}
