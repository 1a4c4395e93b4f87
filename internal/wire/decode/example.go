package decode

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/lookalike"
	"github.com/askback/askback/internal/wire/jcs"
)

// example returns a valid input with at most as many characters as room. It makes the input from raw if
// possible. Otherwise it returns a general example.
func (f InputKind) example(raw []byte, err error, room int) string {
	fits := func(example []byte) bool {
		return utf8.RuneCount(example) <= room && f.accepts(example)
	}
	v := parseLeniently(raw)
	switch {
	case f == TodosTool:
		return exampleTodos
	case f == TasksTool:
		return exampleTasks
	case f == ConfirmTool:
		return f.actionExample(v, fits)
	case f == Body && (hasConfirmation(v) || hasProblemAt(err, "/confirmation")):
		return f.confirmationExample(v, err, fits)
	case f == Body && suggestsConfirmation(err):
		return exampleConfirmation
	}
	return f.questionsExample(v, raw, err, fits)
}

// suggestsConfirmation reports whether a fix in err suggests the field confirmation.
func suggestsConfirmation(err error) bool {
	bad, _ := errors.AsType[askback.Invalid](err)
	return slices.ContainsFunc(bad, func(p askback.Problem) bool { return p.Fix == `did you mean "confirmation"?` })
}

// parseLeniently returns the value in raw, and ignores any text after the value. It returns a missing value
// if raw cannot be parsed or repaired.
func parseLeniently(raw []byte) jcs.Value {
	_, n, _, err := parseRepaired(raw)
	syntax, ok := err.(*jcs.SyntaxError)
	if ok && n.Kind == jcs.Missing {
		// Ignore the text after the JSON.
		n.Value, _ = jcs.Parse(raw[:min(syntax.Offset, len(raw))])
	}
	return n.Value
}

// actionExample returns an example with the unchanged texts of the action in v, or a
// general example. A shortened text would describe another action.
func (f InputKind) actionExample(v jcs.Value, fits func([]byte) bool) string {
	own := struct {
		Action  string `json:"action"`
		Details string `json:"details,omitempty"`
	}{textOf(v, "action"), textOf(v, "details")}
	details, found := v.Get("details")
	if example := marshal(own); own.Action != "" && (!found || details.Kind == jcs.String) && fits(example) {
		return string(example)
	}
	return exampleAction
}

// exampleConfirmation shows how to send a number that a double cannot hold.
const exampleConfirmation = `{"confirmation": {"tool_name": "transfer", "input": {"account": "12345678901234567890"}}}`

// confirmationExample returns an example with the tool, its server, the exact arguments and the addressFields
// of v. If a part of the example is invalid, or the example does not fit, it returns exampleConfirmation.
func (f InputKind) confirmationExample(v jcs.Value, err error, fits func([]byte) bool) string {
	c, _ := v.Get("confirmation")
	extra, whole := addressFields(v, err)
	for _, name := range []string{"tool_name", "server"} {
		m, ok := c.Get(name)
		whole = whole && (m.Kind == jcs.String || !ok && name == "server")
	}
	input, ok := c.Get("input")
	arguments, bad := input.Canonical()
	if !ok || !whole || bad != nil {
		return exampleConfirmation
	}
	own := fmt.Sprintf(`"tool_name": %s`, marshal(textOf(c, "tool_name")))
	if server := textOf(c, "server"); server != "" {
		own += fmt.Sprintf(`, "server": %s`, marshal(server))
	}
	own += fmt.Sprintf(`, "input": %s`, arguments)
	if dangerous, _ := c.Get("dangerous"); dangerous.Bool() {
		own += `, "dangerous": true`
	}
	fields := [][]byte{fmt.Appendf(nil, `"confirmation": {%s}`, own)}
	example := fmt.Appendf(nil, "{%s}", bytes.Join(append(fields, extra...), []byte(", ")))
	if !fits(example) {
		return exampleConfirmation
	}
	return string(example)
}

// addressFields returns the valid and short fields of v that name the recipients, the session, the ask and
// the agent. complete reports whether the result has all of these fields that v has.
func addressFields(v jcs.Value, err error) (fields [][]byte, complete bool) {
	fields = keptFields(v, err, keepableFields[:addressCount])
	sent := 0
	for _, m := range v.Members() {
		if slices.Contains(keepableFields[:addressCount], m.Name) && m.Value.Kind != jcs.Null {
			sent++
		}
	}
	return fields, sent == len(fields)
}

