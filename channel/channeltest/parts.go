package channeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// parts returns the texts of an ask that a whole message must show, as lines.
func parts(a askback.Ask) (lines []string) {
	add := func(texts ...string) {
		for _, text := range texts {
			for line := range strings.SplitSeq(safetext.Block(text).String(), "\n") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	add(a.Title, a.Agent)
	add(values(a.Context)...)
	for _, q := range a.Questions {
		add(q.Text, q.Header)
		add(q.Default...)
		for _, o := range q.Options {
			add(safetext.Line(o.Label).String(), o.Description, o.Preview)
		}
	}
	if c := a.Confirmation; c != nil && c.ToolName == "confirm_action" { // the text is all that people read
		add(c.Description, c.Context)
	} else if c != nil {
		add(c.ToolName, c.Server, c.Description, c.Context)
		add(values(c.Input)...)
	}
	return lines
}

// values returns the string in raw. If raw is an object, values returns the names and the scalar values of
// the members.
func values(raw json.RawMessage) (all []string) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return []string{text}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		panic(err) // the engine accepts only strings and objects
	}
	for name, value := range members {
		all = append(all, name)
		var text string
		switch {
		case json.Unmarshal(value, &text) == nil:
			all = append(all, text)
		case value[0] != '[' && value[0] != '{':
			all = append(all, string(value))
		}
	}
	return all
}

// excerpts returns the first eight bytes of each question, label, preview and argument of an ask. It leaves
// out texts whose first line is shorter. A message with only the link must not contain an excerpt.
func excerpts(a askback.Ask) (all []string) {
	add := func(text string) {
		if line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); len(line) >= 8 {
			all = append(all, line[:8])
		}
	}
	for _, q := range a.Questions {
		add(q.Text)
		for _, o := range q.Options {
			add(o.Label)
			add(o.Preview)
		}
	}
	if c := a.Confirmation; c != nil {
		for _, value := range values(c.Input) {
			add(value)
		}
	}
	return all
}

// lacks returns the first part of an ask that text does not contain, quoted. If text contains all parts,
// lacks returns "".
func lacks(text string, a askback.Ask) string {
	for _, part := range parts(a) {
		if !strings.Contains(text, part) {
			return fmt.Sprintf("%.80q", part)
		}
	}
	return ""
}

// spoofs returns a line of text that imitates a line of Askback, or a description of a control character in
// text. If text has neither, spoofs returns "".
func spoofs(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Answered by") ||
			strings.HasPrefix(line, "From Askback") {
			return line
		}
	}
	if i := strings.IndexAny(text, "\x1b\u202e\u2066"); i >= 0 {
		return fmt.Sprintf("a control character at %d", i)
	}
	return ""
}
