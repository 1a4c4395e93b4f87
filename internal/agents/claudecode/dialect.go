package claudecode

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// Dialect is the format of Claude Code's tool AskUserQuestion. Its name is the name in its route.
var Dialect = compat.Client{Name: "claude", Example: compat.ExampleQuestions, ReadCall: readDialect}

// A dialectResult is the output of AskUserQuestion. The keys of the answers and annotations are the texts of
// the questions. An answer contains the chosen labels and the text of the person.
type dialectResult struct {
	Questions   json.RawMessage              `json:"questions"`
	Answers     map[string]string            `json:"answers"`
	Annotations map[string]dialectAnnotation `json:"annotations,omitempty"`
	AfkTimeout  int64                        `json:"afkTimeoutMs,omitempty"`
}

type dialectAnnotation struct {
	Preview string `json:"preview,omitempty"`
	Notes   string `json:"notes,omitempty"`
}

// dialectFields are the known fields of a call, of a question and of an option, including the names that
// other clients use. Other fields are ignored, because Claude Code sets some fields itself, and its versions
// add more.
var dialectFields = [][]string{
	{"questions", "question", "header", "options", "multiSelect"},
	{"question", "header", "options", "choices", "multiSelect", "multi_select", "multiple"},
	{"label", "description", "preview"},
}

// readDialect reads the input of AskUserQuestion. The input has the same format as the input of Askback's
// tool ask_user_question.
func readDialect(_ compat.Client, raw []byte) (compat.Call, error) {
	asking, sent := raw, jcs.Value{}
	if v, err := jcs.Parse(raw); err == nil {
		asking = keepFields(raw, v, dialectFields)
		sent, _ = v.Get("questions")
	}
	r, err := decode.Questions(asking)
	if err != nil {
		return compat.Call{}, compat.NewMistake(decode.Correction(asking, err, decode.QuestionsTool), err)
	}
	var questions []compat.ClientQuestion
	for _, q := range r.Questions {
		questions = append(questions, compat.ClientQuestion{Question: q, Key: q.Text})
	}
	shown, err := sentQuestions(r.Questions, questions, raw, sent)
	return compat.NewCall(r, questions, func(s []compat.ClientAnswer, ask askback.Ask) (any, error) {
		return dialectReply(shown, s, ask)
	}), err
}

// sentQuestions returns sent, the questions exactly as Claude Code sent them. It sets the keys of named to
// the texts of these questions, because Claude Code matches the answers only by the texts. If the input was
// repaired, so that sent does not correspond to named, sentQuestions returns asked.
func sentQuestions(
	asked []askback.Question, named []compat.ClientQuestion, raw []byte, sent jcs.Value,
) (json.RawMessage, error) {
	if sent.Kind != jcs.Array || len(sent.Elements()) != len(named) {
		return jcs.Marshal(asked)
	}
	for i, v := range sent.Elements() {
		text, _ := v.Get("question")
		if text.Kind != jcs.String {
			return jcs.Marshal(asked)
		}
		named[i].Key = text.Text()
	}
	return sent.Raw(raw), nil
}

// keepFields returns the JSON of a value with only the known fields of its objects. levels lists the known
// fields of each level of objects, beginning with the outermost. Deeper objects keep all their fields.
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
				parts = append(parts,
					slices.Concat([]byte(compat.Quoted(m.Name)+":"), keepFields(raw, m.Value, levels[1:])))
			}
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	}
	return v.Raw(raw)
}

func dialectReply(questions json.RawMessage, all []compat.ClientAnswer, ask askback.Ask) (any, error) {
	if err := compat.AnsweredOnly(ask); err != nil {
		return nil, err
	}
	out := dialectResult{
		Questions: questions, Answers: map[string]string{}, Annotations: map[string]dialectAnnotation{},
	}
	if ask.Outcome.Defaulted {
		out.AfkTimeout = max(1, ask.Outcome.At.Sub(ask.CreatedAt).Milliseconds())
	}
	for _, s := range all {
		if values := s.Values(); len(values) > 0 {
			out.Answers[s.Key] = s.Joined()
		}
		addChosen(&s)
		note := dialectAnnotation{Notes: s.AllNotes()}
		if len(s.Selected) == 1 {
			o, _ := s.Option(s.Selected[0])
			note.Preview = o.Preview
		}
		if note != (dialectAnnotation{}) {
			out.Annotations[s.Key] = note
		}
	}
	return out, nil
}

// addChosen adds a remark with the values in quotation marks, if the values are divided. So a program can tell
// the lines of own words from values.
func addChosen(s *compat.ClientAnswer) {
	if !s.Divided() {
		return
	}
	values := s.Values()
	each := make([]string, len(values))
	for i, v := range values {
		each[i] = compat.Quoted(v)
	}
	s.AddRemark("chosen", strings.Join(each, " and "))
}
