package view

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/internal/text/plan"
	"github.com/askback/askback/internal/text/safetext"
)

// A Plan is the plan of an agent that asks for its approval.
type Plan struct {
	Document Markdown
	Exact    safetext.Text // the plan as it was sent
	Others   safetext.Text // the other arguments, as by [ArgumentLines]; empty without other arguments

	heading string // the heading of the plan, or ""
}

// setPlan shows the plan in the arguments of a call as text. It does nothing if the call is not about a plan, or
// if the arguments have no tree, because programs could read another plan. No part of the plan is left out.
func (c *cleaner) setPlan(call *Confirmation, of askback.Confirmation) {
	text, others := plan.Cut(of.ToolName, of.Input)
	if text == "" || call.Tree == nil {
		return
	}
	call.tool = of.ToolName
	call.Plan = &Plan{Document: markdown.Parse(c.note(text)), Exact: safetext.Code(text)}
	call.Rest = &Value{Kind: ObjectValue}
	if of.Description == plan.Heading(text) {
		call.Description = nil // it only repeats the plan
	}
	if others != nil {
		call.Plan.Others = ArgumentLines(others)
		call.Rest = treeOf(others)
	}
	call.setPlanLine(text, others != nil)
}

// setPlanLine sets the heading of a plan, and the line of the arguments to the beginning of the plan after it. The
// line ends with "…" if it does not have all arguments.
func (c *Confirmation) setPlanLine(text string, more bool) {
	if heading := plan.Heading(text); heading != plan.Headline {
		c.Plan.heading = heading
	}
	if first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n"); strings.HasPrefix(first, "#") {
		text = rest
	}
	line := front(text)
	if more && !strings.HasSuffix(line, "…") {
		line = strings.TrimSpace(line + " …")
	}
	c.ArgumentsLine = safetext.Line(line)
}

// changesTo compares the arguments with the arguments that a person approved. If only the plan differs, it
// compares the plans.
func (c *Confirmation) changesTo(input json.RawMessage, formatted safetext.Text) []DiffLine {
	if c.Plan != nil {
		text, others := plan.Cut(c.tool, input)
		if rest := ArgumentLines(others); text != "" && rest == c.Plan.Others {
			return Diff(c.Plan.Exact.String(), safetext.Code(text).String())
		}
	}
	return Diff(c.Arguments.String(), formatted.String())
}

// planHeadline describes a plan by its heading.
func (c *Confirmation) planHeadline() safetext.Text {
	if c.Plan.heading == "" {
		return safetext.Line(plan.Headline)
	}
	return safetext.Line("Approve the plan: " + front(c.Plan.heading))
}
