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
	"github.com/askback/askback/internal/limits"
)

// fourQuestions returns an ask with one question of each kind.
func fourQuestions() askback.Ask {
	return askback.Ask{Kind: askback.Questions, Questions: []askback.Question{
		{ID: "q1", Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")},
		{
			ID: "q2", Text: "Which extras?", Options: askback.Options("TLS", "Backups", "Metrics"), MultiSelect: true,
			Optional: true,
		},
		{ID: "q3", Text: "Which region?", Options: askback.Options("eu", "us"), NoOther: true, Optional: true},
		{ID: "q4", Text: "What name?", Optional: true},
	}}
}

// askOf returns an ask with this question only.
func askOf(q askback.Question) askback.Ask {
	q.ID, q.Text = "q1", "Which?"
	return askback.Ask{Kind: askback.Questions, Questions: []askback.Question{q}}
}

var ab = askback.Options("A", "B")

type questionAnswer = askback.QuestionAnswer

func TestAnswersAreMatchedByIDOrText(t *testing.T) {
	empty := []questionAnswer{
		{ID: "q1", Question: "Which database?", Selected: []string{"SQLite"}},
		{ID: "q2", Question: "Which extras?"},
		{ID: "q3", Question: "Which region?"},
		{ID: "q4", Question: "What name?"},
	}
	full := slices.Clone(empty)
	full[1].Selected, full[3].Other = []string{"TLS"}, "prod"
	for _, c := range []struct {
		name    string
		answers []questionAnswer
		want    []questionAnswer
		bad     []string
	}{
		{"by id", []questionAnswer{{ID: "q1", Selected: []string{"SQLite"}}}, empty, nil},
		{"by text", []questionAnswer{{Question: "Which database?", Selected: []string{"SQLite"}}}, empty, nil},
		{"the id counts, not the text", []questionAnswer{
			{ID: "q4", Question: "Which database?", Other: "prod"},
			{ID: "q2", Question: "?", Selected: []string{"TLS"}},
			{ID: "q1", Selected: []string{"SQLite"}},
		}, full, nil},
		{"in the order of the questions", []questionAnswer{
			{ID: "q4", Other: "prod"},
			{Question: "Which extras?", Selected: []string{"TLS"}},
			{ID: "q1", Selected: []string{"SQLite"}},
		}, full, nil},
		{"no such id", []questionAnswer{{ID: "q1", Selected: []string{"SQLite"}}, {ID: "q9"}}, nil, []string{
			"/answers/1/id",
		}},
		{
			"no such text",
			[]questionAnswer{{Question: "Which planet?"}, {ID: "q1", Selected: []string{"SQLite"}}},
			nil,
			[]string{"/answers/0/question"},
		},
		{"neither id nor text", []questionAnswer{{ID: "q1", Selected: []string{"SQLite"}}, {Other: "x"}}, nil, []string{
			"/answers/1/question",
		}},
		{"twice", []questionAnswer{
			{ID: "q1", Selected: []string{"SQLite"}}, {Question: "Which database?", Selected: []string{"SQLite"}},
		}, nil, []string{"/answers/1"}},
		{"a required one is missing", []questionAnswer{{ID: "q4", Other: "prod"}}, nil, []string{"/answers"}},
		{"none", nil, nil, []string{"/answers"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := askback.Answer{Answers: c.answers}.Normalize(fourQuestions())
			if at := pointers(t, err); !slices.Equal(at, c.bad) {
				t.Fatalf("got problems at %q, want %q: %v", at, c.bad, err)
			}
			if diff := cmp.Diff(c.want, got.Answers); c.bad == nil && diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// Each kind of question accepts some answers and rejects others (C1, C2).
func TestAnswerMustFitKindOfQuestion(t *testing.T) {
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
		in   questionAnswer
		want questionAnswer // without id and question
		bad  []string
	}{
		{"a label", single, questionAnswer{Selected: []string{"A"}}, questionAnswer{Selected: []string{"A"}}, nil},
		{"own text", single, questionAnswer{Other: "C"}, questionAnswer{Other: "C"}, nil},
		{
			"a label that is not an option", single,
			questionAnswer{Selected: []string{"C"}},
			questionAnswer{Other: "C"},
			nil,
		},
		{"a label in another case", single, questionAnswer{Selected: []string{"a"}}, questionAnswer{Other: "a"}, nil},
		{"two labels", single, questionAnswer{Selected: []string{"A", "B"}}, questionAnswer{}, []string{selected}},
		{
			"a label and own text", single,
			questionAnswer{Selected: []string{"A"}, Other: "C"},
			questionAnswer{},
			[]string{selected},
		},
		{"two that are no options", single, questionAnswer{Selected: []string{"C", "D"}}, questionAnswer{}, []string{
			selected,
		}},
		{
			"the same label twice", single,
			questionAnswer{Selected: []string{"A", "A"}},
			questionAnswer{Selected: []string{"A"}},
			nil,
		},
		{"nothing", single, questionAnswer{}, questionAnswer{}, []string{at}},
		{"a blank label", single, questionAnswer{Selected: []string{" "}}, questionAnswer{}, []string{at}},
		{"blank own text", single, questionAnswer{Other: " \n"}, questionAnswer{}, []string{at}},
		{
			"a label and blank own text", single,
			questionAnswer{Selected: []string{"A"}, Other: " "},
			questionAnswer{Selected: []string{"A"}},
			nil,
		},
		{"only notes", single, questionAnswer{Notes: "hm"}, questionAnswer{}, []string{at}},
		{
			"notes", single,
			questionAnswer{Selected: []string{"A"}, Notes: " because \n"},
			questionAnswer{Selected: []string{"A"}, Notes: "because"},
			nil,
		},

		{
			"several: in the order given", several,
			questionAnswer{Selected: []string{"B", "A"}},
			questionAnswer{Selected: []string{"B", "A"}},
			nil,
		},
		{
			"several: and own text", several,
			questionAnswer{Selected: []string{"A"}, Other: "C"},
			questionAnswer{Selected: []string{"A"}, Other: "C"},
			nil,
		},
		{
			"several: own text among the labels", several,
			questionAnswer{Selected: []string{"C", "A", "D"}, Other: "E"},
			questionAnswer{Selected: []string{"A"}, Other: "C, D, E"},
			nil,
		},
		{
			"several: the same label twice", several,
			questionAnswer{Selected: []string{"A", "B", "A"}},
			questionAnswer{Selected: []string{"A", "B"}},
			nil,
		},
		{"several: nothing", several, questionAnswer{Selected: []string{}}, questionAnswer{}, []string{at}},

		{
			"only options: a label", only,
			questionAnswer{Selected: []string{"B"}},
			questionAnswer{Selected: []string{"B"}},
			nil,
		},
		{"only options: no option", only, questionAnswer{Selected: []string{"C"}}, questionAnswer{}, []string{
			selected,
		}},
		{"only options: own text", only, questionAnswer{Other: "C"}, questionAnswer{}, []string{other}},
		{
			"only options, several: one is not several", onlySeveral,
			questionAnswer{Selected: []string{"A", "C"}},
			questionAnswer{},
			[]string{selected},
		},

		{"optional: nothing", optional, questionAnswer{}, questionAnswer{}, nil},
		{"optional: blank", optional, questionAnswer{Selected: []string{""}, Other: " "}, questionAnswer{}, nil},
		{
			"optional: notes alone", optional,
			questionAnswer{Notes: "no opinion"},
			questionAnswer{Notes: "no opinion"},
			nil,
		},
		{
			"optional, several: an empty selection", optionalSeveral,
			questionAnswer{Selected: []string{}},
			questionAnswer{},
			nil,
		},

		{"free text", text, questionAnswer{Other: " as it is "}, questionAnswer{Other: " as it is "}, nil},
		{
			"free text as a label", text,
			questionAnswer{Selected: []string{"words"}},
			questionAnswer{Other: "words"},
			nil,
		},
		{"free text: nothing", text, questionAnswer{}, questionAnswer{}, []string{at}},
		{"free text: blank", text, questionAnswer{Other: "\t"}, questionAnswer{}, []string{at}},
		{"free text: twice", text, questionAnswer{Selected: []string{"a"}, Other: "b"}, questionAnswer{}, []string{
			selected,
		}},
		{"optional free text: nothing", optionalText, questionAnswer{}, questionAnswer{}, nil},

		{
			"own text as long as may be", text,
			questionAnswer{Other: strings.Repeat("é", 20_000)},
			questionAnswer{Other: strings.Repeat("é", 20_000)},
			nil,
		},
		{"own text too long", text, questionAnswer{Other: strings.Repeat("é", 20_001)}, questionAnswer{}, []string{
			other,
		}},
		{"notes too long", optional, questionAnswer{Notes: strings.Repeat("é", 20_001)}, questionAnswer{}, []string{
			at + "/notes",
		}},
		{"own text not UTF-8", text, questionAnswer{Other: "\xff"}, questionAnswer{}, []string{other}},
		{"notes not UTF-8", optional, questionAnswer{Notes: "\xff"}, questionAnswer{}, []string{at + "/notes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.in.ID = "q1"
			got, err := askback.Answer{Answers: []questionAnswer{c.in}}.Normalize(askOf(c.q))
			if bad := pointers(t, err); !slices.Equal(bad, c.bad) {
				t.Fatalf("got problems at %q, want %q: %v", bad, c.bad, err)
			}
			c.want.ID, c.want.Question = "q1", "Which?"
			if diff := cmp.Diff([]questionAnswer{c.want}, got.Answers); c.bad == nil && diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// The problem lists the first labels, so that the client can choose one of these labels.
func TestProblemListsFirstLabels(t *testing.T) {
	q := askback.Question{Options: askback.Options(numbered(7)...), NoOther: true, Optional: true}
	_, err := askback.Choose(strings.Repeat("long ", 20)).Normalize(askOf(q))
	want := `/answers/0/selected: "long long long long long long long long …" is not an option (choose "n0", "n1", "n2", "n3", "n4" …)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCommentAndReasonAreLimited(t *testing.T) {
	for n, want := range map[int][]string{20_000: nil, 20_001: {"/comment", "/reason"}} {
		for _, a := range []struct {
			ask    askback.Ask
			answer askback.Answer
		}{
			{fourQuestions(), askback.Choose("SQLite")},
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

// Edited arguments and grants are accepted only with the decisions that use them
// (C3, D1).
func TestConfirmationAcceptsOnlyValidDecisions(t *testing.T) {
	confirmation := askback.Ask{Kind: askback.Confirm, Confirmation: validConfirmation().Confirmation}
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
		{"all approved for ever", confirmation, grants(askback.ApproveAll, "", 1000*24*time.Hour), []string{
			"/grant/expires_in",
		}},
		{"all approved for no time", confirmation, grants(askback.ApproveAll, "", time.Millisecond), []string{
			"/grant/expires_in",
		}},
		{"all of everything", confirmation, grants(askback.ApproveAll, "everything", 0), []string{"/grant/scope"}},
		{"a grant with one approval", confirmation, grants(askback.Approve, "", 0), []string{"/grant"}},
		{
			"a grant for questions", askOf(askback.Question{}),
			askback.Answer{Answers: both.Answers, Grant: &askback.GrantRequest{}},
			[]string{"/grant"},
		},
		{"nothing", confirmation, askback.Answer{}, []string{"/decision"}},
		{"another word", confirmation, askback.Decide("yes", ""), []string{"/decision"}},
		{"another case", confirmation, askback.Decide("Approved", ""), []string{"/decision"}},
		{"a label", confirmation, askback.Choose("approved"), []string{"/answers", "/decision"}},
		{"a label and a decision", confirmation, both, []string{"/answers"}},
		{"edited arguments", confirmation, edited, nil},
		{"edited arguments that are a list", confirmation, with(askback.Approve, "[]"), []string{"/input"}},
		{"edited arguments that are no JSON", confirmation, with(askback.Approve, "{"), []string{"/input"}},
		{
			"edited arguments of a mebibyte", confirmation,
			with(askback.Approve, `{"a":"`+strings.Repeat("x", limits.MaxInput)+`"}`),
			[]string{"/input"},
		},
		{"edited arguments that are denied", confirmation, with(askback.Deny, "{}"), []string{"/input"}},
		{"edited arguments of all that follows", confirmation, with(askback.ApproveAll, "{}"), []string{"/input"}},
		{"a decision on questions", fourQuestions(), askback.Decide(askback.Approve, ""), []string{
			"/decision", "/answers",
		}},
		{
			"arguments for questions", askOf(askback.Question{}),
			askback.Answer{Answers: both.Answers, Input: edited.Input},
			[]string{"/input"},
		},
	} {
		_, err := c.answer.Normalize(c.ask)
		if got := pointers(t, err); !slices.Equal(got, c.want) {
			t.Errorf("%s: got problems at %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNormalizingAnswerTwiceChangesNothing(t *testing.T) {
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

// A default that is not a label becomes free text, as in an answer (C1, F5).
func TestDefaultsBecomeAnswers(t *testing.T) {
	ask := fourQuestions()
	ask.Questions[0].Default = []string{"DuckDB"}
	ask.Questions[1].Default = []string{"Metrics", "TLS", "own"}
	ask.Questions[2].Default = []string{"eu"}
	want := []questionAnswer{
		{ID: "q1", Question: "Which database?", Other: "DuckDB"},
		{ID: "q2", Question: "Which extras?", Selected: []string{"Metrics", "TLS"}, Other: "own"},
		{ID: "q3", Question: "Which region?", Selected: []string{"eu"}},
		{ID: "q4", Question: "What name?"},
	}
	if diff := cmp.Diff(want, ask.Defaults()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestQuestionAnswerStringListsValues(t *testing.T) {
	for _, c := range []struct {
		a    questionAnswer
		want string
	}{
		{questionAnswer{}, ""},
		{questionAnswer{Selected: []string{"A", "B"}}, "A, B"},
		{questionAnswer{Selected: []string{"A"}, Other: "mine", Notes: "not this"}, "A, mine"},
		{questionAnswer{Other: "mine"}, "mine"},
	} {
		if got := c.a.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestEditedInputIsRejectedIfAgentCannotRunIt(t *testing.T) {
	ask := askback.Ask{Kind: askback.Confirm, Confirmation: &askback.Confirmation{
		ToolName: "Bash", Input: json.RawMessage(`{"command":"ls"}`), NoEdit: true,
	}}
	edited := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"command":"ls -l"}`)}
	_, err := edited.Normalize(ask)
	bad, ok := errors.AsType[askback.Invalid](err)
	if !ok || len(bad) != 1 || bad[0].Pointer != "/input" || !strings.Contains(bad[0].Fix, "denied") {
		t.Errorf("got %v, want /input rejected, with a fix that names the denial", err)
	}
	edited.Input = nil
	if _, err := edited.Normalize(ask); err != nil {
		t.Errorf("approved as it is: %v", err)
	}
}
