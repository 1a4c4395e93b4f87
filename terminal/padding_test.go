package terminal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/racedetector"
)

var (
	countNote = regexp.MustCompile(`\((\d+) rows, all shown\)`)
	foldNote  = regexp.MustCompile(`\((\d+) rows, the first 60 and the last 30 shown\)`)
)

// A long text cannot push other text off the screen. It is folded and begins with its number of rows. :show
// shows all rows, and the tool is repeated below the text (T3).
func TestPaddingDoesNotHideText(t *testing.T) {
	racedetector.Omit(t)
	for name, padding := range map[string]string{
		"one line of a million columns": strings.Repeat("-", 1_000_000),
		"lines":                         strings.Repeat("ok\n", 100_000),
		"short words":                   strings.Repeat("a ", 400_000),
		"wide characters":               strings.Repeat("日", 300_000),
		"lines of one column":           strings.Repeat("-\n", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			a := deletionCall()
			a.Confirmation.Input, _ = json.Marshal([]string{padding + "rm -rf /home"})
			_, drawn, pages, err := runWithPager(a, ":show\nn\n")
			if err != nil || len(pages) != 1 {
				t.Fatal(len(pages), err)
			}
			folded := foldNote.FindStringSubmatch(drawn)
			head, below, _ := strings.Cut(drawn, "── what the agent says")
			before, exact, _ := strings.Cut(pages[0], "  with │ ")
			exact, _, _ = strings.Cut(exact, "── what the agent says")
			counted := countNote.FindStringSubmatch(before)
			if folded == nil || counted == nil || folded[1] != counted[1] || strings.Count(head, "\n") > 120 ||
				!strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(head, "┊", "")), ""), "rm-rf/home") {
				t.Errorf("got the note %q above %d rows", folded, strings.Count(head, "\n"))
			}
			if counted == nil || counted[1] != strconv.Itoa(1+strings.Count(exact, "│")+strings.Count(exact, "┊")) {
				t.Errorf("got the note %q above %q…", counted, exact[:200])
			}
			want, _ := json.Marshal(padding + "rm -rf /home")
			all := strings.NewReplacer("\n", "", "┊", "", "│", "", " ", "").Replace(exact)
			if !strings.Contains(all, strings.ReplaceAll(string(want), " ", "")) {
				t.Error("the text is not complete")
			}
			if !strings.Contains(below, "  tool │ delete_files") ||
				!strings.HasSuffix(strings.TrimSpace(drawn), "Approve? [y/N]") {
				t.Errorf("got %q below", below)
			}
		})
	}
}

// For any kind of text, the output is larger than the input by at most a constant factor.
func TestOutputIsProportionalToInput(t *testing.T) {
	racedetector.Omit(t)
	const factor, fixed = 32, 20_000
	for name, unit := range map[string]string{
		"letters": "x", "lines": "x\n", "empty lines": "\n", "spaces": " ", "tabs": "\t", "controls": "\x1b",
		"hidden": "\u200b", "bad bytes": "\xff", "marks": "\u0301", "jamo": "\u1100", "right to left": "א\"",
		"headings": "# x\n", "quotes": "> ", "quoted lines": "> > > > x\n", "items": "- x\n",
		"nested items": "- - - - x\n", "stars": "*x* ", "strong": "**x**", "code": "`x` ",
		"blocks": "```\nx\n```\n",
		"links":  "[a](http://a.b) ", "odd links": "http://а.b ", "rules": "---\n", "tables": "|a|\n|-|\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1000, 30_000} {
				text := strings.Repeat(unit, size/len(unit))
				_, a, _ := asksWithText(1, func() string { return text })
				var out bytes.Buffer
				if err := terminal.Show(&out, view.Of(a), &terminal.Options{Style: true}); err != nil {
					t.Fatal(err)
				}
				const fields = 20
				if got, most := out.Len(), factor*fields*size+fixed; got > most {
					t.Errorf("%d bytes in each field became %d, want at most %d", size, got, most)
				}
			}
		})
	}
}

// The long context of a question begins with its number of rows. The question is between the context and the
// prompt (C5).
func TestLongContextBeginsWithItsNumberOfRows(t *testing.T) {
	a := databaseAsk()
	a.Context, _ = json.Marshal(strings.Repeat("It is long. ", 5000))
	got := screenAt(t, 80, a, "1\n")
	_, _, pages, err := runWithPager(a, ":show\n1\n")
	if err != nil || len(pages) != 1 {
		t.Fatal(len(pages), err)
	}
	about, _, _ := strings.Cut(pages[0], "  asks │")
	if rows := strings.Count(about, "long."); foldNote.FindString(got) == "" ||
		countNote.FindString(about) == "" || rows != 5000 {
		t.Errorf("got the notes %q and %q, and %d of 5000 sentences", foldNote.FindString(got),
			countNote.FindString(about), rows)
	}
	if !utf8.ValidString(got) || !strings.Contains(got[strings.LastIndex(got, "asks │"):], "> ") {
		t.Error("no prompt below")
	}
}

// A text of more than 18 rows begins with the number of its rows.
func TestLongTextBeginsWithItsNumberOfRows(t *testing.T) {
	for _, rows := range []int{18, 19, 200} {
		a := questionAsk(askback.Question{Default: []string{strings.TrimSuffix(strings.Repeat("row\n", rows), "\n")}})
		_, got, _ := runScript(a, true, "x\n")
		want := rows > 18
		if strings.Contains(got, fmt.Sprintf("(%d rows, all shown)", rows)) != want {
			t.Errorf("%d rows: counted is %v, want %v", rows, !want, want)
		}
	}
}
