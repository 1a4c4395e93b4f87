package terminal

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/view"
)

// confirm shows a call and asks for a decision. Only the words that [dialog.parseDecision] accepts approve
// the call, and only if a person typed the words after the call was shown.
func (d *dialog) confirm(f *frame) (askback.Answer, error) {
	before := f.rows
	f.call(d.ask)
	rows := f.rows - before + f.folded
	f.rule("")
	if rows > maxRows {
		f.repeatTarget(d.ask.Confirmation, rows)
	}
	d.addFolded(f)
	f.message(d.ask.TimeoutNotice(f.zone))
	prompt := d.describeDecisions(f)
	d.draw(f)
	for {
		line, err := d.readInput(prompt)
		if err != nil {
			return askback.Answer{}, err
		}
		answer, problem := d.parseDecision(line.text)
		if problem == "" && answer.Decision != askback.Deny && d.unseenRows > 0 {
			problem = d.confirmUnread()
		}
		if problem == "" && answer.Decision == askback.ApproveAll {
			problem = d.confirmGrant(answer.Grant.Scope)
		}
		if problem == "" && answer.Decision == askback.Deny {
			problem = d.confirmReason(answer.Reason)
		}
		if problem == "" {
			if answer.Reason != "" {
				d.notes = append(d.notes, answer.Reason)
			}
			answer.Reason = strings.Join(d.notes, "\n")
			return answer, d.err
		}
		d.reject(problem)
	}
}

// describeDecisions explains the possible decisions, and returns the prompt.
func (d *dialog) describeDecisions(f *frame) string {
	if !d.options.Human {
		f.message("This input is not a terminal. It can deny, but not approve.")
		return "Deny? [n] "
	}
	f.message("Type y to approve this once, n to deny it, or all to also approve the same call later. A reason can " +
		"follow the n.")
	switch {
	case d.ask.Confirmation.NoEdit:
		f.message("This agent cannot run other arguments. If you want others, deny and give them in the reason.")
	case !d.ask.Confirmation.Own: // an action of askback confirm has no arguments to change
		f.message("To approve with other arguments: askback answer " + askID(d.ask) + " --approve --input FILE")
	}
	if d.ask.Confirmation.SuggestYes {
		f.message("The agent suggests yes. Enter alone decides nothing.")
		return "Approve? [y/n] "
	}
	return "Approve? [y/N] "
}

// askID returns the id of an ask, for a command that a person pastes into a shell. If the id has characters
// that no id of Askback has, askID returns "ASK".
func askID(a view.Ask) string {
	s := a.ID.String()
	if rest, ok := strings.CutPrefix(s, "ask_"); !ok || rest == "" ||
		strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return "ASK"
	}
	return s
}

const onlyPeople = "Only a person can approve this, at a terminal or in the browser. It is still open."

// parseDecision returns the decision of a line, or the reason why the line is not a decision.
func (d *dialog) parseDecision(words string) (askback.Answer, string) {
	suggested := d.ask.Confirmation.SuggestYes
	switch strings.ToLower(words) {
	case "y", "yes", "approve", "approved":
		return d.approve(askback.Answer{Decision: askback.Approve})
	case "all":
		return d.approve(approveAll(askback.ScopeInput))
	case "all tool":
		return d.approve(approveAll(askback.ScopeTool))
	case "n", "no", "deny", "denied":
		return askback.Answer{Decision: askback.Deny}, ""
	case "":
		if !suggested {
			return askback.Answer{Decision: askback.Deny}, ""
		}
		return askback.Answer{}, "Type y or n. Enter alone does not accept the suggestion."
	}
	if denial := denialPattern.FindStringSubmatch(words); denial != nil {
		return askback.Decide(askback.Deny, denial[2]), ""
	}
	return askback.Answer{}, "Type y to approve or n to deny; :help shows more."
}

func approveAll(scope askback.Scope) askback.Answer {
	return askback.Answer{
		Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: scope, ExpiresIn: limits.DefaultGrant},
	}
}

