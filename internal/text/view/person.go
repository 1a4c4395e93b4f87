package view

import (
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Person is an [askback.Person] for display.
type Person struct {
	Email   Text
	Slack   Text
	Zone    Text   // the time zone
	Quiet   Text   // hours without messages
	Groups  []Text // groups with an "@" in front
	Source  string // origin of the person: "settings file", "added here", or "has only a token"
	Made    bool   // whether the person was added here or over the API, and can be changed here
	By      Text   // person who made the last change
	Changed time.Time
	Warning Text // problem of the person, or ""
}

func ofPerson(p askback.Person) Person {
	v := Person{
		Email: safetext.Line(p.Email), Slack: safetext.Line(p.Slack), Zone: safetext.Line(p.TimeZone),
		Quiet: safetext.Line(p.Quiet), Source: sourceWords[p.Source], Made: p.Source == askback.SourceAPI,
		By: safetext.Name(p.By), Changed: p.ChangedAt, Warning: safetext.Line(p.Warning),
	}
	for _, name := range p.Groups {
		v.Groups = append(v.Groups, safetext.Line("@"+name))
	}
	return v
}

var sourceWords = map[askback.Source]string{
	askback.SourceSettings: "settings file", askback.SourceAPI: "added here", askback.SourceToken: "has only a token",
}

// A GroupOfPeople is an [askback.Group] for display.
type GroupOfPeople struct {
	Name    Text // with an "@" in front
	Key     string
	People  []Text
	Source  string
	Made    bool // whether the group was added here or over the API, and can be changed here
	By      Text // person who made the last change
	Changed time.Time
	Warning Text // problem of the group, or ""
}

// OfGroup returns the view of a group.
func OfGroup(g askback.Group) GroupOfPeople {
	return GroupOfPeople{
		Name: safetext.Line("@" + g.Name), Key: g.Name, People: Names(g.People), Source: sourceWords[g.Source],
		Made: g.Source == askback.SourceAPI, By: safetext.Name(g.By), Changed: g.ChangedAt,
		Warning: safetext.Line(g.Warning),
	}
}
