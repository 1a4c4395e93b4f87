package config

import (
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/askback/askback"
)

// A Person is a person who answers asks.
type Person struct {
	Name     string
	Email    string
	Slack    string // a member id
	TimeZone string // a name for [time.LoadLocation]
	Quiet    Quiet
}

// Quiet has the quiet hours of a person, in their time zone. The zero value means none. If
// To is before From, it is on the next day.
type Quiet struct {
	From, To time.Duration // since midnight
}

// String returns the form in which the hours are written in the file, or "".
func (q Quiet) String() string {
	if q == (Quiet{}) {
		return ""
	}
	clock := func(d time.Duration) string { return time.Time{}.Add(d).Format("15:04") }
	return clock(q.From) + "-" + clock(q.To)
}

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
		{key: "name", read: l.textTo(&person.Name, "a name, as in ana", nameProblem)},
		{key: "email", read: l.textTo(&person.Email, "an address, as in ana@example.com", emailProblem)},
		{key: "slack", read: l.textTo(&person.Slack, "a Slack member id, as in U012AB3CD", slackProblem)},
		{key: "time_zone", read: l.textTo(&person.TimeZone, "a time zone, as in Europe/Berlin", zoneProblem)},
		{key: "quiet", read: l.text(`the quiet hours, as in "22:00-07:00"`, func(s string) (problem string) {
			person.Quiet, problem = parseQuiet(s)
			return problem
		})},
	})(v)
	if len(l.problems) > before { // the next checks could report the same problems again
		return person
	}
	if person.Name == "" {
		l.addProblem(v.at, "write name: ana", "%s has no name", v.key)
	}
	if person.Quiet != (Quiet{}) && person.TimeZone == "" {
		l.addProblem(v.at, "write time_zone: Europe/Berlin", "%s has quiet hours but no time zone", v.key)
	}
	return person
}

// nameProblem returns what is wrong with the name of a person, or "". It rejects a name
// that begins with @, as groups do, that begins or ends with a space, or that is too long.
func nameProblem(s string) (problem string) {
	switch {
	case strings.HasPrefix(s, "@"):
		return "is the name of a group"
	case s != strings.TrimSpace(s):
		return "begins or ends with a space"
	case utf8.RuneCountInString(s) > askback.MaxName:
		return "is too long"
	}
	return ""
}

func emailProblem(s string) (problem string) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return "is not an e-mail address"
	}
	return ""
}

func slackProblem(s string) (problem string) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if len(s) < 2 || len(s) > 50 || s[0] != 'U' && s[0] != 'W' || strings.Trim(s, letters) != "" {
		return "is not a Slack member id"
	}
	return ""
}

// zoneProblem returns what is wrong with a time zone, or "". It rejects Local, because its
// meaning depends on the machine.
func zoneProblem(s string) (problem string) {
	if _, err := time.LoadLocation(s); err != nil || s == "Local" {
		return "is not a time zone that this machine knows"
	}
	return ""
}

// parseQuiet parses a range such as 22:00-07:00. It returns what is wrong with s, or "".
func parseQuiet(s string) (q Quiet, problem string) {
	from, to, _ := strings.Cut(s, "-")
	var fromOK, toOK bool
	q.From, fromOK = parseClock(from)
	q.To, toOK = parseClock(to)
	switch {
	case !fromOK || !toOK:
		return Quiet{}, "is not a time range"
	case q.From == q.To:
		return Quiet{}, "begins and ends at the same time"
	}
	return q, ""
}

// parseClock parses a time such as 07:00. It returns the time since midnight, and reports
// whether s is valid.
func parseClock(s string) (time.Duration, bool) {
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}
