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
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

var (
	lengths = regexp.MustCompile(`\((\d+) rows, all of them shown\)`)
	folds   = regexp.MustCompile(`\((\d+) rows, the first 60 and the last 30 of them shown\)`)
)

// T3: text that is made long to push the rest away is folded, with its length above it; its
// end is there, and all of it behind :show; the tool is named again below it, and the prompt
// is the last.
func TestPaddingHidesNothing(t *testing.T) {
	for name, padding := range map[string]string{
		"one line of a million columns": strings.Repeat("-", 1_000_000),
		"lines":                         strings.Repeat("ok\n", 100_000),
		"short words":                   strings.Repeat("a ", 400_000),
		"wide characters":               strings.Repeat("日", 300_000),
		"lines of one column":           strings.Repeat("-\n", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			a := deletion()
			a.Confirmation.Input, _ = json.Marshal([]string{padding + "rm -rf /home"})
			_, drawn, pages, err := paged(a, ":show\nn\n")
			if err != nil || len(pages) != 1 {
				t.Fatal(len(pages), err)
			}
			folded := folds.FindStringSubmatch(drawn)
			head, below, _ := strings.Cut(drawn, "── what the agent says")
			before, exact, _ := strings.Cut(pages[0], "  with │ ")
			exact, _, _ = strings.Cut(exact, "── what the agent says")
			said := lengths.FindStringSubmatch(before)
			if folded == nil || said == nil || folded[1] != said[1] || strings.Count(head, "\n") > 120 || !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(head, "┊", "")), ""), "rm-rf/home") {
				t.Errorf("it says %q and has %d rows", folded, strings.Count(head, "\n"))
			}
			if said == nil || said[1] != strconv.Itoa(1+strings.Count(exact, "│")+strings.Count(exact, "┊")) {
				t.Errorf("it says %q before %q…", said, exact[:200])
			}
			want, _ := json.Marshal(padding + "rm -rf /home")
			all := strings.NewReplacer("\n", "", "┊", "", "│", "", " ", "").Replace(exact)
			if !strings.Contains(all, strings.ReplaceAll(string(want), " ", "")) {
				t.Error("not all of it is there")
			}
			if !strings.Contains(below, "  tool │ delete_files") || !strings.HasSuffix(strings.TrimSpace(drawn), "Approve? [y/N]") {
				t.Errorf("below stands %q", below)
			}
		})
	}
}

// What is drawn is never more than some times what was asked, in any field.
func TestTheDrawingIsProportional(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no matter of what happens at once")
	}
	const times, beside = 32, 20_000
	for name, unit := range map[string]string{
		"letters": "x", "lines": "x\n", "empty lines": "\n", "spaces": " ", "tabs": "\t", "controls": "\x1b", "hidden": "\u200b", "bad bytes": "\xff", "marks": "\u0301", "jamo": "\u1100", "right to left": "א\"",
		"headings": "# x\n", "quotes": "> ", "quoted lines": "> > > > x\n", "items": "- x\n", "nested items": "- - - - x\n", "stars": "*x* ", "strong": "**x**", "code": "`x` ", "blocks": "```\nx\n```\n",
		"links": "[a](http://a.b) ", "odd links": "http://а.b ", "rules": "---\n", "tables": "|a|\n|-|\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1000, 30_000} {
				text := strings.Repeat(unit, size/len(unit))
				_, a, _ := everywhere(1, func() string { return text })
				var out bytes.Buffer
				if err := terminal.Show(&out, view.Of(a), &terminal.Options{Style: true}); err != nil {
					t.Fatal(err)
				}
				const fields = 20
				if got, most := out.Len(), times*fields*size+beside; got > most {
					t.Errorf("%d bytes in each field became %d, want at most %d", size, got, most)
				}
			}
		})
	}
}

// C5: a long question is measured too, and its choices stand right above the prompt.
func TestALongQuestionIsMeasured(t *testing.T) {
	a := database()
	a.Context, _ = json.Marshal(strings.Repeat("It is long. ", 5000))
	got := at(t, 80, a, "1\n")
	_, _, pages, err := paged(a, ":show\n1\n")
	if err != nil || len(pages) != 1 {
		t.Fatal(len(pages), err)
	}
	about, _, _ := strings.Cut(pages[0], "  asks │")
	if rows := strings.Count(about, "long."); folds.FindString(got) == "" || lengths.FindString(about) == "" || rows != 5000 {
		t.Errorf("it says %q and %q, and %d of 5000 sentences are there", folds.FindString(got), lengths.FindString(about), rows)
	}
	if !utf8.ValidString(got) || !strings.Contains(got[strings.LastIndex(got, "asks │"):], "> ") {
		t.Error("no prompt below")
	}
}

// Our own words on the length are as long as they say.
func TestTheLengthThatIsSaidIsRight(t *testing.T) {
	for _, rows := range []int{18, 19, 200} {
		a := one(askback.Question{Default: []string{strings.TrimSuffix(strings.Repeat("row\n", rows), "\n")}})
		_, got, _ := ask(a, true, "x\n")
		want := rows > 18
		if strings.Contains(got, fmt.Sprintf("(%d rows, all of them shown)", rows)) != want {
			t.Errorf("%d rows: said %v, want %v", rows, !want, want)
		}
	}
}
