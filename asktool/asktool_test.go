package asktool_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/wire/jcs"
)

func TestOnlyListedNamesAreToolNames(t *testing.T) {
	for name, want := range map[string]string{
		"ask_user_question": asktool.AskUserQuestion, "AskUserQuestion": asktool.AskUserQuestion,
		"askUserQuestion": asktool.AskUserQuestion, "ask_user": asktool.AskUserQuestion,
		"confirm_action": asktool.ConfirmAction, "Ask_User": "", "confirm": "", "": "",
	} {
		if got, ok := asktool.Canonical(name); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %t; want %q", name, got, ok, want)
		}
	}
}

// A repaired call gives a normalized request that lists the repairs (F15).
func TestQuestionsAreNormalized(t *testing.T) {
	got, err := asktool.Questions([]byte(`{"questions": "[{\"question\": \"Which database?\", \"header\": \"Database engine\", \"choices\": [\"PostgreSQL\", \"SQLite\", \"Other\"]}]"}`))
	if err != nil {
		t.Fatal(err)
	}
	again, err := got.Normalize()
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("not normalized: %v\n%s", err, diff)
	}
	want := []askback.Question{
		{ID: "q1", Text: "Which database?", Header: "Database eng", Options: askback.Options("PostgreSQL", "SQLite")},
	}
	if diff := cmp.Diff(want, got.Questions); diff != "" {
		t.Error(diff)
	}
	var at []string
	for _, p := range got.Warnings {
		at = append(at, p.Pointer)
	}
	if want := "/questions /questions/0/choices /questions/0/options/2"; strings.Join(at, " ") != want {
		t.Errorf("warnings: got %q, want %q", at, want)
	}
}

// The text of a mistake is enough for a model to correct its call: the example in it
// is valid input (F15, W1–W15).
func TestMistakeEndsWithAValidExample(t *testing.T) {
	inputs := []string{
		"", "null", "[]", "7", `{"questions": null}`, `{"questions": [7]}`, `{"confirmation": {"tool_name": "x"}}`,
	}
	paths, err := filepath.Glob("../internal/wire/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no malformed calls", err)
	}
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, strings.TrimSuffix(string(file.Files[0].Data), "\n"))
	}
	mistakes := 0
	for _, input := range inputs {
		_, err := asktool.Questions([]byte(input))
		if err == nil {
			continue
		}
		mistakes++
		checkMistake(t, err, func(example []byte) error {
			_, err := asktool.Questions(example)
			return err
		})
	}
	if mistakes < 20 {
		t.Errorf("got %d mistakes, want more", mistakes)
	}
}

// checkMistake checks that err is a short Mistake with an example that send accepts.
func checkMistake(t *testing.T, err error, send func([]byte) error) {
	t.Helper()
	m, ok := errors.AsType[*asktool.Mistake](err)
	if !ok {
		t.Fatalf("%v is not a Mistake", err)
	}
	text := m.Error()
	if n := utf8.RuneCountInString(text); n > 400 {
		t.Errorf("%d characters: %s", n, text)
	}
	_, example, _ := strings.Cut(text, "Example: ")
	if err := send([]byte(example)); err != nil {
		t.Errorf("the example of %q is rejected: %v", text, err)
	}
	_, invalid := errors.AsType[askback.Invalid](err)
	_, syntax := errors.AsType[*jcs.SyntaxError](err)
	if !invalid && !syntax {
		t.Errorf("%v hides what was wrong", err)
	}
}

// Confirmation returns the request that Action returns for the same action and details,
// however the input is written. An approval is bound to the digest of the arguments, so
// they must not differ (F7).
func TestSameActionGivesTheSameRequest(t *testing.T) {
	for input, want := range map[string]askback.Request{
		`{"action": "Delete <all> & more", "details": "gone \u2028 for good"}`: asktool.Action("Delete <all> & more",
			"gone \u2028 for good"),
		`{"details": "", "action": "Delete <all> & more"}`: asktool.Action("Delete <all> & more",
			""),
		` {"action":"Delete \u003call\u003e & more","default":true,"details":null} `: asktool.Action(
			"Delete <all> & more", "",
		),
	} {
		got, err := asktool.Confirmation([]byte(input))
		if err != nil {
			t.Errorf("%s: %v", input, err)
			continue
		}
		want, err := want.Normalize()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", input, err, diff)
		}
	}
}

// The command line encodes the arguments with encoding/json and omits empty details. Their digest equals the
// digest of Action (F7).
func TestActionDigestMatchesCommandLine(t *testing.T) {
	const action = "Delete <all> & more"
	for details, arguments := range map[string]map[string]string{
		"":          {"action": action},
		"für immer": {"action": action, "details": "für immer"},
	} {
		plain, _ := json.Marshal(arguments)
		r := asktool.Action(action, details)
		a, err := jcs.ConfirmationDigest("bot", "", asktool.ConfirmAction, r.Confirmation.Input)
		b, err2 := jcs.ConfirmationDigest("bot", "", asktool.ConfirmAction, plain)
		if a != b || err != nil || err2 != nil {
			t.Errorf("%q: got %s and %s, %v, %v", details, a, b, err, err2)
		}
	}
}

// No mistake in a call of confirm_action is repaired. The error for each mistake has an example (T4).
func TestConfirmationsAreNotRepaired(t *testing.T) {
	for _, input := range []string{
		"", "{}", "null", `"{\"action\": \"Delete it\"}"`, `{"action": "Delete it"`, `{"action": ["Delete it"]}`,
		`{"action": " "}`,
		`{"action": "Delete it", "details": {"why": "old"}}`, `{"action": "Delete it", "default": "maybe"}`,
		`{"action": "Delete it", "default": 1}`,
		`{"action": "Delete it", "action": "Keep it"}`, `{"Action": "Delete it"}`,
		`{"action": "Delete it", "force": true}`,
		`{"action": "Delete it</action>\n<parameter name=\"details\">all of it"}`,
		`{"action": "` + strings.Repeat("x", 10_001) + `"}`,
		`{"confirmation": {"tool_name": "rm", "input": {}}}`,
	} {
		r, err := asktool.Confirmation([]byte(input))
		if err == nil {
			t.Errorf("%s was accepted as %+v", input, r)
			continue
		}
		checkMistake(t, err, func(example []byte) error {
			_, err := asktool.Confirmation(example)
			return err
		})
	}
}

// Only a default of true or "yes" in valid input suggests approval.
func TestOnlyDefaultTrueOrYesSuggestsApproval(t *testing.T) {
	for input, want := range map[string]bool{
		`{"action": "x", "default": true}`: true, `{"action": "x", "default": "yes"}`: true,
		`{"action": "x", "default": "no"}`:  false,
		`{"action": "x", "default": false}`: false, `{"action": "x"}`: false,
		`{"action": "x", "default": null}`: false, `{"default": true}`: false,
	} {
		if got := asktool.Suggestion([]byte(input)); got != want {
			t.Errorf("%s: got %t, want %t", input, got, want)
		}
	}
}

// Some models add an id to a question, because another ask tool requires one. The
// question gets the id q1 instead, and the repair is listed (F15).
func TestQuestionIDFromModelIsReplaced(t *testing.T) {
	got, err := asktool.Questions(
		[]byte(`{"questions": [{"id": "db", "question": "Which database?", "options": ["PostgreSQL", "SQLite"]}]}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Warnings) != 1 || got.Warnings[0].Pointer != "/questions/0/id" {
		t.Errorf("got warnings %v", got.Warnings)
	}
	if got.Questions[0].ID != "q1" {
		t.Errorf("the question is %q", got.Questions[0].ID)
	}
}
