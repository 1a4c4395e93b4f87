package terminal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/test/kit/racedetector"
)

// New asks appear in their places. The selected ask stays selected, at its place on the screen, with the text
// typed for it (B6).
func TestNewAsksDoNotMoveTheSelectedAsk(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		f.height = 16
		for n := range 9 {
			f.ask("a", questionRequest(fmt.Sprintf("Question %d?", n)))
		}
		f.open(f.ana, width)
		f.press("j", "j", "j", "j")
		rowOf := func(text string) int {
			for y, row := range strings.Split(f.screen(width), "\n") {
				if strings.Contains(row, text) {
					return y
				}
			}
			return -1
		}
		before := rowOf("Question 4?")
		for range 2 {
			r := questionRequest("Soon?")
			r.Timeout = 10 * time.Minute
			f.ask("b", r)
		}
		f.Load()
		f.shows(width, `>.* │ Question 4\?`)
		f.shows(width, `11 open`)
		if after := rowOf("Question 4?"); after != before {
			t.Errorf("%d columns: the selected ask moved from row %d to %d:\n%s", width, before, after, f.screen(width))
		}
		f.press("enter", "half an answ")
		f.ask("c", questionRequest("Another?"))
		f.Load()
		f.press("er")
		f.shows(width, `you │ half an answer`)
	}
}

// The first ask of an empty inbox appears without a key.
func TestFirstAskAppearsInAnEmptyInbox(t *testing.T) {
	f := newInboxFixture(t)
	f.open(f.ana, 80)
	f.shows(80, "(?s)0 open.*Nothing is waiting")
	f.ask("a", questionRequest("Why?"))
	f.Load()
	f.shows(80, `(?s)1 open.*> +\d+s │ Why\?`)
}

// An ask that was settled elsewhere shows the person who settled the ask, and leaves after a moment. While
// such an ask is selected, it stays, with the text that was typed and not sent (E10).
func TestAskSettledElsewhereLeavesTheInbox(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		first, second := f.ask("a", questionRequest("First?")), f.ask("a", questionRequest("Second?"))
		f.ask("a", questionRequest("Third?"))
		f.open(f.ana, width)
		if _, err := f.ben.Answer(context.Background(), second,
			askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "no"}}}); err != nil {
			t.Fatal(err)
		}
		f.Load()
		f.shows(width, `(?s)2 open.*Second\?.*Answered by ben in the browser`)
		f.pass(3 * time.Second)
		f.shows(width, `Second\?`)
		f.pass(2 * time.Second)
		if screen := f.screen(width); strings.Contains(screen, "Second?") {
			t.Errorf("it did not leave:\n%s", screen)
		}
		f.press("enter", "typed words")
		if _, err := f.ben.Decline(context.Background(), first, "mine"); err != nil {
			t.Fatal(err)
		}
		f.Load()
		f.pass(time.Minute)
		f.shows(width, `(?s)eclined by ben in the browser.*what you typed was not sent.*you │ typed words`)
		f.press("enter", "x")
		f.shows(width, "not open any more")
		f.press("j", "esc")
		f.pass(time.Minute)
		if screen := f.screen(width); strings.Contains(screen, "First?") || !strings.Contains(screen, "Third?") {
			t.Errorf("got\n%s", screen)
		}
	}
}

// An answer to an ask that was settled meanwhile is too late. The inbox shows the person who settled it (E10,
// F6).
func TestLateAnswerShowsWhoSettledTheAsk(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", callRequest("one", `{}`, false))
	f.open(f.ana, 80)
	f.press("enter")
	if _, err := f.ben.Answer(context.Background(), id, askback.Decide(askback.Deny, "no")); err != nil {
		t.Fatal(err)
	}
	f.press("a")
	f.shows(80, "(?s)denied by ben.*Too late")
}

// An ask that was answered here does not stay selected when the filter is removed. From an ask that was
// settled elsewhere, j selects another ask.
func TestSettledAskDoesNotStaySelected(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		f.ask("a", questionRequest("First?"))
		f.ask("a", questionRequest("Second?"))
		f.ask("a", callRequest("mail", `{}`, false))
		f.open(f.ana, width)
		f.press("/", "mail", "enter", "enter", "a", "esc")
		f.shows(width, `> .*Second\?`)

		last := f.ask("a", callRequest("rm", `{}`, false))
		f.Load()
		f.press("end")
		if _, err := f.ben.Decline(t.Context(), last, ""); err != nil {
			t.Fatal(err)
		}
		f.Load()
		f.press("a")
		f.shows(width, "not open any more")
		f.press("j")
		f.shows(width, `> .*Second\?`)
	}
}

