package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/text/view"
)

// list shows the inbox: the person's open asks, oldest first.
func (s *site) list(w http.ResponseWriter, r request) error {
	list, err := s.inbox(r, "")
	if err != nil {
		return err
	}
	list.Address = s.address(r.Request)
	return s.render(w, r.Request, http.StatusOK, pages.List(r.frame, list))
}

// plainHost matches the hosts that need no quotes in a shell command.
var plainHost = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

// address returns the address of the server for commands in a terminal. It returns "" if the address has
// characters that a shell changes.
func (s *site) address(r *http.Request) string {
	scheme, host, _ := strings.Cut(s.publicURL, "://")
	if s.publicURL == "" {
		if scheme, host = "http", r.Host; login.Secure(r) {
			scheme = "https"
		}
	}
	if !plainHost.MatchString(host) {
		return ""
	}
	return scheme + "://" + host
}

// rowsPath is the address of the rows for a page of the list.
const rowsPath = "/rows"

// rows sends a page of the list without a page around it. The links lead to asks of the whole list, not only
// of this page.
func (s *site) rows(w http.ResponseWriter, r request) error {
	i := pages.Inbox{Filter: pages.FilterOf(r.URL.Query())}
	if _, err := s.readList(r, &i); err != nil {
		return err
	}
	i.Filter.Cursor = ""
	return s.render(w, r.Request, http.StatusOK, pages.MoreRows(r.frame, i))
}

// inbox returns the list of open asks that the address of a page selects. current is the
// ask that is open on the page, or "".
func (s *site) inbox(r request, current string) (pages.Inbox, error) {
	values := r.URL.Query()
	i := pages.Inbox{Filter: pages.FilterOf(values), Current: current}
	after, err := s.readList(r, &i)
	if err != nil {
		return i, err
	}
	if err := s.readSnoozes(r, &i); err != nil {
		return i, err
	}
	if after != "" && i.Filter.Cursor == "" {
		i.Live = livePath + "?" + liveQuery(i, after, r.frame.Now)
	}
	if i.NoAlerts = s.auth.May(r.principal, access.ActContacts) != nil; !i.NoAlerts {
		i.PushKey = s.pushKey(r.Context())
	}
	if i.Done = s.done(r, values.Get("done")); i.Done == nil {
		i.Done = doneReassigning(r, values.Get("reassigned"))
	}
	if undone := values.Get("undone"); i.Done == nil && undone != "" {
		i.Done = pages.DoneUndoing(undone == pages.UndoneLate, r.URL.Path)
	}
	return i, nil
}

// readList reads and sorts the asks of a page of the list, with their snoozes. It returns the cursor in the
// stream of events up to which the list is complete.
func (s *site) readList(r request, i *pages.Inbox) (askback.Cursor, error) {
	page, err := r.client.List(r.Context(), queryOf(i.Filter, r.frame.Now))
	if err != nil {
		return "", err
	}
	for _, a := range page.Items {
		if v := view.BriefFor(a, r.principal.Name); i.Filter.Selects(v) {
			i.Asks = append(i.Asks, v)
		}
	}
	view.TellApart(view.References(i.Asks))
	i.Snoozes.Until = untilOf(page.Snoozes)
	i.Next = page.NextCursor
	i.Sort(r.frame.Now)
	return page.EventsCursor, nil
}

func queryOf(f pages.Filter, now time.Time) askback.Query {
	return askback.Query{
		Search: f.Search, Agent: f.Agent, Tag: f.Tag, SessionID: f.Session, Cursor: f.Cursor, Until: f.Before(now),
		Limit: askback.MaxLimit, Snoozed: new(f.Snoozed != ""),
	}
}

// done returns the person's action on an ask, so that the next page can confirm it. It returns nil if id is
// not an ask that this person settled or snoozed.
func (s *site) done(r request, id string) *pages.Done {
	if id == "" {
		return nil
	}
	a, err := r.client.Get(r.Context(), id)
	if err == nil && a.Outcome == nil {
		if _, held := a.HeldBy(r.principal.Name); held {
			return nil // the bar confirms the answer
		}
		if a.Voted(r.principal.Name) {
			return pages.DoneVoting(view.Of(a))
		}
		return s.doneSnoozing(r, a)
	}
	if err != nil || a.Outcome.Actor.Name != r.principal.Name {
		return nil
	}
	return pages.DoneOf(view.Of(a))
}

// nextPath returns the address of the page to show after the ask id was settled or snoozed. For "list", the
// page is the list. For the id of an open ask, it is that ask. For another value, it is the next open ask of
// the list, or the list if there is no such ask. For "", it is the ask itself. A script sends the id of the
// next ask in its list, because its list may have more pages and another order.
func (s *site) nextPath(r request, id, then string) string {
	list := pages.Inbox{Filter: pages.FilterOf(r.URL.Query())}
	values := list.Filter.Values()
	values.Set("done", id)
	switch {
	case then == "list":
		return "/?" + values.Encode()
	case s.isOpen(r, then):
		return askback.PagePath(then) + "?" + values.Encode()
	case then != "":
		if _, err := s.readList(r, &list); err != nil {
			break // the answer is saved, and its page shows that
		}
		if next := s.after(r, list, id); next != "" {
			return askback.PagePath(next) + "?" + values.Encode()
		}
		return "/?" + values.Encode()
	}
	return askback.PagePath(id)
}

// isOpen reports whether id is an open ask that the person does not hide.
func (s *site) isOpen(r request, id string) bool {
	if !strings.HasPrefix(id, "ask_") {
		return false
	}
	a, err := r.client.Get(r.Context(), id)
	if err != nil || a.Settled() {
		return false
	}
	if _, held := a.HeldBy(r.principal.Name); held {
		return false
	}
	snooze, err := r.client.Snoozed(r.Context(), id)
	return err == nil && !snooze.Hides(s.now())
}

// after returns the id of the open ask that follows the ask id in the list. If the ask id is the last ask, it
// returns the first ask. It skips asks that the person has answered and can still undo. It returns "" if the
// list has no other ask.
func (s *site) after(r request, list pages.Inbox, id string) string {
	held := func(v view.Ask) bool { _, held := v.HeldBy(r.frame.Name); return held }
	if a, err := r.client.Get(r.Context(), id); err == nil {
		order := list.Filter.ViewOrder()
		at := order.Place(view.Brief(a), r.frame.Now).Sort
		later := pages.Inbox{Filter: list.Filter} // asks of a further page, which are newer than the ask id
		later.Filter.Cursor = id
		if list.Next != "" {
			if _, err := s.readList(r, &later); err != nil {
				later.Asks = nil // the list has enough
			}
		}
		for _, v := range append(slices.Clip(list.Asks), later.Asks...) {
			if order.Place(v, r.frame.Now).Sort > at && !held(v) {
				return v.ID.String()
			}
		}
	}
	if i := slices.IndexFunc(list.Asks, func(v view.Ask) bool { return !held(v) }); i >= 0 {
		return list.Asks[i].ID.String()
	}
	return ""
}
