package terminal_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/hinshun/vt10x"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/racedetector"
)

// panelKeys open every part of a panel, and close it again.
var panelKeys = []string{
	"down", "down", "space", "up", "2", "/", "Z", "esc", "n", "esc", "c", "esc", "?", "?", "D", "esc", "a", "esc", "A",
	"esc", "tab", "shift+tab", "home",
}

const rowsBefore = 5 // rows of another program above a panel

// A panelScreen is the screen of a terminal that shows rowsBefore rows of another program. A panel is drawn
// below these rows.
type panelScreen struct {
	vt            vt10x.Terminal
	replies       bytes.Buffer
	width, height int
}

func newPanelScreen(width, height int) *panelScreen {
	s := &panelScreen{width: width, height: height}
	s.vt = vt10x.New(vt10x.WithSize(width, height), vt10x.WithWriter(&s.replies))
	_, _ = io.WriteString(s.vt, "\x1b]0;"+title+"\x07")
	for i := range rowsBefore {
		fmt.Fprintf(s.vt, "row %d of another program\r\n", i)
	}
	return s
}

// add writes the output of a panel to the screen.
func (s *panelScreen) add(drawn string) { _, _ = io.WriteString(s.vt, forEmulator(drawn)) }

// row returns the cells of a row of the screen.
func (s *panelScreen) row(y int) []rune {
	cells := make([]rune, s.width)
	for x := range cells {
		cells[x] = s.vt.Cell(x, y).Char
		if cells[x] == 0 {
			cells[x] = ' '
		}
	}
	return cells
}

// rows returns the rows of the screen.
func (s *panelScreen) rows() (all [][]rune) {
	for y := range s.height {
		all = append(all, s.row(y))
	}
	return all
}

// ownRunes lists the characters of Askback in a panel, other than ASCII.
const ownRunes = "─│┊·…↑↓→⟨⟩␛"

// check requires that the title and the earlier rows are unchanged, and that text of the agent is only right
// of the gutter. The marker is in every text of the agent.
func (s *panelScreen) check(t testingT) {
	t.Helper()
	if s.vt.Title() != title || s.replies.Len() > 0 {
		t.Fatalf("the title is %q, and the terminal sent %q", s.vt.Title(), s.replies.String())
	}
	for y := range s.height {
		row := s.row(y)
		if y < rowsBefore {
			if got, want := strings.TrimRight(string(row),
				" "), fmt.Sprintf("row %d of another program", y); got != want {
				t.Fatalf("row %d: got %q, want %q", y, got, want)
			}
			continue
		}
		own := row
		if row[margin] == '│' || row[margin] == '┊' {
			own = row[:margin]
		} else if pane := slices.Index(row, '│'); pane > 0 && s.width >= 90 {
			own = row[:pane] // a preview beside the options
		}
		for x, r := range own {
			if r == marker || (r < ' ' || r > '~') && !strings.ContainsRune(ownRunes, r) {
				t.Fatalf("%d columns, row %d: %q in column %d of the part of Askback: %q", s.width, y, r, x,
					strings.TrimRight(string(row), " "))
			}
		}
	}
}

// checkPanel draws the panel of an ask, presses keys, and checks the screen after each.
func checkPanel(t testingT, ask askback.Ask, width, height int, keys ...string) {
	t.Helper()
	s := newPanelScreen(width, height)
	o := terminal.Options{
		Human: true, Style: true, Zone: time.UTC,
		Width: func() int { return width }, Height: func() int { return height - rowsBefore },
	}
	p := terminal.OpenTestPanel(view.Of(ask), o)
	p.Arm()
	shown := 0
	step := func() {
		s.add(p.Drawn()[shown:])
		shown = len(p.Drawn())
		s.check(t)
	}
	step()
	for _, key := range keys {
		p.Press(key)
		step()
	}
	if _, err := p.Finish(); err == nil {
		t.Fatalf("the keys answered the ask")
	}
	step()
}

// No code point in a text of the agent changes a cell outside of its part, while keys are pressed. Each batch
// is tested at one of the widths and with some of the keys. With ASKBACK_LONG, as in make prove, each batch
// is tested with all keys. See isOmitted for the batches that are tested (T8, T10, D1).
func TestCodePointsStayInPanel(t *testing.T) {
	racedetector.Omit(t)
	const batch, parts = 512, 4
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for n := part; n < (unicode.MaxRune+1)/batch; n += parts {
				if isOmitted(rune(n*batch), batch, n) {
					continue
				}
				var text strings.Builder
				for _, r := range codePoints(rune(n*batch), batch) {
					text.WriteString(string(marker) + string(r))
				}
				ask := []askback.Ask{questionWith(text.String()), callWith(text.String())}[n/parts%2]
				height := 500
				if n*batch >= 0xE0000 { // the panel shows these code points by their numbers, in more rows
					height = 1500
				}
				keys := [][]string{{"down", "2"}, {"/", "esc"}, {"n"}}[n/parts/3%3]
				if os.Getenv("ASKBACK_LONG") != "" {
					keys = []string{"down", "2", "/", "esc", "n"}
				}
				checkPanel(t, ask, []int{40, 80, 200}[n/parts%3], height, keys...)
			}
		})
	}
}

// questionWith returns a question with text in the fields that a panel draws differently.
func questionWith(text string) askback.Ask {
	a := questionAsk(askback.Question{
		Options: []askback.Option{{Label: text, Description: text}, {Label: "b", Preview: text}},
	})
	a.Agent, a.Questions[0].Text = text, text
	return a
}

// callWith is like questionWith, but returns a dangerous call, which no single key approves.
func callWith(text string) askback.Ask {
	a := callAsk()
	*a.Confirmation = askback.Confirmation{
		ToolName: text, Description: text, Input: []byte(`{"a":` + string(quoted(text)) + `}`), Dangerous: true,
	}
	return a
}

// No text that imitates Askback or controls the terminal leaves its part of a panel (T8 to T10).
func TestHostileTextStaysInPanel(t *testing.T) {
	racedetector.Omit(t)
	rapid.Check(t, func(t *rapid.T) {
		a := hostileAsk(t)
		a.Outcome = nil
		if a.Confirmation != nil {
			a.Confirmation.Dangerous = true // no single key approves it
		}
		checkPanel(t, a, rapid.SampledFrom([]int{40, 80, 200}).Draw(t, "width"), 400, panelKeys...)
	})
}

// The rows of another program above a panel stay when the terminal changes its size.
func TestPanelIsDrawnAgainAfterResize(t *testing.T) {
	for _, ask := range []askback.Ask{previewAsk(), databaseAsk(), harmlessCall()} {
		s := newPanelScreen(100, 80)
		width := 100
		o := terminal.Options{Style: true, Zone: time.UTC, Width: func() int {
			return width
		}, Height: func() int { return 80 - rowsBefore }}
		p := terminal.OpenTestPanel(view.Of(ask), o)
		p.Arm()
		shown := 0
		for _, next := range []int{100, 60, 40, 200, 80} {
			width = next
			s.width = next
			s.vt.Resize(next, 80)
			p.Resize(next, 80-rowsBefore)
			s.add(p.Drawn()[shown:])
			shown = len(p.Drawn())
			s.check(t)
			if n := strings.Count(s.vt.String(), "Askback · "); n != 1 {
				t.Fatalf("%d columns: the panel is drawn %d times:\n%s", next, n, s.vt.String())
			}
		}
	}
}
