package web

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// A hiddenAsks contains the asks that a person hides now. It maps the id of an ask to the end of its snooze.
type hiddenAsks map[string]time.Time

// count returns the number of asks, or "" if there are no asks.
func (h hiddenAsks) count() string {
	if len(h) == 0 {
		return ""
	}
	return strconv.Itoa(len(h))
}

// next returns the time when the next ask comes back, or the zero time if there are no asks.
func (h hiddenAsks) next() (next time.Time) {
	for _, until := range h {
		if next.IsZero() || until.Before(next) {
			next = until
		}
	}
	return next
}

// hidden returns the asks that the person hides now.
func (s *site) hidden(ctx context.Context, r request) (hiddenAsks, error) {
	all, q := hiddenAsks{}, askback.Query{Snoozed: new(true), Limit: askback.MaxLimit}
	for {
		page, err := r.client.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, one := range page.Snoozes {
			all[one.AskID] = one.Until
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return all, nil
		}
	}
}

// timeOf returns the time of a parameter in Unix milliseconds, or the zero time.
func timeOf(s string) time.Time {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// liveSnoozes keeps a list up to date until ctx ends. It removes asks that the person snoozes in another
// window or program, and adds asks whose snooze ends. The channel changed gets a value after each change of a
// snooze. The argument wake is the time when the first ask comes back, as of the rendering of the page. The
// time has passed if the page reconnects later.
func (s *site) liveSnoozes(
	ctx context.Context, out *liveWriter, r request, list pages.Inbox, changed <-chan struct{}, wake time.Time,
) {
	before, err := s.hidden(ctx, r)
	if err != nil {
		return
	}
	if err := s.sendHidden(ctx, out, r, list, before); err != nil { // snoozed after the page was shown
		return
	}
	for next, pause := wake, time.Duration(0); ; next, pause = before.next(), time.Second {
		timer := time.NewTimer(max(next.Sub(s.now()), pause))
		if next.IsZero() {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-changed:
			timer.Stop()
			next = time.Time{}
		case <-timer.C:
		}
		after, err := s.hidden(ctx, r)
		if err == nil {
			err = s.sendSnoozes(ctx, out, r, list, before, after, next)
		}
		if err != nil {
			return
		}
		before = after
	}
}

// sendHidden sends the ids of the hidden asks, which the list must not show, and their number. A list of
// snoozed asks gets all rows instead, if the page shows another number.
func (s *site) sendHidden(ctx context.Context, out *liveWriter, r request, list pages.Inbox, hidden hiddenAsks) error {
	if list.Filter.Snoozed != "" && list.Snoozes.Count != hidden.count() {
		return s.sendSnoozes(ctx, out, r, list, nil, hidden, time.Time{})
	}
	if list.Filter.Snoozed != "" || len(hidden) == 0 {
		return nil
	}
	list.Snoozes.Count = hidden.count()
	if err := s.sendSnoozeCount(ctx, out, list); err != nil {
		return err
	}
	for id := range hidden {
		if err := out.send("", "gone", []byte(id)); err != nil {
			return err
		}
	}
	return nil
}

// sendSnoozes sends the changes of a list. These are the ids of asks that leave the list, and the rows of
// asks that come back. The argument since is the end of the first snooze that the page does not know, or the
// zero time.
func (s *site) sendSnoozes(
	ctx context.Context, out *liveWriter, r request, list pages.Inbox, before, after hiddenAsks, since time.Time,
) error {
	begun, ended := minus(after, before), minus(before, after)
	if list.Filter.Snoozed != "" {
		begun, ended = ended, begun
	}
	list.Snoozes.Count = after.count()
	if err := s.sendSnoozeCount(ctx, out, list); err != nil {
		return err
	}
	for id := range begun {
		if err := out.send("", "gone", []byte(id)); err != nil {
			return err
		}
	}
	page, err := r.client.List(ctx, queryOf(list.Filter, s.now()))
	if err != nil {
		return err
	}
	list.Snoozes.Until = untilOf(page.Snoozes)
	for _, a := range page.Items {
		row := view.BriefFor(a, r.principal.Name)
		until, marked := list.Snoozes.Until[a.ID]
		_, back := ended[a.ID]
		if !back && (since.IsZero() || !marked || until.Before(since)) || !list.Filter.Selects(row) {
			continue
		}
		if err := s.writeRow(out, r, list, row, "", true); err != nil {
			return err
		}
	}
	return nil
}

// sendSnoozeCount sends the link to the snoozed asks, which shows their number.
func (s *site) sendSnoozeCount(ctx context.Context, out *liveWriter, list pages.Inbox) error {
	var b bytes.Buffer
	if err := pages.SnoozeCount(list).Render(ctx, &b); err != nil {
		return err
	}
	return out.send("", "", b.Bytes())
}

// minus returns the asks in a, without the asks in b.
func minus(a, b hiddenAsks) hiddenAsks {
	out := hiddenAsks{}
	for id, until := range a {
		if _, ok := b[id]; !ok {
			out[id] = until
		}
	}
	return out
}

// liveAge sends the rows of asks that become old enough for the filter by age, until ctx ends. shown is the
// time when the page was rendered.
func (s *site) liveAge(ctx context.Context, out *liveWriter, r request, list pages.Inbox, shown time.Time) {
	if list.Filter.Before(s.now()).IsZero() || shown.IsZero() {
		return
	}
	age := s.now().Sub(list.Filter.Before(s.now()))
	for from := shown.Add(-age); ; {
		q := queryOf(list.Filter, s.now())
		until := q.Until
		q.Since, q.Until, q.Cursor = from, time.Time{}, ""
		page, err := r.client.List(ctx, q)
		if err != nil {
			return
		}
		next := s.now().Add(age) // the time when a new ask is old enough
		list.Snoozes.Until = untilOf(page.Snoozes)
		for _, a := range page.Items {
			if !a.CreatedAt.Before(until) {
				next = a.CreatedAt.Add(age + time.Millisecond)
				break
			}
			if row := view.BriefFor(a, r.principal.Name); list.Filter.Selects(row) &&
				s.writeRow(out, r, list, row, "", true) != nil {
				return
			}
			from = a.CreatedAt.Add(time.Millisecond)
		}
		timer := time.NewTimer(max(next.Sub(s.now()), 0))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
