package compat

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleFlat = `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`

// readFlat reads one question or one action in the flat form (C1 to C3).
func readFlat(_ Client, raw []byte) (Call, error) {
	if v, err := jcs.Parse(raw); err == nil {
		_, acts := v.Get("action")
		_, asks := v.Get("question")
		if acts && !asks {
			return readFlatAction(raw)
		}
	}
	return readFlatQuestion(raw)
}

func readFlatQuestion(raw []byte) (Call, error) {
	r, err := decode.Questions(raw)
	if err == nil && len(r.Questions) > 1 {
		err = askback.Invalid{
			{Pointer: "/questions", Detail: "the result can hold only one answer", Fix: "ask one question"},
		}
	}
	if err != nil {
		return Call{}, &Mistake{decode.Correction(raw, err, decode.QuestionsTool), err}
	}
	return Call{Request: r, questions: []ClientQuestion{{Question: r.Questions[0]}}, reply: Answered(flatReply)}, nil
}

// flatReply returns a string, or a list of strings if the question allows several answers.
func flatReply(all []ClientAnswer) any {
	if all[0].MultiSelect {
		return all[0].AllValues()
	}
	return all[0].Line()
}
