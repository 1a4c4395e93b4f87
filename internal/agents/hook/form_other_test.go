package hook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// oneQuestion and twoQuestions are forms as claude-agent-acp 0.101.0 sends them for AskUserQuestion.
const (
	oneQuestion = `{"type":"object","properties":{
		"question_0":{"type":"string","title":"Database","oneOf":[
			{"const":"SQLite","title":"SQLite","description":"One file","_meta":{"_claude/askUserQuestionOption":{"preview":"db.sqlite"}}},
			{"const":"PostgreSQL","title":"PostgreSQL","description":"A server"}]},
		"question_0_custom":{"type":"string","title":"Other","description":"Type your own answer (optional)."}}}`
	twoQuestions = `{"type":"object","properties":{
		"question_0":{"type":"string","title":"Database","description":"Which database?","oneOf":[
			{"const":"SQLite","title":"SQLite"},{"const":"PostgreSQL","title":"PostgreSQL"}]},
		"question_0_custom":{"type":"string","title":"Other"},
		"question_1":{"type":"array","title":"Where","description":"Which regions?","items":{"anyOf":[
			{"const":"eu","title":"eu","description":"Europe"},{"const":"us","title":"us"}]}},
		"question_1_custom":{"type":"string","title":"Other"}}}`
)

// ask returns the ask for a form.
func askForm(t *testing.T, schema, message string) (hook.Form, askback.Ask) {
	t.Helper()
	form, ok := hook.ReadForm(json.RawMessage(schema))
	if !ok {
		t.Fatal("the form is not asked")
	}
	var r askback.Request
	form.SetTitle(&r, message)
	r, err := r.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	return form, askback.Ask{Kind: askback.Questions, Title: r.Title, Questions: r.Questions}
}

// accepted returns the content of a form for an answer, or "" if the form does not accept the answer.
func accepted(t *testing.T, form hook.Form, ask askback.Ask, a askback.Answer) string {
	t.Helper()
	a, err := a.Normalize(ask)
	if err != nil {
		t.Fatal(err)
	}
	ask.Outcome = &askback.Outcome{Status: askback.Answered, Answers: a.Answers, Comment: a.Comment}
	content, ok := form.Accepted(ask)
	if !ok {
		return ""
	}
	return string(content)
}

// A choice and its property for another answer are one question. The descriptions and previews of the options
// are shown.
func TestChoiceAndItsOtherFieldAreOneQuestion(t *testing.T) {
	_, one := askForm(t, oneQuestion, "Which database?")
	if d := cmp.Diff([]askback.Question{{
		ID: "q1", Text: "Which database?", Header: "Database", Optional: true, Options: []askback.Option{
			{Label: "SQLite", Description: "One file", Preview: "db.sqlite"},
			{Label: "PostgreSQL", Description: "A server"},
		},
	}}, one.Questions); d != "" || one.Title != "" {
		t.Errorf("title %q\n%s", one.Title, d)
	}
	_, two := askForm(t, twoQuestions, "Please answer the following questions.")
	var got []string
	for _, q := range two.Questions {
		got = append(got,
			fmt.Sprint(q.Header, "|", q.Text, "|", q.MultiSelect, "|", q.NoOther, "|", q.Options[0].Description))
	}
	if d := cmp.Diff([]string{
		"Database|Which database?|false|false|", "Where|Which regions?|true|false|Europe",
	}, got); d != "" || two.Title != "Please answer the following questions." {
		t.Errorf("title %q\n%s", two.Title, d)
	}
}

// The answer is in the property of the choice or in the property for other answers, which also holds notes and
// comments.
func TestAnswersAreInTheFieldsOfChoices(t *testing.T) {
	q := func(id, other, notes string, selected ...string) askback.QuestionAnswer {
		return askback.QuestionAnswer{ID: id, Selected: selected, Other: other, Notes: notes}
	}
	one, ask := askForm(t, oneQuestion, "Which database?")
	two, both := askForm(t, twoQuestions, "Please answer the following questions.")
	for name, c := range map[string]struct {
		form   hook.Form
		ask    askback.Ask
		answer askback.Answer
		want   string
	}{
		"an option": {one, ask, askback.Choose("SQLite"), `{"question_0":"SQLite"}`},
		"own words": {one, ask, askback.Choose("DuckDB, in memory"), `{"question_0_custom":"DuckDB, in memory"}`},
		"nothing":   {one, ask, askback.Answer{}, `{}`},
		"an option with notes": {
			one, ask,
			askback.Answer{Answers: []askback.QuestionAnswer{q("q1", "", "with backups", "SQLite")}},
			`{"question_0":"SQLite","question_0_custom":"with backups"}`,
		},
		"a comment": {
			one, ask,
			askback.Answer{Comment: "not on Fridays", Answers: []askback.QuestionAnswer{q("q1", "", "", "SQLite")}},
			`{"question_0":"SQLite","question_0_custom":"Comment on all answers: not on Fridays"}`,
		},
		"several": {
			two, both,
			askback.Answer{Comment: "soon", Answers: []askback.QuestionAnswer{
				q("q1", "DuckDB", "small"), q("q2", "asia", "", "eu", "us"),
			}},
			`{"question_0_custom":"DuckDB\nNote: small","question_1":["eu","us"],` +
				`"question_1_custom":"asia\nComment on all answers: soon"}`,
		},
	} {
		if got := accepted(t, c.form, c.ask, c.answer); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// A property is another answer to a choice only if its name says so, and any text is valid for it.
func TestOtherPropertiesStayQuestions(t *testing.T) {
	form := func(properties string) string {
		return `{"type":"object","required":["name"],"properties":{"region":{"type":"string","enum":["eu","us"],` +
			`"enumNames":["Europe","America"],"enumDescriptions":["near","far"]},` + properties + `}}`
	}
	for properties, questions := range map[string]int{
		`"region_other":{"type":"string"}`:                     1,
		`"regionOther":{"type":"string"}`:                      1,
		`"region_custom":{"type":"string","title":"Your own"}`: 1,
		`"name":{"type":"string"}`:                             2,
		`"region_reason":{"type":"string"}`:                    2,
		`"region_other":{"type":"boolean"}`:                    2,
		`"region_other":{"type":"string","maxLength":9}`:       2,
		`"region_other":{"type":"string","enum":["x","y"]}`:    2,
		`"zone_other":{"type":"string"}`:                       2,
		`"_other":{"type":"string"}`:                           2,
	} {
		_, ask := askForm(t, form(properties), "Where?")
		if want := (askback.Option{Label: "America", Description: "far"}); len(ask.Questions) != questions ||
			ask.Questions[0].Options[1] != want {
			t.Errorf("%s: got %+v, want %d questions", properties, ask.Questions, questions)
		}
	}
}

// If a choice is required, own words choose its option "Other". Without this option, they are not possible.
func TestRequiredChoiceTakesOwnWordsWithItsOption(t *testing.T) {
	const schema = `{"type":"object","required":["region"],"properties":{"region":{"type":"string",` +
		`"enum":["eu","us","other"]},"region_other":{"type":"string"}}}`
	form, ask := askForm(t, schema, "Where?")
	if got := accepted(t, form, ask, askback.Choose("asia")); got != `{"region":"other","region_other":"asia"}` {
		t.Errorf("got %s", got)
	}
	if got := accepted(t, form, ask, askback.Choose("us")); got != `{"region":"us"}` {
		t.Errorf("got %s", got)
	}
	_, ask = askForm(t, strings.Replace(schema, `,"other"]`, `,"asia"]`, 1), "Where?")
	if !ask.Questions[0].NoOther {
		t.Error("own words are possible")
	}
}
