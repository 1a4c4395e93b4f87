package askback_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
)

// form is an ask with a question of every sort.
func form() askback.Ask {
	return askback.Ask{Kind: askback.Questions, Questions: []askback.Question{
		{ID: "q1", Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")},
		{ID: "q2", Text: "Which extras?", Options: askback.Options("TLS", "Backups", "Metrics"), MultiSelect: true, Optional: true},
		{ID: "q3", Text: "Which region?", Options: askback.Options("eu", "us"), NoOther: true, Optional: true},
		{ID: "q4", Text: "What name?", Optional: true},
	}}
}

// one is an ask with this question alone.
func one(q askback.Question) askback.Ask {
	q.ID, q.Text = "q1", "Which?"
	return askback.Ask{Kind: askback.Questions, Questions: []askback.Question{q}}
}

var ab = askback.Options("A", "B")

type given = askback.QuestionAnswer

func TestAnswersFindTheirQuestions(t *testing.T) {
	empty := []given{
		{ID: "q1", Question: "Which database?", Selected: []string{"SQLite"}},
		{ID: "q2", Question: "Which extras?"},
		{ID: "q3", Question: "Which region?"},
		{ID: "q4", Question: "What name?"},
	}
	full := slices.Clone(empty)
	full[1].Selected, full[3].Other = []string{"TLS"}, "prod"
	for _, c := range []struct {
		name    string
		answers []given
		want    []given
		bad     []string
	}{
		{"by id", []given{{ID: "q1", Selected: []string{"SQLite"}}}, empty, nil},
		{"by text", []given{{Question: "Which database?", Selected: []string{"SQLite"}}}, empty, nil},
		{"the id counts, not the text", []given{
			{ID: "q4", Question: "Which database?", Other: "prod"}, {ID: "q2", Question: "?", Selected: []string{"TLS"}}, {ID: "q1", Selected: []string{"SQLite"}},
		}, full, nil},
		{"in the order of the questions", []given{
			{ID: "q4", Other: "prod"}, {Question: "Which extras?", Selected: []string{"TLS"}}, {ID: "q1", Selected: []string{"SQLite"}},
		}, full, nil},
		{"no such id", []given{{ID: "q1", Selected: []string{"SQLite"}}, {ID: "q9"}}, nil, []string{"/answers/1/id"}},
		{"no such text", []given{{Question: "Which planet?"}, {ID: "q1", Selected: []string{"SQLite"}}}, nil, []string{"/answers/0/question"}},
		{"neither id nor text", []given{{ID: "q1", Selected: []string{"SQLite"}}, {Other: "x"}}, nil, []string{"/answers/1/question"}},
		{"twice", []given{{ID: "q1", Selected: []string{"SQLite"}}, {Question: "Which database?", Selected: []string{"SQLite"}}}, nil, []string{"/answers/1"}},
		{"a required one is missing", []given{{ID: "q4", Other: "prod"}}, nil, []string{"/answers"}},
		{"none", nil, nil, []string{"/answers"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := askback.Answer{Answers: c.answers}.Normalize(form())
			if at := pointers(t, err); !slices.Equal(at, c.bad) {
				t.Fatalf("got problems at %q, want %q: %v", at, c.bad, err)
			}
			if diff := cmp.Diff(c.want, got.Answers); c.bad == nil && diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// Rows C1, C2: what counts as an answer to one question.
func TestWhatCountsAsAnAnswer(t *testing.T) {
	single, several := askback.Question{Options: ab}, askback.Question{Options: ab, MultiSelect: true}
	only := askback.Question{Options: ab, NoOther: true}
	onlySeveral := askback.Question{Options: ab, NoOther: true, MultiSelect: true}
	optional := askback.Question{Options: ab, Optional: true}
	optionalSeveral := askback.Question{Options: ab, Optional: true, MultiSelect: true}
	text, optionalText := askback.Question{}, askback.Question{Optional: true}
	const at, selected, other = "/answers/0", "/answers/0/selected", "/answers/0/other"
	for _, c := range []struct {
		name string
		q    askback.Question
		in   given
		want given // without id and question
		bad  []string
	}{
		{"a label", single, given{Selected: []string{"A"}}, given{Selected: []string{"A"}}, nil},
		{"own text", single, given{Other: "C"}, given{Other: "C"}, nil},
		{"a label that is no option", single, given{Selected: []string{"C"}}, given{Other: "C"}, nil},
		{"a label in another case", single, given{Selected: []string{"a"}}, given{Other: "a"}, nil},
		{"two labels", single, given{Selected: []string{"A", "B"}}, given{}, []string{selected}},
		{"a label and own text", single, given{Selected: []string{"A"}, Other: "C"}, given{}, []string{selected}},
		{"two that are no options", single, given{Selected: []string{"C", "D"}}, given{}, []string{selected}},
		{"the same label twice", single, given{Selected: []string{"A", "A"}}, given{Selected: []string{"A"}}, nil},
		{"nothing", single, given{}, given{}, []string{at}},
		{"a blank label", single, given{Selected: []string{" "}}, given{}, []string{at}},
		{"blank own text", single, given{Other: " \n"}, given{}, []string{at}},
		{"a label and blank own text", single, given{Selected: []string{"A"}, Other: " "}, given{Selected: []string{"A"}}, nil},
		{"only notes", single, given{Notes: "hm"}, given{}, []string{at}},
		{"notes", single, given{Selected: []string{"A"}, Notes: " because \n"}, given{Selected: []string{"A"}, Notes: "because"}, nil},

		{"several: in the order given", several, given{Selected: []string{"B", "A"}}, given{Selected: []string{"B", "A"}}, nil},
		{"several: and own text", several, given{Selected: []string{"A"}, Other: "C"}, given{Selected: []string{"A"}, Other: "C"}, nil},
		{"several: own text among the labels", several, given{Selected: []string{"C", "A", "D"}, Other: "E"}, given{Selected: []string{"A"}, Other: "C, D, E"}, nil},
		{"several: the same label twice", several, given{Selected: []string{"A", "B", "A"}}, given{Selected: []string{"A", "B"}}, nil},
		{"several: nothing", several, given{Selected: []string{}}, given{}, []string{at}},

		{"only options: a label", only, given{Selected: []string{"B"}}, given{Selected: []string{"B"}}, nil},
		{"only options: no option", only, given{Selected: []string{"C"}}, given{}, []string{selected}},
		{"only options: own text", only, given{Other: "C"}, given{}, []string{other}},
		{"only options, several: one is none", onlySeveral, given{Selected: []string{"A", "C"}}, given{}, []string{selected}},

		{"optional: nothing", optional, given{}, given{}, nil},
		{"optional: blank", optional, given{Selected: []string{""}, Other: " "}, given{}, nil},
		{"optional: notes alone", optional, given{Notes: "no opinion"}, given{Notes: "no opinion"}, nil},
		{"optional, several: an empty selection", optionalSeveral, given{Selected: []string{}}, given{}, nil},

		{"free text", text, given{Other: " as it is "}, given{Other: " as it is "}, nil},
		{"free text as a label", text, given{Selected: []string{"words"}}, given{Other: "words"}, nil},
		{"free text: nothing", text, given{}, given{}, []string{at}},
		{"free text: blank", text, given{Other: "\t"}, given{}, []string{at}},
		{"free text: twice", text, given{Selected: []string{"a"}, Other: "b"}, given{}, []string{selected}},
		{"optional free text: nothing", optionalText, given{}, given{}, nil},

		{"own text as long as may be", text, given{Other: strings.Repeat("é", 20_000)}, given{Other: strings.Repeat("é", 20_000)}, nil},
		{"own text too long", text, given{Other: strings.Repeat("é", 20_001)}, given{}, []string{other}},
		{"notes too long", optional, given{Notes: strings.Repeat("é", 20_001)}, given{}, []string{at + "/notes"}},
		{"own text not UTF-8", text, given{Other: "\xff"}, given{}, []string{other}},
		{"notes not UTF-8", optional, given{Notes: "\xff"}, given{}, []string{at + "/notes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.ID = "q1"
			got, err := askback.Answer{Answers: []given{c.in}}.Normalize(one(c.q))
			if bad := pointers(t, err); !slices.Equal(bad, c.bad) {
				t.Fatalf("got problems at %q, want %q: %v", bad, c.bad, err)
			}
			c.want.ID, c.want.Question = "q1", "Which?"
			if diff := cmp.Diff([]given{c.want}, got.Answers); c.bad == nil && diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// A refusal names the labels, so that whoever sent it can choose one; of many
// labels only the first.
func TestTheProblemNamesTheLabels(t *testing.T) {
	q := askback.Question{Options: askback.Options(numbered(7)...), NoOther: true, Optional: true}
	_, err := askback.Choose(strings.Repeat("long ", 20)).Normalize(one(q))
	want := `/answers/0/selected: "long long long long long long long long …" is no option (choose "n0", "n1", "n2", "n3", "n4" …)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestRemarksOnTheWholeFormHaveALimit(t *testing.T) {
	for n, want := range map[int][]string{20_000: nil, 20_001: {"/comment", "/reason"}} {
		for _, a := range []struct {
			ask    askback.Ask
			answer askback.Answer
		}{
			{form(), askback.Choose("SQLite")},
			{askback.Ask{Kind: askback.Confirm}, askback.Decide(askback.Deny, "")},
		} {
			a.answer.Comment, a.answer.Reason = strings.Repeat("é", n), strings.Repeat("é", n)
			_, err := a.answer.Normalize(a.ask)
			if got := pointers(t, err); !slices.Equal(got, want) {
				t.Errorf("%s, %d characters: got problems at %q, want %q", a.ask.Kind, n, got, want)
			}
		}
		want := want[min(1, len(want)):]
		if got := pointers(t, askback.CheckReason(strings.Repeat("é", n))); !slices.Equal(got, want) {
			t.Errorf("reason of %d characters: got problems at %q, want %q", n, got, want)
		}
	}
}

// Rows C3, D1.
func TestDecisions(t *testing.T) {
	confirmation := askback.Ask{Kind: askback.Confirm, Confirmation: drop().Confirmation}
	edited := askback.Decide(askback.Approve, "")
	edited.Input = json.RawMessage(`{}`)
	with := func(d askback.Decision, input string) askback.Answer {
		return askback.Answer{Decision: d, Input: json.RawMessage(input)}
	}
	grants := func(d askback.Decision, scope askback.Scope, lasts time.Duration) askback.Answer {
		return askback.Answer{Decision: d, Grant: &askback.GrantRequest{Scope: scope, ExpiresIn: lasts}}
	}
	both := askback.Choose("yes")
	both.Decision = askback.Approve
	for _, c := range []struct {
		name   string
		ask    askback.Ask
		answer askback.Answer
		want   []string
	}{
		{"approved", confirmation, askback.Decide(askback.Approve, ""), nil},
		{"denied", confirmation, askback.Decide(askback.Deny, "not on a Friday"), nil},
		{"all approved", confirmation, askback.Decide(askback.ApproveAll, ""), nil},
		{"all approved for an hour", confirmation, grants(askback.ApproveAll, askback.ScopeInput, time.Hour), nil},
		{"all approved for ever", confirmation, grants(askback.ApproveAll, "", 1000*24*time.Hour), []string{"/grant/expires_in"}},
		{"all approved for no time", confirmation, grants(askback.ApproveAll, "", time.Millisecond), []string{"/grant/expires_in"}},
		{"all of everything", confirmation, grants(askback.ApproveAll, "everything", 0), []string{"/grant/scope"}},
		{"a grant with one approval", confirmation, grants(askback.Approve, "", 0), []string{"/grant"}},
		{"a grant for questions", one(askback.Question{}), askback.Answer{Answers: both.Answers, Grant: &askback.GrantRequest{}}, []string{"/grant"}},
		{"nothing", confirmation, askback.Answer{}, []string{"/decision"}},
		{"another word", confirmation, askback.Decide("yes", ""), []string{"/decision"}},
		{"another case", confirmation, askback.Decide("Approved", ""), []string{"/decision"}},
		{"a label", confirmation, askback.Choose("approved"), []string{"/answers", "/decision"}},
		{"a label and a decision", confirmation, both, []string{"/answers"}},
		{"edited arguments", confirmation, edited, nil},
		{"edited arguments that are a list", confirmation, with(askback.Approve, "[]"), []string{"/input"}},
		{"edited arguments that are no JSON", confirmation, with(askback.Approve, "{"), []string{"/input"}},
		{"edited arguments of a mebibyte", confirmation, with(askback.Approve, `{"a":"`+strings.Repeat("x", askback.MaxInput)+`"}`), []string{"/input"}},
		{"edited arguments that are denied", confirmation, with(askback.Deny, "{}"), []string{"/input"}},
		{"edited arguments of all that follows", confirmation, with(askback.ApproveAll, "{}"), []string{"/input"}},
		{"a decision on questions", form(), askback.Decide(askback.Approve, ""), []string{"/decision", "/answers"}},
		{"arguments for questions", one(askback.Question{}), askback.Answer{Answers: both.Answers, Input: edited.Input}, []string{"/input"}},
	} {
		_, err := c.answer.Normalize(c.ask)
		if got := pointers(t, err); !slices.Equal(got, c.want) {
			t.Errorf("%s: got problems at %q, want %q", c.name, got, c.want)
		}
	}
}

func TestANormalAnswerIsItsOwnNormalForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ask := anyAsk().Draw(t, "ask")
		given := anyAnswer(ask).Draw(t, "answer")
		before := fmt.Sprintf("%#v", given)
		once, err := given.Normalize(ask)
		if after := fmt.Sprintf("%#v", given); before != after {
			t.Errorf("the answer was %s and became %s", before, after)
		}
		if err != nil {
			t.Skip("no answer to this")
		}
		twice, err := once.Normalize(ask)
		if diff := cmp.Diff(once, twice); err != nil || diff != "" {
			t.Errorf("got error %v; once -, twice +:\n%s", err, diff)
		}
		if len(once.Answers) != len(ask.Questions) {
			t.Errorf("got %d answers, want one for each of %d questions", len(once.Answers), len(ask.Questions))
		}
	})
}

// C1, F5: the asker's defaults are answers like any other.
func TestDefaultsAreAnswers(t *testing.T) {
	ask := form()
	ask.Questions[0].Default = []string{"DuckDB"}
	ask.Questions[1].Default = []string{"Metrics", "TLS", "own"}
	ask.Questions[2].Default = []string{"eu"}
	want := []given{
		{ID: "q1", Question: "Which database?", Other: "DuckDB"},
		{ID: "q2", Question: "Which extras?", Selected: []string{"Metrics", "TLS"}, Other: "own"},
		{ID: "q3", Question: "Which region?", Selected: []string{"eu"}},
		{ID: "q4", Question: "What name?"},
	}
	if diff := cmp.Diff(want, ask.Defaults()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestAnAnswerReadsAsItsValues(t *testing.T) {
	for _, c := range []struct {
		a    given
		want string
	}{
		{given{}, ""},
		{given{Selected: []string{"A", "B"}}, "A, B"},
		{given{Selected: []string{"A"}, Other: "mine", Notes: "not this"}, "A, mine"},
		{given{Other: "mine"}, "mine"},
	} {
		if got := c.a.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Other arguments than those asked about are approved only where they can run.
func TestEditedInputIsRejectedWhereItCannotRun(t *testing.T) {
	ask := askback.Ask{Kind: askback.Confirm, Confirmation: &askback.Confirmation{ToolName: "Bash", Input: json.RawMessage(`{"command":"ls"}`), NoEdit: true}}
	edited := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"command":"ls -l"}`)}
	_, err := edited.Normalize(ask)
	bad, ok := errors.AsType[askback.Invalid](err)
	if !ok || len(bad) != 1 || bad[0].Pointer != "/input" || !strings.Contains(bad[0].Fix, "denied") {
		t.Errorf("got %v, want /input refused, with what to do instead", err)
	}
	edited.Input = nil
	if _, err := edited.Normalize(ask); err != nil {
		t.Errorf("approved as it is: %v", err)
	}
}
