package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/racedetector"
)

// runScript calls Ask with a script as input. It returns the result and the drawing.
func runScript(a askback.Ask, human bool, script string) (terminal.Result, string, error) {
	var out bytes.Buffer
	p := terminal.New(strings.NewReader(script), &out, &terminal.Options{Human: human})
	r, err := p.Ask(context.Background(), view.Of(a))
	return r, out.String(), err
}

func questionAsk(q askback.Question) askback.Ask {
	q.ID, q.Text = "q1", "Which?"
	return askback.Ask{Agent: "bot", Kind: askback.Questions, Questions: []askback.Question{q}}
}

func callAsk() askback.Ask {
	return askback.Ask{
		Agent: "bot", Kind: askback.Confirm, Confirmation: &askback.Confirmation{ToolName: "rm", Input: []byte(`{}`)},
	}
}

// A line can be a number, a label, own text, or empty for the default (C1, C5).
func TestLineIsParsedAsAnAnswer(t *testing.T) {
	colours := askback.Question{Options: askback.Options("red", "green", "blue")}
	fixed, standard, optional := colours, colours, colours
	fixed.NoOther, standard.Default, optional.Optional = true, []string{"green"}, true
	own := colours
	own.Default = []string{"ultraviolet"}
	twins := askback.Question{Options: askback.Options("Yes", "yes")}
	many := askback.Question{MultiSelect: true, Options: askback.Options("Yes, please", "No", "a b", "Yes", "x, y, z")}
	manyFixed, manyOptional, manyStandard := many, many, many
	manyFixed.NoOther, manyOptional.Optional, manyStandard.Default = true, true, []string{"No", "Yes", "or so"}
	ports := askback.Question{Options: askback.Options("8080", "3000")}
	manyPorts := ports
	manyPorts.MultiSelect = true
	free := askback.Question{}
	freeStandard := askback.Question{Default: []string{"main"}}
	commands := askback.Question{Options: askback.Options(":decline", "B")}

	for _, c := range []struct {
		name     string
		q        askback.Question
		script   string
		selected []string
		other    string
		message  string // text that the prompt must show in reply, if any
	}{
		{"a number", colours, "2\n", []string{"green"}, "", ""},
		{"a number among spaces, from Windows", colours, "  2 \r\n", []string{"green"}, "", ""},
		{"a label", colours, "blue\n", []string{"blue"}, "", ""},
		{"a label in capitals", colours, "BLUE\n", []string{"blue"}, "", ""},
		{"a label in capitals that two options have", twins, "YES\nyes\n", []string{"yes"}, "", "More than one label"},
		{"own text", colours, "dark red\n", nil, "dark red", ""},
		{"own text after Other", colours, "4\n4\n", nil, "4", "Your own words:"},
		{"a label after Other is text", colours, "other\nred\n", nil, "red", "Your own words:"},
		{"an empty line after Other", colours, "4\n\n1\n", []string{"red"}, "", "Nothing was typed."},
		{"an unknown number", colours, "7\n0\n1\n", []string{"red"}, "", "There is no option 7."},
		{
			"two numbers for one answer", colours, "1,3\n1 3\n1\n",
			[]string{"red"},
			"",
			"This question takes one answer.",
		},
		{"own text if not allowed", fixed, "pink\nother\n1\n", []string{"red"}, "", "That is not one of the options."},
		{"an empty line", colours, "\n  \n1\n", []string{"red"}, "", "An empty line is not an answer here."},
		{"an empty line for the default", standard, "\n", []string{"green"}, "", ""},
		{"an empty line for a default in words", own, "\n", nil, "ultraviolet", ""},
		{"an empty line skips", optional, "\n", nil, "", ""},
		{":skip", optional, ":skip\n", nil, "", ""},
		{":skip for a required question", colours, ":skip\n1\n", []string{"red"}, "", "cannot be skipped"},
		{"an exact label wins over a number", ports, "3000\n", []string{"3000"}, "", ""},
		{"letters for labels that are numbers", ports, "b\n", []string{"3000"}, "", ""},
		{"a number is then own text", ports, "1\n", nil, "1", ""},
		{"an unknown letter", ports, "x\na\n", []string{"8080"}, "", "There is no option x."},
		{"several numbers", many, "1,3\n", []string{"Yes, please", "a b"}, "", ""},
		{"several numbers with spaces", many, " 3 , 1,\n", []string{"a b", "Yes, please"}, "", ""},
		{"several numbers without commas", many, "3 1\n", []string{"a b", "Yes, please"}, "", ""},
		{"a repeated choice", many, "2,No,2\n", []string{"No"}, "", ""},
		{"a label with a comma", many, "Yes, please\n", []string{"Yes, please"}, "", ""},
		{"labels with commas", many, "No, x, y, z, Yes, please\n", []string{"No", "x, y, z", "Yes, please"}, "", ""},
		{"the short label before the comma", many, "Yes, No\n", []string{"Yes", "No"}, "", ""},
		{
			"labels and own text", many, "No, about 1,5 more, a b, thanks\n",
			[]string{"No", "a b"},
			"about 1,5 more, thanks", "",
		},
		{"a number in own text", many, "No, 7, more\nNo, a b\n", []string{"No", "a b"}, "", "There is no option 7."},
		{
			"labels and own text with a comma", many, "No, as soon, as cheap, a b, thanks\n",
			[]string{"No", "a b"},
			"as soon, as cheap, thanks", "",
		},
		{"only own text", many, "neither of them, rather a third\n", nil, "neither of them, rather a third", ""},
		{"own text that looks like a label", many, ":other neither, nor\n", nil, "neither, nor", ""},
		{"a number and Other", many, "2,6\nand this, too\n", []string{"No"}, "and this, too", ""},
		{"Other and own text together", many, "6, words\n2\n", []string{"No"}, "", "Write your own words once"},
		{"several, one wrong", many, "1,9\n1\n", []string{"Yes, please"}, "", "There is no option 9."},
		{
			"several, own text if not allowed", manyFixed, "1,maybe\n1\n",
			[]string{"Yes, please"},
			"",
			"not one of the options",
		},
		{"only commas", many, ",,\n2\n", []string{"No"}, "", "An empty line is not an answer here."},
		{"several, skipped", manyOptional, "\n", nil, "", ""},
		{"several defaults", manyStandard, "\n", []string{"No", "Yes"}, "or so", ""},
		{"several letters", manyPorts, "b,a\n", []string{"3000", "8080"}, "", ""},
		{"free text", free, "whatever it takes, 1, 2\n", nil, "whatever it takes, 1, 2", ""},
		{"free text, an empty line", free, "\nx\n", nil, "x", "An empty line is not an answer here."},
		{"free text, its default", freeStandard, "\n", nil, "main", ""},
		{"text that starts with a colon", free, "::help\n", nil, ":help", ""},
		{"a label that looks like a command", commands, "::decline\n", []string{":decline"}, "", ""},
		{"an unknown command", free, ":wq\nx\n", nil, "x", "Unknown command"},
		{"an escape sequence", free, "ab\x1b[D\nab\n", nil, "ab", "control characters"},
		{"invalid UTF-8", free, "a\xffb\nab\n", nil, "ab", "not UTF-8"},
		{"too long", free, strings.Repeat("ü", 20_001) + "\nab\n", nil, "ab", "longer than 20000"},
		{
			"much too long, and blank at first", freeStandard, strings.Repeat(" ", 1<<20) + "x\nab\n", nil, "ab",
			"longer than 20000",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := terminal.Answered{Answer: askback.Answer{Answers: []askback.QuestionAnswer{
				{ID: "q1", Question: "Which?", Selected: c.selected, Other: c.other},
			}}}
			got, drawn, err := runScript(questionAsk(c.q), false, c.script)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(terminal.Result(want), got); diff != "" {
				t.Error(diff)
			}
			if _, reply, _ := strings.Cut(strings.Join(strings.Fields(drawn), " "),
				"shows more."); !strings.Contains(reply, c.message) {
				t.Errorf("got %q, want %q in it", reply, c.message)
			}
			if c.message == "" && strings.Count(drawn, "> ") != 1 && !strings.Contains(drawn, "own words: ") {
				t.Errorf("asked more than once:\n%s", drawn)
			}
			if _, err := got.(terminal.Answered).Answer.Normalize(questionAsk(c.q)); err != nil {
				t.Errorf("the answer is invalid: %v", err)
			}
		})
	}
}

