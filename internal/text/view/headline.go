package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// Headline describes the ask in one line: by its question, by its action, or by its tool and what the call
// does. If there are several questions, their number follows the first question. The agent's title is never
// the headline of an ask that has a question or a call, because people must see what they are asked.
func (a Ask) Headline() safetext.Text {
	if a.Confirmation != nil {
		return a.Confirmation.headline()
	}
	words := safetext.Text{}
	if len(a.Questions) > 0 {
		words = safetext.Line(a.Questions[0].Text.String())
	}
	switch more := len(a.Questions) - 1; {
	case words.String() == "" && a.Title.String() != "":
		return a.Title
	case words.String() == "":
		return a.ID
	case more > 0:
		return safetext.Line(fmt.Sprintf("%s +%d more", front(words.String()), more))
	}
	return words
}

// Line describes the ask in one line for lists: its question, or its call with the beginning of its arguments and the
// agent's description. Calls of the same tool differ only in their arguments.
func (a Ask) Line() safetext.Text {
	if a.Confirmation == nil {
		return a.Headline()
	}
	return a.Confirmation.callLine()
}

// separator stands between the parts of a line that have no grammar in common.
const separator = " · "

// maxHeadline is the maximum width of an agent's description in a list, in columns.
const maxHeadline = 100

// headline returns the action or, for another call, the tool and then the description. The tool is first,
// because the other text may be untrue.
func (c *Confirmation) headline() safetext.Text {
	switch {
	case c.Own:
		return c.Name()
	case c.Plan != nil:
		return c.planHeadline()
	}
	words := c.Description.String()
	if words == "" {
		return safetext.Line("Run " + c.Name().String() + "?")
	}
	return safetext.Line(c.Name().String() + ": " + front(words))
}

// Name returns the tool in one line or, for Askback's own confirm_action, the beginning of the action.
func (c *Confirmation) Name() safetext.Text {
	if c.Own {
		return safetext.Line(front(c.Action.String()))
	}
	return safetext.Line(c.Tool.String())
}

// Subject returns what the call does in one line, for the title of a message: the action, the text that the tool
// runs, or the tool and then the description or the arguments. The text that a tool such as a shell runs comes
// before the description, which may be untrue.
func (c *Confirmation) Subject() safetext.Text {
	switch {
	case c.Own:
		return c.Name()
	case c.Plan != nil:
		return c.planHeadline()
	}
	words := c.program()
	if words == "" {
		words = c.Description.String()
	}
	if words == "" {
		words = c.values()
	}
	if words == "" {
		return c.Name()
	}
	return safetext.Line(c.Name().String() + ": " + front(words))
}

// programs are the names of the arguments with the text that a free-text tool runs.
var programs = []string{"command", "cmd", "script", "code", "sql", "query", "url"}

// program returns the text that a free-text tool runs, or "".
func (c *Confirmation) program() string {
	if !c.FreeText || c.Tree == nil {
		return ""
	}
	for _, m := range c.Tree.Members {
		if m.Value.Kind == StringValue && slices.Contains(programs, m.raw) {
			return m.Value.Text.String()
		}
	}
	return ""
}

// values returns the arguments in one line: the only value, if it is a string, or the names and the values.
func (c *Confirmation) values() string {
	if c.Tree == nil {
		return ""
	}
	var parts []string
	for _, m := range c.Tree.Members {
		v := m.Value
		switch {
		case v.Kind == ObjectValue || v.Kind == ArrayValue:
			return c.ArgumentsLine.String()
		case v.Kind == StringValue && len(c.Tree.Members) == 1:
			return v.Text.String()
		}
		parts = append(parts, m.Name.String()+": "+v.Text.String())
	}
	return strings.Join(parts, ", ")
}

// front returns the beginning of a text in one line, cut between two words at maxHeadline.
func front(words string) string {
	cut := firstRunes(words, 4*maxHeadline) // a character that joins others takes no column
	line := safetext.Line(cut)
	begin := safetext.Beginning(line, maxHeadline)
	if len(cut) < len(words) && begin == line.String() {
		begin += " …"
	}
	return begin
}

// confirmAction is the name of Askback's own tool for the approval of an action in words.
const confirmAction = "confirm_action"

// actionOf returns the action and the details of a call of Askback's own confirm_action, and whether c is
// such a call. Each request of Askback for it repeats the action and the details as description and context.
// A request about a tool of the same name, of another program, does not: hooks and protocols take the
// description from elsewhere. The server must be "", and the arguments must have no other members, so that
// the two texts are all that a person approves.
func actionOf(c askback.Confirmation, arguments *Value) (action, details string, own bool) {
	if c.ToolName != confirmAction || c.Server != "" || c.InputPreview != "" || arguments == nil {
		return "", "", false
	}
	for n, m := range arguments.Members {
		switch {
		case m.Value.Kind != StringValue:
			return "", "", false
		case n == 0 && m.raw == "action":
			action = m.Value.raw
		case n == 1 && m.raw == "details":
			details = m.Value.raw
		default:
			return "", "", false
		}
	}
	return action, details, action != "" && action == c.Description && details == c.Context
}

// setAction marks the call as Askback's own.
func (c *Confirmation) setAction(action, details string) {
	c.Own, c.Action, c.Details = true, safetext.Code(action), safetext.Code(details)
	c.ArgumentsLine = safetext.Line(front(details))
}