// The keys below an ask include the key that returns to the list. Esc goes to the previous question.
func TestInboxShowsTheKeyThatReturnsToTheList(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		f.ask("a", twoQuestions())
		f.open(f.ana, width)
		f.press("enter")
		f.shows(width, `Esc (back to the )?list`)
		f.press("tab")
		f.shows(width, `\bu (back to the )?list`)
		f.press("u")
		f.shows(width, `Enter open|Enter opens it`)
	}
}

// A snoozed ask leaves the list. At the end of the snooze, it is listed again, with a mark.
func TestAskIsMarkedAfterItsSnooze(t *testing.T) {
	f := newInboxFixture(t)
	f.someAsks()
	f.open(f.ana, 80)
	f.press("j", "j", "j", "s", "1")
	f.shows(80, "5 open")
	f.pass(61 * time.Minute)
	f.Load()
	f.shows(80, `(?s)mail.send.*is back │ support`)
}

// Several calls are decided with separate answers. A call that cannot be decided does not affect the other
// calls, and is named (D1).
func TestInboxNamesCallsThatWereNotDecided(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		ids := []string{
			f.ask("a", callRequest("one", `{"n":1}`, false)), f.ask("b", callRequest("two", `{"n":2}`, false)),
			f.ask("c", callRequest("three", `{"n":3}`, false)),
		}
		f.open(f.ana, width)
		f.press("x", "j", "x", "j", "x", "a")
		f.pass(time.Second)
		f.shows(width, `(?s)Approve 3 calls\?.*n: 1\b.*n: 2\b.*n: 3\b.*Enter: approve 3 calls`)
		if _, err := f.ben.Answer(context.Background(), ids[1], askback.Decide(askback.Deny, "")); err != nil {
			t.Fatal(err)
		}
		f.press("enter")
		f.shows(width, `(?s)2 of 3 calls were decided.*call │ two.*denied by\s+ben`)
		for n, want := range []string{"approved", "denied", "approved"} {
			if got := f.outcome(ids[n]); got != want {
				t.Errorf("call %d: got %s, want %s", n, got, want)
			}
		}
		f.press("enter")
		f.shows(width, "0 open")
	}
}

// All arguments of the selected calls must have been on the screen before Enter decides. Dangerous calls,
// questions, and calls with changed arguments are not among them (F7).
func TestSelectedCallsAreDecidedOnlyAfterReading(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		ids := f.someAsks()
		long := f.ask("z", callRequest("long", `{"list":[`+strings.Repeat(`"x",`, 60)+`"x"]}`, false))
		f.open(f.ana, width)
		f.press("j", "j", "j") // mail
		f.Edited(`{"to":"pat@example.com"}`)
		f.press("home", "x", "j", "x", "j", "x", "j", "x", "j", "x", "end", "x", "a")
		f.pass(time.Second)
		f.shows(width, `(?s)Approve 2 calls.*Enter shows the rest`)
		f.press("enter")
		if got := f.outcome(long); got != "open" {
			t.Errorf("%d columns: %s before all arguments were shown", width, got)
		}
		f.press("enter", "enter", "enter")
		for _, name := range []string{"mail", "question", "danger", "soon"} {
			if got := f.outcome(ids[name]); got != "open" {
				t.Errorf("%d columns: %s was decided: %s", width, name, got)
			}
		}
		if a, b := f.outcome(long), f.outcome(ids["label"]); a != "approved" || b != "approved" {
			t.Errorf("%d columns: got %s and %s, want both approved:\n%s", width, a, b, f.screen(width))
		}
	}
}

// The selected calls are not decided by a key that was pressed before they were on the screen.
func TestEarlierKeysDoNotDecideSelectedCalls(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", callRequest("one", `{}`, false))
	f.open(f.ana, 80)
	f.Press("x", "a", "enter")
	if got := f.outcome(id); got != "open" {
		t.Errorf("decided immediately: %s", got)
	}
}

// A lost connection is shown, and typed text stays (F11).
func TestInboxShowsALostConnection(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		f.ask("a", questionRequest("Why?"))
		f.open(f.ana, width)
		f.press("enter", "because")
		f.Lose()
		f.shows(width, `(?s)you │ because.*connection is lost`)
		f.press(" it is")
		f.Load()
		f.shows(width, `you │ because it is`)
		if screen := f.screen(width); strings.Contains(screen, "lost") {
			t.Errorf("the connection is back:\n%s", screen)
		}
	}
}

