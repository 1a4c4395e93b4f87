package terminal_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hinshun/vt10x"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/golden"
)

// openPanel opens a panel in a terminal of this size.
func openPanel(ask askback.Ask, width, height int) *terminal.TestPanel {
	o := terminal.Options{
		Human: true, Style: true, Zone: time.UTC,
		Width: func() int { return width }, Height: func() int { return height },
	}
	return terminal.OpenTestPanel(view.Of(ask), o)
}

// armedPanel opens a panel on a large terminal. All its keys work.
func armedPanel(ask askback.Ask) *terminal.TestPanel {
	p := openPanel(ask, 80, 60)
	p.Arm()
	return p
}

// screenText returns the content of a terminal of this size after drawn, without empty rows.
func screenText(drawn string, width, height int) string {
	vt := vt10x.New(vt10x.WithSize(width, height))
	_, _ = vt.Write([]byte(forEmulator(strings.ReplaceAll(drawn, "\r\n", "\n"))))
	var b strings.Builder
	for y := range height {
		row := ""
		for x := range width {
			if c := vt.Cell(x, y).Char; c != wideFiller {
				row += string(max(c, ' '))
			}
		}
		if row = strings.TrimRight(row, " "); row != "" {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}

func previewAsk() askback.Ask {
	return askback.Ask{
		ID: "ask_4", Agent: "designer", Kind: askback.Questions, Status: askback.Pending, CreatedAt: noon,
		Questions: []askback.Question{{
			ID: "q1", Text: "Which layout?", Options: []askback.Option{
				{
					Label: "Sidebar", Description: "Two panes: a list, and what is selected.",
					Preview: "+----+--------+\n|    |        |\n+----+--------+",
				},
				{
					Label: "Tabs", Description: "One pane at a time.",
					Preview: "+-------------+\n|  a  |   b   |\n+-------------+",
				},
			},
		}},
	}
}

// Panels are drawn at three widths as in the files in testdata (C1, C3, C5, F3, F5).
func TestPanelsMatchGoldenFiles(t *testing.T) {
	screens := []struct {
		name string
		ask  askback.Ask
		keys []string
	}{
		{"panel_question", databaseAsk(), []string{"down"}},
		{"panel_filter", databaseAsk(), []string{"/", "one file"}},
		{"panel_note", databaseAsk(), []string{"ctrl+n", "cheap is fine", "enter"}},
		{"panel_other", databaseAsk(), []string{"3", "enter", "MySQL, we know it"}},
		{"panel_help", databaseAsk(), []string{"?"}},
		{"panel_previews", previewAsk(), []string{"2"}},
		{"panel_several", severalQuestions(), []string{"1", "3", "enter"}},
		{"panel_review", severalQuestions(), []string{"1", "3", "enter", "a", "enter", "enter"}},
		{"panel_approval", deletionCall(), nil},
		{"panel_word", deletionCall(), []string{"a", "appr"}},
	}
	for _, s := range screens {
		for _, width := range []int{40, 80, 200} {
			t.Run(fmt.Sprint(s.name, "_", width), func(t *testing.T) {
				const height = 60
				p := openPanel(s.ask, width, height)
				p.Arm()
				for _, key := range s.keys {
					p.Press(key)
					p.Arm()
				}
				golden.Check(t, fmt.Sprintf("testdata/%s_%d.txt", s.name, width), screenText(p.Drawn(), width, height))
			})
		}
	}
}

// answerOf returns the answer to the only question, or fails.
func answerOf(t *testing.T, p *terminal.TestPanel) askback.QuestionAnswer {
	t.Helper()
	r, err := p.Finish()
	given, ok := r.(terminal.Answered)
	if err != nil || !ok || len(given.Answer.Answers) != 1 {
		t.Fatalf("got %v, %v; want one answer", r, err)
	}
	return given.Answer.Answers[0]
}

// Every key of a question has the effect that the help describes (C5).
func TestKeysOfAPanelMatchItsHelp(t *testing.T) {
	letters := askback.Question{Options: askback.Options("8080", "3000", "22")}
	several := askback.Question{Options: askback.Options("eu", "us", "ap"), MultiSelect: true, Optional: true}
	single := askback.Question{Options: askback.Options("eu", "us", "ap")}
	var many askback.Question
	for i := range 12 {
		many.Options = append(many.Options, askback.Option{Label: fmt.Sprintf("option %d!", i+1)})
	}
	tests := []struct {
		question askback.Question
		keys     string
		want     askback.QuestionAnswer
	}{
		{single, "enter", askback.QuestionAnswer{Selected: []string{"eu"}}},
		{single, "down enter", askback.QuestionAnswer{Selected: []string{"us"}}},
		{single, "j j k enter", askback.QuestionAnswer{Selected: []string{"us"}}},
		{single, "end up home pgdown up enter", askback.QuestionAnswer{Selected: []string{"ap"}}},
		{single, "3 enter", askback.QuestionAnswer{Selected: []string{"ap"}}},
		{single, "3 space enter", askback.QuestionAnswer{Selected: []string{"ap"}}},
		{single, "/ U s enter", askback.QuestionAnswer{Selected: []string{"us"}}},
		{single, "/ u s esc enter", askback.QuestionAnswer{Selected: []string{"us"}}},
		{single, "4 enter m e backspace y enter", askback.QuestionAnswer{Other: "my"}},
		{single, "4 enter b left a end c ctrl+a _ enter", askback.QuestionAnswer{Other: "_abc"}},
		{single, "4 enter a space b ctrl+w c enter", askback.QuestionAnswer{Other: "a c"}},
		{single, "4 enter a b ctrl+u c left ctrl+k d enter", askback.QuestionAnswer{Other: "d"}},
		{single, "4 enter a alt+enter b enter", askback.QuestionAnswer{Other: "a\nb"}},
		{single, "4 enter a esc 1 enter", askback.QuestionAnswer{Selected: []string{"eu"}}},
		{single, "ctrl+n w h y enter 2 enter", askback.QuestionAnswer{Selected: []string{"us"}, Notes: "why"}},
		{single, "ctrl+n w h y esc 2 enter", askback.QuestionAnswer{Selected: []string{"us"}}},
		{several, "1 3 enter", askback.QuestionAnswer{Selected: []string{"eu", "ap"}}},
		{several, "1 1 down space enter", askback.QuestionAnswer{Selected: []string{"us"}}},
		{several, "2 4 t o o enter enter", askback.QuestionAnswer{Selected: []string{"us"}, Other: "too"}},
		{several, "enter", askback.QuestionAnswer{}},
		{several, "1 s", askback.QuestionAnswer{}},
		{letters, "b enter", askback.QuestionAnswer{Selected: []string{"3000"}}},
		{letters, "2 c enter", askback.QuestionAnswer{Selected: []string{"22"}}},
		{many, "1 2 enter", askback.QuestionAnswer{Selected: []string{"option 12!"}}},
		{many, "1 down enter", askback.QuestionAnswer{Selected: []string{"option 2!"}}},
		{askback.Question{}, "h i enter", askback.QuestionAnswer{Other: "hi"}},
		{askback.Question{Default: []string{"main"}}, "enter", askback.QuestionAnswer{Other: "main"}},
		{askback.Question{Optional: true}, "enter", askback.QuestionAnswer{}},
	}
	for _, c := range tests {
		t.Run(c.keys, func(t *testing.T) {
			p := armedPanel(questionAsk(c.question))
			p.Press(strings.Fields(c.keys)...)
			got := answerOf(t, p)
			got.ID, got.Question = "", ""
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// A default is marked, and only Enter takes it. Required questions without an answer stay open, and so do
// questions after keys without a meaning (C5).
func TestPanelTakesNothingWithoutEnter(t *testing.T) {
	several := askback.Question{Options: askback.Options("eu", "us"), MultiSelect: true}
	for name, c := range map[string]struct {
		question askback.Question
		keys     string
		want     string
	}{
		"default":        {databaseAsk().Questions[0], "2 1 down space esc x", "[*] +1 │ PostgreSQL"},
		"nothing marked": {several, "enter", "Nothing is marked"},
		"empty text":     {askback.Question{}, "enter", "Write an answer first"},
		"skip":           {several, "s", "cannot be skipped"},
		"filter without hits": {
			askback.Question{Options: askback.Options("eu", "us"), NoOther: true},
			"/ x x enter enter",
			"No option matches",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := armedPanel(questionAsk(c.question))
			p.Press(strings.Fields(c.keys)...)
			screen := screenText(p.Drawn(), 80, 60)
			if r, _ := p.Finish(); r != nil {
				t.Fatalf("got %v, want no answer", r)
			}
			if !matches(c.want, screen) {
				t.Errorf("want %s on\n%s", c.want, screen)
			}
		})
	}
}

// Keys that were typed before a panel could be read do not answer it (C3).
func TestKeysTypedBeforeAPanelDoNotAnswer(t *testing.T) {
	for name, ask := range map[string]askback.Ask{"question": databaseAsk(), "call": harmlessCall()} {
		for _, keys := range []string{"\n", "a", "y", "d", "1\n"} {
			p := openPanel(ask, 80, 60)
			p.Type(0, keys)
			if r, _ := p.Finish(); r != nil {
				t.Errorf("%s: %s answered it: %v", name, keys, r)
			}
		}
	}
}

func harmlessCall() askback.Ask {
	a := deletionCall()
	a.Confirmation.Dangerous = false
	return a
}

// Only the keys of a decision decide. A dangerous call needs the typed word (C3, F7).
func TestOnlyDecisionKeysDecide(t *testing.T) {
	for _, c := range []struct {
		ask  askback.Ask
		keys string
		want askback.Answer
	}{
		{harmlessCall(), "a", askback.Decide(askback.Approve, "")},
		{harmlessCall(), "enter y", askback.Decide(askback.Approve, "")},
		{harmlessCall(), "n o k enter a", askback.Decide(askback.Approve, "ok")},
		{harmlessCall(), "d", askback.Decide(askback.Deny, "")},
		{harmlessCall(), "n n o enter d", askback.Decide(askback.Deny, "no")},
		{deletionCall(), "a y enter d", askback.Decide(askback.Deny, "")},
		{deletionCall(), "a a p p r o v e enter", askback.Decide(askback.Approve, "")},
		{deletionCall(), "a a p p r o v e esc d", askback.Decide(askback.Deny, "")},
	} {
		p := armedPanel(c.ask)
		p.Press(strings.Fields(c.keys)...)
		r, err := p.Finish()
		given, _ := r.(terminal.Answered)
		if d := cmp.Diff(c.want, given.Answer); d != "" || err != nil {
			t.Errorf("%s: %v\n-want +got\n%s", c.keys, err, d)
		}
	}
}

// To approve later calls as well, a person sees the scope and types a word (F8).
func TestApprovalOfLaterCallsRequiresTheTypedWord(t *testing.T) {
	p := armedPanel(harmlessCall())
	p.Press("A")
	if screen := screenText(p.Drawn(), 80, 60); !strings.Contains(screen,
		"For the next 24 hours this runs without asking anyone") {
		t.Errorf("got\n%s", screen)
	}
	p.Press("approve", "enter")
	r, err := p.Finish()
	given, _ := r.(terminal.Answered)
	if given.Answer.Decision != askback.ApproveAll || given.Answer.Grant == nil ||
		given.Answer.Grant.Scope != askback.ScopeInput || err != nil {
		t.Errorf("got %+v, %v", given.Answer, err)
	}
}

// A call with rows that were not shown needs the typed word, unless the person has opened all rows (F3, T3).
func TestPartlyShownCallRequiresTheTypedWord(t *testing.T) {
	a := harmlessCall()
	a.Confirmation.Input = []byte(`{"a":[` + strings.Repeat(`"x",`, 500) + `"x"]}`)
	p := armedPanel(a)
	p.Press("a")
	if screen := screenText(p.Drawn(), 80, 60); !strings.Contains(screen, "were not shown") {
		t.Errorf("got\n%s", screen)
	}
	p.Press("esc")
	p.Paged()
	p.Press("a")
	if r, _ := p.Finish(); r == nil {
		t.Error("not approved after all rows were shown")
	}
}

// Arguments that a person changed are shown, and only the changed arguments are approved (F7).
func TestChangedArgumentsAreShownAndApproved(t *testing.T) {
	p := armedPanel(harmlessCall())
	p.Edited("[1]")
	if screen := screenText(p.Drawn(), 80, 60); !strings.Contains(screen, "not a JSON object") {
		t.Errorf("got\n%s", screen)
	}
	p.Edited("{\"path\":\"/tmp/x\"}\n")
	p.Press("a")
	p.Arm()
	if screen := screenText(p.Drawn(), 80, 60); !strings.Contains(screen, "you changed the arguments") ||
		!strings.Contains(screen, "path: “/tmp/x”") {
		t.Errorf("got\n%s", screen)
	}
	p.Press("a")
	r, err := p.Finish()
	given, _ := r.(terminal.Answered)
	if string(given.Answer.Input) != `{"path":"/tmp/x"}` || given.Answer.Decision != askback.Approve || err != nil {
		t.Errorf("got %+v, %v", given.Answer, err)
	}
}

// Several questions are reviewed before they are sent. Tab moves between them, and Esc moves back (A6).
func TestSeveralQuestionsAreReviewed(t *testing.T) {
	p := armedPanel(severalQuestions())
	press := func(keys ...string) {
		for _, key := range keys {
			p.Press(key)
			p.Arm()
		}
	}
	press("tab", "tab", "it", "tab", "enter")
	if screen := screenText(p.Drawn(), 80, 60); !strings.Contains(screen, "This question has no answer yet.") {
		t.Errorf("an unanswered form was sent:\n%s", screen)
	}
	press("1", "enter", "b", "enter", "enter", "1", "2", "enter", "ctrl+r", "Thanks", "enter")
	press("esc")
	if screen := screenText(p.Drawn(), 80, 60); strings.Contains(screen, "your answers") ||
		!strings.Contains(screen, "What is it called?") {
		t.Errorf("Esc does not show the question before the review:\n%s", screen)
	}
	press("enter", "enter")
	r, err := p.Finish()
	given, _ := r.(terminal.Answered)
	var got []string
	for _, a := range given.Answer.Answers {
		got = append(got, a.String())
	}
	want := []string{"API docs, Testing, unit and end to end", "3000", "it"}
	if d := cmp.Diff(want, got); d != "" || err != nil || given.Answer.Comment != "Thanks" {
		t.Errorf("got %+v, %v\n-want +got\n%s\n%s", given.Answer, err, d, screenText(p.Drawn(), 80, 60))
	}
}

// A person can decline to answer, with a reason.
func TestPanelSendsTheReasonForDeclining(t *testing.T) {
	p := armedPanel(databaseAsk())
	p.Press("D", "not mine", "enter")
	if r, err := p.Finish(); err != nil || r != (terminal.Declined{Reason: "not mine"}) {
		t.Errorf("got %v, %v", r, err)
	}
}

// A paste chooses nothing. In a field it is text, with its line breaks.
func TestPasteIsText(t *testing.T) {
	p := armedPanel(databaseAsk())
	p.Paste("2\n")
	if screen := screenText(p.Drawn(), 80, 60); !strings.Contains(screen, "only into a field") {
		t.Errorf("got\n%s", screen)
	}
	p.Press("3", "enter")
	p.Paste("first\r\nsecond\x1b[2J\n")
	p.Press("enter")
	if got := answerOf(t, p); got.Other != "first\nsecond[2J" {
		t.Errorf("got %q", got.Other)
	}
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }
