package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// decide shows the calls that a person selected. These are the calls in the address, or all calls of a
// session.
func (s *site) decide(w http.ResponseWriter, r request) error {
	values := r.URL.Query()
	d := pages.Decide{Filter: pages.FilterOf(values)}
	if session := values.Get("all"); session != "" {
		page, err := r.client.List(r.Context(), askback.Query{SessionID: session, Limit: pages.MaxDecide})
		if err != nil {
			return err
		}
		for _, a := range page.Items {
			d.Add(view.For(a, r.principal.Name))
		}
		d.More = page.NextCursor != ""
		return s.render(w, r.Request, http.StatusOK, pages.DecidePage(r.frame, d))
	}
	var asks []view.Ask
	seen := map[string]bool{}
	for _, id := range values["ask"] {
		if seen[id] {
			continue
		}
		if seen[id] = true; len(seen) > pages.MaxDecide {
			d.More = true
			break
		}
		switch a, err := r.client.Get(r.Context(), id); {
		case errors.Is(err, askback.ErrNotFound):
			d.Missing++
		case err != nil:
			return err
		default:
			asks = append(asks, view.For(a, r.principal.Name))
		}
	}
	view.TellApart(view.References(asks))
	for _, a := range asks {
		d.Add(a)
	}
	return s.render(w, r.Request, http.StatusOK, pages.DecidePage(r.frame, d))
}

// maxDecideForm is the limit in bytes for the form of decide: the ids, the digests, and a
// comment.
const maxDecideForm = 1 << 20

// decideAll decides each call of the form with a separate answer. A call that cannot be decided does not
// affect the other calls, and the page names that call.
func (s *site) decideAll(w http.ResponseWriter, r request) error {
	values, err := readValues(w, r.Request, maxDecideForm)
	if err != nil {
		return err
	}
	decision := map[string]askback.Decision{
		pages.Approve: askback.Approve, pages.Deny: askback.Deny,
	}[values.Get("action")]
	reason := string(text(values, "reason"))
	if decision == "" || len(values["ask"]) > pages.MaxDecide || askback.CheckReason(reason) != nil {
		return errForm
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	out := pages.Decided{Approve: decision == askback.Approve, Filter: pages.FilterOf(r.URL.Query())}
	status := http.StatusOK
	for _, value := range values["ask"] {
		id, digest, _ := strings.Cut(value, " ")
		result := s.decideOne(r, id, digest, askback.Decide(decision, reason))
		if !result.Done {
			status = http.StatusConflict
		}
		out.Results = append(out.Results, result)
	}
	r.frame.Held = s.heldBar(r)
	return s.render(w, r.Request, status, pages.DecidedPage(r.frame, out))
}

// decideOne decides a call if the digest of the call is digest, and if the call may be decided together with
// other calls.
func (s *site) decideOne(r request, id, digest string, answer askback.Answer) pages.DecideResult {
	a, err := r.client.Get(r.Context(), id)
	if err != nil {
		return pages.DecideResult{Why: s.whyNot(id, err)}
	}
	shown := pages.DecideResult{Ask: view.For(a, r.principal.Name)}
	switch {
	case a.Confirmation == nil:
		shown.Why = "This is a question. Open it to answer it."
	case digest == "" || digest != a.Confirmation.Digest:
		shown.Why = "The call is not the call that was shown to you. Open it to decide."
	case shown.Ask.Barred.String() != "":
		shown.Why = shown.Ask.Barred.String()
	case !shown.Ask.Together():
		shown.Why = "This call can be decided only on its own page. Open it."
	default:
		return s.sendDecision(r.Context(), r.client, id, answer, shown)
	}
	return shown
}

// sendDecision sends the answer to one call. The result has the outcome, or the reason why the answer had no
// effect.
func (s *site) sendDecision(
	ctx context.Context, client askback.Holder, id string, answer askback.Answer, shown pages.DecideResult,
) pages.DecideResult {
	after, err := client.Hold(ctx, id, answer)
	switch {
	case err == nil:
		return pages.DecideResult{Ask: view.Of(after), Done: true}
	case errors.Is(err, askback.ErrSettled) && after.Outcome != nil:
		shown.Ask = view.Of(after)
		shown.Why, shown.By = "It was settled before.", shown.Ask.Outcome.Sentence
	default:
		shown.Why = s.whyNot(id, err)
	}
	return shown
}

// whyNot returns the reason why a call was not decided, as a sentence for people. It logs errors of the
// server.
func (s *site) whyNot(id string, err error) string {
	switch failureOf(err).status {
	case http.StatusNotFound:
		return "This call does not exist, or you may not see it."
	case http.StatusForbidden, http.StatusUnauthorized:
		return "You may not decide this call."
	case http.StatusInsufficientStorage:
		return "The server's disk is full, and nothing was saved. Try again when there is space."
	}
	s.log.Error("saving one of several decisions failed", "ask", id, "error", err)
	return "The server could not save your decision. Try again in a moment."
}