// denialPattern matches a denial with a reason: "no, use staging first", "n not today".
var denialPattern = regexp.MustCompile(`(?is)^(no?|deny|denied)(?:[,;:.!]\s*|\s+[-–—,;:]?\s*)(\S.*)$`)

// ambiguousReason matches words in a reason that may mean yes: "no problem, go ahead".
var ambiguousReason = regexp.MustCompile(`(?i)\b(y|yes|yeah|yep|ok|okay|sure|approved?|allow(ed)?|go|run|do it|problem|worries|objections?|need to ask|wait)\b`)

// confirmReason asks a person to confirm a denial if the reason may mean yes. It accepts no such reason from
// a pipe. It returns the reason why the denial is not accepted, or "".
func (d *dialog) confirmReason(reason string) (problem string) {
	if !ambiguousReason.MatchString(reason) {
		return ""
	}
	if !d.options.Human {
		return "That could mean yes or no. Type only n to deny."
	}
	d.discardTyped()
	if line, err := d.readInput("Deny it with that reason? [y/N] "); err == nil && isYes(line.text) {
		return ""
	}
	return "Nothing is decided. Type y to approve or n to deny."
}

// confirmUnread warns that rows of the call were not shown, and asks whether to approve it without reading
// them. It returns the reason why the call is not approved, or "".
func (d *dialog) confirmUnread() (problem string) {
	d.print(fmt.Sprintf("%d rows of this call were not shown, and you would approve them unread. :show shows them.",
		d.unseenRows))
	return d.requireYes("Type yes to approve without reading them: ")
}

// requireYes discards text that was typed ahead, and then accepts only the reply yes. It returns a problem
// for any other reply.
func (d *dialog) requireYes(prompt string) (problem string) {
	d.discardTyped()
	if line, err := d.readInput(prompt); err == nil && line.text == "yes" {
		return ""
	}
	return "That was not yes. Nothing is approved, and the call is still open."
}

// approve returns the answer if the input is from a person, and a problem if the input is from a pipe. Every
// approval must use this method.
func (d *dialog) approve(a askback.Answer) (askback.Answer, string) {
	if !d.options.Human {
		return askback.Answer{}, onlyPeople
	}
	return a, ""
}

// confirmGrant shows the later calls that would be approved, and then asks the person to type yes. Any other
// reply approves nothing (F8). It returns the reason why nothing is approved, or "".
func (d *dialog) confirmGrant(scope askback.Scope) (problem string) {
	f := newFrame(d.options)
	f.grantPreview(d.ask, scope)
	d.draw(f)
	return d.requireYes("Type yes to approve this call and later ones: ")
}

// grantPreview draws the later calls that would be approved, the duration, and the commands that allow less
// or end the approval.
func (f *frame) grantPreview(a view.Ask, scope askback.Scope) {
	hours := int(limits.DefaultGrant.Hours())
	f.rule("approve later calls")
	what, other, flags := "with exactly these arguments", "For another duration", " --approve-all --expires 1h"
	if scope == askback.ScopeTool {
		what, other, flags = "with any arguments", "To allow less, type all, or",
			" --approve-all --scope session --expires 1h"
		if a.OwnSession { // the session ends with the ask
			flags = " --approve-all --scope tool --expires 1h"
		}
	}
	f.message(fmt.Sprintf("For the next %d hours this runs without asking anyone, %s, also where it waits now:",
		hours, what))
	f.asker(a)
	f.target(a.Confirmation)
	if a.Confirmation.FreeText && scope == askback.ScopeTool {
		f.message(view.FreeTextWarning)
	}
	if a.Confirmation.Dangerous {
		f.message("This tool is marked dangerous: calls that cannot be undone run as well.")
	}
	f.message("askback grant list shows this approval, and askback grant remove ends it. " + other +
		": askback answer " + askID(a) + flags)
}
