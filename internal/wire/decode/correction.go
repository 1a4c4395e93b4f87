package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

// An InputKind is a kind of input that [Correction] explains.
type InputKind int

// The kinds of input: the body of POST /asks, and the inputs of the tools ask_user_question,
// confirm_action, todo_write and spawn_agents.
const (
	Body InputKind = iota
	QuestionsTool
	ConfirmTool
	TodosTool
	TasksTool
)

// MaxCorrection is the maximum length of a correction in characters (wire.md §5).
const MaxCorrection = 400

// maxExplanation is the maximum length of the text before the example, in characters.
const maxExplanation = 200

const beforeExample = " Example: "

// Correction explains err, the error for the invalid input raw, in at most [MaxCorrection] characters. The
// text has the positions of the mistakes, the expected values, and a valid example. The example keeps the
// texts of the sender if possible. An example of a confirmation has the unchanged arguments of the sender, or
// is a general example.
func Correction(raw []byte, err error, form InputKind) string {
	text := explain(raw, err)
	room := MaxCorrection - utf8.RuneCountInString(text) - len(beforeExample)
	return text + beforeExample + form.example(raw, err, room)
}

func explain(raw []byte, err error) string {
	if syntax, ok := errors.AsType[*jcs.SyntaxError](err); ok {
		where := fmt.Sprintf("byte %d, line %d, column %d", syntax.Offset, syntax.Line, syntax.Column)
		if syntax.Pointer != "" {
			where += ", in " + truncate(syntax.Pointer, 60)
		}
		return truncate("Not JSON at "+where+": "+syntax.Detail, maxExplanation-1) + "."
	}
	bad, ok := errors.AsType[askback.Invalid](err)
	if !ok {
		return truncate(strings.ToValidUTF8(err.Error(), "�"), maxExplanation-1) + "."
	}
	flat := isFlat(raw)
	text := describe(bad[0], flat)
	for _, p := range bad[1:] {
		more := text + "; " + describe(p, flat)
		if utf8.RuneCountInString(more) > maxExplanation {
			break
		}
		text = more
	}
	return text + "."
}

// describe formats a problem with its pointer, and with its fix if the fix is short. If the input is in the
// flat form, the pointer does not contain /questions/0.
func describe(p askback.Problem, flat bool) string {
	pointer := p.Pointer
	if flat && pointer != "" {
		pointer = "/" + strings.TrimPrefix(strings.TrimPrefix(pointer, "/questions/0/"), "/")
	}
	text := truncate(p.Detail, 100)
	if pointer != "" {
		text = truncate(pointer, 60) + ": " + text
	}
	// The example at the end shows JSON better than a fix.
	if p.Fix != "" && !strings.Contains(p.Fix, "{") && utf8.RuneCountInString(text+p.Fix) < maxExplanation-4 {
		text += " (" + p.Fix + ")"
	}
	return strings.ToValidUTF8(text, "�")
}

func isFlat(raw []byte) bool {
	_, n, _, err := parseRepaired(raw)
	if err != nil || n.Kind != jcs.Object {
		return false
	}
	_, question := n.Get("question")
	_, questions := n.Get("questions")
	return question && !questions
}

// accepts reports whether an example is valid and needs no repair. The warning about several
// questions in one text is not a repair.
func (f InputKind) accepts(example []byte) bool {
	var r askback.Request
	var err error
	switch f {
	case QuestionsTool:
		r, err = Questions(example)
	case ConfirmTool:
		_, err = Confirm(example)
	default:
		if r, err = Request(example); err == nil {
			r, err = r.Normalize()
		}
	}
	if err == nil && r.Confirmation != nil {
		_, err = jcs.Canonical(r.Confirmation.Input)
	}
	return err == nil &&
		!slices.ContainsFunc(r.Warnings, func(p askback.Problem) bool { return p.Detail != severalQuestions })
}