func TestAnswerContainsNotesAndComments(t *testing.T) {
	script := ":note\n:note first\n1\n:note second\n:note and third\n:comment thanks\na\n:comment bye\nx\n"
	got, _, err := runScript(severalQuestions(), true, script)
	if err != nil {
		t.Fatal(err)
	}
	want := terminal.Answered{Answer: askback.Answer{Comment: "thanks\nbye", Answers: []askback.QuestionAnswer{
		{ID: "q1", Question: "Which features?", Selected: []string{"API docs"}, Notes: "first"},
		{ID: "q2", Question: "Which port?", Selected: []string{"8080"}, Notes: "second\nand third"},
		{ID: "q3", Question: "What is it called?", Other: "x"},
	}}}
	if diff := cmp.Diff(terminal.Result(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestDeclineAcceptsAReason(t *testing.T) {
	for script, want := range map[string]terminal.Result{
		":decline\n":                     terminal.Declined{},
		"7\n:DECLINE  not mine, sorry\n": terminal.Declined{Reason: "not mine, sorry"},
		"other\n:decline\n":              terminal.Declined{},
	} {
		got, _, err := runScript(questionAsk(askback.Question{Options: askback.Options("a", "b")}), false, script)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", script, err, diff)
		}
	}
	got, _, err := runScript(callAsk(), false, ":decline no idea\n")
	if diff := cmp.Diff(terminal.Result(terminal.Declined{Reason: "no idea"}), got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The beginning of a script, even with an unfinished line, is not an answer: at a terminal and
// through a pipe, with and without defaults.
func TestEndOfInputIsNotAnAnswer(t *testing.T) {
	yes := deletionCall()
	scripts := []struct {
		ask    askback.Ask
		script string
	}{
		{databaseAsk(), "1\n"},
		{databaseAsk(), "\n"},
		{databaseAsk(), ":other my own\r\n"},
		{databaseAsk(), "7\nother\n:note x\nwords\n"},
		{severalQuestions(), "1,2\n:note y\na\n\n"},
		{severalQuestions(), "4\nown\nb\n:skip\n"},
		{severalQuestions(), "1\n:help\na\n:decline because\n"},
		{yes, "n\n"},
		{yes, "\n"},
		{yes, ":note why\nno\n"},
		{yes, "maybe\n:decline x\n"},
	}
	for _, s := range scripts {
		for _, human := range []bool{true, false} {
			for n := range s.script {
				got, _, err := runScript(s.ask, human, s.script[:n])
				if !errors.Is(err, terminal.ErrNoInput) || !errors.Is(err, io.EOF) || got != nil {
					t.Errorf("%q and then the end: got %v, %v", s.script[:n], got, err)
				}
			}
			if _, _, err := runScript(s.ask, human, s.script); err != nil {
				t.Errorf("%q: got %v", s.script, err)
			}
		}
	}
}

// The property of TestEndOfInputIsNotAnAnswer holds for random scripts.
func TestEndOfRandomInputIsNotAnAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom([]askback.Ask{databaseAsk(), severalQuestions(), deletionCall(), callAsk()}).Draw(t,
			"ask")
		script := strings.Join(rapid.SliceOfN(anyLine(), 1, 8).Draw(t, "lines"), "")
		in := strings.NewReader(script)
		r, err := terminal.New(in, io.Discard, nil).Ask(context.Background(), view.Of(a))
		if (r == nil) == (err == nil) {
			t.Fatalf("%q: got %v and %v", script, r, err)
		}
		if r == nil {
			return
		}
		used := script[:len(script)-in.Len()]
		if !strings.HasSuffix(used, "\n") {
			t.Fatalf("%q was an answer", used)
		}
		for n := range used {
			if r, _, err := runScript(a, false, used[:n]); r != nil || !errors.Is(err, terminal.ErrNoInput) {
				t.Fatalf("%q of %q: got %v, %v", used[:n], used, r, err)
			}
		}
	})
}

// anyLine draws a line that a person or a script could type, or a random line.
func anyLine() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"y\n", "yes\n", "Y\n", "approve\n", "approved\n", " YES \n", "\n", "n\n", "no\n", "1\n", "2,1\n", "a\n",
			"true\n", "ok\n", "ja\n", ":note y\n", ":help\n", ":decline y\n", ":approve\n", "::y\n", "y", "\r\n",
			"y\r\n", "y\x00\n", "\x1b[Ay\n", "all\n", "approve all\n", "ｙ\n",
		}),
		rapid.Map(rapid.String(), func(s string) string { return s + "\n" }),
	)
}

