package askback

import "strings"

// The labels of a confirmation that is presented as a question (docs/wire.md §3).
const (
	ConfirmYes = "Yes, proceed"
	ConfirmNo  = "No, cancel"
)

// Form returns the questions of an ask. It presents a confirmation as a question, for clients that support
// only questions. The text of the question is the agent's description, if there is one, and the option
// [ConfirmYes] names the tool. An answer in free text must be taken as a denial with this text as the reason.
func (a Ask) Form() []Question {
	c := a.Confirmation
	if c == nil {
		return a.Questions
	}
	description := c.Description
	if strings.TrimSpace(description) == "" {
		description = c.ToolName
	}
	runs := "Runs " + c.ToolName
	if c.Server != "" {
		runs += " of " + c.Server
	}
	return []Question{{
		ID: "q1", Text: "Confirm: " + description, // any answer except ConfirmYes denies
		Options: []Option{{Label: ConfirmYes, Description: runs, Preview: string(c.Input)}, {Label: ConfirmNo}},
	}}
}
