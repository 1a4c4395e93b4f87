package compat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// claudeResult is the output of AskUserQuestion. The keys of the answers and annotations are
// the texts of the questions. An answer contains the chosen labels and the text of the person.
type claudeResult struct {
	Questions   json.RawMessage             `json:"questions"`
	Answers     map[string]string           `json:"answers"`
	Annotations map[string]claudeAnnotation `json:"annotations,omitempty"`
	AfkTimeout  int64                       `json:"afkTimeoutMs,omitempty"`
}

type claudeAnnotation struct {
	Preview string `json:"preview,omitempty"`
	Notes   string `json:"notes,omitempty"`
}

// claudeFields are the known fields of a call, of a question and of an option, including names
// of other clients. Other fields are ignored: Claude Code sets some itself, and its versions
// add more.
var claudeFields = [][]string{
	{"questions", "question", "header", "options", "multiSelect"},
	{"question", "header", "options", "choices", "multiSelect", "multi_select", "multiple"},
	{"label", "description", "preview"},
}

// readClaude reads the input of AskUserQuestion. It has the same format as that of Askback's
// tool ask_user_question.
func readClaude(_ Client, raw []byte) (Call, error) {
	asking, sent := raw, jcs.Value{}
	if v, err := jcs.Parse(raw); err == nil {
		asking = keepFields(raw, v, claudeFields)
		sent, _ = v.Get("questions")
	}
	r, err := decode.Questions(asking)
	if err != nil {
		return Call{}, &Mistake{decode.Correction(asking, err, decode.QuestionsTool), err}
	}
	call := Call{Request: r}
	for _, q := range r.Questions {
		call.questions = append(call.questions, clientQuestion{Question: q, key: q.Text})
	}
	questions, err := call.sentQuestions(raw, sent)
	call.reply = func(s []clientAnswer, ask askback.Ask) (any, error) { return claudeReply(questions, s, ask) }
	return call, err
}

// sentQuestions returns the questions exactly as they were sent, and uses their texts as keys:
// Claude Code matches the answers only by these. If that is not possible, because the input
// was repaired, it returns the questions of the request.
func (c Call) sentQuestions(raw []byte, sent jcs.Value) (json.RawMessage, error) {
	if sent.Kind != jcs.Array || len(sent.Elements()) != len(c.questions) {
		return jcs.Marshal(c.Request.Questions)
	}
	for i, v := range sent.Elements() {
		text, _ := v.Get("question")
		if text.Kind != jcs.String {
			return jcs.Marshal(c.Request.Questions)
		}
		c.questions[i].key = text.Text()
	}
	return sent.Raw(raw), nil
}

// keepFields returns a copy of a value with only the known fields of its objects. levels
// has a list of them for each level of objects, beginning with the outermost. Deeper
// objects keep all their fields.
func keepFields(raw []byte, v jcs.Value, levels [][]string) []byte {
	var parts [][]byte
	switch {
	case len(levels) == 0:
	case v.Kind == jcs.Array:
		for _, e := range v.Elements() {
			parts = append(parts, keepFields(raw, e, levels))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	case v.Kind == jcs.Object:
		for _, m := range v.Members() {
			if slices.Contains(levels[0], m.Name) {
				parts = append(parts, slices.Concat([]byte(quoted(m.Name)+":"), keepFields(raw, m.Value, levels[1:])))
			}
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	}
	return v.Raw(raw)
}

func claudeReply(questions json.RawMessage, all []clientAnswer, ask askback.Ask) (any, error) {
	if err := answeredOnly(ask); err != nil {
		return nil, err
	}
	out := claudeResult{Questions: questions, Answers: map[string]string{}, Annotations: map[string]claudeAnnotation{}}
	if ask.Outcome.Defaulted {
		out.AfkTimeout = max(1, ask.Outcome.At.Sub(ask.CreatedAt).Milliseconds())
	}
	for _, s := range all {
		if values := s.Values(); len(values) > 0 {
			out.Answers[s.key] = s.String()
		}
		s.addChosen()
		note := claudeAnnotation{Notes: s.notes()}
		if len(s.Selected) == 1 {
			o, _ := s.Option(s.Selected[0])
			note.Preview = o.Preview
		}
		if note != (claudeAnnotation{}) {
			out.Annotations[s.key] = note
		}
	}
	return out, nil
}

// addChosen adds a remark with each chosen value in quotation marks, if a comma inside one
// of them makes the answer ambiguous.
func (s *clientAnswer) addChosen() {
	values := s.Values()
	if len(values) < 2 || !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, separator) }) {
		return
	}
	each := make([]string, len(values))
	for i, v := range values {
		each[i] = quoted(v)
	}
	s.addRemark("chosen", strings.Join(each, " and "))
}
