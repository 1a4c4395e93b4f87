package terminal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/hinshun/vt10x"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/racedetector"
)

const (
	margin      = 7   // columns before the gutter
	marker      = 'Ж' // in every hostile text, and in no text of Askback
	screenWidth = 60
)

// hostileWord draws a string with which an agent could imitate text of Askback (T8 to T10).
func hostileWord() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\x1b[2J", "\x1b[H", "\x1b[1;1H", "\x1b[5A", "\x1b[3D", "\x1b]0;Ж owned\x07", "\x1b]2;Ж\x1b\\",
			"\x1b]52;c;0JY=\x07", "\x1b]8;;http://x\x07Ж\x1b]8;;\x07", "\x1b[?1049h", "\x1b[?7l", "\x1b[31m",
			"\x1b[8m", "\x1b(0", "\x1bc", "\x1bM", "\x9b2J", "\u009b1;1HЖ", "\u009d0;Ж\u009c", "\x1bPЖ\x1b\\",
			"\x1b", "\x1b[", "\r", "\rЖ", "\b\b\b\b\b\b\b\b\bЖ", "\n", "\n\n", "\r\n", "\v", "\f", "\t", "\x00",
			"\x0e", "\x7f", "\u0085Ж", "\u2028Ж", "\u202eЖ", "\u2066", "\u200b", "\ufeff", "Approve? [y/N] y",
			"\n     9 │ Ж", "── Askback · approval ──", "\n tool │ ls", "│ Ж", "┊ ", "> ",
			"\nSettled: approved by admin in the browser", "e\u0301", "日本語Ж", "👩‍👩‍👧",
			"ЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖЖ", "\xff", strings.Repeat("\n", 50),
			strings.Repeat(" ", 90), strings.Repeat("\u0301", 30),
		}),
		rapid.String(),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 6),
		func(parts []string) string { return string(marker) + strings.Join(parts, "") + string(marker) })
}

func hostileAsk(t *rapid.T) askback.Ask {
	word := func(name string) string { return hostileWord().Draw(t, name) }
	a := askback.Ask{
		ID: "ask_1", Agent: word("agent"), Owner: word("token"), Path: []string{word("path")},
		To: []string{word("to")}, Tags: []string{word("tag")}, Title: word("title"), Deadline: noon,
		OnTimeout: askback.OnTimeoutDecline,
	}
	a.Context, _ = json.Marshal(word("context"))
	if rapid.Bool().Draw(t, "object") {
		a.Context = []byte(`{"a":` + string(a.Context) + `}`)
	}
	if rapid.Bool().Draw(t, "confirmation") {
		input, _ := json.Marshal(map[string]string{word("name"): word("value")})
		a.Confirmation = &askback.Confirmation{
			ToolName: word("tool"), Server: word("server"), Description: word("says"), InputPreview: word("shows"),
			Context: word("about"), Input: input,
		}
		return a
	}
	for range rapid.IntRange(1, 3).Draw(t, "questions") {
		q := askback.Question{
			Text: word("question"), Header: word("header"), NoOther: rapid.Bool().Draw(t, "no other"),
			Default: []string{word("default")},
		}
		for range rapid.IntRange(0, 3).Draw(t, "options") {
			q.Options = append(q.Options,
				askback.Option{Label: word("label"), Description: word("description"), Preview: word("preview")})
		}
		a.Questions = append(a.Questions, q)
	}
	if rapid.Bool().Draw(t, "settled") {
		a.Outcome = &askback.Outcome{
			Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: noon,
		}
		for _, q := range a.Questions {
			a.Outcome.Answers = append(a.Outcome.Answers,
				askback.QuestionAnswer{Question: q.Text, Selected: []string{word("said")}, Notes: word("notes")})
		}
	}
	return a
}

