package asktool

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/outcometext"
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
		return outcometext.Decision(ask), appendOutcome(confirmed, ask), isError
	}
	isError = isError && !ask.Outcome.Defaulted
	structured = appendOutcome(appendAnswers([]byte(`{"answers":`), ask), ask)
	switch {
	case isError:
		text = outcometext.NoAnswer(ask)
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
		text[i] = sentence(ask, q)
	}
	return strings.Join(text, " ") + outcometext.Remarks(*ask.Outcome)
}

// sentence returns the answer to a question of a settled ask.
func sentence(ask askback.Ask, q askback.Question) string {
	a := answerTo(ask, q)
	var values []string
	for _, label := range a.Selected {
		values = append(values, outcometext.Quote(label))
	}
	if a.Other != "" {
		values = append(values, outcometext.Quote(a.Other)+freeTextMark(q))
	}
	if len(values) == 0 {
		values = []string{none(ask)}
	}
	text := outcometext.Quote(q.Text) + " = " + strings.Join(values, ", ")
	if a.Notes != "" {
		text += " [notes: " + outcometext.Quote(a.Notes) + "]"
	}
	return text + "."
}

// none returns the answer to a question without an answer. A person skipped it, or it has no default.
func none(ask askback.Ask) string {
	if ask.Outcome.Defaulted {
		return "no answer, and no default"
	}
	return outcometext.Skipped
}

// freeTextMark returns the mark that follows free text in an answer to q. If q has no
// options, the mark is "".
func freeTextMark(q askback.Question) string {
	if len(q.Options) == 0 {
		return ""
	}
	return " [in their own words]"
}
