package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// snoozeDelay is the age of an event after which its ask may have been snoozed on another page. Such an event
// is sent when a page reconnects.
const snoozeDelay = 10 * time.Second

// snooze hides an ask from the list of the person until a time, or ends a snooze. If the ask is settled, it
// redirects to the page of the ask.
func (s *site) snooze(w http.ResponseWriter, r request) error {
	sent, err := readValues(w, r.Request, maxEmptyForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	id := r.PathValue("id")
	if sent.Get("until") == pages.SnoozeEnd {
		if err := r.client.Unsnooze(r.Context(), id); err != nil {
			return err
		}
		http.Redirect(w, r.Request, s.unsnoozedPath(r, id, sent.Get("then")), http.StatusSeeOther)
		return nil
	}
	typed := sent.Get("until")
	if typed == pages.SnoozeOwn {
		typed = sent.Get("at")
	}
	until, err := view.ParseSnooze(typed, s.now(), s.zoneOfForm(sent.Get("zone"), r))
	if err != nil {
		return errSnoozeTime
	}
	_, err = r.client.Snooze(r.Context(), id, until)
	var invalid askback.Invalid
	switch {
	case errors.Is(err, askback.ErrSettled):
		http.Redirect(w, r.Request, askback.PagePath(id), http.StatusSeeOther)
		return nil
	case errors.As(err, &invalid):
		if invalid[0].Pointer == "" {
			return errSnoozes
		}
		return errSnoozeTime
	case err != nil:
		return err
	}
	http.Redirect(w, r.Request, s.nextPath(r, id, sent.Get("then")), http.StatusSeeOther)
	return nil
}

// The errors of forms that snooze an ask.
var (
	errSnoozeTime = errors.New("an ask can be snoozed until a time in the next year")
	errSnoozes    = errors.New("this person has snoozed too many asks")
)

// unsnoozedPath returns the address of the page that is shown after a person ended the snooze of the ask id.
// If then is "list", this is the list, and otherwise the page of the ask.
func (s *site) unsnoozedPath(r request, id, then string) string {
	filter := pages.FilterOf(r.URL.Query())
	path := "/"
	if then != "list" {
		filter.Snoozed, path = "", askback.PagePath(id)
	}
	return path + "?" + filter.Values().Encode()
}

// doneSnoozing returns the notice that the person has snoozed an ask, or nil if the ask is not hidden now.
func (s *site) doneSnoozing(r request, a askback.Ask) *pages.Done {
	snooze, err := r.client.Snoozed(r.Context(), a.ID)
	if err != nil || !snooze.Hides(s.now()) {
		return nil
	}
	return &pages.Done{
		Path: askback.PagePath(a.ID), Sentence: "Snoozed until " + r.frame.Until(snooze.Until),
		Detail: view.Brief(a).Headline(),
	}
}

func untilOf(snoozes []askback.Snooze) map[string]time.Time {
	out := make(map[string]time.Time, len(snoozes))
	for _, one := range snoozes {
		if !one.Until.IsZero() {
			out[one.AskID] = one.Until
		}
	}
	return out
}

// readSnoozes sets the number of hidden asks, the time when the next hidden ask comes back, and the snooze of
// the ask on the page.
func (s *site) readSnoozes(r request, i *pages.Inbox) error {
	hidden, err := s.hidden(r.Context(), r)
	if err != nil {
		return err
	}
	i.Snoozes.Count, i.Snoozes.Next = hidden.count(), hidden.next()
	if i.Current == "" {
		return nil
	}
	one, err := r.client.Snoozed(r.Context(), i.Current)
	if err == nil && !one.Until.IsZero() {
		i.Snoozes.Until[i.Current] = one.Until
	}
	return err
}
