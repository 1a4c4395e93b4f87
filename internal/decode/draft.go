package decode

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// A draft is what was meant to be a question.
type draft struct {
	text   string
	labels []string
	multi  bool
}

// drafts finds questions in whatever was sent.
func drafts(v jcs.Value, strings int) (out []draft) {
	switch v = loosen(v, strings); v.Kind {
	case jcs.String:
		return drafted(v.Text(), nil, false)
	case jcs.Array:
		for _, e := range v.Elements() {
			if len(out) < askback.MaxQuestions {
				out = append(out, first(drafts(e, strings))...)
			}
		}
	case jcs.Object:
		if list, ok := member(v, "questions"); ok && list.Kind != jcs.Null {
			return drafts(list, strings)
		}
		several, _ := member(v, "multiselect", "multiple")
		yes, _ := loosely(node{Value: several})
		return drafted(firstString(v, "question", "prompt", "text", "title"), labelsOf(v), yes)
	}
	return out
}

func first(found []draft) []draft { return found[:min(1, len(found))] }

func drafted(text string, labels []string, multi bool) []draft {
	if text = legible("question", text); text == "" {
		return nil
	}
	return []draft{{text, labels, multi}}
}

// labelsOf finds the labels of a question's options, at most as many as matter.
func labelsOf(v jcs.Value) (out []string) {
	options, ok := member(v, "options", "choices")
	for _, m := range v.Members() {
		if !ok && unlike("options", m.Name) <= maxDistance {
			options, ok = m.Value, true
		}
	}
	for _, o := range loosen(options, maxStrings).Elements() {
		if o = loosen(o, 1); len(out) > askback.MaxOptions {
			break
		}
		text := o.Text()
		if o.Kind == jcs.Object {
			text = firstString(o, "label", "text", "value", "name", "title")
		}
		if text = legible("label", text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// loosen takes JSON out of strings.
func loosen(v jcs.Value, strings int) jcs.Value {
	for ; strings > 0 && v.Kind == jcs.String && packed(v.Text()); strings-- {
		inner, err := jcs.Parse([]byte(v.Text()))
		if err != nil {
			return v
		}
		v = inner
	}
	return v
}

// member gives the member of one of these names, however it is spelled.
func member(v jcs.Value, names ...string) (jcs.Value, bool) {
	for _, name := range names {
		for _, m := range v.Members() {
			if unlike(name, m.Name) == 0 {
				return m.Value, true
			}
		}
	}
	return jcs.Value{}, false
}

func firstString(v jcs.Value, names ...string) string {
	for _, name := range names {
		if s, ok := member(v, name); ok && s.Kind == jcs.String {
			return s.Text()
		}
	}
	return ""
}

func textOf(v jcs.Value, name string) string {
	s, _ := v.Get(name)
	if s.Kind != jcs.String {
		return ""
	}
	return s.Text()
}

// legible is a text in one line, without what it swallowed.
func legible(field, text string) string {
	text, _, _ = cutTail(field, short(text, askback.MaxQuestion))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) || r == utf8.RuneError }), " ")
	text, _, _ = cutTail(field, text)
	return text
}

// firstText finds the first whole question in bytes that are no JSON.
func firstText(raw []byte) []draft {
	const name = `"question"`
	i := bytes.Index(raw, []byte(name))
	if i < 0 {
		return nil
	}
	rest := bytes.TrimLeft(raw[i+len(name):], " \t\r\n:")
	var text string
	dec := json.NewDecoder(bytes.NewReader(rest[:min(len(rest), 6*askback.MaxQuestion)]))
	if len(rest) == 0 || rest[0] != '"' || dec.Decode(&text) != nil {
		return nil
	}
	return drafted(strings.ToValidUTF8(text, ""), nil, false)
}
