package pages

import (
	"net/url"

	"github.com/a-h/templ"

	"github.com/askback/askback/internal/text/view"
)

// Addresses of the page for people and groups, and of its forms.
const (
	PeoplePath = "/people"
	GroupsPath = "/groups"
)

// Actions of the forms for people and groups.
const (
	SaveEntry   = "save"
	RemoveEntry = "remove"
)

// A PeoplePage is the content of the page for people and groups.
type PeoplePage struct {
	People    []view.PersonFigures
	Partial   bool // whether not all asks are counted
	Groups    []view.GroupOfPeople
	MayChange bool
	Done      string // sentence about the person's last action; "" for none
	Problem   string // reason why a form had no effect, or ""
}

// An EntryForm is the form for a person or a group, as it was filled in.
type EntryForm struct {
	Title, Path string
	Name        view.RawText
	New         bool   // whether the name can still be changed
	Hint        string // hint for the name
	Fields      []EntryField
	Problems    []view.Problem
}

// An EntryField is a text field of an [EntryForm].
type EntryField struct {
	Name, Label, Hint string
	Value             view.RawText
}

// Problem returns the first problem with a field, or empty text.
func (f EntryForm) Problem(field string) view.Text {
	return view.Form{Problems: f.Problems}.Problem(field)
}

// editPath returns the address of the form for a person or a group. If name is "", the form adds a person or
// a group.
func editPath(path, name string) templ.SafeURL {
	if name == "" {
		return templ.SafeURL(path + "/edit")
	}
	return templ.SafeURL(path + "/edit?" + url.Values{"name": {name}}.Encode())
}
