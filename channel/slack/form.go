package slack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

// The parts of a form. The names of the blocks of a question begin with its number, as in "1.other".
const (
	partOptions = "options"
	partOther   = "other"
	partNotes   = "notes"
	partReason  = "reason"
)

// The kinds of forms.
const (
	callbackAnswer  = "answer"
	callbackDeny    = "deny"
	callbackDecline = "decline"
	callbackNote    = "note" // form without inputs
)

// maxTyped is the maximum length of a text that Slack lets a person type.
const maxTyped = 3000

// form returns the form with all questions of an ask for a member. It reports whether the form fits within
// the limits of Slack. No option is preselected.
func (c *Channel) form(a askback.Ask, member string) (slack.ModalViewRequest, bool) {
	var blocks []slack.Block
	for i, q := range a.Questions {
		lines := notice.Question(q)
		if len(a.Questions) > 1 {
			lines = append([]notice.Line{notice.Own("Question %d of %d", i+1, len(a.Questions))}, lines...)
		}
		text, ok := draw(lines)
		if !ok {
			return slack.ModalViewRequest{}, false
		}
		blocks = append(blocks, text...)
		if len(q.Options) > 0 {
			blocks = append(blocks, c.pickInput(a.ID, i, q))
		}
		if !q.NoOther || len(q.Options) == 0 {
			blocks = append(blocks, textInput(part(i, partOther), otherLabel(q), q.Optional || len(q.Options) > 0))
		}
		blocks = append(blocks, textInput(part(i, partNotes), "Note (optional)", true))
	}
	v := modal("Answer", "Send", callbackAnswer, blocks)
	v.PrivateMetadata = c.metadata(a.ID, callbackAnswer, member)
	return v, len(blocks) <= maxModal
}

// denial returns the form for the reason of a denial.
func (c *Channel) denial(a askback.Ask, member string) slack.ModalViewRequest {
	v := modal("Deny", "Deny", callbackDeny, []slack.Block{
		slack.NewSectionBlock(plain("The agent may not run this call, and gets your reason."), nil, nil),
		textInput(partReason, "Reason", false),
	})
	v.PrivateMetadata = c.metadata(a.ID, callbackDeny, member)
	return v
}

// declining returns the form for the reason why a person declines to answer.
func (c *Channel) declining(a askback.Ask, member string) slack.ModalViewRequest {
	v := modal("Decline to answer", "Decline", callbackDecline, []slack.Block{
		slack.NewSectionBlock(plain("The agent gets no answer, only your reason."), nil, nil),
		textInput(partReason, "Reason (optional)", true),
	})
	v.PrivateMetadata = c.metadata(a.ID, callbackDecline, member)
	return v
}

// noteView returns a form without inputs that shows a text, such as the name of the person who was first.
func noteView(text string) slack.ModalViewRequest {
	v := modal("Askback", "", callbackNote, notePlain(text).body)
	v.Submit, v.Close = nil, plain("Close")
	return v
}

func modal(title, submit, callback string, blocks []slack.Block) slack.ModalViewRequest {
	return slack.ModalViewRequest{
		Type: slack.VTModal, Title: plain(title), Submit: plain(submit), Close: plain("Cancel"), CallbackID: callback,
		Blocks: slack.Blocks{BlockSet: blocks},
	}
}

// metadata returns the metadata of a form: the id of the ask and a code. The code is for the ask, the kind of
// form and the member who opened the form.
func (c *Channel) metadata(ask, callback, member string) string {
	return ask + "." + c.code(ask, "view", callback, member)
}

// askOf returns the ask in the metadata of a form. It reports whether this app made the form for the member.
func (c *Channel) askOf(metadata, callback, member string) (ask string, ok bool) {
	ask, value, _ := strings.Cut(metadata, ".")
	return ask, c.isCode(value, ask, "view", callback, member)
}

func part(question int, name string) string { return fmt.Sprintf("%d.%s", question+1, name) }

func otherLabel(q askback.Question) string {
	if len(q.Options) == 0 {
		return "Your answer"
	}
	return "Or your own answer"
}

// pickInput returns the input with the options of a question. Radio buttons cannot be unmarked, so an extra
// option is for an answer in the person's own words or for no answer.
func (c *Channel) pickInput(ask string, i int, q askback.Question) slack.Block {
	var extra []*slack.OptionBlockObject
	switch {
	case q.MultiSelect:
	case !q.NoOther:
		extra = append(extra,
			slack.NewOptionBlockObject(c.code(ask, "own", indexed("", i)), plain("My own answer (below)"), nil))
	case q.Optional:
		extra = append(extra, slack.NewOptionBlockObject(c.code(ask, "none", indexed("", i)), plain("No answer"), nil))
	}
	words := "Choose one"
	if q.MultiSelect {
		words = "Choose any number"
	}
	b := slack.NewInputBlock(part(i, partOptions), plain(words), nil, c.picker(ask, i, q, extra))
	b.Optional = q.Optional || !q.NoOther
	return b
}

