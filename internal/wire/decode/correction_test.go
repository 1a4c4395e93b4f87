package decode_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// bodyError returns the error for an invalid body of POST /asks.
func bodyError(t *testing.T, body string) error {
	t.Helper()
	r, err := decode.Request([]byte(body))
	if err == nil {
		r, err = r.Normalize()
	}
	if err == nil && r.Confirmation != nil {
		_, err = jcs.Canonical(r.Confirmation.Input)
	}
	if err == nil {
		t.Fatalf("%s is valid", body)
	}
	return err
}

// An example for a confirmation has exactly the tool and arguments that were sent, or is
// the general example (T4).
func TestCorrectionNeverSuggestsOtherArguments(t *testing.T) {
	const generic = `{"confirmation": {"tool_name": "transfer", "input": {"account": "12345678901234567890"}}}`
	for body, want := range map[string]string{
		`{"confirmation": {"tool_name": "rm", "input": {"paths":  ["/a"]}, "tier": "auto"}}`: `{"confirmation": {"tool_name": "rm", "input": {"paths":["/a"]}}}`,
		`{"confirmation": {"tool_name": "rm", "server": "nas", "input": {}, "colour": 1}}`:   `{"confirmation": {"tool_name": "rm", "server": "nas", "input": {}}}`,
		`{"confirmation": {"tool_name": "rm", "input": [1]}}`:                                generic,
		`{"confirmation": {"tool_name": "pay", "input": {"account": 12345678901234567890}}}`: generic,
		`{"confirmation": {"tool_name": "pay", "input": {"a": "` + strings.Repeat("x",
			500) + `"}, "x": 1}}`: generic,
		`{"confirmation": {"input": {"paths": ["/a"]}}}`:                                                                              generic,
		`{"confirmation": "{\"tool_name\": \"rm\", \"input\": {}}"}`:                                                                  generic,
		`{"confirmation": {"tool_name": "rm", "input": {"paths": ["/a"]}`:                                                             `{"confirmation": {"tool_name": "rm", "input": {"paths":["/a"]}}}`,
		`{"confirmation": {"tool_name": "rm", "server": 5, "input": {}}}`:                                                             generic,
		`{"confirmation": {"tool_name": "rm", "input": {}, "x": 1}, "to": "ana"}`:                                                     generic,
		`{"confirmation": {"tool_name": "rm", "input": {}, "dangerous": true, "x": 1}, "to": ["ana"], "agent": "bot", "title": null}`: `{"confirmation": {"tool_name": "rm", "input": {}, "dangerous": true}, "to": ["ana"], "agent": "bot"}`,
		`{"confirmation": {"tool_name": "rm", "input": {}, "description": "Delete it</description>\n<parameter name=\"x\">1"}}`:       `{"confirmation": {"tool_name": "rm", "input": {}}}`,
	} {
		text := decode.Correction([]byte(body), bodyError(t, body), decode.Body)
		checkExample(t, text, decode.Body)
		if _, example, _ := strings.Cut(text, "Example: "); example != want {
			t.Errorf("%s:\ngot  %s\nwant %s", body, text, want)
		}
	}
}

// A body with guessed names of a confirmation gets an example of a confirmation, not of a question.
func TestExampleForAGuessedConfirmationIsAConfirmation(t *testing.T) {
	for _, body := range []string{
		`{"kind": "confirmation", "tool": "rm", "input": {"path": "/a"}}`,
		`{"tool_name": "rm", "arguments": {"path": "/a"}}`,
	} {
		text := decode.Correction([]byte(body), bodyError(t, body), decode.Body)
		checkExample(t, text, decode.Body)
		if want := `Example: {"confirmation": {"tool_name": "transfer"`; !strings.Contains(text, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", body, text, want)
		}
	}
}

// A correction has the pointer of a mistake, even if the mistake is a number that a double cannot hold. For
// invalid JSON it has the position.
func TestCorrectionNamesThePosition(t *testing.T) {
	for body, where := range map[string]string{
		`{"confirmation": {"tool_name": "pay", "input": {"account": 12345678901234567890}}}`: "/account",
		`{"question": "A?", "timeout": "soon"}`:                                              "/timeout: ",
		`{"question": "", "options": ["a"]}`:                                                 "/question: is blank (write something); /options: ",
		"{\n" +
			"\"question\": \"A?\",}": "Not JSON at byte 19, line 2, column 18",
	} {
		if text := decode.Correction([]byte(body), bodyError(t, body), decode.Body); !strings.Contains(text, where) {
			t.Errorf("%s: %s lacks %s", body, text, where)
		}
	}
}

// An example keeps the recipients and the session.
func TestExampleKeepsTheRecipients(t *testing.T) {
	const body = `{"question": "Which?", "to": ["ana"], "session_key": "s", "timeout": "soon", "colour": 1}`
	text := decode.Correction([]byte(body), bodyError(t, body), decode.Body)
	const want = `{"questions": [{"question": "Which?"}], "to": ["ana"], "session_key": "s"}`
	if !strings.HasSuffix(text, want) {
		t.Errorf("got %s, want %s at its end", text, want)
	}
}

