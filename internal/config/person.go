package config

import (
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/askback/askback"
)

// A Person is somebody who answers, as the file names them.
type Person struct {
	Name     string
	Email    string
	Slack    string // the member's id
	TimeZone string // a name that time.LoadLocation knows
	Quiet    Quiet
}

// Quiet is a part of the day in which a person is left alone, by the clock of
// their time zone. The zero value is never; an end before the start is on the
// next day.
type Quiet struct {
	From, To time.Duration // since midnight
}

// people reads the list of people. Nobody shares a name or an address with
// another: an answer must be one person's.
func (f *file) people(v value) (out []Person) {
	taken := map[[2]string]bool{}
	f.list(v, func(v value) {
		p := f.person(v)
		out = append(out, p)
		for _, own := range [][2]string{{"name", p.Name}, {"email", strings.ToLower(p.Email)}, {"slack", p.Slack}} {
			if own[1] != "" && taken[own] {
				f.wrong(v.at, "give each person their own", "%s has the %s of another person", v.key, own[0])
			}
			taken[own] = true
		}
	})
	return out
}

func (f *file) person(v value) (p Person) {
	if !f.filled(v) {
		return p
	}
	before := len(f.bad)
	f.fields(v.node, v.key, []setting{
		{key: "name", read: f.text("a name, as in ana", func(s string) string { p.Name = s; return badName(s) })},
		{key: "email", read: f.text("an address, as in ana@example.com", func(s string) string { p.Email = s; return badEmail(s) })},
		{key: "slack", read: f.text("a Slack member id, as in U012AB3CD", func(s string) string { p.Slack = s; return badSlack(s) })},
		{key: "time_zone", read: f.text("a time zone, as in Europe/Berlin", func(s string) string { p.TimeZone = s; return badZone(s) })},
		{key: "quiet", read: f.text(`the time to be left alone, as in "22:00-07:00"`, func(s string) (wrong string) {
			p.Quiet, wrong = parseQuiet(s)
			return wrong
		})},
	})
	if len(f.bad) > before { // what follows may follow from that
		return p
	}
	if p.Name == "" {
		f.wrong(v.at, "write name: ana", "%s has no name", v.key)
	}
	if p.Quiet != (Quiet{}) && p.TimeZone == "" {
		f.wrong(v.at, "write time_zone: Europe/Berlin", "%s has quiet hours but no time zone to count them in", v.key)
	}
	return p
}

// badName keeps names apart from groups, which begin with @, and from each other
// where only space tells them apart.
func badName(s string) (wrong string) {
	switch {
	case strings.HasPrefix(s, "@"):
		return "is the name of a group"
	case s != strings.TrimSpace(s):
		return "has space around it"
	case utf8.RuneCountInString(s) > askback.MaxName:
		return "is too long"
	}
	return ""
}

func badEmail(s string) (wrong string) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return "is no e-mail address"
	}
	return ""
}

func badSlack(s string) (wrong string) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if len(s) < 2 || len(s) > 50 || s[0] != 'U' && s[0] != 'W' || strings.Trim(s, letters) != "" {
		return "is no Slack member id"
	}
	return ""
}

// badZone refuses Local: what it means depends on the machine.
func badZone(s string) (wrong string) {
	if _, err := time.LoadLocation(s); err != nil || s == "Local" {
		return "is no time zone that this machine knows"
	}
	return ""
}

// parseQuiet reads 22:00-07:00.
func parseQuiet(s string) (q Quiet, wrong string) {
	from, to, _ := strings.Cut(s, "-")
	var ok, also bool
	q.From, ok = clock(from)
	q.To, also = clock(to)
	switch {
	case !ok || !also:
		return Quiet{}, "is no part of a day"
	case q.From == q.To:
		return Quiet{}, "begins when it ends"
	}
	return q, ""
}

// clock reads 07:00 as the time since midnight.
func clock(s string) (time.Duration, bool) {
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}
