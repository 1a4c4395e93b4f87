package pages

import (
	"slices"
	"strings"

	"github.com/askback/askback/internal/text/view"
)

// DelegatePart is the value of the choice to give others only one's own part of an ask.
const DelegatePart = "delegate"

// A ReassignForm is the form that gives an ask to other people, as it was filled in.
type ReassignForm struct {
	Chosen   []string // names of the chosen candidates
	Others   view.RawText
	Delegate bool
	Problem  view.Text // problem with the names, or ""

	Candidates []view.Candidate
	Rest       []view.Text // other people who may answer now, if the ask names this person
}

// Names returns the chosen names and the typed names.
func (f ReassignForm) Names() []string {
	names := slices.Clone(f.Chosen)
	for _, name := range view.SplitNames(string(f.Others)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// chose reports whether a candidate is chosen.
func (f ReassignForm) chose(c view.Candidate) bool { return slices.Contains(f.Chosen, c.Value) }

// onlyThey returns a sentence about the people who cannot answer an ask any more after the ask is given to
// others.
func onlyThey(a view.Ask) string {
	if len(a.To) == 0 {
		return "To stay one of them, choose yourself above."
	}
	return "To stay one of them, choose yourself above."
}

// losers returns the people who cannot answer an ask any more after the whole ask is given to others.
func (f ReassignForm) losers() []view.Text {
	return append([]view.Text{view.RawText("You").Text()}, f.Rest...)
}

// problemID returns the id of the element with the problem of the form, or "".
func (f ReassignForm) problemID() string {
	if !isSet(f.Problem) {
		return ""
	}
	return "to-problem"
}

// reassignPath returns the address of the form that gives an ask to others. The page has the same list.
func (i Inbox) reassignPath(a view.Ask) string {
	return a.PagePath() + "/reassign" + i.Filter.query()
}

// joinNames joins names as in a sentence: "ana, ben and @oncall".
func joinNames(names []view.Text) string {
	var all []string
	for _, n := range names {
		all = append(all, n.String())
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// DoneReassigning returns the notice that a person gave an ask to others.
func DoneReassigning(a view.Ask) *Done {
	return &Done{Path: a.PagePath(), Sentence: "Reassigned", Detail: view.RawText("to " + joinNames(a.To)).Text()}
}
