package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Vote is an approval by one of several people.
type Vote struct {
	Name   safetext.Text
	Via    safetext.Text // the channel, such as "in the browser"
	Reason safetext.Text // note of the person, or ""
	At     time.Time
}

// A FollowUp is a reminder or, if To is not empty, an escalation to further people.
type FollowUp struct {
	To   []safetext.Text // people and groups who then may answer, too
	At   time.Time
	Done time.Time // zero if the follow-up has not happened yet
}

// routing sets the fields of an ask about the people who may answer it.
func (c *cleaner) routing(v *Ask, a askback.Ask) {
	v.quorum = a.Quorum
	v.People, v.Approvers = c.names(a.Recipients), c.names(a.Approvers)
	for _, vote := range a.Votes {
		v.Votes = append(v.Votes,
			Vote{Name: c.name(vote.Name), Via: c.line(place(vote.Channel)), Reason: c.line(vote.Reason), At: vote.At})
	}
	v.NoSelfApproval, v.StartedBy = a.NoSelfApproval, c.name(a.StartedBy)
	v.ReassignedBy, v.ReassignedAt = c.name(a.ReassignedBy), a.ReassignedAt
	v.AskedAgainAt = a.AskedAgainAt
	for _, f := range a.FollowUps {
		v.FollowUps = append(v.FollowUps, FollowUp{To: c.names(f.To), At: f.At, Done: f.DoneAt})
	}
}

// For returns the view of an ask for reader. If reader may not decide the ask, Barred is the reason. If
// reader is "", the person is not known, and the view is the result of [Of].
func For(a askback.Ask, reader string) Ask {
	v := Of(a)
	bar(&v, a, reader)
	return v
}

// BriefFor returns the result of [Brief] for reader, with Barred as in [For]. An ask that reader may not
// decide is not Quick.
func BriefFor(a askback.Ask, reader string) Ask {
	v := Brief(a)
	bar(&v, a, reader)
	v.Quick = v.Quick && v.Barred.String() == ""
	return v
}

func bar(v *Ask, a askback.Ask, reader string) {
	switch {
	case a.Outcome != nil, reader == "":
	case !a.IsApprover(reader):
		v.Barred = safetext.Line(capital(askback.NotApproverError{Who: a.Deciders()}.Error()) + ". You can read it.")
	case a.SelfApproval(reader):
		v.Barred = safetext.Line(capital(askback.ErrSelfApproval.Error()) + ".")
	}
}

// capital returns a sentence with its first letter, which must be ASCII, in upper case.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Approvals returns the number of approvals and the people who gave them, such as "1 of 2 approved: ana". It
// returns "" if one approval is enough.
func (a Ask) Approvals() string {
	if a.quorum <= 1 {
		return ""
	}
	var names []string
	for _, v := range a.Votes {
		names = append(names, v.Name.String())
	}
	text := fmt.Sprintf("%d of %d approved", len(names), a.quorum)
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	return text
}

// Recipients returns the people who may answer: the names in To and, if they differ, the people. It is "" for
// everyone.
func (a Ask) Recipients() safetext.Text {
	text := joinTexts(a.To)
	if len(a.People) > 0 {
		text += " (" + joinTexts(a.People) + ")"
	}
	return safetext.Line(text)
}

// Routing returns sentences about the approvals, the people who must approve, the person who started the
// session, the last reassignment, and the reminders and escalations. A nil zone is UTC.
func (a Ask) Routing(zone *time.Location) (lines []safetext.Text) {
	add := func(format string, args ...any) {
		lines = append(lines, safetext.Line(fmt.Sprintf(format, args...)))
	}
	if text := a.Approvals(); text != "" {
		add("%s.", text)
	}
	if len(a.Approvers) > 0 {
		add("Only %s may decide this.", joinTexts(a.Approvers))
	}
	for _, v := range a.Votes {
		text := fmt.Sprintf("%s approved on %s, %s", v.Name, FormatTime(v.At, zone), v.Via)
		if v.Reason.String() != "" {
			text += ": " + v.Reason.String()
		}
		add("%s", text)
	}
	switch started := a.StartedBy.String(); {
	case a.Hosted && a.NoSelfApproval && started != "":
		add("“%s” started this session. Another person must decide.", started)
	case a.Hosted && started != "":
		add("“%s” started this session.", started)
	case a.NoSelfApproval && started != "":
		add("The agent says that “%s” started this session. Another person must decide.", started)
	case a.NoSelfApproval:
		add("The person who started this session must not decide; the agent did not name one.")
	case started != "":
		add("The agent says that “%s” started this session.", started)
	}
	if !a.AskedAgainAt.IsZero() {
		add("Asked again on %s, because the agent’s program was started again. Your answer goes to it.",
			FormatTime(a.AskedAgainAt, zone))
	}
	switch by := a.ReassignedBy.String(); {
	case by != "" && a.ReassignedAt.IsZero():
		add("Reassigned by %s.", by)
	case by != "":
		add("Reassigned by %s on %s.", by, FormatTime(a.ReassignedAt, zone))
	}
	for _, f := range a.FollowUps {
		if text := a.followUp(f, zone); text != "" {
			add("%s", text)
		}
	}
	return lines
}

// followUp returns a sentence about a reminder or an escalation. It returns "" if the ask is settled before
// the follow-up happened.
func (a Ask) followUp(f FollowUp, zone *time.Location) string {
	to := joinTexts(f.To)
	switch {
	case f.Done.IsZero() && a.Outcome != nil:
		return ""
	case f.Done.IsZero() && to == "":
		return "A reminder follows on " + FormatTime(f.At, zone) + "."
	case f.Done.IsZero():
		return "If no one answers by " + FormatTime(f.At, zone) + ", " + to + " may answer, too."
	case to == "":
		return "Reminded on " + FormatTime(f.Done, zone) + "."
	}
	return "Escalated to " + to + " on " + FormatTime(f.Done, zone) + "."
}

func joinTexts(all []safetext.Text) string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}
