package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/web/pages"
)

// snoozeDelay is the age of an event after which its ask may have been snoozed on another
// page. Such an event is sent when a page reconnects.
const snoozeDelay = 10 * time.Second

// snooze hides an ask from the list of the person until a time, or shows it again. If the ask
// is settled, its page shows that.
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
	until, err := view.ParseSnooze(typed, s.now(), s.zone)
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

// unsnoozedPath returns the address of the page to show after a snooze was ended: the list, or
// the ask in the inbox.
func (s *site) unsnoozedPath(r request, id, then string) string {
	filter := pages.FilterOf(r.URL.Query())
	path := "/"
	if then != "list" {
		filter.Snoozed, path = "", askback.PagePath(id)
	}
	return path + "?" + filter.Values().Encode()
}

// doneSnoozing returns that the person has snoozed an ask, or nil if it is not hidden now.
func (s *site) doneSnoozing(r request, a askback.Ask) *pages.Done {
	snooze, err := r.client.Snoozed(r.Context(), a.ID)
	if err != nil || !snooze.Hides(s.now()) {
		return nil
	}
	return &pages.Done{
		Path: askback.PagePath(a.ID), Sentence: "Snoozed until " + view.FormatSnooze(snooze.Until, s.now(), s.zone), Detail: view.Brief(a).Headline(),
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

// readSnoozes sets how many asks are hidden now, when the next of them comes back, and the
// snooze of the ask that is open on the page.
func (s *site) readSnoozes(r request, i *pages.Inbox) error {
	count, next, err := s.hidden(r.Context(), r)
	if err != nil {
		return err
	}
	i.Snoozes.Count, i.Snoozes.Next = count, next
	if i.Current == "" {
		return nil
	}
	one, err := r.client.Snoozed(r.Context(), i.Current)
	if err == nil && !one.Until.IsZero() {
		i.Snoozes.Until[i.Current] = one.Until
	}
	return err
}

// hidden returns how many asks the person hides now, with a plus sign if there are more, and
// when the next of them comes back.
func (s *site) hidden(ctx context.Context, r request) (count string, next time.Time, err error) {
	n, q := 0, askback.Query{Snoozed: new(true), Limit: askback.MaxLimit}
	for {
		page, err := r.client.List(ctx, q)
		if err != nil {
			return "", next, err
		}
		n += len(page.Items)
		for _, one := range page.Snoozes {
			if next.IsZero() || one.Until.Before(next) {
				next = one.Until
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	if n > 0 {
		count = strconv.Itoa(n)
	}
	return count, next, nil
}

// liveSnoozes sends the rows of asks that come back while a page is open, until ctx ends or no
// ask is hidden. wake is when the next one comes back, in Unix milliseconds, as of when the
// page was shown. It is in the past if the page reconnects later.
func (s *site) liveSnoozes(ctx context.Context, out *liveWriter, r request, list pages.Inbox, wake string) {
	ms, err := strconv.ParseInt(wake, 10, 64)
	if err != nil {
		return
	}
	for next, pause := time.UnixMilli(ms), time.Duration(0); !next.IsZero(); pause = time.Second {
		timer := time.NewTimer(max(next.Sub(s.now()), pause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if next, err = s.sendWoken(ctx, out, r, list, next); err != nil {
			return
		}
	}
}

// sendWoken sends the rows of the asks that have come back since a time. It returns when the
// next one comes back; the zero time means that none is hidden.
func (s *site) sendWoken(ctx context.Context, out *liveWriter, r request, list pages.Inbox, since time.Time) (time.Time, error) {
	page, err := r.client.List(ctx, queryOf(list.Filter, s.now()))
	if err != nil {
		return time.Time{}, err
	}
	list.Snoozes.Until = untilOf(page.Snoozes)
	for _, a := range page.Items {
		row := view.Brief(a)
		until, ok := list.Snoozes.Until[a.ID]
		if !ok || until.Before(since) || !list.Filter.Selects(row) {
			continue
		}
		if err := s.writeRow(out, r, list, row, "", true); err != nil {
			return time.Time{}, err
		}
	}
	_, next, err := s.hidden(ctx, r)
	return next, err
}
