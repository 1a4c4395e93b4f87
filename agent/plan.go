package agent

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// The errors for calls that a run may not make, with the alternative (A3, F10).
const (
	childAsks = "Sub-agents cannot ask people. Decide yourself and state in your result what you assumed, or " +
		"end with the question as your result: the agent that started you can ask it."
	childSpawns   = "Sub-agents cannot start agents. Do this yourself, with your tools."
	childConfirms = "%s was not called: it needs the approval of a person, and sub-agents cannot ask for it. Do " +
		"the rest without it, and state in your result what is left to do."
	programAsks = "A program started this run, so no person can be asked. Decide yourself and state in your " +
		"result what you assumed, or end with the question as your result."
	programConfirms = "%s was not called: it needs the approval of a person, and no person can be asked, because a " +
		"program started this run. Do the rest without it, and state in your result what is left to do."
	tooManyCalls = "A reply may have %d calls. This call and the rest were not made and left out: %d in all. Make " +
		"them again in the next reply, a few at a time."
	noTool = "There is no tool %q. The tools are %s."
)

// plan returns a call of the model with a valid tool name and a plan. A rejected call keeps its plan, unless
// it is a call of ask_user_question whose input is not an object. The decoder repairs some of these inputs.
func (s session) plan(c conversation.Call, o offer) conversation.Call {
	if c.Kind == "" {
		c = NewCall(c.ID, c.Tool, string(c.Input), false) // the model of another program may not have called NewCall
	}
	if name, ok := asktool.Canonical(c.Tool); ok {
		if name == AskUserQuestion && c.Error == notAnObject(c.Tool) {
			c.Plan = conversation.Plan{}
		}
		c.Tool = name
	}
	c.Tool = validTool(c.Tool)
	if c.Kind == "" {
		c.Plan = s.planOf(c, o)
	}
	return c
}

// validTool returns name with each invalid character replaced by "_", and truncated to maxModelName. Every
// provider accepts the result.
func validTool(name string) string {
	name = notModelName().ReplaceAllString(name, "_")
	if name == "" {
		return "_"
	}
	return name[:min(len(name), maxModelName)]
}

// planOf returns the plan of a call that is not rejected yet.
func (s session) planOf(c conversation.Call, o offer) conversation.Plan {
	switch _, isAsk := asktool.Canonical(c.Tool); {
	case isAsk && s.asker == nil && s.isChild():
		return rejected(childAsks)
	case isAsk && s.asker == nil && len(s.asks()) > 0:
		return rejected(programAsks)
	case c.Tool == SpawnAgents && s.isChild():
		return rejected(childSpawns)
	case o.has(c.Tool):
		if t, ok := o.served[c.Tool]; ok {
			return s.planServed(c, t)
		}
		return s.planBuiltIn(c, o)
	}
	names := slices.Sorted(maps.Keys(o.served))
	for _, t := range o.tools {
		if _, ok := o.served[t.Name]; !ok {
			names = append(names, t.Name)
		}
	}
	return rejected(fmt.Sprintf(noTool, c.Tool, listOf(names, c.Tool)))
}

// planBuiltIn returns the plan of a call of a built-in tool. It decodes the input, so that the model gets an
// error immediately.
func (s session) planBuiltIn(c conversation.Call, o offer) conversation.Plan {
	switch c.Tool {
	case TodoWrite:
		if _, err := todos(c.Input); err != nil {
			return rejected(decode.Correction(c.Input, err, decode.TodosTool))
		}
		return conversation.Plan{Kind: conversation.KindTool, Reads: true}
	case SpawnAgents:
		tasks, err := decode.Tasks(c.Input)
		if err != nil {
			return rejected(decode.Correction(c.Input, err, decode.TasksTool))
		}
		for i, t := range tasks {
			if t.Agent != "" && !slices.Contains(o.agents, t.Agent) {
				return rejected(fmt.Sprintf("/tasks/%d/agent: there is no agent %q. The agents are %s.", i, t.Agent,
					listOf(o.agents, t.Agent)))
			}
		}
		return conversation.Plan{Kind: conversation.KindDelegate, Tasks: len(tasks)}
	}
	if _, err := s.ask(c); err != nil {
		return rejected(err.Error())
	}
	return conversation.Plan{Kind: conversation.KindAsk}
}

// planServed returns the plan for a call of t, the tool of a server.
func (s session) planServed(c conversation.Call, t served) conversation.Plan {
	switch {
	case !t.confirm:
		return conversation.Plan{Kind: conversation.KindTool, Reads: t.ReadOnly}
	case s.asker == nil && s.isChild():
		return rejected(fmt.Sprintf(childConfirms, c.Tool))
	case s.asker == nil:
		return rejected(fmt.Sprintf(programConfirms, c.Tool))
	}
	if _, err := s.confirmation(c, t); err != nil {
		return rejected(err.Error())
	}
	// Reads is not set, because an approval is for one call (F7)
	return conversation.Plan{Kind: conversation.KindTool, Confirm: true}
}

// rejected returns the plan of a call that is not made. It truncates text to the maximum length of a
// correction.
func rejected(text string) conversation.Plan {
	if utf8.RuneCountInString(text) > decode.MaxCorrection {
		text = string([]rune(text)[:decode.MaxCorrection-1]) + "…"
	}
	return conversation.Plan{Kind: conversation.KindRejected, Error: text}
}

// confirmation returns the request for the approval of a call. The text of its error explains to the model
// how to correct the input. The input must have a canonical form (F7).
func (s session) confirmation(c conversation.Call, t served) (askback.Request, error) {
	if _, err := jcs.Canonical(c.Input); err != nil {
		return askback.Request{},
			fmt.Errorf("%s was not called, because a person cannot approve this input exactly: %w", c.Tool, err)
	}
	r, err := askback.Request{Confirmation: &askback.Confirmation{
		ToolName: t.Name, Server: t.set.Name(), Description: t.summary(), Input: c.Input, Tier: "confirm",
		Dangerous: s.IsDangerous(t.set.Name(), t.ToolInfo),
	}}.Normalize()
	if err != nil {
		return askback.Request{}, fmt.Errorf("%s was not called: %w", c.Tool, err)
	}
	return r, nil
}
