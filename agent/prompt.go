package agent

import (
	"slices"
	"strings"
)

// The sections of the system prompt about when to ask people (C4).
const (
	askSection = `## Asking people

You can ask the people you work for. They may answer much later; you continue then.

Ask with ask_user_question:
- before decisions on architecture that are expensive to change later
- when requirements are unclear or contradict each other
- when there are real trade-offs that they should weigh
- before steps that are hard to undo
- for preferences, and for names and values that you cannot know

Do not ask:
- what you can infer, look up or try
- about trivial choices that do not change the result
- what was asked or answered before, or what they already said they want

Put what you need to know into one call, with your recommendation first. If there is no answer, decide yourself and say what you assumed.`

	confirmSection = `Ask with confirm_action before a step that deletes something, costs money, reaches other people or is hard to undo, and say exactly what will happen. Only a confirmation is consent: no answer, a refusal or an answer to another question is not. After a denial, do not reach the same in another way.`
)

// summaryLength is the maximum length of a description in a list, in characters.
const summaryLength = 300

// prompt returns the system prompt: the prompt of the definition, and sections on the tools of the run that
// need rules. agents are the agents that the run may start.
func (s session) prompt(o offer, agents []*hosted) string {
	parts := []string{strings.TrimSpace(s.Prompt)}
	asks, confirms := o.has(AskUserQuestion), o.has(ConfirmAction)
	switch {
	case asks && confirms:
		parts = append(parts, askSection, confirmSection)
	case asks:
		parts = append(parts, askSection)
	case confirms:
		parts = append(parts, "## Asking people\n\n"+confirmSection)
	}
	if o.has(SpawnAgents) {
		parts = append(parts, s.spawnSection(agents))
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
}

// spawnSection returns the section on sub-agents.
func (s session) spawnSection(agents []*hosted) string {
	var b strings.Builder
	b.WriteString("## Starting agents\n\nWith spawn_agents you start agents that work side by side. They see only " +
		"the prompt you give them")
	switch {
	case s.asker == nil:
		b.WriteString(", and cannot ask people.")
	case s.Bubble:
		b.WriteString(". They may ask people.")
	default:
		b.WriteString(", and cannot ask people: gather all facts that they need before you start them.")
	}
	b.WriteString(" They start no agents. The agents are:\n")
	for _, a := range s.startable(agents) {
		b.WriteString("\n- " + a.Name)
		if text := oneLine(a.Description); text != "" {
			b.WriteString(": " + text)
		}
	}
	return b.String()
}

// summary returns the text for people below the arguments of a tool: the title or, without a title, the first
// line of the description.
func (t served) summary() string {
	if t.Title != "" {
		return oneLine(t.Title)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	return oneLine(first)
}

// oneLine returns text on one line, truncated to summaryLength characters.
func oneLine(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "�")
	if r := []rune(text); len(r) > summaryLength {
		return string(r[:summaryLength-1]) + "…"
	}
	return text
}
