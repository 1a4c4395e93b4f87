// Package outcometext has the sentences with which a model reads the outcome of an ask. All frontends use them:
// the results of tools, hooks, dialogs, the formats of other programs, and commands. A sentence says who or what
// ended the ask, and a denial forbids the same end by other means, wherever it is read. Text of people and agents
// is quoted as a JSON string, so that a model cannot take it for words of Askback (T30).
package outcometext

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/plan"
	"github.com/askback/askback/internal/wire/codec"
	"github.com/askback/askback/internal/wire/jcs"
)

// Boundary forbids an action that has no consent, and other means to the same end.
const Boundary = "do not do this, and do not reach the same end in another way, such as with another tool or command"

// Decision returns the text for a settled confirmation. It states whether the model may do the action, and with
// which arguments.
func Decision(ask askback.Ask) string {
	o := ask.Outcome
	switch {
	case o.Status != askback.Answered:
		return NoAnswer(ask)
	case !o.Approved():
		return Denial(ask)
	case len(o.Input) > 0:
		return "Approved by " + Actor(o.Actor) + ", who changed the arguments. You sent " + original(ask) +
			". Only these are approved, once: " + jsonText(o.Input) + "." + Remarks(*o)
	}
	return "Approved by " + Actor(o.Actor) + ": do it once, with exactly these arguments." + Remarks(*o)
}

// Denial returns the text for a denied confirmation.
func Denial(ask askback.Ask) string {
	o := *ask.Outcome
	if c := ask.Confirmation; c != nil && plan.IsTool(c.ToolName) {
		return "Denied by " + Actor(o.Actor) + ": do not begin with any part of this plan. Change the plan, and ask " +
			"for approval of the changed plan." + Remarks(o)
	}
	return "Denied by " + Actor(o.Actor) + ": " + Boundary + "." + Remarks(o)
}

// OtherArguments returns the text for an approval of arguments that a person changed, for a program that cannot
// run these arguments. It is not an approval of the call that was sent.
func OtherArguments(ask askback.Ask) string {
	return "Not approved as sent: " + Actor(ask.Outcome.Actor) + " changed the arguments. You sent " + original(ask) +
		". Only these would be approved: " + jsonText(ask.Outcome.Input) + "." +
		Remarks(*ask.Outcome)
}

// CallAgain is the advice that follows [OtherArguments] for a model that can make the call itself.
const CallAgain = " To use these, call the tool again with exactly these arguments; a person is asked again."

// maxOriginal is the maximum length of the arguments of a model in a text for this model, in characters.
const maxOriginal = 2000

// original returns the arguments of the call as the model sent them.
func original(ask askback.Ask) string {
	if ask.Confirmation == nil {
		return "other arguments"
	}
	text := jsonText(ask.Confirmation.Input)
	if utf8.RuneCountInString(text) > maxOriginal {
		return string([]rune(text)[:maxOriginal]) + "…"
	}
	return text
}

// NoAnswer returns the text for an ask without an answer: the cause, that this is not consent, and what the model
// does next. A model may only go on by its own judgement if the asker chose that beforehand.
func NoAnswer(ask askback.Ask) string {
	text := Ended(ask)
	if ask.Outcome != nil {
		text += Remarks(*ask.Outcome)
	}
	text += " This is not consent"
	if ask.Kind == askback.Confirm && ask.Settled() {
		return text + ": " + Boundary + "."
	}
	return text + "." + next(ask)
}

// Ended returns a sentence that states who or what ended an ask without an answer.
func Ended(ask askback.Ask) string {
	if !ask.Settled() {
		return "There is no answer yet."
	}
	switch o := *ask.Outcome; {
	case o.Status == askback.Declined && ask.Kind == askback.Confirm:
		return Subject(o.Actor) + " declined to decide."
	case o.Status == askback.Declined:
		return Subject(o.Actor) + " declined to answer."
	case o.Status == askback.Cancelled && o.Actor.Kind == askback.ActorAgent:
		return "The agent withdrew this request before it was answered."
	case o.Status == askback.Cancelled && o.Actor.Kind == askback.ActorTimer:
		return "The session of this request failed before it was answered."
	case o.Status == askback.Cancelled:
		return Subject(o.Actor) + " cancelled this request before it was answered."
	case o.Unreached():
		return "No one could be reached: no message about this request was delivered before the deadline."
	}
	return "There was no answer in time: the deadline passed."
}

// next returns what a model does next without the answer to a question, or "" while there may be an answer.
func next(ask askback.Ask) string {
	if !ask.Settled() {
		return ""
	}
	const own = " Do not assume an answer. Go on only with what does not depend on it"
	switch o := *ask.Outcome; {
	case o.Status == askback.Expired && ask.OnTimeout == askback.OnTimeoutDecline:
		return " The asker chose to go on without an answer: continue by your own judgement, but not with anything " +
			"that needs consent."
	case o.Status == askback.Cancelled && o.Actor.Kind == askback.ActorAgent:
		return " Ask again if you still need the answer."
	case o.Status == askback.Cancelled && o.Actor.Kind != askback.ActorTimer:
		return " Do not ask this again, and do not go on with what it was about, unless a person tells you to."
	case o.Unreached():
		return own + ", and say that no one could be reached."
	case o.Status == askback.Declined:
		return own + ", or ask a different question."
	}
	return own + ", or ask again later."
}

// Skipped is the answer in a text for a question that a person left open. It follows the question.
const Skipped = "no answer (skipped: do not assume one)"

// Remarks returns sentences with the comment and the reason of an outcome, if it has them. The remarks of a
// timer are left out.
func Remarks(o askback.Outcome) string {
	text := ""
	if o.Actor.Kind == askback.ActorTimer {
		return text
	}
	if o.Comment != "" {
		text += " Comment: " + Quote(o.Comment) + "."
	}
	if o.Reason != "" {
		text += " Reason: " + Quote(o.Reason) + "."
	}
	return text
}

// Actor describes the actor of an outcome. Only people are named.
func Actor(by askback.Actor) string {
	switch {
	case by.Kind == askback.ActorPolicy:
		return "a standing approval, without asking a person"
	case by.Kind == askback.ActorPerson && by.Name != "":
		return Quote(by.Name)
	case by.Kind == "":
		return "a person"
	case by.Kind == askback.ActorAgent, by.Kind == askback.ActorOperator:
		return "an " + string(by.Kind)
	}
	return "a " + string(by.Kind)
}

// Subject returns [Actor] at the beginning of a sentence.
func Subject(by askback.Actor) string {
	text := Actor(by)
	if text[0] == 'a' {
		return "A" + text[1:]
	}
	return text
}

// Quote returns s as a JSON string. The string is on one line, and no character of s can end the string.
func Quote(s string) string { return string(codec.AppendString(nil, s)) }

// jsonText returns arguments as JSON on one line.
func jsonText(raw json.RawMessage) string {
	b, err := jcs.Marshal(raw)
	if err != nil {
		return Quote(string(raw))
	}
	return string(b)
}
