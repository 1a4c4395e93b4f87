package asktool

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/codec"
)

// Result returns the tool result for an ask as text and as JSON (docs/wire.md §5). Everything that people
// wrote is JSON in the text, so that a model cannot take it for structure or for words of this package (T30).
//
// isError is set if the ask ended without an answer, and the text then states that this is not consent. A
// denial is an answer. If a timer applied the asker's defaults, isError is not set, and the text mentions the
// timer. It is not set for a pending ask either, and the text states that there is no answer yet.
func Result(ask askback.Ask) (text string, structured []byte, isError bool) {
	if !ask.Settled() {
		return pendingResult(ask)
	}
	isError = ask.Outcome.Status != askback.Answered
	if ask.Kind == askback.Confirm {
		confirmed := strconv.AppendBool([]byte(`{"confirmed":`), ask.Outcome.Approved())
		return decisionText(ask), appendOutcome(confirmed, ask), isError
	}
	isError = isError && !ask.Outcome.Defaulted
	structured = appendOutcome(appendAnswers([]byte(`{"answers":`), ask), ask)
	switch {
	case isError:
		text = noAnswerText(ask)
	case ask.Outcome.Defaulted:
		text = "There was no answer in time, so a timer applied the defaults you gave; no person chose them: " +
			answerText(ask)
	default:
		text = "User has answered your questions: " + answerText(ask)
	}
	return text, structured, isError
}

// pendingResult returns the tool result for an ask without an outcome.
func pendingResult(ask askback.Ask) (string, []byte, bool) {
	structured := map[string]any{"status": ask.Status, "question_id": ask.ID}
	text := "Still waiting: there is no answer to " + ask.ID + " yet. This is neither an answer nor consent."
	if ask.PageURL != "" {
		structured["page_url"] = ask.PageURL
		text += " It can be answered at " + ask.PageURL + "."
	}
	return text, jsonOf(structured), false
}

// appendOutcome appends the outcome of an ask as the last member of an object, and ends the
// object. It returns nil if the outcome has no JSON.
func appendOutcome(b []byte, ask askback.Ask) []byte {
	b, err := ask.Outcome.AppendJSON(append(b, `,"outcome":`...))
	if err != nil {
		return nil
	}
	return append(b, '}')
}

// appendAnswers appends an object with the answers, sorted by the texts of their questions.
func appendAnswers(b []byte, ask askback.Ask) []byte {
	b = append(b, '{')
	byText := answers(ask)
	for i, text := range slices.Sorted(maps.Keys(byText)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(codec.AppendString(b, text), ':')
		switch values := byText[text].(type) {
		case string:
			b = codec.AppendString(b, values)
		case []string:
			b = codec.AppendStrings(b, values)
		}
	}
	return append(b, '}')
}

// answers returns the answers, keyed by the text of the question. An answer is a string, or a list if the
// question allows several. An unanswered question has an empty list or no entry.
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

// answerText returns one sentence for each question, then the remarks of the person.
func answerText(ask askback.Ask) string {
	text := make([]string, len(ask.Questions))
	for i, q := range ask.Questions {
		text[i] = sentence(q, answerTo(ask, q))
	}
	return strings.Join(text, " ") + remarks(*ask.Outcome)
}

func sentence(q askback.Question, a askback.QuestionAnswer) string {
	var values []string
	for _, label := range a.Selected {
		values = append(values, quote(label))
	}
	if a.Other != "" {
		values = append(values, quote(a.Other)+freeTextMark(q))
	}
	if len(values) == 0 {
		values = []string{"no answer"}
	}
	text := quote(q.Text) + " = " + strings.Join(values, ", ")
	if a.Notes != "" {
		text += " [notes: " + quote(a.Notes) + "]"
	}
	return text + "."
}

// freeTextMark returns the mark that follows free text in an answer to q. If q has no
// options, the mark is "".
func freeTextMark(q askback.Question) string {
	if len(q.Options) == 0 {
		return ""
	}
	return " [in their own words]"
}

// remarks returns sentences with the comment and the reason of an outcome, if it has them. The remarks of a
// timer are left out.
func remarks(o askback.Outcome) string {
	text := ""
	if o.Actor.Kind == askback.ActorTimer {
		return text
	}
	if o.Comment != "" {
		text += " Comment: " + quote(o.Comment) + "."
	}
	if o.Reason != "" {
		text += " Reason: " + quote(o.Reason) + "."
	}
	return text
}

// decisionText returns the text for a settled confirmation. It states whether the model
// may do the action, and with which arguments.
func decisionText(ask askback.Ask) string {
	o := ask.Outcome
	switch {
	case o.Status != askback.Answered:
		return noAnswerText(ask)
	case !o.Approved():
		return "Denied by " + actorText(o.Actor) + ": do not do this." + remarks(*o)
	case len(o.Input) > 0:
		return "Approved by " + actorText(o.Actor) + ", but with other arguments. Only these are approved, once: " +
			string(jsonOf(o.Input)) + remarks(*o)
	}
	return "Approved by " + actorText(o.Actor) + ": do it once, with exactly these arguments." + remarks(*o)
}

// actorText describes the actor of an outcome. Only people are named. A name is quoted
// like all text of people.
func actorText(by askback.Actor) string {
	switch {
	case by.Kind == askback.ActorPolicy:
		return "a standing approval, without asking a person"
	case by.Kind == askback.ActorPerson && by.Name != "":
		return quote(by.Name)
	}
	return "a " + string(by.Kind)
}

// noAnswerText returns a text that states why there is no answer, and that this is not consent.
func noAnswerText(ask askback.Ask) string {
	const next = " Continue by your own judgement if that is safe, or ask differently."
	text := ""
	switch ask.Outcome.Status {
	case askback.Declined:
		text = "The person declined to answer."
	case askback.Cancelled:
		text = "The request was withdrawn before it was answered."
	default:
		text = "There was no answer in time."
	}
	text += remarks(*ask.Outcome) + " This is not consent"
	if ask.Kind == askback.Confirm {
		return text + ": do not do this."
	}
	return text + "." + next
}

// quote returns s as a JSON string. The string is on one line, and no character of s can end the string.
func quote(s string) string {
	return string(codec.AppendString(nil, s))
}
