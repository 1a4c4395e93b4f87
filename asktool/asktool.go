// Package asktool defines the tools by which a model asks people. It has their names and schemas, decodes
// their input and formats their results. It is for programs that host a model, and sends no request itself.
//
// A host offers both tools with [Schema] and [Description]. When the model calls a tool, [Questions] or
// [Confirmation] decodes the input to a request for an askback.Asker. Once the ask is settled, [Result]
// returns the result of the call.
//
// Pass the input as the model wrote it, before any schema validator. This package repairs mistakes in the
// input, or explains them to the model with a [Mistake] (F15).
package asktool

import (
	"encoding/json"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// The names of the tools.
const (
	AskUserQuestion = "ask_user_question"
	ConfirmAction   = "confirm_action"
)

// Canonical returns the name of the tool that a model means by name. It returns false if there is no such
// tool. Models also use names from other programs for AskUserQuestion.
func Canonical(name string) (string, bool) {
	switch name {
	case AskUserQuestion, "AskUserQuestion", "askUserQuestion", "ask_user":
		return AskUserQuestion, true
	case ConfirmAction:
		return ConfirmAction, true
	}
	return "", false
}

// A Mistake is the error for invalid input of a tool. Its text is the error result for the model. It has at
// most 400 characters: the position of the mistake, the expected value, and an example of valid input.
type Mistake struct {
	text string
	err  error
}

// Error returns the text for the model.
func (m *Mistake) Error() string { return m.text }

// Unwrap returns the askback.Invalid or the syntax error that the text describes.
func (m *Mistake) Unwrap() error { return m.err }

func mistake(input []byte, err error, form decode.InputKind) error {
	return &Mistake{decode.Correction(input, err, form), err}
}

// Questions decodes the input of ask_user_question: one to four questions, each with two to four options, or
// without options for free text. The request is normalized, and its Warnings list the repairs. The error is a
// *[Mistake].
func Questions(input []byte) (askback.Request, error) {
	r, err := decode.Questions(input)
	if err != nil {
		return askback.Request{}, mistake(input, err, decode.QuestionsTool)
	}
	return r, nil
}

// Confirmation decodes the input of confirm_action: {action, details?, default?}. It repairs nothing. It
// checks default, but the request does not depend on default; see [Suggestion]. The request is normalized.
// The error is a *[Mistake].
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

// Suggestion reports whether the input of confirm_action is valid and suggests approval.
// A terminal may highlight the suggestion. It is not an answer.
func Suggestion(input []byte) (yes bool) {
	a, err := decode.Confirm(input)
	return err == nil && a.SuggestYes
}

// Action returns the request for approval of an action, described by the agent.
// For one agent, equal actions with equal details always have the same digest.
func Action(action, details string) askback.Request {
	input := jsonOf(struct {
		Action  string `json:"action"`
		Details string `json:"details,omitempty"`
	}{action, details})
	if c, err := jcs.Canonical(input); err == nil {
		input = c
	}
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: ConfirmAction, Description: action, Context: details, Input: input,
	}}
}

// jsonOf returns v as JSON for a model, or nil if it cannot be encoded.
func jsonOf(v any) json.RawMessage {
	b, _ := jcs.Marshal(v)
	return b
}
