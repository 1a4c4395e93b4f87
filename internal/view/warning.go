package view

import (
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/markdown"
	"github.com/askback/askback/internal/safetext"
)

// A Warning is a reason to look twice at the arguments of a call, in our words; what it
// is about is the agent's and drawn as code.
type Warning struct {
	Sentence string
	Names    []safetext.Text
}

// maxTwins is how many pairs of names are shown. The sentence counts all of them.
const maxTwins = 3

// maxTwin is how much of a name is shown, in characters.
const maxTwin = 60

// twins are names in one object that a person, or a careless program, takes for the same.
type twins struct {
	count int
	names []safetext.Text
}

// object notices the names of one object.
type object map[string]string

func (t *twins) meet(o object, name string) {
	look := fold(name)
	first, met := o[look]
	if !met {
		o[look] = name
		return
	}
	if t.count++; t.count <= maxTwins {
		t.names = append(t.names, short(first), short(name))
	}
}

// fold is the same for names that differ in case, which some programs read as one, or by
// letters that look alike.
func fold(name string) string { return strings.ToLower(strings.ToUpper(markdown.Skeleton(name))) }

func short(name string) safetext.Text {
	if cut := front(name, maxTwin); cut != name {
		return safetext.Code(cut + "…")
	}
	return safetext.Code(name)
}

func (d drawing) warnings() []Warning {
	var out []Warning
	if s := SizeOf(d.text).Warning(); s != "" {
		out = append(out, Warning{Sentence: s})
	}
	switch {
	case d.twins.count == 1:
		out = append(out, Warning{"Two names in the arguments look alike, and a program may take one for the other:", d.twins.names})
	case d.twins.count > 1:
		out = append(out, Warning{
			Number(d.twins.count) + " names in the arguments look like another beside them, and a program may take one for the other:", d.twins.names,
		})
	}
	return out
}

// repairs says where the agent's call was mended before anybody saw it (F15). An agent can
// write these itself, so they are drawn as its words.
func (c *cleaner) repairs(list []askback.Problem) []safetext.Text {
	var out []safetext.Text
	for _, p := range list {
		s := "The call was mended: " + p.Detail
		if p.Pointer != "" {
			s += " (" + p.Pointer + ")"
		}
		out = append(out, c.line(s))
	}
	return out
}