func textInput(block, label string, optional bool) slack.Block {
	e := slack.NewPlainTextInputBlockElement(nil, "text")
	e.Multiline, e.MaxLength = true, maxTyped
	b := slack.NewInputBlock(block, plain(label), plain("Write longer texts on the page of this ask."), e)
	if optional {
		b.Hint = nil
	}
	b.Optional = optional
	return b
}

// A state contains the marked options and typed texts of a form, keyed by block and action.
type state map[string]map[string]slack.BlockAction

// typed returns the text in a block, or "" if the text is blank.
func (s state) typed(block string) string {
	text := s[block]["text"].Value
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// picked returns the codes of the options that are marked in a block.
func (s state) picked(block string) (values []string) {
	b := s[block][actPick]
	if b.SelectedOption.Value != "" {
		values = append(values, b.SelectedOption.Value)
	}
	for _, o := range b.SelectedOptions {
		values = append(values, o.Value)
	}
	return values
}

// errForged is returned for input that this app has not offered.
var errForged = fmt.Errorf("this choice was not offered")

// answer returns the answer to all questions of a form. The problems are texts for people, keyed by block.
// The error is errForged if an option was not offered.
func (c *Channel) answer(a askback.Ask, s state) (out askback.Answer, problems map[string]string, err error) {
	problems = map[string]string{}
	for i, q := range a.Questions {
		other, values := s.typed(part(i, partOther)), s.picked(part(i, partOptions))
		wantsOwn := false
		var rest []string
		for _, v := range values {
			switch {
			case !q.MultiSelect && !q.NoOther && c.isCode(v, a.ID, "own", indexed("", i)):
				wantsOwn = true
			case !q.MultiSelect && q.NoOther && q.Optional && c.isCode(v, a.ID, "none", indexed("", i)):
			default:
				rest = append(rest, v)
			}
		}
		given, err := c.chosen(a.ID, i, q, rest)
		if err != nil {
			return out, nil, err
		}
		switch {
		case wantsOwn && other == "":
			problems[part(i, partOther)] = "Write your own answer, or choose an option."
		case len(given.Selected) > 0 && other != "" && !q.MultiSelect:
			problems[part(i, partOptions)] = "Choose “My own answer”, or delete the text below."
		}
		given.Other, given.Notes = other, s.typed(part(i, partNotes))
		out.Answers = append(out.Answers, given)
	}
	return out, problems, nil
}

// chosen returns the answer with the options whose codes were sent, in the order of the question. If a code
// belongs to no option, the error is errForged.
func (c *Channel) chosen(
	ask string, i int, q askback.Question, codes []string,
) (out askback.QuestionAnswer, err error) {
	out.ID = q.ID
	known := 0
	for n, o := range q.Options {
		parts := []string{"option", indexed("", i), indexed("", n)}
		if slices.Contains(codes, c.code(ask, parts...)) || slices.Contains(codes, c.oldCode(ask, parts...)) {
			out.Selected = append(out.Selected, o.Label)
			known++
		}
	}
	if known != len(codes) {
		return out, errForged
	}
	return out, nil
}

// explain returns the problems of an answer, keyed by the block of the form.
func explain(a askback.Ask, invalid askback.Invalid) map[string]string {
	out := map[string]string{}
	for _, p := range invalid {
		i, name := 0, partNotes
		fmt.Sscanf(p.Pointer, "/answers/%d", &i)
		if i >= len(a.Questions) {
			i = 0
		}
		q := a.Questions[i]
		switch {
		case strings.HasSuffix(p.Pointer, "/notes"):
		case strings.HasSuffix(p.Pointer, "/other") && (!q.NoOther || len(q.Options) == 0):
			name = partOther
		case len(q.Options) > 0:
			name = partOptions
		case !q.NoOther || len(q.Options) == 0:
			name = partOther
		}
		if out[part(i, name)] == "" {
			out[part(i, name)] = cut(sentence(p.Detail), maxProblem)
		}
	}
	return out
}

// sentence returns the detail of a problem as a sentence.
func sentence(detail string) string {
	if detail == "" {
		return "This is not an answer."
	}
	return strings.ToUpper(detail[:1]) + detail[1:] + "."
}

// maxProblem is the maximum length of an error in a form.
const maxProblem = 300
