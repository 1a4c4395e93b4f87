package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// people shows the people who may answer, their figures, and the groups.
func (s *site) people(w http.ResponseWriter, r request) error {
	return s.renderPeople(w, r, http.StatusOK, peopleDone[r.URL.Query().Get("done")], "")
}

// peopleDone are the sentences that confirm an action.
var peopleDone = map[string]string{
	"person": "The person is saved.", "group": "The group is saved.", "removed": "Removed.",
}

// renderPeople sends the page. done confirms an action, and problem is the reason why a form had no effect.
func (s *site) renderPeople(w http.ResponseWriter, r request, status int, done, problem string) error {
	f, err := s.monthFigures(r)
	if err != nil {
		return err
	}
	people, err := r.client.People(r.Context())
	if err != nil {
		return err
	}
	groups, err := r.client.Groups(r.Context())
	if err != nil {
		return err
	}
	p := pages.PeoplePage{
		People: view.OfPeople(f, people), Partial: f.Partial, Done: done, Problem: problem,
		MayChange: s.auth.May(r.principal, access.ActDirectory) == nil,
	}
	for _, g := range groups {
		p.Groups = append(p.Groups, view.OfGroup(g))
	}
	return s.render(w, r.Request, status, pages.People(r.frame, p))
}

// personForm returns the form for a person.
func personForm(p askback.PersonRequest, isNew bool) pages.EntryForm {
	f := pages.EntryForm{
		Title: "Edit a person", Path: pages.PeoplePath, Name: view.RawText(p.Name), New: isNew,
		Hint: "The name that agents and routes use, such as ana.",
	}
	if isNew {
		f.Title = "New person"
	}
	f.Fields = []pages.EntryField{
		{
			Name: "email", Label: "E-mail",
			Hint:  "Receives asks by mail. If single sign-on is set up, also logs in with it. Optional.",
			Value: view.RawText(p.Email),
		},
		{
			Name: "slack", Label: "Slack", Hint: "The Slack member id, such as U012AB3CD. Optional.",
			Value: view.RawText(p.Slack),
		},
		{
			Name: "time_zone", Label: "Time zone", Hint: "Such as Europe/Berlin. Optional.",
			Value: view.RawText(p.TimeZone),
		},
		{
			Name: "quiet", Label: "Hours without messages",
			Hint:  "Such as 22:00-07:00, in the time zone of the person. Optional.",
			Value: view.RawText(p.Quiet),
		},
	}
	return f
}

// groupForm returns the form for a group.
func groupForm(name, people string, isNew bool) pages.EntryForm {
	f := pages.EntryForm{
		Title: "Edit a group", Path: pages.GroupsPath, Name: view.RawText(name), New: isNew,
		Hint: "The name without @, such as payments.",
	}
	if isNew {
		f.Title = "New group"
	}
	f.Fields = []pages.EntryField{
		{
			Name: "people", Label: "People", Hint: "Names with commas between them, such as ana, ben.",
			Value: view.RawText(people),
		},
	}
	return f
}

// editPerson shows the form for a person that was made here, or for a new person.
func (s *site) editPerson(w http.ResponseWriter, r request) error {
	if s.auth.May(r.principal, access.ActDirectory) != nil {
		return errAdminOnly
	}
	name := r.URL.Query().Get("name")
	if name == "" {
		return s.render(w, r.Request, http.StatusOK,
			pages.EditEntry(r.frame, personForm(askback.PersonRequest{}, true)))
	}
	p, err := r.person(name)
	switch {
	case err != nil:
		return err
	case p.Source != askback.SourceAPI:
		return askback.ErrNotFound
	}
	form := personForm(
		askback.PersonRequest{Name: p.Name, Email: p.Email, Slack: p.Slack, TimeZone: p.TimeZone, Quiet: p.Quiet},
		false,
	)
	return s.render(w, r.Request, http.StatusOK, pages.EditEntry(r.frame, form))
}

// person returns the person with a name. It returns the zero value if there is no such person.
func (r request) person(name string) (askback.Person, error) {
	all, err := r.client.People(r.Context())
	if i := slices.IndexFunc(all, func(p askback.Person) bool { return p.Name == name }); err == nil && i >= 0 {
		return all[i], nil
	}
	return askback.Person{}, err
}

// editGroup shows the form for a group that was made here, or for a new group.
func (s *site) editGroup(w http.ResponseWriter, r request) error {
	if s.auth.May(r.principal, access.ActDirectory) != nil {
		return errAdminOnly
	}
	name := r.URL.Query().Get("name")
	if name == "" {
		return s.render(w, r.Request, http.StatusOK, pages.EditEntry(r.frame, groupForm("", "", true)))
	}
	all, err := r.client.Groups(r.Context())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(g askback.Group) bool { return g.Name == name && g.Source == askback.SourceAPI })
	if i < 0 {
		return askback.ErrNotFound
	}
	return s.render(w, r.Request, http.StatusOK,
		pages.EditEntry(r.frame, groupForm(name, strings.Join(all[i].People, ", "), false)))
}

// readEntry returns the fields of a form for a person or a group. It returns errAdminOnly if the person may
// not change the directory.
func (s *site) readEntry(w http.ResponseWriter, r request) (url.Values, error) {
	if s.auth.May(r.principal, access.ActDirectory) != nil {
		return nil, errAdminOnly
	}
	values, err := readValues(w, r.Request, maxRouteForm)
	if err != nil {
		return nil, err
	}
	if a := values.Get("action"); a != pages.SaveEntry && a != pages.RemoveEntry {
		return nil, errForm
	}
	return values, s.reauthenticate(r)
}

