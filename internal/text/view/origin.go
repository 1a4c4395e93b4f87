package view

import (
	"strings"

	"github.com/askback/askback/internal/text/safetext"
)

// Origin describes the asker in one line: the agent with its token, and the words of [Ask.Apart].
func (a Ask) Origin() safetext.Text {
	words, apart := a.From().String(), a.Apart().String()
	switch {
	case apart == "":
	case len(a.Path) > 0:
		words += ", " + apart
	default:
		words += separator + apart
	}
	return safetext.Line(words)
}

// Apart returns the words that tell asks of one agent apart: the agents that started a sub-agent, the end of the id
// of the session if it is named, and the subject of the session.
func (a Ask) Apart() safetext.Text {
	var parts []string
	if len(a.Path) > 0 {
		words := "a sub-agent"
		for n := range a.Path {
			words += " of " + a.Path[len(a.Path)-1-n].String()
		}
		parts = append(parts, words)
	}
	if a.sessionEnd != "" {
		parts = append(parts, "session "+a.sessionEnd)
	}
	if words := a.SessionTitle.String(); words != "" {
		parts = append(parts, front(words))
	}
	return safetext.Line(strings.Join(parts, separator))
}

// Note returns the words of [Ask.Apart] and the agent's title, for the small print of a list. A title that is the
// headline or the subject of the session is left out.
func (a Ask) Note() safetext.Text {
	words, title := a.Apart().String(), a.Title
	switch {
	case title.String() == "", title == a.Headline(), title == a.SessionTitle:
	case words == "":
		words = title.String()
	default:
		words += separator + title.String()
	}
	return safetext.Line(words)
}

// SmallPrint returns the agent with its token, and the note.
func (a Ask) SmallPrint() safetext.Text {
	words := a.From().String()
	if note := a.Note().String(); note != "" {
		words += separator + note
	}
	return safetext.Line(words)
}

// TellApart names the session of each ask that has the agent and the origin of an ask of another session. The asks
// are a list that a person reads.
func TellApart(asks []*Ask) {
	sessions, several := map[string]string{}, map[string]bool{}
	for _, a := range asks {
		a.sessionEnd = ""
		origin, session := a.Origin().String(), a.Session.String()
		if a.OwnSession {
			continue
		}
		if other, found := sessions[origin]; found && other != session {
			several[origin] = true
		}
		sessions[origin] = session
	}
	for _, a := range asks {
		if several[a.Origin().String()] {
			a.NameSession()
		}
	}
}

// References returns references to the asks of a list.
func References(asks []Ask) []*Ask {
	all := make([]*Ask, len(asks))
	for n := range asks {
		all[n] = &asks[n]
	}
	return all
}

// NameSession adds the end of the id of the session to the origin, unless the session belongs to the ask alone.
func (a *Ask) NameSession() {
	if !a.OwnSession {
		a.sessionEnd = endOfID(a.Session)
	}
}

// lengthOfEnd is the number of characters at the end of an id that identify it in a list.
const lengthOfEnd = 6

// endOfID returns the end of an id, which is random.
func endOfID(id safetext.Text) string {
	text := id.String()
	return text[max(0, len(text)-lengthOfEnd):]
}
