package config

import (
	"strings"

	"github.com/askback/askback/internal/directory"
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
func (l *loader) people(v value) (out []Person) {
	used := map[[2]string]bool{}
	l.list(v, func(v value) {
		person := l.person(v)
		out = append(out, person)
		for _, id := range [][2]string{{"name", person.Name}, {"email", strings.ToLower(person.Email)}, {"slack", person.Slack}} {
			if id[1] != "" && used[id] {
				l.addProblem(v.at, "give each person a different "+id[0], "%s has the %s of another person", v.key, id[0])
			}
			used[id] = true
		}
	})
	return out
}

func (l *loader) person(v value) (person Person) {
	before := len(l.problems)
	l.group([]setting{
		{key: "name", read: l.textTo(&person.Name, "a name, as in ana", directory.NameProblem)},
		{key: "email", read: l.textTo(&person.Email, "an address, as in ana@example.com", directory.EmailProblem)},
		{key: "slack", read: l.textTo(&person.Slack, "a Slack member id, as in U012AB3CD", directory.SlackProblem)},
		{key: "time_zone", read: l.textTo(&person.TimeZone, "a time zone, as in Europe/Berlin", directory.ZoneProblem)},
		{key: "quiet", read: l.text(`the quiet hours, as in "22:00-07:00"`, func(s string) (problem string) {
			person.Quiet, problem = directory.ParseQuiet(s)
			return problem
		})},
	})(v)
	if len(l.problems) > before { // the next checks could report the same problems again
		return person
	}
	if person.Name == "" {
		l.addProblem(v.at, "write name: ana", "%s has no name", v.key)
	}
	rule, broken := directory.QuietRule(person.Quiet.String(), person.TimeZone)
	l.rule(v, rule, broken)
	return person
}