// A warning about several questions does not change the question in an example.
func TestExampleKeepsAQuestionWithAWarning(t *testing.T) {
	const body = `{"question": "1) Who? 2) When?", "colour": 1}`
	text := decode.Correction([]byte(body), bodyError(t, body), decode.Body)
	if want := `{"questions": [{"question": "1) Who? 2) When?"}]}`; !strings.HasSuffix(text, want) {
		t.Errorf("got %s, want %s at its end", text, want)
	}
}

// The example has at most four questions, with shortened texts.
func TestExampleShortensLongTexts(t *testing.T) {
	long := strings.Repeat("Welche Farbe soll es werden? ", 40)
	body := `{"questions": [{"question": ` + quoted("1 "+long) + `, "options": ["a"]}, {"question": ` +
		quoted("2 "+long) + `, "options": ["` +
		strings.Repeat("blau", 30) + `", "rot"]}, {"question": "3?"}, {"question": "4?"}, {"question": "5?"}]}`
	text := decode.Correction([]byte(body), bodyError(t, body), decode.Body)
	checkExample(t, text, decode.Body)
	for _, own := range []string{"1 Welche Farbe", "2 Welche Farbe", "blau", "3?", "4?"} {
		if !strings.Contains(text, own) {
			t.Errorf("%s lacks %s", text, own)
		}
	}
	if strings.Contains(text, "5?") {
		t.Errorf("%s asks five questions", text)
	}
}

func TestExampleHasNoDuplicateQuestions(t *testing.T) {
	const body = `{"questions": [{"question": "A?"}, {"question": "A?"}, {"question": "B?"}]}`
	text := decode.Correction([]byte(body), bodyError(t, body), decode.Body)
	if want := `{"questions": [{"question": "A?"}, {"question": "B?"}]}`; !strings.HasSuffix(text, want) {
		t.Errorf("got %s, want %s at its end", text, want)
	}
}

// The error for a long text has the pointer of its field.
func TestLongActionIsRejectedAtItsField(t *testing.T) {
	for input, want := range map[string]string{
		`{"action": "` + strings.Repeat("x",
			10_001) + `"}`: "/action: 10001 characters are too many; at most 10000 are allowed",
		`{"action": "a", "details": "` + strings.Repeat("x",
			200_001) + `"}`: "/details: 200001 characters are too many; at most 200000 are allowed",
	} {
		if _, err := decode.Confirm([]byte(input)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// An example never changes or shortens an action.
func TestExampleNeverChangesAnAction(t *testing.T) {
	for input, want := range map[string]string{
		`{"action": "Delete it", "details": "All of it", "force": true}`: `{"action":"Delete it","details":"All of it"}`,
		`{"action": "Delete it", "default": "maybe"}`:                    `{"action":"Delete it"}`,
		`{"action": "` + strings.Repeat("x",
			900) + `", "y": 1}`: `{"action": "Delete the branch old-login", "details": "It is merged."}`,
		`"{\"action\": \"Delete it\"}"`:                                   `{"action":"Delete it"}`,
		`{"action": "Delete it", "details": 7}`:                           `{"action": "Delete the branch old-login", "details": "It is merged."}`,
		`{"action": "Delete it</action>\n<parameter name=\"details\">x"}`: `{"action": "Delete the branch old-login", "details": "It is merged."}`,
	} {
		_, err := decode.Confirm([]byte(input))
		if err == nil {
			t.Errorf("%s was accepted", input)
			continue
		}
		text := decode.Correction([]byte(input), err, decode.ConfirmTool)
		checkExample(t, text, decode.ConfirmTool)
		if _, example, _ := strings.Cut(text, "Example: "); example != want {
			t.Errorf("%s:\ngot  %s\nwant %s", input, text, want)
		}
	}
}

// A question of a tool has two to four options, or none. "Other" is not counted (wire.md §5). Other fields
// than the fields of questions are rejected.
func TestToolAcceptsTwoToFourOptions(t *testing.T) {
	for options, ok := range map[string]bool{
		`[]`: true, `["a"]`: false, `["a", "b"]`: true, `["a", "b", "c", "d"]`: true,
		`["a", "b", "c", "d", "e"]`:     false,
		`["a", "b", "c", "d", "Other"]`: true, `["a", "b", "c", "d", "e", "f"]`: false, `["a", " a"]`: false,
	} {
		_, err := decode.Questions([]byte(`{"question": "Which?", "options": ` + options + `}`))
		if (err == nil) != ok {
			t.Errorf("%s: %v", options, err)
		}
	}
	for _, extra := range []string{
		`"to": ["ana"]`, `"title": "x"`, `"key": "x"`, `"confirmation": {}`, `"timeout": 5`, `"warnings": []`,
	} {
		if _, err := decode.Questions([]byte(`{"question": "Which?", ` + extra + `}`)); err == nil {
			t.Errorf("the tool accepted %s", extra)
		}
	}
}
