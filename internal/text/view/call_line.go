package view

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/askback/askback/internal/text/safetext"
)

// Call returns the tool and its server, as in "db.migrate on warehouse". It returns the beginning of the action of
// Askback's own confirm_action, and the heading of a plan.
func (c *Confirmation) Call() safetext.Text {
	switch {
	case c.Own || c.Plan != nil:
		return c.headline()
	case c.Server.String() == "":
		return safetext.Line(c.Tool.String())
	}
	return safetext.Line(c.Tool.String() + " on " + c.Server.String())
}

// Said returns the beginning of the agent's description in one line. It is empty for an action and for a plan, which
// [Confirmation.Call] returns.
func (c *Confirmation) Said() safetext.Text {
	words := c.Description.String()
	if c.Own || c.Plan != nil || words == "" {
		return safetext.Text{}
	}
	return safetext.Line(front(words))
}

// callLine returns the call, the beginning of its arguments, and what the agent says about it.
func (c *Confirmation) callLine() safetext.Text {
	words := c.Call().String()
	if line := c.ArgumentsLine.String(); line != "" {
		words += separator + line
	}
	if said := c.Said().String(); said != "" {
		words += separator + "agent: " + said
	}
	return safetext.Line(words)
}

// argumentsLine returns the beginning of the arguments in one line, for lists. The members of an object have no
// braces around them, and no quotation marks around their names. Values are as in [FormatJSON], so that different
// arguments never have the same complete line. An ellipsis stands only between words.
func argumentsLine(raw json.RawMessage) safetext.Text {
	cut := firstRunes(raw, maxBrief)
	if len(cut) < len(raw) {
		cut = closed(cut)
	}
	formatted, _ := FormatJSON(cut)
	rows := strings.Split(formatted.String(), "\n")
	if last := len(rows) - 1; last > 1 && rows[0] == "{" && rows[last] == "}" && json.Valid(cut) {
		rows = rows[1:last]
		for i, row := range rows {
			rows[i] = withPlainName(row)
		}
	}
	for i, row := range rows {
		rows[i] = strings.TrimLeft(row, " ")
	}
	line := safetext.Line(strings.Join(rows, " ")).String()
	words := safetext.Beginning(safetext.Line(line), maxHeadline)
	if len(cut) < len(raw) && words == line {
		words += " …"
	}
	return safetext.Line(words)
}

// withPlainName removes the quotation marks around the name of a member of the arguments, if the name is a word.
// Rows of [FormatJSON] begin with such a name after two spaces; inner members have more spaces.
func withPlainName(row string) string {
	rest, ok := strings.CutPrefix(row, `  "`)
	name, value, found := strings.Cut(rest, `"`)
	isOther := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.' && r != '$'
	}
	if !ok || !found || name == "" || !strings.HasPrefix(value, ": ") || strings.ContainsFunc(name, isOther) {
		return row
	}
	return name + value
}

// closed returns the beginning of a JSON value as a valid value. It ends an open string, or omits what follows the
// last comma, and closes the brackets. It returns cut if neither is valid JSON.
func closed(cut json.RawMessage) json.RawMessage {
	var open, atComma []byte // the closing brackets, the innermost first
	inString, escaped, comma := false, false, -1
	for i, b := range cut {
		switch {
		case inString:
			inString, escaped = escaped || b != '"', !escaped && b == '\\'
		case b == '"':
			inString = true
		case b == '{' || b == '[':
			open = append([]byte{b + 2}, open...)
		case (b == '}' || b == ']') && len(open) > 0:
			open = open[1:]
		case b == ',':
			comma, atComma = i, open
		}
	}
	if inString {
		whole := append([]byte{}, cut...)
		for range len(`\u0000`) { // an escape may be cut
			if t := append(append(whole[:len(whole):len(whole)], '"'), open...); json.Valid(t) {
				return t
			}
			whole = whole[:max(0, len(whole)-1)]
		}
	}
	if comma >= 0 {
		if t := append(append([]byte{}, cut[:comma]...), atComma...); json.Valid(t) {
			return t
		}
	}
	return cut
}
