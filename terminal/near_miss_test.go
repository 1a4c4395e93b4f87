package terminal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/terminal"
)

func answered(q askback.Question, selected []string, other string) terminal.Result {
	return terminal.Answered{Answer: askback.Answer{Answers: []askback.QuestionAnswer{
		{ID: "q1", Question: q.Text, Selected: selected, Other: other},
	}}}
}

var (
	databases = askback.Question{ID: "q1", Text: "Which?", Options: askback.Options("PostgreSQL", "SQLite")}
	periods   = askback.Question{ID: "q1", Text: "Which?", Options: askback.Options("7 days", "30 days", "for good")}
	regions   = askback.Question{
		ID: "q1", Text: "Which?", MultiSelect: true, Options: askback.Options("eu", "us", "ap"),
	}
	layouts  = askback.Question{ID: "q1", Text: "Which?", Options: askback.Options("Tabs", "Sidebar", "One long page")}
	consent  = askback.Question{ID: "q1", Text: "Which?", Options: askback.Options("yes", "no")}
	freeText = askback.Question{ID: "q1", Text: "Which?"}
)

// A line that only resembles an option, or that looks like a command, is not yet an answer. This holds for a
// person and for a pipe.
func TestMistypedOptionIsNotAnAnswer(t *testing.T) {
	for _, c := range []struct {
		q     askback.Question
		typed string
	}{
		{databases, "sqlit"},
		{databases, "SQL ite"},
		{databases, "Sqilte"},
		{databases, "postgres"},
		{databases, "?"},
		{databases, "q"},
		{databases, "quit"},
		{databases, "help"},
		{databases, "exit"},
		{databases, "all"},
		{databases, "none"},
		{databases, "1-2"},
		{databases, "1 - 2"},
		{databases, "1/2"},
		{databases, "1 to 2"},
		{databases, "7."},
		{databases, "(7)"},
		{databases, "sqlite or postgres"},
		{databases, "PostgreSQL SQLite"},
		{periods, "30 d"},
		{periods, "30days"},
		{periods, "good"},
		{layouts, "Tab"},
		{layouts, "long page"},
		{regions, "eu uss"},
		{regions, "eu or us"},
		{regions, "1-9"},
		{regions, "none"},
		{consent, "yess"},
	} {
		for _, human := range []bool{true, false} {
			got, drawn, err := runScript(questionAsk(c.q), human, c.typed+"\n")
			if !errors.Is(err, terminal.ErrNoInput) {
				t.Errorf("%q, human %v: got %v, %v\n%s", c.typed, human, got, err, drawn)
			}
		}
	}
}

// A person must confirm text that is not an option with yes, or send it with :other. Free text must be
// confirmed only if it looks like a command.
func TestOwnTextIsSentAfterConfirmation(t *testing.T) {
	for _, c := range []struct {
		name     string
		q        askback.Question
		script   string
		selected []string
		other    string
	}{
		{"yes", databases, "sqlit\nyes\n", nil, "sqlit"},
		{"y", databases, "something else\nY\n", nil, "something else"},
		{"no", databases, "sqlit\nn\n2\n", []string{"SQLite"}, ""},
		{"Enter", databases, "sqlit\n\n2\n", []string{"SQLite"}, ""},
		{"an option instead", databases, "sqlit\nsqlite\n", []string{"SQLite"}, ""},
		{"other words instead", databases, "sqlit\nMariaDB\ny\n", nil, "MariaDB"},
		{"own text marked as such", databases, ":other sqlit\n", nil, "sqlit"},
		{"own text after the command", databases, ":other\nsqlit\n", nil, "sqlit"},
		{"own text in reply", databases, "sqlit\n:other sqlit?\n", nil, "sqlit?"},
		{"a yes that is an option", consent, "yess\nyes\n:other yess\n", nil, "yess"},
		{"a no that is an option", consent, "noo\nno\n2\n", []string{"no"}, ""},
		{"one of several", regions, "1, mars\ny\n", []string{"eu"}, "mars"},
		{"a note in between", databases, "x y z\n:note why\ny\n", nil, "x y z"},
		{"free text", freeText, "whatever it takes\n", nil, "whatever it takes"},
		{"free text that looks like a request", freeText, "quit\ny\n", nil, "quit"},
		{"free text for all", freeText, "all\n", nil, "all"},
		{"free text and no", freeText, "exit\nn\nx\n", nil, "x"},
		{"free text after help", freeText, "?\nhelp\nx\n", nil, "x"},
		{"free text that is a question mark", freeText, ":other ?\n", nil, "?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, drawn, err := runScript(questionAsk(c.q), true, c.script)
			if err != nil {
				t.Fatalf("%v\n%s", err, drawn)
			}
			given := got.(terminal.Answered)
			given.Answer.Answers[0].Notes = ""
			if diff := cmp.Diff(answered(c.q, c.selected, c.other), terminal.Result(given)); diff != "" {
				t.Errorf("%s\n%s", diff, drawn)
			}
		})
	}
}

// Forms such as "2)", "1-2" and "eu and ap" are accepted from a person and from a pipe.
func TestAlternativeFormsOfChoicesAreAccepted(t *testing.T) {
	for _, c := range []struct {
		q        askback.Question
		typed    string
		selected []string
	}{
		{databases, "1.", []string{"PostgreSQL"}},
		{databases, "2)", []string{"SQLite"}},
		{databases, "(2)", []string{"SQLite"}},
		{databases, "2:", []string{"SQLite"}},
		{regions, "all", []string{"eu", "us", "ap"}},
		{regions, "1-2", []string{"eu", "us"}},
		{regions, "1-2, ap", []string{"eu", "us", "ap"}},
		{regions, "2 - 3", []string{"us", "ap"}},
		{regions, "eu us", []string{"eu", "us"}},
		{regions, "eu and AP", []string{"eu", "ap"}},
		{regions, "1. 3.", []string{"eu", "ap"}},
		{regions, "1/3", []string{"eu", "ap"}},
	} {
		for _, human := range []bool{true, false} {
			got, drawn, err := runScript(questionAsk(c.q), human, c.typed+"\n")
			if diff := cmp.Diff(answered(c.q, c.selected, ""), got); diff != "" || err != nil {
				t.Errorf("%q, human %v: %v\n%s\n%s", c.typed, human, err, diff, drawn)
			}
		}
	}
}

// Text from a pipe is an answer if it resembles no option and no command. Other text is
// rejected with a reason.
func TestPipeCanAnswerWithOwnText(t *testing.T) {
	got, drawn, err := runScript(questionAsk(databases), false, "sqlit\nq\na big spreadsheet\n")
	if diff := cmp.Diff(answered(databases, nil, "a big spreadsheet"), got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, want := range []string{"the nearest is 2", "write :other before it"} {
		if !strings.Contains(strings.Join(strings.Fields(drawn), " "), want) {
			t.Errorf("want %q in\n%s", want, drawn)
		}
	}
}

// Typing ?, help or :help shows the help.
func TestHelpIsShownForCommonRequests(t *testing.T) {
	for _, typed := range []string{"?", "help", ":help"} {
		_, drawn, _ := runScript(questionAsk(databases), true, typed+"\n")
		if !strings.Contains(drawn, ":decline") || !strings.Contains(drawn, ":other TEXT") {
			t.Errorf("%q: got\n%s", typed, drawn)
		}
	}
}