// A pipe, a default or the end of input cannot approve (C3, docs/wire.md §1 and §9).
func TestPipeCannotApprove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script := strings.Join(rapid.SliceOf(anyLine()).Draw(t, "lines"), "")
		checkNotApproved(t, script, rapid.Bool().Draw(t, "suggested"))
	})
}

func FuzzPipeCannotApprove(f *testing.F) {
	for _, seed := range []string{"y\n", "yes\ny\n", "\n", "approved\n", "n\n", "y", ":note\ny\n"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, script string, suggested bool) { checkNotApproved(t, script, suggested) })
}

func checkNotApproved(t interface{ Fatalf(string, ...any) }, script string, suggested bool) {
	v := view.Of(callAsk())
	v.Confirmation.SuggestYes = suggested
	r, err := terminal.New(strings.NewReader(script), io.Discard, nil).Ask(context.Background(), v)
	if given, ok := r.(terminal.Answered); ok && given.Answer.Decision != askback.Deny {
		t.Fatalf("%q: got %q", script, given.Answer.Decision)
	}
	if r == nil && !errors.Is(err, terminal.ErrNoInput) {
		t.Fatalf("%q: got %v", script, err)
	}
}

func TestRejectedPipeApprovalIsExplained(t *testing.T) {
	r, drawn, err := runScript(callAsk(), false, "y\nn\n")
	if diff := cmp.Diff(terminal.Result(terminal.Answered{Answer: askback.Decide(askback.Deny, "")}), r); diff != "" ||
		err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if !strings.Contains(strings.Join(strings.Fields(drawn), " "), "It is still open.") {
		t.Errorf("got\n%s", drawn)
	}
}

