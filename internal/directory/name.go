// Package directory has the rules for people, groups and routes. The rules are the same for the settings file
// and for the API (F12). For a problem, the file adds line and column, and the API adds a pointer.
package directory

import (
	"fmt"
	"net/mail"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/lookalike"
)

// A function whose name ends in Problem returns the problem of a text, or "". The problem is the end of a
// sentence whose subject is the text.

// NameProblem checks the name of a person or a group. A name must not begin with @, because references to
// groups begin with @. It must not begin or end with a space. It must not have invisible characters or be too
// long. The names "." and ".." are rejected, because they cannot be part of a URL path.
func NameProblem(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is blank"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "has control characters, or is not UTF-8"
	case strings.ContainsFunc(s, isInvisible):
		return "has characters that cannot be seen"
	case strings.HasPrefix(s, "@"):
		return "is the name of a group"
	case s != strings.TrimSpace(s):
		return "begins or ends with a space"
	case s == "." || s == "..":
		return "has no letter"
	case utf8.RuneCountInString(s) > limits.MaxName:
		return "is too long"
	}
	return ""
}

// isInvisible reports whether a character of a name cannot be seen. It allows joiners and variation
// selectors, which some scripts and emoji need.
func isInvisible(r rune) bool {
	joins := r == '\u200c' || r == '\u200d' || '\ufe00' <= r && r <= '\ufe0f'
	return !joins && lookalike.IsInvisible(r)
}

// GroupNameProblem checks the name of a group, without @.
func GroupNameProblem(s string) string {
	if NameProblem(s) != "" {
		return "is not the name of a group"
	}
	return ""
}

// RecipientProblem checks the name of a person or, after @, of a group.
func RecipientProblem(s string) string {
	name := strings.TrimPrefix(s, "@")
	if name == "" {
		return "has no name"
	}
	return NameProblem(name)
}

// The prefixes of names in start_by that are not names of people or groups.
const (
	TokenPrefix = "token:" // the prefix of the name of an agent's token
	AgentPrefix = "agent:" // the prefix of the name of a hosted agent
)

// IsPerson reports whether a name in start_by names a person.
func IsPerson(name string) bool {
	return !strings.HasPrefix(name, "@") && !strings.HasPrefix(name, TokenPrefix) &&
		!strings.HasPrefix(name, AgentPrefix)
}

// StarterProblem checks a name in start_by: a person, a group after "@", the token of an agent, or another
// hosted agent.
func StarterProblem(s string) string {
	for _, prefix := range []string{TokenPrefix, AgentPrefix} {
		if name, found := strings.CutPrefix(s, prefix); found {
			return NameProblem(name)
		}
	}
	return RecipientProblem(s)
}

// maxEmail is the maximum length of an e-mail address in bytes (RFC 5321).
const maxEmail = 254

// EmailProblem checks an e-mail address.
func EmailProblem(s string) string {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > maxEmail || strings.ContainsFunc(s, unicode.IsControl) {
		return "is not an e-mail address"
	}
	return ""
}

// SlackProblem checks the id of a member of a workspace in Slack.
func SlackProblem(s string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if len(s) < 2 || len(s) > 50 || s[0] != 'U' && s[0] != 'W' || strings.Trim(s, letters) != "" {
		return "is not a Slack member id"
	}
	return ""
}

// ZoneProblem checks the name of a time zone. It rejects Local, because its meaning depends on
// the machine.
func ZoneProblem(s string) string {
	if _, err := time.LoadLocation(s); err != nil || s == "" || s == "Local" {
		return "is not a time zone that this machine knows"
	}
	return ""
}

// ChannelProblem returns a check for the name of a channel in a route. The name must be one of the known
// channels. If known is nil, any name is allowed. The callback of an ask is not a channel of a route, because
// the agent chooses the callback.
func ChannelProblem(known []string) func(string) string {
	return func(s string) string {
		if known != nil && !slices.Contains(known, s) {
			return "is not one of " + strings.Join(known, ", ")
		}
		return ""
	}
}

// PatternProblem checks a pattern for the names of agents or tools. It rejects a pattern that path.Match
// rejects, that can match no name, or whose meaning is misleading.
func PatternProblem(s string) string {
	_, err := path.Match(s, "")
	switch {
	case err != nil:
		return "is not a pattern"
	case strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s):
		return "has control characters, or is not UTF-8, and is no pattern"
	case strings.ContainsFunc(s, isInvisible):
		return "has characters that cannot be seen, and is no pattern"
	case s != strings.TrimSpace(s):
		return "begins or ends with a space, and is no pattern"
	}
	return classProblem(s)
}

// classProblem checks the classes of a pattern, as in [a-z].
func classProblem(s string) string {
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		switch {
		case runes[i] == '\\':
			i++
		case runes[i] == '[' && i+1 < len(runes) && runes[i+1] == '!':
			return "has [!, which negates nothing here ([^ does), and is no pattern"
		case runes[i] == '[':
			for i++; i < len(runes) && runes[i] != ']'; i++ {
				if runes[i] == '\\' {
					i++
				}
				if i+2 < len(runes) && runes[i+1] == '-' && runes[i+2] != ']' && runes[i] > runes[i+2] {
					return "has a range that ends before it begins, and is no pattern"
				}
			}
		}
	}
	return ""
}

// ToolPatternProblem checks a pattern for the names of servers and their tools. Unlike [PatternProblem], it
// also rejects joiners and variation selectors.
func ToolPatternProblem(s string) string {
	if problem := PatternProblem(s); problem != "" {
		return problem
	}
	if strings.ContainsFunc(s, lookalike.IsInvisible) {
		return "has characters that cannot be seen, and is no pattern"
	}
	return ""
}

// TagProblem checks a tag.
func TagProblem(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is blank"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "has control characters, or is not UTF-8"
	case utf8.RuneCountInString(s) > limits.MaxName:
		return "is too long"
	}
	return ""
}

// Quiet has the quiet hours of a person, in the time zone of the person. With the zero value the person has
// no quiet hours. If To is before From, To is on the next day.
type Quiet struct {
	From, To time.Duration // since midnight
}

// String returns the hours in the form that ParseQuiet reads, or "".
func (q Quiet) String() string {
	if q == (Quiet{}) {
		return ""
	}
	clock := func(d time.Duration) string { return time.Time{}.Add(d).Format("15:04") }
	return clock(q.From) + "-" + clock(q.To)
}

// ParseQuiet parses a range such as 22:00-07:00. It returns the problem with s, or "".
func ParseQuiet(s string) (q Quiet, problem string) {
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

// parseClock parses a time such as 07:00. It returns the time since midnight, and reports whether s is valid.
func parseClock(s string) (time.Duration, bool) {
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}

// quote returns s in quotes, shortened to 40 characters.
func quote(s string) string {
	if utf8.RuneCountInString(s) > 40 {
		s = string([]rune(s)[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
