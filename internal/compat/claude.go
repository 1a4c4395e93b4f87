package compat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/internal/jcs"
)

// claudeResult is the output of AskUserQuestion: answers by the text of the
// question, the person's own words in place of a label, notes beside them.
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

// claudeFields are what is read of a call, of each question and of each option,
// with the names that other models use. What Claude Code itself fills in, and
// what it may have added since, is left out: a person is asked all the same.
var claudeFields = [][]string{
	{"questions", "question", "header", "options", "multiSelect"},
	{"question", "header", "options", "choices", "multiSelect", "multi_select", "multiple"},
	{"label", "description", "preview"},
}

// readClaude reads the input of AskUserQuestion. Its shape is ours.
func readClaude(_ Client, raw []byte) (Call, error) {
	asking, sent := raw, jcs.Value{}
	if v, err := jcs.Parse(raw); err == nil {
		asking = known(raw, v, claudeFields)
		sent, _ = v.Get("questions")
	}
	r, err := decode.Questions(asking)
	if err != nil {
		return Call{}, &Mistake{decode.Correction(asking, err, decode.QuestionsTool), err}
	}
	call := Call{Request: r}
	for _, q := range r.Questions {
		call.asked = append(call.asked, asked{Question: q, key: q.Text})
	}
	questions, err := call.questions(raw, sent)
	call.reply = func(s []said, ask askback.Ask) (any, error) { return claudeReply(questions, s, ask) }
	return call, err
}

// questions are those that were sent, byte for byte, and their texts the keys of
// the answers: Claude Code finds an answer by nothing else.
func (c Call) questions(raw []byte, sent jcs.Value) (json.RawMessage, error) {
	if sent.Kind != jcs.Array || len(sent.Elements()) != len(c.asked) {
		return marshal(c.Request.Questions)
	}
	for i, v := range sent.Elements() {
		text, _ := v.Get("question")
		if text.Kind != jcs.String {
			return marshal(c.Request.Questions)
		}
		c.asked[i].key = text.Text()
	}
	return sent.Raw(raw), nil
}

// known copies a value with those members of its objects that have a meaning;
// levels go inwards.
func known(raw []byte, v jcs.Value, levels [][]string) []byte {
	var parts [][]byte
	switch {
	case len(levels) == 0:
	case v.Kind == jcs.Array:
		for _, e := range v.Elements() {
			parts = append(parts, known(raw, e, levels))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	case v.Kind == jcs.Object:
		for _, m := range v.Members() {
			if slices.Contains(levels[0], m.Name) {
				parts = append(parts, slices.Concat([]byte(quoted(m.Name)+":"), known(raw, m.Value, levels[1:])))
			}
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	}
	return v.Raw(raw)
}

func claudeReply(questions json.RawMessage, all []said, ask askback.Ask) (any, error) {
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
		s.ambiguous()
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

// ambiguous says what was chosen once more, each by itself, where a comma
// inside a choice would blur it.
func (s *said) ambiguous() {
	values := s.Values()
	if len(values) < 2 || !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, separator) }) {
		return
	}
	each := make([]string, len(values))
	for i, v := range values {
		each[i] = quoted(v)
	}
	s.remark("chosen", strings.Join(each, " and "))
}
