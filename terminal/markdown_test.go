package terminal_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/golden"
)

const sampleMarkdown = "# Plan\nI would **drop** the table `users`, *carefully*,\nand then read [the " +
	"guide](https://example.org/guide) or https://example.org/all.\n\n" +
	"1. back up\n2. drop\n   - at night\n   - with two people who know what they do, and a third one who watches " +
	"them do it\n\n> No one uses it.\n> Really.\n\n" +
	"```sql\nDROP TABLE   users;\n\n  -- done\n```\n\n---\n\n| table | rows |\n|---|---|\n| users | 12 |\n\nBut see " +
	"[example.org](https://evil.example) and https://ex\u0430mple.org <b>now</b>.\n"

// Markdown is drawn with and without styles, at two widths.
func TestMarkdownMatchesGoldenFile(t *testing.T) {
	a := deletionCall()
	a.Confirmation.Description = sampleMarkdown
	a.Warnings = []askback.Problem{
		{Pointer: "/confirmation/tier", Detail: "\"high\" was read as confirm"},
		{Pointer: "/to", Detail: "\"eve\" is not known here and cannot answer"},
	}
	var b strings.Builder
	for _, style := range []bool{false, true} {
		for _, width := range []int{80, 40} {
			var out bytes.Buffer
			options := &terminal.Options{Style: style, Width: func() int { return width }, Zone: time.UTC}
			if err := terminal.Show(&out, view.Of(a), options); err != nil {
				t.Fatal(err)
			}
			_, part, _ := strings.Cut(out.String(), "what the agent says")
			b.WriteString(strings.ReplaceAll(part, "\x1b", "ESC") + "\n")
		}
	}
	golden.Check(t, "testdata/markdown.txt", b.String())
}

// All words of a text are drawn in the same order, whatever they mean in Markdown (F3).
func TestMarkdownShowsEveryWord(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{
		"word", "**strong**", "*soft*", "`code`", "[text](https://example.org/a)", "https://example.org", "# ", "> ",
		"- ", "1. ", "\n", "\n\n", "```\n", "    ", "---\n", "| a | b |\n", "<b>", "&amp;", "\\*",
		"long-winded-and-hyphenated", "日本語", "שלום",
	}), rapid.StringN(0, 6, -1))
	check := func(t testingT, text string) {
		a := callAsk()
		a.Confirmation.Description = text
		var out bytes.Buffer
		if err := terminal.Show(&out, view.Of(a), &terminal.Options{Width: func() int { return 40 }}); err != nil {
			t.Fatalf("%v", err)
		}
		_, drawn, _ := strings.Cut(out.String(), "what the agent says")
		got := visibleText(drawn)
		for _, r := range visibleText(markdown.Parse(text).String()) {
			i := strings.IndexRune(got, r)
			if i < 0 {
				t.Fatalf("%q: %q is missing in\n%s", text, r, drawn)
			}
			got = got[i+1:]
		}
	}
	check(t, sampleMarkdown+"# a **b** c `d`\n> # e *f*\n- # g **h**\n")
	check(t, "1. > ")
	check(t, "1. ```\n")
	check(t, "**strong****strong**AA\u202e\u00a0")
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(piece, 1, 20).Draw(t, "pieces"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "between")))
	})
}

// visibleText removes spaces, and the characters that each frontend draws differently.
func visibleText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("•—->", r) {
			return -1
		}
		return r
	}, s)
}

// Right-to-left text stays right of the gutter, and names stay next to their values. A left-to-right mark
// begins the row and follows each punctuation mark of exact text (T9).
func TestRightToLeftTextStaysRightOfGutter(t *testing.T) {
	a := deletionCall()
	a.Agent, a.Path, a.Title = "סוכן", []string{"אב", "סבא"}, "שלום"
	a.Confirmation.ToolName, a.Confirmation.Description = "מחק", "אני מוחק, ורק 23 קבצים.\n\n> \u0646\u0639\u0645 (a)"
	a.Confirmation.Input = []byte(`{"נתיב":"בית/ישן","ok":["א","ב"]}`)
	_, drawn, err := runScript(a, true, "n\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" agent │\u200e סוכן <\u200e סבא <\u200e אב\n", "  tool │\u200e מחק\n",
		"  with │\u200e נתיב:\u200e “בית/\u200eישן”\n",
		"│\u200e   -\u200e “א”\n", " title │\u200e שלום\n", "  says │\u200e אני מוחק, ורק 23 קבצים.\n",
		"│\u200e > \u0646\u0639\u0645 (a)\n", "       │ ok: 2 items\n",
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%q is missing in\n%q", want, drawn)
		}
	}
}

// An answer stays to the right of the name of a person, even if both are right-to-left text.
func TestRightToLeftAnswerIsRightOfTheName(t *testing.T) {
	a := questionAsk(askback.Question{})
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "דנה"}, At: noon,
		Answers: []askback.QuestionAnswer{{Other: "כן"}},
	}
	var out bytes.Buffer
	if err := terminal.New(strings.NewReader(""), &out, nil).Settled(view.Of(a)); err != nil {
		t.Fatal(err)
	}
	if want := "Settled: answered by דנה │\u200e כן\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
