package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// MaxToolOptions is how many options a model may offer (wire.md §5): what fits
// beside each other, and what a person reads.
const MaxToolOptions = 4

// Questions reads the input of the tool ask_user_question (wire.md §5) as a
// normal request: questions, or the flat form of one, and nothing beside them.
func Questions(input []byte) (askback.Request, error) {
	r, err := request(input, func(*reader, *body) map[string]func(node) {
		return map[string]func(node){}
	})
	if err != nil {
		return askback.Request{}, err
	}
	few := tooFew(r.Questions)
	normal, err := r.Normalize()
	bad, _ := errors.AsType[askback.Invalid](err)
	for _, p := range few {
		bad = slices.DeleteFunc(bad, func(b askback.Problem) bool { return b.Pointer == p.Pointer })
	}
	bad = append(few, bad...)
	for i, q := range normal.Questions {
		if len(q.Options) > MaxToolOptions {
			bad = append(bad, optionCount(i, len(q.Options)))
		}
	}
	if len(bad) > 0 {
		return askback.Request{}, bad
	}
	return normal, nil
}

// tooFew finds lists of one option: not even "Other" stands beside it.
func tooFew(questions []askback.Question) (bad askback.Invalid) {
	for i, q := range questions {
		if len(q.Options) == 1 && i < askback.MaxQuestions {
			bad = append(bad, optionCount(i, 1))
		}
	}
	return bad
}

func optionCount(question, n int) askback.Problem {
	return askback.Problem{
		Pointer: fmt.Sprintf("/questions/%d/options", question),
		Detail: fmt.Sprintf("a question has %d to %d options, or none for free text, not %d",
			askback.MinOptions, MaxToolOptions, n),
		Fix: `"Other" is always offered`,
	}
}

// An Action is the input of the tool confirm_action.
type Action struct {
	Action, Details string
	SuggestYes      bool // only places a highlight; nothing is ever approved by it
}

// Confirm reads the input of the tool confirm_action. Nothing of it is mended:
// these are the words that a person approves.
func Confirm(input []byte) (Action, error) {
	r, n, err := parse(input)
	if err != nil {
		return Action{}, err
	}
	var a Action
	r.fields(n, exampleAction, map[string]func(node){
		"action":  r.exact("action", &a.Action),
		"details": r.exact("details", &a.Details),
		"default": r.suggestion(&a.SuggestYes),
	})
	if strings.TrimSpace(a.Action) == "" && r.err() == nil {
		r.wrong("/action", "what is about to be done?", exampleAction)
	}
	r.limit("/action", a.Action, askback.MaxQuestion)
	r.limit("/details", a.Details, askback.MaxContext)
	return a, r.err()
}

func (r *reader) limit(at, text string, most int) {
	if n := utf8.RuneCountInString(text); n > most {
		r.wrong(at, fmt.Sprintf("%d characters; at most %d", n, most), "shorten it")
	}
}

const exampleAction = `{"action": "Delete the branch old-login", "details": "It is merged."}`

// exact reads a text that nobody may change, and that must be shown as it is.
func (r *reader) exact(field string, into *string) func(node) {
	return func(n node) {
		r.text(into)(n)
		if Swallowed(field, *into) {
			r.wrong(n.at, "this text ends in markup of the call", "send each field by itself, and only its text")
		}
	}
}

func (r *reader) suggestion(yes *bool) func(node) {
	return func(n node) {
		switch {
		case n.Kind == jcs.Bool:
			*yes = n.Bool()
		case n.Kind == jcs.String && n.Text() == "yes":
			*yes = true
		case n.Kind == jcs.String && n.Text() == "no":
		default:
			r.wrong(n.at, "a default is true, false, yes or no", "leave it out")
		}
	}
}

// plain is a value as JSON that leaves <, > and & as they are: models read it.
func plain(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}
