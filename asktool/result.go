package asktool

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback"
)

// Result is what a model is told about an ask: a text it reads well, the same
// as JSON, and whether the call failed (wire.md §5). Whatever a person wrote
// stands in the text as a quoted string, so that it cannot pass for structure
// or for somebody else's words (T30).
//
// A denial is an answer. Where nobody answered the call failed, and the text
// says that this is not consent; where a timer applied the defaults of the
// asker it says so.
func Result(ask askback.Ask) (text string, structured []byte, isError bool) {
	if !ask.Settled() {
		return waiting(ask)
	}
	isError = ask.Outcome.Status != askback.Answered
	if ask.Kind == askback.Confirm {
		text = confirmed(ask)
		structured = jsonOf(map[string]any{"confirmed": ask.Outcome.Approved(), "outcome": ask.Outcome})
		return text, structured, isError
	}
	isError = isError && !ask.Outcome.Defaulted
	structured = jsonOf(map[string]any{"answers": answers(ask), "outcome": ask.Outcome})
	switch {
	case isError:
		text = unanswered(ask)
	case ask.Outcome.Defaulted:
		text = "Nobody answered in time, so a timer applied the defaults you gave; no person chose them: " + listed(ask)
	default:
		text = "User has answered your questions: " + listed(ask)
	}
	return text, structured, isError
}

// waiting is no result yet, and says how to tell.
func waiting(ask askback.Ask) (string, []byte, bool) {
	structured := map[string]any{"status": ask.Status, "question_id": ask.ID}
	text := "Still waiting: nobody has answered " + ask.ID + " yet. This is neither an answer nor consent."
	if ask.PageURL != "" {
		structured["page_url"] = ask.PageURL
		text += " It can be answered at " + ask.PageURL + "."
	}
	return text, jsonOf(structured), false
}

// answers are the answers by question, as labels or text.
func answers(ask askback.Ask) map[string]any {
	out := map[string]any{}
	for _, q := range ask.Questions {
		a := answerTo(ask, q)
		switch values := a.Values(); {
		case q.MultiSelect:
			out[q.Text] = append([]string{}, values...)
		case len(values) > 0:
			out[q.Text] = a.String()
		}
	}
	return out
}

func answerTo(ask askback.Ask, q askback.Question) askback.QuestionAnswer {
	for _, a := range ask.Outcome.Answers {
		if a.ID == q.ID {
			return a
		}
	}
	return askback.QuestionAnswer{}
}

// listed says every answer in a sentence of its own.
func listed(ask askback.Ask) string {
	said := make([]string, len(ask.Questions))
	for i, q := range ask.Questions {
		said[i] = sentence(q, answerTo(ask, q))
	}
	return strings.Join(said, " ") + remarks(*ask.Outcome)
}

func sentence(q askback.Question, a askback.QuestionAnswer) string {
	var values []string
	for _, label := range a.Selected {
		values = append(values, quote(label))
	}
	if a.Other != "" {
		values = append(values, quote(a.Other)+ownWords(q))
	}
	if len(values) == 0 {
		values = []string{"no answer"}
	}
	said := quote(q.Text) + " = " + strings.Join(values, ", ")
	if a.Notes != "" {
		said += " [notes: " + quote(a.Notes) + "]"
	}
	return said + "."
}

// ownWords marks text among options; without options it is always text.
func ownWords(q askback.Question) string {
	if len(q.Options) == 0 {
		return ""
	}
	return " [in their own words]"
}

// remarks are what was said beside the answers. The reason of a timer is none.
func remarks(o askback.Outcome) string {
	said := ""
	if o.By.Kind == askback.ByTimer {
		return said
	}
	if o.Comment != "" {
		said += " Comment: " + quote(o.Comment) + "."
	}
	if o.Reason != "" {
		said += " Reason: " + quote(o.Reason) + "."
	}
	return said
}

// confirmed says what was decided about an action, and never more.
func confirmed(ask askback.Ask) string {
	o := ask.Outcome
	switch {
	case o.Status != askback.Answered:
		return unanswered(ask)
	case !o.Approved():
		return "Denied by " + who(o.By) + ": do not do this." + remarks(*o)
	case len(o.Input) > 0:
		return "Approved by " + who(o.By) + ", but with other arguments. Only these are approved, once: " +
			string(jsonOf(o.Input)) + remarks(*o)
	}
	return "Approved by " + who(o.By) + ": do it once, with exactly these arguments." + remarks(*o)
}

// who names a person or a standing approval. A name is quoted like all text.
func who(by askback.By) string {
	switch {
	case by.Kind == askback.ByPolicy:
		return "a standing approval, without a person looking"
	case by.Kind == askback.ByPerson && by.Name != "":
		return quote(by.Name)
	}
	return "a " + string(by.Kind)
}

// unanswered says in plain words why there is no answer.
func unanswered(ask askback.Ask) string {
	const next = " Go on by your own judgement where that is safe, or ask differently."
	said := ""
	switch ask.Outcome.Status {
	case askback.Declined:
		said = "The person declined to answer."
	case askback.Cancelled:
		said = "This was withdrawn before anybody answered."
	default:
		said = "Nobody answered in time."
	}
	said += remarks(*ask.Outcome) + " This is not consent"
	if ask.Kind == askback.Confirm {
		return said + ": do not do this."
	}
	return said + "." + next
}

// quote makes a string of JSON of a text: nothing in it ends it, and it is one
// line.
func quote(s string) string {
	b := jsonOf(s)
	if b == nil {
		b = json.RawMessage(`""`)
	}
	return string(b)
}
