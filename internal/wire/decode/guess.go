package decode

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// guessed has the parts of a question that were found in invalid input.
type guessed struct {
	text   string
	labels []string
	multi  bool
}

// guessQuestions returns the parts of v that look like questions. It decodes JSON that is
// encoded as a string, but at most the given number of times.
func guessQuestions(v jcs.Value, strings int) (out []guessed) {
	switch v = unpackValue(v, strings); v.Kind {
	case jcs.String:
		return guess(v.Text(), nil, false)
	case jcs.Array:
		for _, e := range v.Elements() {
			if len(out) < limits.MaxQuestions {
				out = append(out, first(guessQuestions(e, strings))...)
			}
		}
	case jcs.Object:
		if list, ok := lenientMember(v, "questions"); ok && list.Kind != jcs.Null {
			return guessQuestions(list, strings)
		}
		several, _ := lenientMember(v, "multiselect", "multiple")
		yes, _ := parseFlag(node{Value: several})
		return guess(firstString(v, "question", "prompt", "text", "title"), labelsOf(v), yes)
	}
	return out
}

func first(found []guessed) []guessed { return found[:min(1, len(found))] }

func guess(text string, labels []string, multi bool) []guessed {
	if text = oneLine("question", text); text == "" {
		return nil
	}
	return []guessed{{text, labels, multi}}
}

// labelsOf returns the labels of the options of a question, even if "options" is misspelt.
func labelsOf(v jcs.Value) (out []string) {
	options, ok := lenientMember(v, "options", "choices")
	for _, m := range v.Members() {
		if !ok && editDistance("options", m.Name) <= maxDistance {
			options, ok = m.Value, true
		}
	}
	for _, o := range unpackValue(options, maxStrings).Elements() {
		if o = unpackValue(o, 1); len(out) > limits.MaxOptions {
			break
		}
		text := o.Text()
		if o.Kind == jcs.Object {
			text = firstString(o, "label", "text", "value", "name", "title")
		}
		if text = oneLine("label", text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// unpackValue decodes JSON that is encoded as a string, at most the given number of times.
// It returns other values unchanged.
func unpackValue(v jcs.Value, strings int) jcs.Value {
	for ; strings > 0 && v.Kind == jcs.String && looksLikeJSON(v.Text()); strings-- {
		inner, err := jcs.Parse([]byte(v.Text()))
		if err != nil {
			return v
		}
		v = inner
	}
	return v
}

// lenientMember returns the first member of v that has a name in names, and reports whether there is such a
// member. Case, underscores and hyphens are ignored.
func lenientMember(v jcs.Value, names ...string) (jcs.Value, bool) {
	for _, name := range names {
		for _, m := range v.Members() {
			if editDistance(name, m.Name) == 0 {
				return m.Value, true
			}
		}
	}
	return jcs.Value{}, false
}

func firstString(v jcs.Value, names ...string) string {
	for _, name := range names {
		if s, ok := lenientMember(v, name); ok && s.Kind == jcs.String {
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

// oneLine returns text as one line of at most [limits.MaxQuestion] characters, without the markup at its end.
func oneLine(field, text string) string {
	text, _, _ = cutTail(field, truncate(text, limits.MaxQuestion))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsGraphic(r) || r == utf8.RuneError
	}), " ")
	text, _, _ = cutTail(field, text)
	return text
}

// guessFromText returns one question: the string after the first "question" in input that is not JSON. It
// returns nil if it finds no question.
func guessFromText(raw []byte) []guessed {
	const name = `"question"`
	i := bytes.Index(raw, []byte(name))
	if i < 0 {
		return nil
	}
	rest := bytes.TrimLeft(raw[i+len(name):], " \t\r\n:")
	var text string
	dec := json.NewDecoder(bytes.NewReader(rest[:min(len(rest), 6*limits.MaxQuestion)]))
	if len(rest) == 0 || rest[0] != '"' || dec.Decode(&text) != nil {
		return nil
	}
	return guess(strings.ToValidUTF8(text, ""), nil, false)
}
