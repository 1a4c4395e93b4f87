package notice_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

func ask(labels ...string) askback.Ask {
	return askback.Ask{ID: "ask_1", Agent: "bot", Questions: []askback.Question{
		{ID: "q1", Text: "Which one?", Options: askback.Options(labels...)},
	}}
}

func call(input string, dangerous bool) askback.Ask {
	return askback.Ask{ID: "ask_1", Agent: "bot", Confirmation: &askback.Confirmation{
		ToolName: "deploy", Input: json.RawMessage(input), Dangerous: dangerous,
	}}
}

// The choices of an ask are either all of its options in their order, or empty. So the index in a signed
// button selects the same choice with any limits.
func TestChoicesOfferAllOptionsOrNone(t *testing.T) {
	several, two, quorum := ask("a", "b"), ask("a", "b"), call("{}", false)
	several.Questions[0].MultiSelect, quorum.Quorum = true, 2
	two.Questions = append(two.Questions, two.Questions[0])
	for name, c := range map[string]struct {
		ask    askback.Ask
		limits notice.Limits
		want   string
	}{
		"options":              {ask("c", "a", "b"), notice.Limits{}, "c a b"},
		"as many as the limit": {ask("c", "a", "b"), notice.Limits{Choices: 3, Label: 1}, "c a b"},
		"too many":             {ask("c", "a", "b"), notice.Limits{Choices: 2}, ""},
		"too wide":             {ask("a", "bb"), notice.Limits{Label: 1}, ""},
		"too wide in cells":    {ask("a", "語"), notice.Limits{Label: 1}, ""},
		"without limits":       {ask(strings.Repeat("x", 150), "b"), notice.Limits{}, strings.Repeat("x", 150) + " b"},
		"same on the screen":   {ask("a b", "a\tb"), notice.Limits{}, ""},
		"invisible characters": {ask("yes", "no\u200b"), notice.Limits{}, ""},
		"several selections":   {several, notice.Limits{}, ""},
		"two questions":        {two, notice.Limits{}, ""},
		"free text":            {ask(), notice.Limits{}, ""},
		"a call":               {call(`{"a":1}`, false), notice.Limits{Choices: 2, Label: 7}, "Approve Deny"},
		"a dangerous call":     {call(`{"a":1}`, true), notice.Limits{}, ""},
		"a call with warnings": {call(`{"target":"a","Target":"b"}`, false), notice.Limits{}, ""},
		"two approvals":        {quorum, notice.Limits{}, "Approve Deny"},
	} {
		var got []string
		for i, choice := range notice.Choices(c.ask, c.limits) {
			got = append(got, choice.Label)
			if len(c.ask.Questions) == 1 &&
				choice.Answer.Answers[0].Selected[0] != c.ask.Questions[0].Options[i].Label {
				t.Errorf("%s: choice %d answers %+v", name, i, choice.Answer)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	decisions := notice.Choices(call("{}", false), notice.Limits{})
	if decisions[0].Answer.Decision != askback.Approve || decisions[1].Answer.Decision != askback.Deny {
		t.Errorf("got %+v", decisions)
	}
}

// A person whose answer was late is told who was first and with which answer. An answer that is too long for
// a notice is omitted.
func TestLateNoticeNamesThePersonWhoWasFirst(t *testing.T) {
	for label, want := range map[string]string{
		"SQLite": "eva answered first: SQLite", strings.Repeat("x", 300): "eva answered first",
	} {
		a := ask(label, "b")
		a.Outcome = &askback.Outcome{
			Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "eva"},
			Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{label}}},
		}
		if got := notice.Late(a, "ana"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		m := notice.TooLate(a, "ana")
		if m.Tag != a.ID || m.Text(notice.Plain) != want || len(m.Buttons) > 0 {
			t.Errorf("got %+v", m)
		}
	}
}
