package askback

import "strings"

// The options of a confirmation where it appears as a question (wire.md §3).
const (
	ConfirmYes = "Yes, proceed"
	ConfirmNo  = "No, cancel"
)

// Form returns the questions of an ask. A confirmation is one question, for
// those who know nothing else: the words are the agent's, the option says what
// really runs, and a text of one's own is how a person says why not.
func (a Ask) Form() []Question {
	c := a.Confirmation
	if c == nil {
		return a.Questions
	}
	said := c.Description
	if strings.TrimSpace(said) == "" {
		said = c.ToolName
	}
	runs := "Runs " + c.ToolName
	if c.Server != "" {
		runs += " of " + c.Server
	}
	return []Question{{
		ID: "q1", Text: "Confirm: " + said, // all else that is said denies
		Options: []Option{{Label: ConfirmYes, Description: runs, Preview: string(c.Input)}, {Label: ConfirmNo}},
	}}
}
