package view

import (
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/lookalike"
	"github.com/askback/askback/internal/text/safetext"
)

// A Warning is a reason to check the arguments of a call with care.
type Warning struct {
	Sentence string
	Names    []safetext.Text // the names in the arguments that the warning concerns
}

// maxDuplicates is the maximum number of pairs of names that a warning shows. Its
// sentence counts all pairs.
const maxDuplicates = 3

// maxName is the maximum number of characters of a name that a warning shows.
const maxName = 60

// duplicates are pairs of names in one object that a person or a program may confuse.
type duplicates struct {
	count int
	names []safetext.Text
}

// seenNames maps each folded name in one object to the first name with that form.
type seenNames map[string]string

func (d *duplicates) add(seen seenNames, name string) {
	key := fold(name)
	first, ok := seen[key]
	if !ok {
		seen[key] = name
		return
	}
	if d.count++; d.count <= maxDuplicates {
		d.names = append(d.names, safetext.Code(shorten(first, maxName)), safetext.Code(shorten(name, maxName)))
	}
}

// fold returns the same string for names that differ only in case, which some programs
// ignore, or in letters that look alike.
func fold(name string) string { return strings.ToLower(strings.ToUpper(lookalike.Latin(name))) }

// shorten returns the first n runes of s, and an ellipsis if there are more.
func shorten(s string, n int) string {
	if cut := firstRunes(s, n); cut != s {
		return cut + "…"
	}
	return s
}

func (f formatted) warnings() []Warning {
	var out []Warning
	if s := SizeOf(f.text).Warning(); s != "" {
		out = append(out, Warning{Sentence: s})
	}
	switch n := f.duplicates.count; {
	case n == 1:
		out = append(out,
			Warning{"Two names in the arguments look alike, and a program may confuse them:", f.duplicates.names})
	case n > 1:
		out = append(out, Warning{
			Number(n) + " names in the arguments look like another name in the same object, and a program may " +
				"confuse them:", f.duplicates.names,
		})
	}
	return out
}

// hasLookalike reports whether the name of a call's tool or server looks like another name. Such a name is
// shown with a note.
func hasLookalike(c askback.Confirmation) bool {
	_, tool := lookalike.Of(c.ToolName)
	_, server := lookalike.Of(c.Server)
	return tool || server
}

// warnings returns the repairs of the agent's call (F15), and the people in "to" who are not asked. An agent
// can send warnings, too, so all are displayed as text of the agent.
func (c *cleaner) warnings(list []askback.Problem) (repairs, leftOut []safetext.Text) {
	for _, p := range list {
		if p.Pointer == "/to" || p.Pointer == "/recipients" { // about people who are not asked, and not about a repair
			leftOut = append(leftOut, c.line(p.Detail))
			continue
		}
		s := "The call was repaired: " + p.Detail
		if p.Pointer != "" {
			s += " (" + p.Pointer + ")"
		}
		repairs = append(repairs, c.line(s))
	}
	return repairs, leftOut
}
