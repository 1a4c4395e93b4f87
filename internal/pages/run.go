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
	case s.Idle:
		return "It starts the next turn."
	case s.Waiting:
		return "The agent gets it after the open question is answered. It does not answer the question."
	}
	return "The agent gets it when the calls that it makes now have ended."
}

// MayRun reports whether the person may start a hosted agent.
func (f Frame) MayRun() bool {
	return slices.ContainsFunc(f.Links, func(l PageLink) bool { return l.Path == RunPath })
}

// ThenSession is the value of the field "then" that leads back to the page of the session.
const ThenSession = "session"
