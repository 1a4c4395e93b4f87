package claudecode

import "github.com/askback/askback"

// AllowOwnTool returns the output that allows a tool of Askback.
var AllowOwnTool = allowOwnTool

// EndsAsk reports whether an event makes an open ask obsolete.
func EndsAsk(ev Event, ask askback.Ask) bool { return newEndingEvent(ev).endsAsk(ask) }

// IsInherited reports whether a program that Claude Code started sent the event.
func (ev Event) IsInherited(session string) bool { return ev.isInherited(session) }
