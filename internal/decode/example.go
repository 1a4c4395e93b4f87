package decode

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// example gives a corrected one of at most room characters, in the words of
// raw if that can be done.
func (f Form) example(raw []byte, err error, room int) string {
	fits := func(example []byte) bool {
		return utf8.RuneCount(example) <= room && f.accepts(example)
	}
	v := salvage(raw)
	switch {
	case f == ConfirmTool:
		return f.action(v, fits)
	case f == Body && (confirms(v) || about(err, "/confirmation")):
		return f.confirmation(v, err, fits)
	}
	return f.questions(v, raw, err, fits)
}

// salvage parses what was sent, as far as that goes.
func salvage(raw []byte) jcs.Value {
	_, n, _, err := parseMended(raw)
	syntax, ok := err.(*jcs.SyntaxError)
	if ok && n.Kind == jcs.Missing {
		// Something behind the JSON is not part of it.
		n.Value, _ = jcs.Parse(raw[:min(syntax.Offset, len(raw))])
	}
	return n.Value
}

// action keeps the words of an action whole: others would be another action.
func (f Form) action(v jcs.Value, fits func([]byte) bool) string {
	own := struct {
		Action  string `json:"action"`
		Details string `json:"details,omitempty"`
	}{textOf(v, "action"), textOf(v, "details")}
	details, said := v.Get("details")
	if example := plain(own); own.Action != "" && (!said || details.Kind == jcs.String) && fits(example) {
		return string(example)
	}
	return exampleAction
}

// exampleConfirmation shows how a number that is too long for a double is sent.
const exampleConfirmation = `{"confirmation": {"tool_name": "transfer", "input": {"account": "12345678901234567890"}}}`

// confirmation keeps the tool, exactly the arguments that were sent, who asks
// and who is asked. If one of them is wrong, there is nothing to keep.
func (f Form) confirmation(v jcs.Value, err error, fits func([]byte) bool) string {
	c, _ := v.Get("confirmation")
	beside, whole := identity(v, err)
	for _, name := range []string{"tool_name", "server"} {
		m, ok := c.Get(name)
		whole = whole && (m.Kind == jcs.String || !ok && name == "server")
	}
	input, ok := c.Get("input")
	arguments, bad := input.Canonical()
	if !ok || !whole || bad != nil {
		return exampleConfirmation
	}
	own := []byte(`"tool_name": ` + string(plain(textOf(c, "tool_name"))))
	if server := textOf(c, "server"); server != "" {
		own = slices.Concat(own, []byte(`, "server": `), plain(server))
	}
	own = slices.Concat(own, []byte(`, "input": `), arguments)
	if dangerous, _ := c.Get("dangerous"); dangerous.Bool() {
		own = append(own, `, "dangerous": true`...)
	}
	example := slices.Concat([]byte(`{"confirmation": {`), own, []byte("}"))
	for _, field := range beside {
		example = slices.Concat(example, []byte(", "), field)
	}
	if example = append(example, '}'); !fits(example) {
		return exampleConfirmation
	}
	return string(example)
}

// identity gives the fields that say who asks and who is asked, and whether
// these are all that were sent.
func identity(v jcs.Value, err error) (beside [][]byte, whole bool) {
	beside = kept(v, err, keepable[:places])
	sent := 0
	for _, m := range v.Members() {
		if slices.Contains(keepable[:places], m.Name) && m.Value.Kind != jcs.Null {
			sent++
		}
	}
	return beside, sent == len(beside)
}

const exampleQuestions = `{"questions": [{"question": "Which database?", "options": [{"label": "PostgreSQL"}, {"label": "SQLite"}]}]}`

// questions shrinks the sender's own questions until they fit.
func (f Form) questions(v jcs.Value, raw []byte, err error, fits func([]byte) bool) string {
	found := drafts(v, maxStrings)
	if len(found) == 0 {
		found = firstText(raw)
	}
	beside := [][][]byte{nil}
	if f == Body {
		beside = [][][]byte{kept(v, err, keepable), kept(v, err, keepable[:places]), nil}
	}
	for _, rest := range beside {
		for n := min(len(found), askback.MaxQuestions); n > 0; n-- {
			for _, s := range sizes {
				if example := s.render(found[:n], rest); fits(example) {
					return string(example)
				}
			}
		}
	}
	return exampleQuestions
}

// sizes are tried from large to small.
var sizes = []size{{120, 4, 60, false}, {80, 4, 40, false}, {60, 4, 24, false}, {40, 4, 24, true}, {30, 3, 12, true}, {24, 2, 10, true}, {24, 0, 0, true}}

// size bounds the words of an example.
type size struct {
	text, labels, label int
	bare                bool // labels without an object around each
}

func (s size) render(found []draft, beside [][]byte) []byte {
	var b bytes.Buffer
	b.WriteString(`{"questions": [`)
	var texts []string
	for _, d := range found {
		text := short(d.text, s.text)
		if slices.Contains(texts, text) {
			continue
		}
		if texts = append(texts, text); len(texts) > 1 {
			b.WriteString(", ")
		}
		b.WriteString(`{"question": `)
		b.Write(plain(text))
		s.renderOptions(&b, d)
		b.WriteByte('}')
	}
	b.WriteByte(']')
	for _, field := range beside {
		b.WriteString(", ")
		b.Write(field)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (s size) renderOptions(b *bytes.Buffer, d draft) {
	labels := distinct(d.labels, s)
	if len(labels) < askback.MinOptions {
		return
	}
	b.WriteString(`, "options": [`)
	for i, l := range labels {
		if i > 0 {
			b.WriteString(", ")
		}
		if s.bare {
			b.Write(plain(l))
			continue
		}
		b.WriteString(`{"label": `)
		b.Write(plain(l))
		b.WriteByte('}')
	}
	b.WriteByte(']')
	if d.multi {
		b.WriteString(`, "multiSelect": true`)
	}
}

// distinct gives the first labels, each once. "Other" is always offered.
func distinct(labels []string, s size) (out []string) {
	for _, l := range labels {
		l = short(l, max(s.label, 1))
		if len(out) < s.labels && l != "" && !strings.HasPrefix(strings.ToLower(l), "other") && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// keepable are fields beside the questions that an example keeps, if they were
// right: an example that is sent should ask the same people.
// The first of them matter most.
var keepable = []string{"to", "session_id", "session_key", "key", "agent", "title", "tags", "timeout", "deadline", "on_timeout"}

const places = 5

func kept(v jcs.Value, err error, names []string) (out [][]byte) {
	for _, m := range v.Members() {
		if !slices.Contains(names, m.Name) || m.Value.Kind == jcs.Null || about(err, "/"+m.Name) {
			continue
		}
		value, err := m.Value.Canonical()
		if err != nil || len(value) > 80 {
			continue
		}
		out = append(out, slices.Concat(plain(m.Name), []byte(": "), value))
	}
	return out
}

// about says whether a problem is at this pointer or below it.
func about(err error, at string) bool {
	bad, _ := errors.AsType[askback.Invalid](err)
	return slices.ContainsFunc(bad, func(p askback.Problem) bool {
		return p.Pointer == at || strings.HasPrefix(p.Pointer, at+"/")
	})
}
