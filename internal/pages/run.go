package pages

import (
	"slices"

	"github.com/askback/askback/internal/text/view"
)

// RunPath is the address of the page that starts a hosted agent.
const RunPath = "/run"

// A StartPage is the form that starts a hosted agent. If there is a problem, it is the form as it was sent.
type StartPage struct {
	Agents        []view.HostedAgent
	Agent, Prompt string
	Problem       string
}

func callMark(c view.Call) outcomeMark {
	switch {
	case c.Withheld:
		return outcomeMark{"·", "mark-none"}
	case c.Failed:
		return outcomeMark{"✕", "mark-no"}
	case c.Finished:
		return outcomeMark{"✓", "mark-yes"}
	}
	return outcomeMark{"…", "mark-none"}
}

// callState names the state of a call.
func callState(c view.Call) string {
	switch {
	case c.Failed:
		return "failed"
	case c.Finished:
		return "done"
	}
	return "running"
}

// messageHelp explains the effect of a message that is sent now.
func messageHelp(s view.Session) string {
	switch {
	case !s.Hosted:
		return "The agent gets it when it reads its messages again. It does not answer a question."
	case s.Idle:
		return "It starts the next turn."
	case s.Waiting:
		return "The agent gets it after the open question is answered. It does not answer the question."
	}
	return "The agent gets it when the calls that it makes now have ended."
}

// notReading states why no message can be written to an agent.
const notReading = "The agent of this session has not read any messages here, so you cannot write to it. Write to it " +
	"in its own window."

// runsElsewhere states what a cancellation does to an agent that Askback does not run.
const runsElsewhere = "Askback does not run this agent. The agent stops only when it reads that it was cancelled."

// mayResume reports whether a person may start the next turn of a session. A message does this for a hosted agent.
func mayResume(s view.Session) bool { return !s.Hosted && !s.OfOneAsk && s.Pending == 0 }

// resumeHelp explains the effect of resuming a session.
func resumeHelp(s view.Session) string {
	if s.Idle {
		return "Its turn has ended. The next one starts, and the program that runs the agent can go on with the " +
			"answers."
	}
	return "If the agent stopped to wait for answers, its program can go on with them. An agent that is at work " +
		"notices nothing."
}

// cancelTurnHelp explains the effect of ending the turn of a session.
func cancelTurnHelp(s view.Session) string {
	if s.Hosted {
		return "The turn ends now, and its open questions are withdrawn. A message starts the next one."
	}
	return "The turn ends, and its open questions are withdrawn."
}

// cancelSessionHelp explains the effect of ending a session.
func cancelSessionHelp(s view.Session) string {
	switch {
	case s.Hosted:
		return "The session ends for good, with the sessions that it started."
	case s.OfOneAsk:
		return "The session ends for good, and its ask is withdrawn."
	}
	return "The session ends for good, and its open questions are withdrawn. The agent can ask no more in it."
}

// MayRun reports whether the person may start a hosted agent.
func (f Frame) MayRun() bool {
	return slices.ContainsFunc(f.Links, func(l PageLink) bool { return l.Path == RunPath })
}

// ThenSession is the value of the field "then" that leads back to the page of the session.
const ThenSession = "session"