// denialLine matches a denial with a reason.
var denialLine = regexp.MustCompile(`^(no?|deny|denied)([,;:.!]| ).*\S`)

// At a terminal, only the words in the package comment approve. Other lines deny, or are rejected. If the
// agent suggests yes, an empty line does nothing (C3).
func TestOnlyListedWordsApprove(t *testing.T) {
	approves := map[string]bool{"y": true, "yes": true, "approve": true, "approved": true}
	denies := map[string]bool{"n": true, "no": true, "deny": true, "denied": true}
	check := func(t interface{ Fatalf(string, ...any) }, line string, suggested bool) {
		v := view.Of(callAsk())
		v.Confirmation.SuggestYes = suggested
		r, err := terminal.New(strings.NewReader(line), io.Discard,
			&terminal.Options{Human: true}).Ask(context.Background(), v)
		given, ok := r.(terminal.Answered)
		word := strings.ToLower(strings.TrimSpace(line))
		complete := strings.HasSuffix(line, "\n") && !strings.Contains(strings.TrimSuffix(line, "\n"), "\n")
		if got := ok && given.Answer.Decision == askback.Approve; complete && got != approves[word] {
			t.Fatalf("%q: approved: got %v, want %v", line, got, approves[word])
		}
		want := denies[word] || word == "" && !suggested || denialLine.MatchString(word)
		if got := ok && given.Answer.Decision == askback.Deny; complete && got != want {
			t.Fatalf("%q: denied: got %v, want %v", line, got, want)
		}
		if !ok && !errors.Is(err, terminal.ErrNoInput) && r == nil {
			t.Fatalf("%q: got %v", line, err)
		}
	}
	for _, suggested := range []bool{true, false} {
		for _, line := range []string{
			"y\n", "Yes\n", " approve \n", "APPROVED\r\n", "\n", "n\n", "No\n", "deny\n", "denied\n", "yy\n", "yes!\n",
			"y n\n", "1\n", "ye\n",
		} {
			check(t, line, suggested)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyLine().Draw(t, "line"), rapid.Bool().Draw(t, "suggested")) })
}

