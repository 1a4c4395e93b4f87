package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// heldBar returns the answers that the person of a request can still undo. It returns no answers if the
// person may not answer, or if the answers cannot be read.
func (s *site) heldBar(r request) (bar pages.HeldBar) {
	if s.auth.May(r.principal, access.ActAnswer) != nil {
		return bar
	}
	held, err := s.engine.Held(r.Context(), r.principal)
	if err != nil {
		s.log.Warn("reading the answers that can be undone failed", "error", err)
	}
	done := r.URL.Query().Get("done")
	for _, a := range held {
		one := pages.HeldItem{Ask: view.Of(a), Focus: a.ID == done}
		one.Held, _ = one.Ask.HeldBy(safetext.Line(r.principal.Name))
		bar.Items = append(bar.Items, one)
	}
	return bar
}

// maxHeldEnded is the maximum number of answers whose results a page requests after the person can no longer
// undo them.
const maxHeldEnded = 100

// held sends the bar of a page again, with the results of the answers that the page shows.
func (s *site) held(w http.ResponseWriter, r request) error {
	shown := r.URL.Query()["ask"]
	for _, id := range shown[:min(len(shown), maxHeldEnded)] {
		if !slices.ContainsFunc(r.frame.Held.Items, func(i pages.HeldItem) bool { return i.Ask.ID.String() == id }) {
			r.frame.Held.Ended = append(r.frame.Held.Ended, s.heldEnd(r, id))
		}
	}
	return s.render(w, r.Request, http.StatusOK, pages.Held(r.frame))
}

// heldEnd returns the result of an answer that can no longer be undone.
func (s *site) heldEnd(r request, id string) pages.HeldEnd {
	a, err := r.client.Get(r.Context(), id)
	end := pages.HeldEnd{Path: askback.PagePath(id)}
	switch {
	case err != nil:
		end.Sentence, end.Path = safetext.Line("Not sent: you may no longer answer it."), ""
	case a.Outcome == nil && a.Voted(r.principal.Name),
		a.Outcome != nil && a.Outcome.Actor.Kind == askback.ActorPerson && a.Outcome.Actor.Name == r.principal.Name &&
			a.Outcome.Channel == askback.ChannelWeb:
		end.Sentence, end.Sent = safetext.Line("Sent."), true
	case a.Outcome == nil:
		end.Sentence = safetext.Line("Undone: nothing was sent.")
	default:
		end.Sentence = safetext.Line("Not sent: it was " + view.Of(a).Outcome.Sentence.String() + ".")
	}
	return end
}

// undo deletes the held answers that the form names. After one answer, it redirects to the page of the ask,
// whose form is filled in as before. After several answers, it redirects to the inbox.
func (s *site) undo(w http.ResponseWriter, r request) error {
	values, err := readValues(w, r.Request, maxDecideForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	all := values["ask"]
	if len(all) == 0 || len(all) > pages.MaxDecide {
		return errForm
	}
	result := "yes"
	for _, id := range all {
		_, err := r.client.Undo(r.Context(), id)
		switch {
		case errors.Is(err, askback.ErrSettled), errors.Is(err, askback.ErrSent),
			errors.Is(err, askback.ErrNotFound) && len(all) > 1:
			result = pages.UndoneLate
		case err != nil:
			return err
		}
	}
	next := "/"
	if len(all) == 1 {
		next = askback.PagePath(all[0])
	}
	http.Redirect(w, r.Request, next+"?undone="+result, http.StatusSeeOther)
	return nil
}

// liveHeld sends a message to an open page whenever the answers that the person can undo change, until ctx
// ends.
func (s *site) liveHeld(ctx context.Context, out *liveWriter, r request) {
	changed, stop := s.engine.WatchHeld()
	defer stop()
	type key struct {
		ask   string
		sends time.Time
	}
	keys := func() (all []key) {
		for _, i := range s.heldBar(r).Items {
			all = append(all, key{i.Ask.ID.String(), i.Held.SendsAt})
		}
		return all
	}
	for before := []key(nil); ; {
		now := keys() // if there are answers, a message is sent at the beginning, because the page may be older
		if !slices.Equal(before, now) && out.send("", "held", nil) != nil {
			return
		}
		before = now
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
