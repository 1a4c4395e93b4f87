package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// A Form is what was being read when something was wrong.
type Form int

// The forms: the body of POST /asks, and the input of the two tools.
const (
	Body Form = iota
	QuestionsTool
	ConfirmTool
)

// MaxCorrection is how long a tool's error is at most, in characters (wire.md
// §5): a model should read it whole.
const MaxCorrection = 400

// maxSaid leaves an example its room.
const maxSaid = 200

const beforeExample = " Example: "

// Correction says what was wrong with raw in at most MaxCorrection characters:
// where, what was expected, and at its end one corrected example that is
// accepted as it stands. The example has the sender's own words where they can
// be saved. Arguments of a confirmation are those that were sent, or none of
// the sender's: nobody is taught to approve something else.
func Correction(raw []byte, err error, form Form) string {
	said := explain(raw, err)
	room := MaxCorrection - utf8.RuneCountInString(said) - len(beforeExample)
	return said + beforeExample + form.example(raw, err, room)
}

func explain(raw []byte, err error) string {
	if syntax, ok := errors.AsType[*jcs.SyntaxError](err); ok {
		where := fmt.Sprintf("byte %d, line %d, column %d", syntax.Offset, syntax.Line, syntax.Column)
		if syntax.Pointer != "" {
			where += ", in " + short(syntax.Pointer, 60)
		}
		return short("Not JSON at "+where+": "+syntax.Detail, maxSaid-1) + "."
	}
	bad, ok := errors.AsType[askback.Invalid](err)
	if !ok {
		return short(strings.ToValidUTF8(err.Error(), "�"), maxSaid-1) + "."
	}
	flat := isFlat(raw)
	said := describe(bad[0], flat)
	for _, p := range bad[1:] {
		more := said + "; " + describe(p, flat)
		if utf8.RuneCountInString(more) > maxSaid {
			break
		}
		said = more
	}
	return said + "."
}

// describe says one problem with its pointer. The flat form has no list of
// questions to point into.
func describe(p askback.Problem, flat bool) string {
	at := p.Pointer
	if flat && at != "" {
		at = "/" + strings.TrimPrefix(strings.TrimPrefix(at, "/questions/0/"), "/")
	}
	said := short(p.Detail, 100)
	if at != "" {
		said = short(at, 60) + ": " + said
	}
	// The example at the end shows better what JSON in a fix would.
	if p.Fix != "" && !strings.Contains(p.Fix, "{") && utf8.RuneCountInString(said+p.Fix) < maxSaid-4 {
		said += " (" + p.Fix + ")"
	}
	return strings.ToValidUTF8(said, "�")
}

func isFlat(raw []byte) bool {
	_, n, _, err := parseMended(raw)
	if err != nil || n.Kind != jcs.Object {
		return false
	}
	_, question := n.Get("question")
	_, questions := n.Get("questions")
	return question && !questions
}

// accepts says whether an example can be sent as it stands: nobody learns from
// one that would be mended.
func (f Form) accepts(example []byte) bool {
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
	return err == nil && !slices.ContainsFunc(r.Warnings, func(p askback.Problem) bool { return p.Detail != severalInOne })
}