// changePerson saves or removes a person. Without https, a browser sends the cookie to every port of the
// host, so another program may have the cookie. A person with an address can log in for longer than this
// log-in lasts. Without https, the form therefore sets no address (T28).
func (s *site) changePerson(w http.ResponseWriter, r request) error {
	values, err := s.readEntry(w, r)
	if err != nil {
		return err
	}
	field := func(name string) string { return strings.TrimSpace(string(text(values, name))) }
	if values.Get("action") == pages.RemoveEntry {
		return s.removePerson(w, r, values.Get("name"))
	}
	p := askback.PersonRequest{
		Name: field("name"), Email: field("email"), Slack: field("slack"), TimeZone: field("time_zone"),
		Quiet: field("quiet"),
	}
	form := personForm(p, values.Has("new"))
	before, err := r.person(p.Name)
	switch {
	case err != nil:
		return err
	case form.New && before.Name != "" && before.Source != askback.SourceToken:
		return s.entryFailed(w, r, form, "name", "A person with this name exists already.")
	case !form.New && before.Source != askback.SourceAPI:
		return s.renderPeople(w, r, http.StatusConflict, "", removedMeanwhile)
	case !login.Secure(r.Request) && p.Email != before.Email:
		return s.entryFailed(w, r, form, "email", plainAddress)
	case !login.Secure(r.Request) && p.Slack != before.Slack:
		return s.entryFailed(w, r, form, "slack", plainAddress)
	}
	_, err = r.client.PutPerson(r.Context(), p)
	return s.entrySaved(w, r, form, "person", err)
}

// removedMeanwhile is the reason why the form for a person or a group saves nothing. The form must not
// restore an entry that another admin has removed since the form was opened.
const removedMeanwhile = "This entry was removed after the form was opened, or is in the settings file now."

// plainAddress is the reason why a form sets no address.
const plainAddress = "Without https, addresses are not changed here, because they let people log in. Use the " +
	"settings file or the API."

func (s *site) removePerson(w http.ResponseWriter, r request, name string) error {
	removed, err := r.client.DeletePerson(r.Context(), name)
	if err == nil && removed.Warning != "" {
		return s.renderPeople(w, r, http.StatusOK, safetext.Line("Removed. But "+removed.Warning+".").String(), "")
	}
	return s.entryRemoved(w, r, err)
}

// changeGroup saves or removes a group.
func (s *site) changeGroup(w http.ResponseWriter, r request) error {
	values, err := s.readEntry(w, r)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(strings.TrimSpace(values.Get("name")), "@")
	if values.Get("action") == pages.RemoveEntry {
		_, err := r.client.DeleteGroup(r.Context(), name)
		return s.entryRemoved(w, r, err)
	}
	form := groupForm(name, values.Get("people"), values.Has("new"))
	groups, err := r.client.Groups(r.Context())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(groups, func(g askback.Group) bool { return g.Name == name })
	switch {
	case form.New && i >= 0:
		return s.entryFailed(w, r, form, "name", "A group with this name exists already.")
	case !form.New && (i < 0 || groups[i].Source != askback.SourceAPI):
		return s.renderPeople(w, r, http.StatusConflict, "", removedMeanwhile)
	}
	_, err = r.client.PutGroup(r.Context(), name, view.SplitNames(values.Get("people")))
	return s.entrySaved(w, r, form, "group", err)
}

// entryRemoved sends the page after a removal, or the reason why nothing was removed.
func (s *site) entryRemoved(w http.ResponseWriter, r request, err error) error {
	var invalid askback.Invalid
	switch {
	case errors.Is(err, askback.ErrNotFound):
		return s.renderPeople(w, r, http.StatusNotFound, "", "It was removed before.")
	case errors.As(err, &invalid):
		return s.renderPeople(w, r, http.StatusConflict, "", safetext.Line(sentence(invalid[0].Detail)).String())
	case err != nil:
		return err
	}
	http.Redirect(w, r.Request, pages.PeoplePath+"?done=removed", http.StatusSeeOther)
	return nil
}

// entrySaved sends the page after a form was saved, or the form with its problems.
func (s *site) entrySaved(w http.ResponseWriter, r request, form pages.EntryForm, what string, err error) error {
	var invalid askback.Invalid
	switch {
	case errors.As(err, &invalid):
		for _, p := range invalid {
			field, _, _ := strings.Cut(strings.TrimPrefix(p.Pointer, "/"), "/")
			// the problem is the name, which the API has in its address and not in the body
			if field == "" && form.New {
				field = "name"
			}
			known := field == "name" && form.New ||
				slices.ContainsFunc(form.Fields, func(f pages.EntryField) bool { return f.Name == field })
			if !known {
				field = ""
			}
			form.Problems = append(form.Problems, view.Problem{Field: field, Text: safetext.Line(sentence(p.Detail))})
		}
		return s.render(w, r.Request, http.StatusUnprocessableEntity, pages.EditEntry(r.frame, form))
	case err != nil:
		return err
	}
	http.Redirect(w, r.Request, pages.PeoplePath+"?done="+what, http.StatusSeeOther)
	return nil
}

// entryFailed sends the form again with a problem of the field.
func (s *site) entryFailed(w http.ResponseWriter, r request, form pages.EntryForm, field, problem string) error {
	form.Problems = []view.Problem{{Field: field, Text: safetext.Line(problem)}}
	return s.render(w, r.Request, http.StatusUnprocessableEntity, pages.EditEntry(r.frame, form))
}