func TestNoteBecomesTheReasonOfADecision(t *testing.T) {
	r, _, err := runScript(callAsk(), true, ":comment x\n:note I checked\nYES\n")
	want := terminal.Answered{Answer: askback.Decide(askback.Approve, "I checked")}
	if diff := cmp.Diff(terminal.Result(want), r); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestSettledAskIsRejected(t *testing.T) {
	a := databaseAsk()
	a.Outcome = &outcomes()[0]
	r, drawn, err := runScript(a, true, "1\n")
	if !errors.Is(err, askback.ErrSettled) || r != nil || drawn != "" {
		t.Errorf("got %v, %v, %q", r, err, drawn)
	}
}

// brokenWriter fails after a number of writes, like a closed terminal.
type brokenWriter struct{ after int }

func (b *brokenWriter) Write(p []byte) (int, error) {
	if b.after--; b.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// A person cannot answer an ask that could not be shown.
func TestOutputErrorEndsAsk(t *testing.T) {
	for _, a := range []askback.Ask{databaseAsk(), callAsk()} {
		for n := range 2 {
			p := terminal.New(strings.NewReader("n\n1\n"), &brokenWriter{n}, &terminal.Options{Human: true})
			if r, err := p.Ask(context.Background(), view.Of(a)); r != nil || !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("after %d writes: got %v, %v", n, r, err)
			}
		}
	}
}

// Text of the agent is drawn below the call that will run. Only the names of the agent and of its token are
// above (T3).
func TestAgentTextIsBelowCall(t *testing.T) {
	a := callAsk()
	a.Tags, a.Title, a.Owner = []string{"harmless"}, "Tidy up", "mallory"
	var out bytes.Buffer
	if err := terminal.Show(&out, view.Of(a), nil); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, want := range []string{
		" agent │ bot", " token │ mallory", "  tool │ rm", "  with │ {}", "── what the agent says",
		"  tags │ harmless", " title │ Tidy up",
	} {
		i := strings.Index(out.String(), want)
		if i <= at {
			t.Errorf("%q is at %d, want it after %d in\n%s", want, i, at, out.String())
		}
		at = i
	}
}

// Many runes that join into one character are broken into rows within a minute. No row is wider than the
// screen, even if the terminal does not join the runes.
func TestManyJoiningRunesAreBrokenIntoRows(t *testing.T) {
	racedetector.Omit(t)
	for _, r := range []rune{0x1100, 0x1F3FB} {
		a := callAsk()
		a.Confirmation.Input = []byte(`["` + strings.Repeat(string(r), 200_000) + `"]`)
		var out bytes.Buffer
		begun := time.Now()
		if err := terminal.Show(&out, view.Of(a), nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("%U: took %v", r, took)
		}
		for row := range strings.SplitSeq(out.String(), "\n") {
			if n := strings.Count(row, string(r)); n > 40 {
				t.Fatalf("%U: a row has %d of them, each two columns wide", r, n)
			}
		}
	}
}

// The input of yes | askback never ends. It is read only up to the third line without an
// answer.
func TestEndlessPipeIsAbandoned(t *testing.T) {
	choices := questionAsk(askback.Question{Options: askback.Options("red", "green"), NoOther: true})
	for name, c := range map[string]struct {
		ask  askback.Ask
		line string
	}{
		"y to a call":         {callAsk(), "y\n"},
		"an unknown choice":   {choices, "9\n"},
		"a command":           {choices, ":help\n"},
		"a note without text": {choices, ":note\n"},
		"invalid UTF-8":       {choices, "\xff\n"},
	} {
		t.Run(name, func(t *testing.T) {
			in := strings.NewReader(strings.Repeat(c.line, 1000))
			var out bytes.Buffer
			_, err := terminal.New(in, &out, nil).Ask(t.Context(), view.Of(c.ask))
			if !errors.Is(err, terminal.ErrNoInput) {
				t.Errorf("got %v, want %v", err, terminal.ErrNoInput)
			}
			if got := 1000 - in.Len()/len(c.line); got != 3 {
				t.Errorf("%d lines were read, want 3", got)
			}
			if got := strings.Count(out.String(), "No more of this input is read."); got != 1 {
				t.Errorf("got %d notes that reading stops in\n%s", got, out.String())
			}
		})
	}
}

// An answer resets the count of rejected lines. A person can try any number of times.
func TestConsecutiveRejectedLinesAreCounted(t *testing.T) {
	choices := questionAsk(askback.Question{Options: askback.Options("red", "green"), NoOther: true})
	choices.Questions = append(choices.Questions, choices.Questions[0])
	choices.Questions[1].ID = "q2"
	if _, drawn, err := runScript(choices, false, "9\n9\n1\n9\n9\n2\n"); err != nil {
		t.Errorf("two and two lines: %v\n%s", err, drawn)
	}
	if _, drawn, err := runScript(choices, true, "9\n9\n9\n9\n1\n2\n"); err != nil {
		t.Errorf("a person: %v\n%s", err, drawn)
	}
}
