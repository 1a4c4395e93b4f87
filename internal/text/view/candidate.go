package view

import (
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// maxCandidates is the maximum number of people and groups that a form offers. Other names can be typed.
const maxCandidates = 100

// A Candidate is a person or a group that may get an ask.
type Candidate struct {
	Value  string // value that a form sends
	Name   Text   // a group has an "@" in front
	People []Text // members of a group
	You    bool   // whether the candidate is the reader
}

// Candidates returns at most [maxCandidates] groups and people, groups first. The reader follows last, if
// people contains the reader.
func Candidates(groups []askback.Group, people []askback.Person, reader string) []Candidate {
	var all, self []Candidate
	for _, g := range groups {
		all = append(all, Candidate{Value: "@" + g.Name, Name: safetext.Line("@" + g.Name), People: Names(g.People)})
	}
	for _, p := range people {
		c := Candidate{Value: p.Name, Name: safetext.Name(p.Name), You: p.Name == reader}
		if c.You {
			self = append(self, c)
		} else {
			all = append(all, c)
		}
	}
	return append(all[:min(len(all), maxCandidates)], self...)
}

// Names returns names for display.
func Names(names []string) []Text {
	var all []Text
	for _, name := range names {
		all = append(all, safetext.Name(name))
	}
	return all
}

// SplitNames returns the different names in text. Commas, semicolons and line feeds separate names.
func SplitNames(text string) []string {
	var names []string
	for name := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ';' || c == '\n' }) {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
