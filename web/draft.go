package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A draft contains the fields of a form that a person has filled in and not sent, by name.
type draft struct {
	Form url.Values `json:"form,omitempty"`
}

// saveDraft saves the form of an ask as it is filled in, or discards the draft on request. The script of the
// page sends the form while the person types. If the ask is settled, saveDraft has no effect.
func (s *site) saveDraft(w http.ResponseWriter, r request) error {
	a, err := r.client.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	values, err := readValues(w, r.Request, maxForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	if values.Has("discard") {
		if err := r.client.SaveDraft(r.Context(), a.ID, json.RawMessage("{}")); err != nil &&
			!errors.Is(err, askback.ErrSettled) {
			return err
		}
		http.Redirect(w, r.Request, askback.PagePath(a.ID), http.StatusSeeOther)
		return nil
	}
	if err := s.keep(r, view.Of(a), values); err != nil && !errors.Is(err, askback.ErrSettled) {
		var invalid askback.Invalid
		if errors.As(err, &invalid) {
			err = errTooLarge
		}
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// keep saves the fields of a form as the draft of an ask. If the form is empty, it discards the draft.
func (s *site) keep(r request, a view.Ask, values url.Values) error {
	sent, err := submissionOf(values, a)
	if err != nil {
		return err
	}
	var d draft
	if !sent.form.Empty() {
		d.Form = url.Values{}
		for name, value := range values {
			if isDraftField(name) {
				d.Form[name] = value
			}
		}
	}
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return r.client.SaveDraft(r.Context(), a.ID.String(), b)
}

// isDraftField reports whether a field of a form is part of a draft. The word that approves a dangerous call
// and the pressed buttons are not.
func isDraftField(name string) bool {
	return name != "action" && name != "then" && name != "word"
}

// draftOf returns the form of an ask as this person last filled it in. If there is no readable draft, or if
// the person may not decide the ask, the form is empty.
func (s *site) draftOf(r request, a view.Ask) view.Form {
	if a.Barred.String() != "" {
		return view.NewForm(a)
	}
	raw, err := r.client.Draft(r.Context(), a.ID.String())
	var d draft
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		s.log.Warn("reading a draft failed", "ask", a.ID.String(), "error", err)
	}
	if len(d.Form) == 0 {
		return view.NewForm(a)
	}
	d.Form.Del("action")
	kept, err := submissionOf(d.Form, a)
	if err != nil || kept.form.Empty() {
		return view.NewForm(a)
	}
	kept.form.Restored = true
	return kept.form
}
