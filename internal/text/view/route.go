package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Route is an [askback.Route] as a sentence.
type Route struct {
	When     Text // the asks that the route matches: "Confirmations of deploy-* tagged prod"
	Does     Text // effect on these asks, without a period
	Settings bool // whether the route is in the settings file
	Warning  Text // problem of the route, or ""
}

// OfRoute returns the sentence of a route.
func OfRoute(r askback.Route) Route {
	var does []string
	add := func(format string, args ...any) { does = append(does, fmt.Sprintf(format, args...)) }
	add("%s", whoDecides(r))
	if r.NoSelfApproval {
		add("the person who started the session must not decide")
	}
	if len(r.Channels) > 0 {
		add("sent only by %s", listWords(r.Channels))
	}
	if len(r.Remind) > 0 {
		var times []string
		for _, after := range r.Remind {
			times = append(times, SpanWords(after.Duration()))
		}
		add("reminds after %s", listWords(times))
	}
	for _, e := range r.Escalate {
		add("after %s, %s may answer, too", SpanWords(e.After.Duration()), listWords(e.To))
	}
	if r.Timeout > 0 {
		add("after %s, %s", SpanWords(r.Timeout.Duration()), timeoutWords[r.OnTimeout])
	}
	if r.Join {
		add("identical questions of one agent become one ask")
	}
	return Route{
		When: safetext.Line(matchWords(r.Match)), Does: safetext.Line(strings.Join(does, "; ")),
		Settings: r.Source == askback.SourceSettings, Warning: safetext.Line(r.Warning),
	}
}

var timeoutWords = map[askback.OnTimeout]string{
	"":                       "the ask expires, and the agent's session fails",
	askback.OnTimeoutFail:    "the ask expires, and the agent's session fails",
	askback.OnTimeoutDecline: "the agent continues without an answer",
	askback.OnTimeoutDefault: "the default answers are used",
	askback.OnTimeoutWait:    "it keeps waiting",
}

// whoDecides returns the words for the people who may answer and the number who must approve.
func whoDecides(r askback.Route) string {
	who := listWords(r.To)
	if approvers := listWords(r.Approvers); approvers != "" {
		text := "only " + approvers + " may decide"
		if r.Quorum > 1 {
			text = numberWord(r.Quorum) + " of " + approvers + " must approve, and no one else may decide"
		}
		if who != "" {
			text += "; it is for " + who
		}
		return text
	}
	switch {
	case r.Quorum > 1 && who != "":
		return numberWord(r.Quorum) + " of " + who + " must approve"
	case r.Quorum > 1:
		return numberWord(r.Quorum) + " people must approve"
	case who != "":
		return who + " may answer"
	}
	return "everyone may answer"
}

// matchWords describes the asks that a route matches.
func matchWords(m askback.Match) string {
	words := map[askback.AskKind]string{
		"": "Everything", askback.Questions: "Questions", askback.Confirm: "Confirmations",
	}[m.Kind]
	if m.Agent != "" {
		if m.Kind == "" {
			words += " from " + m.Agent
		} else {
			words += " of " + m.Agent
		}
	}
	if len(m.Tags) > 0 {
		words += " tagged " + listWords(m.Tags)
	}
	return words
}

// numberWord returns a number as a word, if it is small.
func numberWord(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	if n >= 0 && n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// listWords returns names as in a sentence: "ana, ben and @oncall".
func listWords(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// spanUnits are the units of a duration, the longest first.
var spanUnits = []struct {
	length      time.Duration
	short, word string
}{{24 * time.Hour, "d", "day"}, {time.Hour, "h", "hour"}, {time.Minute, "m", "minute"}, {time.Second, "s", "second"}}

// SpanWords returns a duration for people: "1 hour 30 minutes".
func SpanWords(d time.Duration) string {
	var parts []string
	for _, u := range spanUnits {
		if n := d / u.length; n > 0 {
			parts, d = append(parts, Count(int(n), u.word)), d%u.length
		}
	}
	return strings.Join(parts, " ")
}

// SpanText returns a duration as [askback.ParseDuration] reads it: "1h30m".
func SpanText(d time.Duration) string {
	text := ""
	for _, u := range spanUnits {
		if n := d / u.length; n > 0 {
			text, d = text+strconv.Itoa(int(n))+u.short, d%u.length
		}
	}
	return text
}