const exampleQuestions = `{"questions": [{"question": "Which database?", "options": [{"label": "PostgreSQL"}, {"label": "SQLite"}]}]}`

// questionsExample returns an example with as many questions of the sender as fit,
// shortened if necessary, or exampleQuestions.
func (f InputKind) questionsExample(v jcs.Value, raw []byte, err error, fits func([]byte) bool) string {
	found := guessQuestions(v, maxStrings)
	if len(found) == 0 {
		found = guessFromText(raw)
	}
	extras := [][][]byte{nil}
	if f == Body {
		extras = [][][]byte{keptFields(v, err, keepableFields), keptFields(v, err, keepableFields[:addressCount]), nil}
	}
	for _, extra := range extras {
		for n := min(len(found), limits.MaxQuestions); n > 0; n-- {
			for _, s := range sizes {
				if example := s.render(found[:n], extra); fits(example) {
					return string(example)
				}
			}
		}
	}
	return exampleQuestions
}

// sizes are sorted from large to small. An example has the first size that fits.
var sizes = []size{
	{120, 4, 60, false},
	{80, 4, 40, false},
	{60, 4, 24, false},
	{40, 4, 24, true},
	{30, 3, 12, true},
	{24, 2, 10, true},
	{24, 0, 0, true},
}

// A size limits the texts of an example.
type size struct {
	text, labels, label int  // characters of a question, number of labels, characters of a label
	plainLabels         bool // options as strings, not as objects
}

func (s size) render(found []guessed, extra [][]byte) []byte {
	var questions, texts []string
	for _, d := range found {
		text := truncate(d.text, s.text)
		if slices.Contains(texts, text) {
			continue
		}
		texts = append(texts, text)
		questions = append(questions, fmt.Sprintf(`{"question": %s%s}`, marshal(text), s.renderOptions(d)))
	}
	fields := [][]byte{fmt.Appendf(nil, `"questions": [%s]`, strings.Join(questions, ", "))}
	return fmt.Appendf(nil, "{%s}", bytes.Join(append(fields, extra...), []byte(", ")))
}

// renderOptions returns the members options and multiSelect of a question, or "" if fewer
// than two labels are left at this size.
func (s size) renderOptions(d guessed) string {
	labels := distinctLabels(d.labels, s)
	if len(labels) < limits.MinOptions {
		return ""
	}
	form := `{"label": %s}`
	if s.plainLabels {
		form = "%s"
	}
	for i, l := range labels {
		labels[i] = fmt.Sprintf(form, marshal(l))
	}
	fields := fmt.Sprintf(`, "options": [%s]`, strings.Join(labels, ", "))
	if d.multi {
		fields += `, "multiSelect": true`
	}
	return fields
}

// distinctLabels returns the first labels, truncated and without duplicates. It leaves out labels that begin
// with "other", because "Other" is always offered.
func distinctLabels(labels []string, s size) (out []string) {
	for _, l := range labels {
		l = truncate(l, max(s.label, 1))
		if len(out) < s.labels && l != "" && !strings.HasPrefix(strings.ToLower(l), "other") &&
			!slices.ContainsFunc(out,
				func(earlier string) bool { return lookalike.Skeleton(earlier) == lookalike.Skeleton(l) }) {
			out = append(out, l)
		}
	}
	return out
}

// keepableFields are the fields that an example keeps if they are valid, the most important fields first. A
// client may send the example, which should then ask the same people.
var keepableFields = []string{
	"to", "session_id", "session_key", "key", "agent", "title", "tags", "timeout", "deadline", "on_timeout",
}

// addressCount is the number of fields at the beginning of keepableFields that name the recipients, the
// session, the ask and the agent.
const addressCount = 5

// keptFields returns the members of v with these names that are valid and short.
func keptFields(v jcs.Value, err error, names []string) (out [][]byte) {
	for _, m := range v.Members() {
		if !slices.Contains(names, m.Name) || m.Value.Kind == jcs.Null || hasProblemAt(err, "/"+m.Name) {
			continue
		}
		value, err := m.Value.Canonical()
		if err != nil || len(value) > 80 {
			continue
		}
		out = append(out, slices.Concat(marshal(m.Name), []byte(": "), value))
	}
	return out
}

// hasProblemAt reports whether err has a problem at this pointer or below it.
func hasProblemAt(err error, pointer string) bool {
	bad, _ := errors.AsType[askback.Invalid](err)
	return slices.ContainsFunc(bad, func(p askback.Problem) bool {
		return p.Pointer == pointer || strings.HasPrefix(p.Pointer, pointer+"/")
	})
}
