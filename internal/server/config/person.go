package config

import (
	"strings"

	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/settings"
)

// A Person is a person who answers asks.
type Person struct {
	Name     string
	Email    string
	Slack    string // a member id
	TimeZone string // a name for [time.LoadLocation]
	Quiet    Quiet
}

// Quiet has the quiet hours of a person. The zero value means none.
type Quiet = directory.Quiet

// people reads the list of people. Names, e-mail addresses and Slack ids must be unique, so
// that each identifies one person.
func (l *loader) people(v settings.Value) (out []Person) {
	used := map[[2]string]bool{}
	l.List(v, func(v settings.Value) {
		person := l.person(v)
		out = append(out, person)
		for _, id := range [][2]string{
			{"name", person.Name}, {"email", strings.ToLower(person.Email)}, {"slack", person.Slack},
		} {
			if id[1] != "" && used[id] {
				l.AddProblem(v.At, "give each person a different "+id[0], "%s has the %s of another person", v.Key,
					id[0])
			}
			used[id] = true
		}
	})
	return out
}

func (l *loader) person(v settings.Value) (person Person) {
	before := l.Problems()
	l.Group([]settings.Setting{
		{Key: "name", Read: l.TextTo(&person.Name, "a name, as in ana", directory.NameProblem)},
		{Key: "email", Read: l.TextTo(&person.Email, "an address, as in ana@example.com", directory.EmailProblem)},
		{Key: "slack", Read: l.TextTo(&person.Slack, "a Slack member id, as in U012AB3CD", directory.SlackProblem)},
		{Key: "time_zone", Read: l.TextTo(&person.TimeZone, "a time zone, as in Europe/Berlin", directory.ZoneProblem)},
		{Key: "quiet", Read: l.Text(`the quiet hours, as in "22:00-07:00"`, func(s string) (problem string) {
			person.Quiet, problem = directory.ParseQuiet(s)
			return problem
		})},
	})(v)
	if l.Problems() > before { // the next checks could report the same problems again
		return person
	}
	if person.Name == "" {
		l.AddProblem(v.At, "write name: ana", "%s has no name", v.Key)
	}
	rule, broken := directory.QuietRule(person.Quiet.String(), person.TimeZone)
	l.rule(v, rule, broken)
	return person
}
