package terminal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
)

// confirm shows a call and asks for a decision. Only the words below approve, and only
// from a person who had it on the screen before typing them.
func (t *talk) confirm(f *frame) (askback.Answer, error) {
	before := f.rows
	f.call(t.ask)
	rows := f.rows - before + f.folded
	f.rule("")
	if rows > maxRows {
		f.again(t.ask.Confirmation, rows)
	}
	t.noteFolded(f)
	f.say(t.ask.TimeoutNotice(f.zone))
	prompt := t.decisions(f)
	if err := f.writeTo(t.out); err != nil {
		return askback.Answer{}, err
	}
	for {
		line, err := t.hear(prompt)
		if err != nil {
			return askback.Answer{}, err
		}
		answer, problem := t.decide(line.text)
		if problem == "" && answer.Decision != askback.Deny && t.folded > 0 {
			problem, err = t.unread()
		}
		if err == nil && problem == "" && answer.Decision == askback.ApproveAll {
			problem, err = t.sure(answer.Grant.Scope)
		}
		if err == nil && problem == "" && answer.Decision == askback.Deny {
			problem, err = t.because(answer.Reason)
		}
		if err != nil {
			return askback.Answer{}, err
		}
		if problem == "" {
			answer.Reason = strings.Join(t.reasons(answer.Reason), "\n")
			return answer, nil
		}
		if err := t.refuse(problem); err != nil {
			return askback.Answer{}, err
		}
	}
}

// decisions says what can be decided here, and returns the prompt.
func (t *talk) decisions(f *frame) string {
	if !t.options.Human {
		f.say("This input is no terminal. It can deny, but not approve.")
		return "Deny? [n] "
	}
	f.say("y approves this once, n denies it, all also approves the same call later. A reason may follow the n.")
	switch {
	case t.ask.Confirmation.NoEdit:
		f.say("This agent cannot run other arguments: to want others, deny, and say in the reason which.")
	case !t.ask.Confirmation.Repeated: // what askback confirm asks runs as it is or not at all
		f.say("To approve other arguments: askback answer " + id(t.ask) + " --approve --input FILE")
	}
	if t.ask.Confirmation.SuggestYes {
		f.say("The agent suggests yes. Enter alone decides nothing.")
		return "Approve? [y/n] "
	}
	return "Approve? [y/N] "
}

// id is the ask's, to be pasted behind a command. Nothing else is.
func id(a view.Ask) string {
	s := a.ID.String()
	if rest, ok := strings.CutPrefix(s, "ask_"); !ok || rest == "" || strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return "ASK"
	}
	return s
}

const onlyPeople = "Only a person at a terminal, or in another place that Askback asks, can approve this. It still waits."

// decide reads a decision, or says what is wrong.
func (t *talk) decide(words string) (askback.Answer, string) {
	suggested := t.ask.Confirmation.SuggestYes
	switch strings.ToLower(words) {
	case "y", "yes", "approve", "approved":
		return t.approved(askback.Answer{Decision: askback.Approve})
	case "all":
		return t.approved(approveAll(askback.ScopeInput))
	case "all tool":
		return t.approved(approveAll(askback.ScopeTool))
	case "n", "no", "deny", "denied":
		return askback.Answer{Decision: askback.Deny}, ""
	case "":
		if !suggested {
			return askback.Answer{Decision: askback.Deny}, ""
		}
		return askback.Answer{}, "Type y or n: a suggestion decides nothing."
	}
	if denial := denies.FindStringSubmatch(words); denial != nil {
		return askback.Decide(askback.Deny, denial[2]), ""
	}
	return askback.Answer{}, "Type y to approve or n to deny; :help shows more."
}

func approveAll(scope askback.Scope) askback.Answer {
	return askback.Answer{
		Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: scope, ExpiresIn: askback.DefaultGrant},
	}
}

// denies finds a denial with its reason: "no, use staging first", "n not today".
var denies = regexp.MustCompile(`(?is)^(no?|deny|denied)(?:[,;:.!]\s*|\s+[-–—,;:]?\s*)(\S.*)$`)

// doubtful finds words in a reason that may take the denial back: "no problem, go ahead".
var doubtful = regexp.MustCompile(`(?i)\b(y|yes|yeah|yep|ok|okay|sure|approved?|allow(ed)?|go|run|do it|problem|worries|objections?|need to ask|wait)\b`)

// because makes sure that a reason that may mean yes goes with a denial.
func (t *talk) because(reason string) (problem string, err error) {
	if !doubtful.MatchString(reason) {
		return "", nil
	}
	if !t.options.Human {
		return "That may mean yes or no. Type n alone to deny.", nil
	}
	if err := t.discard(); err != nil {
		return "", err
	}
	line, err := t.hear("Deny it, with that as the reason? [y/N] ")
	if err != nil || isYes(line.text) {
		return "", err
	}
	return "Nothing is decided. Type y to approve or n to deny.", nil
}

// reasons are the notes and what was typed behind the n.
func (t *talk) reasons(reason string) []string {
	if reason == "" {
		return t.notes
	}
	return append(slices.Clone(t.notes), reason)
}

// unread makes sure that a person knows that parts of the call were folded away.
func (t *talk) unread() (problem string, err error) {
	if err := t.say(fmt.Sprintf("%d rows of this call were not shown, and you would approve them unread. :show shows them.", t.folded)); err != nil {
		return "", err
	}
	if err := t.discard(); err != nil {
		return "", err
	}
	line, err := t.hear("Type yes to approve without reading them: ")
	if err != nil || line.text == "yes" {
		return "", err
	}
	return "That was not yes. Nothing is approved, and the call is still open.", nil
}

// approved is the one place where an approval begins.
func (t *talk) approved(a askback.Answer) (askback.Answer, string) {
	if !t.options.Human {
		return askback.Answer{}, onlyPeople
	}
	return a, ""
}

// sure says what would be approved from now on and wants yes for it, typed after it was
// shown. Anything else approves nothing (F8).
func (t *talk) sure(scope askback.Scope) (problem string, err error) {
	f := newFrame(t.options)
	f.standing(t.ask, scope)
	if err := f.writeTo(t.out); err != nil {
		return "", err
	}
	if err := t.discard(); err != nil {
		return "", err
	}
	line, err := t.hear("Type yes to approve this and what follows: ")
	if err != nil {
		return "", err
	}
	if line.text != "yes" {
		return "That was not yes. Nothing is approved, and the call still waits.", nil
	}
	return "", nil
}

// standing draws what approving all that follows would mean.
func (f *frame) standing(a view.Ask, scope askback.Scope) {
	hours := int(askback.DefaultGrant.Hours())
	f.rule("approve what follows")
	what, other, flags := "with exactly these arguments", "For another time", " --approve-all --expires 1h"
	if scope == askback.ScopeTool {
		what, other, flags = "whatever the arguments", "For less than that, type all, or", " --approve-all --scope session --expires 1h"
		if a.OwnSession { // its session ends with it
			flags = " --approve-all --scope tool --expires 1h"
		}
	}
	f.say(fmt.Sprintf("For the next %d hours this runs without asking anybody, %s:", hours, what))
	f.asker(a)
	f.target(a.Confirmation)
	if a.Confirmation.FreeText && scope == askback.ScopeTool {
		f.say(view.FreeTextWarning)
	}
	if a.Confirmation.Dangerous {
		f.say("This tool is marked dangerous: calls that may not be undone run as well.")
	}
	f.say("askback grant list shows it, and askback grant revoke ends it at once. " + other + ": askback answer " + id(a) + flags)
}
