package terminal

import (
	"strings"

	"github.com/askback/askback"
)

// longCall is how many rows may stand between the tool and the question before the tool
// is named again: the smallest usual screen has 24.
const longCall = 18

// confirm shows a call and asks for a decision. Only the words below approve, and only
// from a person who had it on the screen before typing them.
func (t *talk) confirm(f *frame) (askback.Answer, error) {
	call := t.ask.Confirmation
	before := f.rows
	f.call(t.ask)
	rows := f.rows - before
	f.rule("")
	if rows > longCall {
		f.again(call, rows)
	}
	f.say(t.ask.Silence(f.zone))
	prompt := t.decisions(f)
	if err := f.writeTo(t.out); err != nil {
		return askback.Answer{}, err
	}
	for {
		line, err := t.hear(prompt)
		if err != nil {
			return askback.Answer{}, err
		}
		decision, problem := t.decide(line.text)
		if problem == "" {
			return askback.Decide(decision, strings.Join(t.notes, "\n")), nil
		}
		if err := t.refuse(problem); err != nil {
			return askback.Answer{}, err
		}
	}
}

// decisions says what can be decided here, and returns the prompt.
func (t *talk) decisions(f *frame) string {
	switch {
	case !t.options.Human:
		f.say("This input is no terminal. It can deny, but not approve.")
		return "Deny? [n] "
	case t.ask.Confirmation.SuggestYes:
		f.say("The agent suggests yes. Enter alone decides nothing.")
		return "Approve? [y/n] "
	}
	return "Approve? [y/N] "
}

// decide reads a decision, or says what is wrong.
func (t *talk) decide(words string) (askback.Decision, string) {
	suggested := t.ask.Confirmation.SuggestYes
	switch strings.ToLower(words) {
	case "y", "yes", "approve", "approved":
		if !t.options.Human {
			return "", "Only a person at a terminal, or in another place that Askback asks, can approve this. It still waits."
		}
		return askback.Approve, ""
	case "n", "no", "deny", "denied":
		return askback.Deny, ""
	case "":
		if !suggested {
			return askback.Deny, ""
		}
		return "", "Type y or n: a suggestion decides nothing."
	}
	return "", "Type y to approve or n to deny; :help shows more."
}
