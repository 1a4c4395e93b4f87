// Package asktool is the ask tools as a model meets them: their names and
// schemas, what their input means, and what a model is told in return. It is
// for programs that host a model; it asks nobody by itself.
//
// A host offers both tools with [Schema] and [Description]. When the model
// calls one, [Questions] or [Confirmation] makes a request of the input, which
// goes to an askback.Asker; when the ask is settled, [Result] is the result of
// the call. Give the input to this package as the model wrote it, before any
// schema validator: models make mistakes, and they are mended here, or
// explained by a [Mistake], whose text is meant for the model (F15).
package asktool

import (
	"bytes"
	"encoding/json"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/canon"
	"github.com/askback/askback/internal/decode"
)

// The names of the tools.
const (
	AskUserQuestion = "ask_user_question"
	ConfirmAction   = "confirm_action"
)

// Canonical returns the name of the tool that is meant by a name, and whether
// one is: models also call the first one as other programs name theirs.
func Canonical(name string) (string, bool) {
	switch name {
	case AskUserQuestion, "AskUserQuestion", "askUserQuestion", "ask_user":
		return AskUserQuestion, true
	case ConfirmAction:
		return ConfirmAction, true
	}
	return "", false
}

// A Mistake is what was wrong with the input of a tool. Its text goes back to
// the model as an error result: at most 400 characters, with the place, what
// was expected, and an example that is accepted as it stands.
type Mistake struct {
	text string
	err  error
}

// Error returns the text for the model.
func (m *Mistake) Error() string { return m.text }

// Unwrap returns the askback.Invalid, or the syntax error, behind the text.
func (m *Mistake) Unwrap() error { return m.err }

func mistake(input []byte, err error, form decode.Form) error {
	return &Mistake{decode.Correction(input, err, form), err}
}

// Questions reads the input of ask_user_question: one to four questions with
// two to four options each, or none. The request is normal, and its Repairs
// say what was mended. The error is a *[Mistake].
func Questions(input []byte) (askback.Request, error) {
	r, err := decode.Questions(input)
	if err != nil {
		return askback.Request{}, mistake(input, err, decode.QuestionsTool)
	}
	return r, nil
}

// Confirmation reads the input of confirm_action: {action, details?, default?}.
// Nothing in it is ever mended, and default decides nothing; see [Suggestion].
// The request is normal. The error is a *[Mistake].
func Confirmation(input []byte) (askback.Request, error) {
	a, err := decode.Confirm(input)
	if err != nil {
		return askback.Request{}, mistake(input, err, decode.ConfirmTool)
	}
	r, err := Action(a.Action, a.Details).Normalize()
	if err != nil {
		return askback.Request{}, mistake(input, err, decode.ConfirmTool)
	}
	return r, nil
}

// Suggestion says which answer a valid input of confirm_action suggests. A
// terminal may highlight it; nobody may take it for an answer.
func Suggestion(input []byte) (yes bool) {
	a, err := decode.Confirm(input)
	return err == nil && a.SuggestYes
}

// Action returns the request that asks whether something may be done, in the
// words of whoever wants to do it. The same words always have the same digest.
func Action(action, details string) askback.Request {
	input := jsonOf(struct {
		Action  string `json:"action"`
		Details string `json:"details,omitempty"`
	}{action, details})
	if c, err := canon.Canonical(input); err == nil {
		input = c
	}
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: ConfirmAction, Description: action, Context: details, Input: input,
	}}
}

// jsonOf writes a value that can be written, and leaves <, > and & as they are:
// a model reads it.
func jsonOf(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}