// A settled ask shows how to write to its agent, if the agent reads messages.
func TestSettledAskShowsHowToTellTheAgent(t *testing.T) {
	for _, reads := range []bool{true, false} {
		f := newInboxFixture(t)
		r := questionRequest("Which?", "red", "blue")
		r.SessionKey = "run"
		id := f.ask("a", r)
		bot := f.engine.As(askback.Principal{Kind: askback.Agent, Name: "a"})
		a, err := bot.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if reads {
			if _, err := bot.Messages(t.Context(), a.SessionID, "", 0); err != nil {
				t.Fatal(err)
			}
		}
		f.open(f.ana, 200)
		f.press("enter")
		if _, err := f.ben.Answer(t.Context(), id, askback.Choose("red")); err != nil {
			t.Fatal(err)
		}
		f.Load()
		f.shows(200, "answered by ben")
		if got := strings.Contains(f.screen(200), "askback tell "+id+" TEXT"); got != reads {
			t.Errorf("the agent reads messages: %v; the screen has the command: %v\n%s", reads, got, f.screen(200))
		}
	}
}

// A paste is never a key. It is text in a field.
func TestPasteIntoTheInboxIsText(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", callRequest("one", `{}`, false))
	f.ask("b", questionRequest("Why?"))
	f.open(f.ana, 80)
	f.press("enter")
	f.pass(time.Second)
	f.Paste("a")
	f.shows(80, "If these were keys, press them again")
	if got := f.outcome(id); got != "open" {
		t.Errorf("a paste decided the call: %s", got)
	}
	f.press("esc", "j", "enter")
	f.Paste("one\ntwo")
	f.shows(80, `(?s)you │ one\n +│ two`)
	f.press("esc", "/")
	f.Paste("Why\n?")
	f.shows(80, `/ │ Why \?`)
}

// The inbox is drawn again when its size changes.
func TestInboxIsDrawnAgainAfterResize(t *testing.T) {
	f := newInboxFixture(t)
	f.someAsks()
	f.open(f.ana, 200)
	f.press("j", "j")
	f.shows(200, `│ Which database\? +│ .*1-3 choose|│ .*1 │ PostgreSQL`)
	f.Resize(80, 20)
	f.shows(80, `> +\d+s │ Which database`)
	f.press("enter")
	f.Resize(40, 12)
	f.shows(40, `(?s)2 │ SQLite`)
	f.Resize(120, 30)
	f.shows(120, `> +\d+s │ Which database.* │ `)
}

// The selected ask is beside the list from 90 columns on, also if another ask has right-to-left text. A row with
// such text is not beside other text, because a terminal could swap the two (T9).
func TestListIsBesideTheAsk(t *testing.T) {
	const both = `│ Which\?.*│.*asks │ Which\?|> +\d+s │ Which\? .*│ `
	for _, c := range []struct {
		width int
		other string
		want  bool
	}{{89, "plain", false}, {90, "plain", true}, {200, "plain", true}, {200, "שלום", true}} {
		f := newInboxFixture(t)
		f.ask("a", questionRequest("Which?", "x", "y"))
		f.ask("b", questionRequest(c.other))
		f.open(f.ana, c.width)
		if got := matches(both, f.screen(c.width)); got != c.want {
			t.Errorf("%d columns, %s: side by side is %t, want %t:\n%s", c.width, c.other, got, c.want,
				f.screen(c.width))
		}
	}
}

// An ask with right-to-left text is not beside the list, and leaves the split of the other asks. It is opened on the
// whole screen, and a key decides no call that is not on the screen.
func TestRightToLeftAskOpensOnTheWholeScreen(t *testing.T) {
	f := newInboxFixture(t)
	f.ask("a", questionRequest("Which?", "x", "y"))
	id := f.ask("b", callRequest("send", `{"text": "هل أرسله؟"}`, false))
	f.open(f.ana, 120)
	f.shows(120, `asks │ Which\?`)
	f.press("j")
	f.shows(120, `Which\? .*│ (?s).*This ask has right-to-left text\. Enter opens it on the whole screen\.`)
	f.press("a")
	f.shows(120, `(?s)with │.*Read it first`)
	if screen := f.screen(120); strings.Contains(screen, "Which?") {
		t.Errorf("the list is beside the ask:\n%s", screen)
	}
	if got := f.outcome(id); got != "open" {
		t.Errorf("got %s", got)
	}
	f.press("esc", "k")
	f.shows(120, `asks │ Which\?`)
}