// drawHostile returns the drawing of an ask by Show and, if the ask is open, by Ask.
func drawHostile(t interface{ Fatal(...any) }, a askback.Ask, style bool) string {
	var out bytes.Buffer
	v := view.Of(a)
	options := &terminal.Options{Human: true, Style: style, Width: func() int { return screenWidth }, Zone: time.UTC}
	if err := terminal.Show(&out, v, options); err != nil {
		t.Fatal(err)
	}
	if a.Outcome == nil {
		typist := &echoTypist{":skip\n:decline\n", &out}
		if _, err := terminal.New(typist, &out, options).Ask(context.Background(), v); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

var (
	ownStyles   = regexp.MustCompile("\x1b\\[[0124]m|\r\x1b\\[K")
	marginWords = regexp.MustCompile(`^ *(agent|token|for|tags|title|about|asks|shows|tool|server|with|says|asked|answer|note|remark|reason|link|\*|(\* )?[#]*[0-9]+|(\* )?[a-z]{1,2})? *$`)
)

// On an emulated screen, text of the agent is only right of the gutter. No text of Askback is missing, and
// the title is unchanged (T8, T10).
func TestAgentTextStaysInFrame(t *testing.T) {
	racedetector.Omit(t)
	rapid.Check(t, func(t *rapid.T) {
		a := hostileAsk(t)
		drawn := strings.ReplaceAll(drawHostile(t, a, true), "\u200e", "") // invisible; only Askback can write it
		rows := strings.Split(ownStyles.ReplaceAllString(drawn, ""), "\n")
		// The screen is wider than every row, however the emulator counts cells.
		screen := vt10x.New(vt10x.WithSize(20*screenWidth, len(rows)+2))
		const title = "bash"
		screen.Write([]byte("\x1b]0;" + title + "\x07"))
		if _, err := io.WriteString(screen, strings.ReplaceAll(drawn, "\n", "\r\n")); err != nil {
			t.Fatal(err)
		}
		if screen.Title() != title {
			t.Fatalf("the title is %q", screen.Title())
		}
		for y, row := range rows {
			checkRow(t, row)
			for x, want := range []rune(row) {
				if got := screen.Cell(x, y).Char; got != want && (want != ' ' || got != 0) {
					t.Fatalf("row %d, column %d: got %q, want %q of %q", y, x, got, want, row)
				}
			}
		}
	})
}

func checkRow(t *rapid.T, row string) {
	if strings.ContainsFunc(row, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
		t.Fatalf("control character in %q", row)
	}
	cells := []rune(row)
	hasGutter := len(cells) > margin && (cells[margin] == '│' || cells[margin] == '┊')
	if hasGutter && !marginWords.MatchString(string(cells[:margin])) {
		t.Fatalf("unexpected word in the margin: %q", row)
	}
	own := row
	if hasGutter {
		own = string(cells[:margin])
	}
	if strings.HasPrefix(row, "Settled: ") {
		own, _, _ = strings.Cut(row, "│")
	}
	if strings.ContainsRune(own, marker) {
		t.Fatalf("text of the agent outside of its part: %q", row)
	}
	if got := safetext.Width(safetext.Block(row)); got > screenWidth {
		t.Fatalf("%d cells wide: %q", got, row)
	}
}

// All text can be read, after :show if it is long. Arguments keep every space (F3, T3).
func TestNothingIsTruncated(t *testing.T) {
	long := strings.Repeat("word and  word,", 7_000)
	a := deletionCall()
	a.Confirmation.Input, _ = json.Marshal(map[string]string{"script": long})
	a.Confirmation.Description = strings.Repeat("prose ", 5_000) + "end of prose"
	a.Confirmation.InputPreview, a.Confirmation.Context = "", ""
	_, drawn, pages, err := runWithPager(a, ":show\nn\n")
	if err != nil || len(pages) != 1 {
		t.Fatal(len(pages), err)
	}
	exact, prose, _ := strings.Cut(pages[0], "what the agent says")
	if got := rightOfGutter(exact, ""); !strings.Contains(got, "script: “"+long+"”") {
		t.Error("the arguments are not complete")
	}
	if got := rightOfGutter(prose, " "); strings.Count(got, "prose") != 5_001 {
		t.Errorf("got %d words of prose, want 5001", strings.Count(got, "prose"))
	}
	if _, after, _ := strings.Cut(drawn, "end of prose"); !strings.Contains(after, "delete_files") {
		t.Errorf("the tool is not repeated below: %q", after)
	}
}

// A combining mark at the start of a row would be drawn onto the gutter.
func TestRowsDoNotStartWithCombiningMark(t *testing.T) {
	for before := range 10 {
		a := deletionCall()
		a.Confirmation.Input,
			_ = json.Marshal(map[string]string{"a": strings.Repeat("x", before) + strings.Repeat("e\u0301\u0323", 500)})
		_, drawn, err := runScript(a, true, "n\n")
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.SplitSeq(drawn, "\n") {
			if cells := []rune(row); len(cells) > margin+2 && unicode.Is(unicode.M, cells[margin+2]) {
				t.Fatalf("got %q", row)
			}
		}
	}
}

// rightOfGutter returns the text right of the gutter. It joins rows that continue a line.
func rightOfGutter(drawn, between string) string {
	var b strings.Builder
	for row := range strings.SplitSeq(drawn, "\n") {
		if cells := []rune(row); len(cells) > margin && cells[margin] == '│' {
			b.WriteString(between + string(cells[min(margin+2, len(cells)):]))
		} else if len(cells) > margin && cells[margin] == '┊' {
			b.WriteString(string(cells[margin+2:]))
		}
	}
	return b.String()
}

// Many empty rows are replaced by their number. Empty lines between paragraphs become one, as in Markdown
// (T3).
func TestEmptyRowsAreCounted(t *testing.T) {
	a := deletionCall()
	a.Confirmation.Description = "Fine." + strings.Repeat("\n \u2800",
		10_000) + strings.Repeat("\n", 10_000) + "Really."
	_, drawn, err := runScript(a, true, "n\n")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(drawn, "(10000 empty rows)") || strings.Count(drawn, "\n") > 40 {
		t.Errorf("got %d rows, and of the empty ones: %v", strings.Count(drawn, "\n"),
			strings.Contains(drawn, "empty rows"))
	}
}

// The arguments have the maximum length and consist of one kind of character.
func TestLargestArgumentsAreDrawnWithinAMinute(t *testing.T) {
	racedetector.Omit(t)
	for _, letter := range []string{"x", "日", "e\u0301", "Ж", " "} {
		a := deletionCall()
		a.Confirmation.Input = []byte(`{"a":"` + strings.Repeat(letter, (limits.MaxInput-8)/len(letter)) + `"}`)
		began := time.Now()
		if _, _, err := runScript(a, true, "n\n"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%q: took %v", letter, took)
		}
		t.Logf("%q: %v", letter, time.Since(began))
	}
}
