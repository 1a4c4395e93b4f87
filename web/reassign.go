package web

import (
	"errors"
	"net/http"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// maxReassignForm is the limit in bytes for the form that reassigns an ask.
const maxReassignForm = 64 << 10

// mayReassign reports whether the person may give others an open ask that this person sees.
func (s *site) mayReassign(r request, a askback.Ask) bool {
	action := access.ActReassign
	if a.Kind == askback.Confirm {
		action = access.ActHandOver
	}
	mine := a.MayDecide(r.principal.Name) || r.principal.Kind == askback.Admin
	return mine && s.auth.May(r.principal, action) == nil
}

// reassignPage shows the form that gives an ask to other people. If the ask is settled, its
// page shows that.
func (s *site) reassignPage(w http.ResponseWriter, r request) error {
	a, err := r.client.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.renderReassign(w, r, http.StatusOK, a, pages.ReassignForm{})
}

func (s *site) renderReassign(
	w http.ResponseWriter, r request, status int, a askback.Ask, form pages.ReassignForm,
) error {
	if a.Settled() {
		http.Redirect(w, r.Request, askback.PagePath(a.ID), http.StatusSeeOther)
		return nil
	}
	switch {
	case s.mayReassign(r, a):
	case !a.IsApprover(r.principal.Name):
		return askback.ErrNotApprover
	default:
		return askback.ErrSelfApproval
	}
	list, err := s.inbox(r, a.ID)
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
	form.Candidates = view.Candidates(groups, people, r.principal.Name)
	if len(a.Approvers) > 0 { // other people can be named, too, but cannot decide
		form.Candidates = view.Candidates(groupsWith(groups, a.Approvers), onlyPeople(people, a.Approvers),
			r.principal.Name)
	}
	form.Rest = restOf(a, r.principal.Name)
	return s.render(w, r.Request, status, pages.Reassign(r.frame, list, view.Of(a), form))
}

// onlyPeople returns the people who have one of the names.
func onlyPeople(people []askback.Person, names []string) []askback.Person {
	return slices.DeleteFunc(slices.Clone(people),
		func(p askback.Person) bool { return !slices.Contains(names, p.Name) })
}

// groupsWith returns the groups that contain at least one of the people with these names.
func groupsWith(groups []askback.Group, names []string) []askback.Group {
	return slices.DeleteFunc(slices.Clone(groups), func(g askback.Group) bool {
		return !slices.ContainsFunc(g.People, func(name string) bool { return slices.Contains(names, name) })
	})
}

// restOf returns the other people who may answer an ask. It returns nil if the ask does not name this person.
func restOf(a askback.Ask, name string) []view.Text {
	people := a.People()
	if !slices.Contains(people, name) {
		return nil
	}
	return view.Names(slices.DeleteFunc(slices.Clone(people), func(other string) bool { return other == name }))
}

// reassign gives an ask to the people and groups of the form, and redirects to the page of the ask. If this
// person may not see the ask any more, the reply is a page that names the new recipients.
func (s *site) reassign(w http.ResponseWriter, r request) error {
	values, err := readValues(w, r.Request, maxReassignForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	form := pages.ReassignForm{
		Chosen: values["to"], Others: text(values, "others"), Delegate: values.Get("how") == pages.DelegatePart,
	}
	after, err := r.client.Reassign(r.Context(), r.PathValue("id"),
		askback.Reassignment{To: form.Names(), Delegate: form.Delegate})
	var invalid askback.Invalid
	switch {
	case errors.As(err, &invalid):
		form.Problem = view.RawText(sentence(invalid[0].Detail)).Text()
		if len(form.Names()) == 0 {
			form.Problem = view.RawText("Choose at least one person or group.").Text()
		}
		a, err := r.client.Get(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		return s.renderReassign(w, r, http.StatusUnprocessableEntity, a, form)
	case errors.Is(err, askback.ErrSettled):
		http.Redirect(w, r.Request, askback.PagePath(after.ID), http.StatusSeeOther)
		return nil
	case err != nil:
		return err
	}
	if _, err := r.client.Get(r.Context(), after.ID); err == nil {
		list := pages.Inbox{Filter: pages.FilterOf(r.URL.Query())}
		query := list.Filter.Values()
		query.Set("reassigned", after.ID)
		http.Redirect(w, r.Request, askback.PagePath(after.ID)+"?"+query.Encode(), http.StatusSeeOther)
		return nil
	}
	list, err := s.inbox(r, "")
	if err != nil {
		return err
	}
	list.Current = after.ID // so that a phone shows the problem
	return s.render(w, r.Request, http.StatusOK, pages.Reassigned(r.frame, list, view.Of(after)))
}

// doneReassigning returns the notice that the person gave an ask to others, or nil if the person did not.
func doneReassigning(r request, id string) *pages.Done {
	if id == "" {
		return nil
	}
	a, err := r.client.Get(r.Context(), id)
	if err != nil || a.Settled() || a.ReassignedBy != r.principal.Name {
		return nil
	}
	return pages.DoneReassigning(view.Of(a))
}