// If most rows of the list have right-to-left text, the list is alone.
func TestListOfRightToLeftAsksIsAlone(t *testing.T) {
	f := newInboxFixture(t)
	f.height = 14
	f.ask("a", questionRequest("Which?", "x", "y"))
	for range 6 {
		f.ask("b", questionRequest("שלום"))
	}
	f.open(f.ana, 120)
	f.shows(120, `> +\d+s │ Which\?`)
	if screen := f.screen(120); matches(`Which\? +│`, screen) {
		t.Errorf("the ask is beside the list:\n%s", screen)
	}
}

// inboxKeys open every part of an inbox, and decide nothing.
var inboxKeys = []string{
	"j", "enter", "down", "esc", "esc", "k", "x", "j", "x", "a", "esc", "esc", "s", "esc", "?", "?", "n", "esc", "esc",
	"c", "esc", "esc", "D", "esc", "esc", "end", "enter", "esc", "esc", "pgdown", "/", "Z", "esc", "home",
}

// No text of an agent leaves its part of an inbox: in the list, next to the list, and among the selected
// calls (T8 to T10).
func TestHostileTextStaysInInbox(t *testing.T) {
	racedetector.Omit(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := newInboxFixture(t)
		width := rapid.SampledFrom(inboxWidths).Draw(rt, "width")
		f.height = rapid.SampledFrom([]int{12, 30, 60}).Draw(rt, "height")
		client := fixedClient{Client: f.ana}
		for n := range rapid.IntRange(1, 4).Draw(rt, "asks") {
			a := hostileAsk(rt)
			a.ID, a.Outcome, a.CreatedAt = fmt.Sprint("ask_", n), nil, noon
			client.asks = append(client.asks, a)
		}
		f.open(client, width)
		f.checkCells(rt, width)
		for _, key := range inboxKeys {
			f.press(key)
			f.checkCells(rt, width)
		}
	})
}

// A fixedClient is a client with fixed open asks. It cannot send answers.
type fixedClient struct {
	askback.Client
	asks []askback.Ask
}

func (c fixedClient) List(context.Context, askback.Query) (askback.Page, error) {
	return askback.Page{Items: c.asks}, nil
}

// checkCells requires that text of agents is only right of a gutter, and that the title is unchanged. The
// marker is in every text of an agent.
func (f *inboxFixture) checkCells(t testingT, width int) {
	t.Helper()
	drawn := f.Drawn()
	s := newPanelScreen(width, f.height)
	s.add(drawn)
	if s.vt.Title() != title || s.replies.Len() > 0 {
		t.Fatalf("the title is %q, and the terminal sent %q", s.vt.Title(), s.replies.String())
	}
	list := min(max(width*2/5, 38), 64)
	rows := s.rows()
	split := width >= 90 && isSplitAt(rows, list)
	for y, row := range rows {
		if split && strings.ContainsFunc(string(row), safetext.IsRightToLeft) &&
			strings.TrimSpace(string(row[list:])) != "" {
			t.Fatalf("%d columns, row %d: right-to-left text is beside other text: %q", width, y, string(row))
		}
		left, right := row, []rune(nil)
		if split && row[list] == '│' {
			left, right = row[:list], row[list+2:]
		}
		for _, part := range [][]rune{left, right} {
			for x, r := range ownPart(part) {
				if r == marker || (r < ' ' || r > '~') && !strings.ContainsRune(ownRunes, r) {
					t.Fatalf("%d columns, row %d: %q in column %d of the part of Askback: %q", width, y, r, x,
						string(row))
				}
			}
		}
	}
}

// isSplitAt reports whether more than half of the rows have a vertical line in this column, after a space. If
// so, an ask is beside the list.
func isSplitAt(rows [][]rune, column int) bool {
	n := 0
	for _, row := range rows {
		if row[column] == '│' && row[column-1] == ' ' {
			n++
		}
	}
	return n > len(rows)/2
}

// ownPart returns the part of a row that Askback writes.
func ownPart(row []rune) []rune {
	for _, column := range []int{margin, 9} { // of an ask, and of the list
		if len(row) > column && (row[column] == '│' || row[column] == '┊') {
			return row[:column]
		}
	}
	for x, r := range row { // a field of the person, or a preview beside the options
		if r == '│' {
			return row[:x]
		}
	}
	return row
}
