package hook_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// A form asks for each property with its format and its default. An answer that the schema rejects is
// rejected, and 0 and false are answers.
func TestFormRejectsAnswersThatItsSchemaRejects(t *testing.T) {
	form, ok := hook.ReadForm(json.RawMessage(`{"type":"object","properties":{
		"count":{"type":"integer","minimum":0,"maximum":100,"default":5},
		"draft":{"type":"boolean","default":true},
		"where":{"type":"string","oneOf":[{"const":"eu","title":"Europe"},{"const":"us","title":"America"}],"default":"us"},
		"when":{"type":"string","format":"date","default":"2027-01-31"}},"required":["count","draft"]}`))
	if !ok {
		t.Fatal("the form is not asked")
	}
	var r askback.Request
	form.SetTitle(&r, "Which?")
	r, err := r.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	var formats []string
	var defaults [][]string
	for _, q := range r.Questions {
		formats, defaults = append(formats, q.Format), append(defaults, q.Default)
	}
	if d := cmp.Diff([]string{"integer 0..100", "", "", "date"},
		formats) + cmp.Diff([][]string{{"5"}, {"Yes"}, {"America"}, {"2027-01-31"}}, defaults); d != "" {
		t.Error(d)
	}
	ask := askback.Ask{Kind: askback.Questions, Questions: r.Questions}
	answers := func(count, when string) (askback.Ask, error) {
		a, err := askback.Answer{Answers: []askback.QuestionAnswer{
			{ID: "q1", Other: count},
			{ID: "q2", Selected: []string{"No"}},
			{ID: "q3", Selected: []string{"Europe"}},
			{ID: "q4", Other: when},
		}}.Normalize(ask)
		settled := ask
		settled.Outcome = &askback.Outcome{Status: askback.Answered, Answers: a.Answers}
		return settled, err
	}
	for _, bad := range [][2]string{
		{"42abc", "2027-01-31"}, {"101", "2027-01-31"}, {"1,5", "2027-01-31"}, {"7", "31.02.2027"},
	} {
		if _, err := answers(bad[0], bad[1]); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for count, want := range map[string]string{"0": "0", "-0": "0", " 7 ": "7", "1e2": "100"} {
		settled, err := answers(count, "2027-02-28")
		content, ok := form.Accepted(settled)
		if err != nil || !ok || string(content) != `{"count":`+want+`,"draft":false,"when":"2027-02-28","where":"eu"}` {
			t.Errorf("%q: got %s, %v, %v", count, content, ok, err)
		}
	}
}

// A form with a rule that no question format supports is not asked.
func TestFormWithAnUnsupportedRuleIsNotAsked(t *testing.T) {
	for _, rule := range []string{
		`"type":"string","pattern":"^a"`, `"type":"integer","multipleOf":5`, `"type":"number","exclusiveMinimum":0`,
		`"type":"string","format":"email","maxLength":9`, `"type":"string","format":"ipv4"`,
	} {
		if _, ok := hook.ReadForm(json.RawMessage(`{"type":"object","properties":{"x":{` + rule + `}}}`)); ok {
			t.Errorf("%s is asked", rule)
		}
	}
}

// A form whose fields are all optional is accepted without answers. An answer with a comment or notes is not
// accepted, because the form could not return them. The agent's own dialog then asks the person.
func TestFormWithoutAnswersIsAccepted(t *testing.T) {
	form, ok := hook.ReadForm(
		json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"draft":{"type":"boolean"}}}`),
	)
	if !ok {
		t.Fatal("the form is not asked")
	}
	var r askback.Request
	form.SetTitle(&r, "Which?")
	r, err := r.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	q := func(id, other, notes string) askback.QuestionAnswer {
		return askback.QuestionAnswer{ID: id, Other: other, Notes: notes}
	}
	for name, c := range map[string]struct {
		answer askback.Answer
		want   string // "" if the form is not accepted
	}{
		"nothing": {askback.Answer{Answers: []askback.QuestionAnswer{q("q1", "", ""), q("q2", "", "")}}, `{}`},
		"one field": {
			askback.Answer{Answers: []askback.QuestionAnswer{q("q1", "orders", ""), q("q2", "", "")}},
			`{"name":"orders"}`,
		},
		"only a comment": {
			askback.Answer{Comment: "later", Answers: []askback.QuestionAnswer{q("q1", "", ""), q("q2", "", "")}}, "",
		},
		"a comment, too": {askback.Answer{
			Comment: "but not on Fridays", Answers: []askback.QuestionAnswer{q("q1", "orders", ""), q("q2", "", "")},
		}, ""},
		"only notes": {
			askback.Answer{Answers: []askback.QuestionAnswer{q("q1", "", "I do not know"), q("q2", "", "")}}, "",
		},
	} {
		ask := askback.Ask{Kind: askback.Questions, Questions: r.Questions}
		a, err := c.answer.Normalize(ask)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ask.Outcome = &askback.Outcome{Status: askback.Answered, Answers: a.Answers, Comment: a.Comment}
		if content, ok := form.Accepted(ask); string(content) != c.want && ok || ok != (c.want != "") {
			t.Errorf("%s: got %s, %v, want %s", name, content, ok, c.want)
		}
	}
	declined := askback.Ask{
		Kind: askback.Questions, Questions: r.Questions, Outcome: &askback.Outcome{Status: askback.Declined},
	}
	if content, ok := form.Accepted(declined); ok {
		t.Errorf("declined: got %s", content)
	}
}
