package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// MaxToolOptions is the maximum number of options in a question from a model (wire.md §5). More options do
// not fit side by side.
const MaxToolOptions = 4

// Questions parses the input of the tool ask_user_question (wire.md §5) and returns a normalized request. The
// input has questions, or the flat form of one question, and no other fields.
func Questions(input []byte) (askback.Request, error) {
	r, err := request(input, false)
	if err != nil {
		return askback.Request{}, err
	}
	singles := singleOptions(r.Questions)
	normal, err := r.Normalize()
	bad, _ := errors.AsType[askback.Invalid](err)
	for _, p := range singles {
		bad = slices.DeleteFunc(bad, func(b askback.Problem) bool { return b.Pointer == p.Pointer })
	}
	bad = append(singles, bad...)
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

// singleOptions returns a problem for each question with one option, which is not a choice.
func singleOptions(questions []askback.Question) (bad askback.Invalid) {
	for i, q := range questions {
		if len(q.Options) == 1 && i < limits.MaxQuestions {
			bad = append(bad, optionCount(i, 1))
		}
	}
	return bad
}

func optionCount(question, n int) askback.Problem {
	return askback.Problem{
		Pointer: fmt.Sprintf("/questions/%d/options", question),
		Detail: fmt.Sprintf("a question needs %d to %d options, or none for free text; this one has %d",
			limits.MinOptions, MaxToolOptions, n),
		Fix: `"Other" is always offered`,
	}
}

// An Action is the input of the tool confirm_action.
type Action struct {
	Action, Details string
	SuggestYes      bool // whether the agent suggests approval; it never approves anything
}

// Confirm parses the input of the tool confirm_action. It repairs nothing, because a person
// approves exactly these texts.
func Confirm(input []byte) (Action, error) {
	r, n, err := parse(input)
	if err != nil {
		return Action{}, err
	}
	var a Action
	r.members(n, exampleAction, []string{"action", "details", "default"}, func(name string, n node) bool {
		switch name {
		case "action":
			r.verbatim(n, name, &a.Action)
		case "details":
			r.verbatim(n, name, &a.Details)
		case "default":
			r.suggestion(n, &a.SuggestYes)
		default:
			return false
		}
		return true
	})
	if strings.TrimSpace(a.Action) == "" && r.err() == nil {
		r.problemAt("/action", "action is missing", exampleAction)
	}
	r.limit("/action", a.Action, limits.MaxQuestion)
	r.limit("/details", a.Details, limits.MaxContext)
	return a, r.err()
}

func (r *reader) limit(pointer, text string, most int) {
	if n := utf8.RuneCountInString(text); n > most {
		r.problemAt(pointer, fmt.Sprintf("%d characters are too many; at most %d are allowed", n, most), "shorten it")
	}
}

const exampleAction = `{"action": "Delete the branch old-login", "details": "It is merged."}`

// verbatim reads a string that must be shown unchanged. Markup of the tool call at its end
// is a problem.
func (r *reader) verbatim(n node, field string, into *string) {
	r.text(n, into)
	if EndsInMarkup(field, *into) {
		r.problem("this text ends with markup of the tool call", "send each field separately, and only its text")
	}
}

func (r *reader) suggestion(n node, yes *bool) {
	switch {
	case n.Kind == jcs.Bool:
		*yes = n.Bool()
	case n.Kind == jcs.String && n.Text() == "yes":
		*yes = true
	case n.Kind == jcs.String && n.Text() == "no":
	default:
		r.problem("default must be true, false, yes or no", "leave it out")
	}
}

// marshal returns the JSON of v, which must be a value that can always be encoded.
func marshal(v any) []byte {
	b, _ := jcs.Marshal(v)
	return b
}
