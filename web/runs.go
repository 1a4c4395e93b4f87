package web

import (
	"bytes"
	"errors"
	"net/http"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/reports"
)

// hostedMoments returns the timeline of a hosted session, and reports whether there are older events.
func (s *site) hostedMoments(
	r request, one askback.Session, asks []askback.Ask, late []reports.LateAnswer, sent []askback.Delivery,
) (all []view.Moment, older bool, err error) {
	events, older, err := s.engine.Reports(r.principal).SessionHistory(r.Context(), one.ID)
	if err != nil {
		return nil, false, err
	}
	children, err := s.engine.Reports(r.principal).Children(r.Context(), one.ID)
	if err != nil {
		return nil, false, err
	}
	return view.RunTimeline(one, events, children, asks, late, view.DeliveriesOf(sent, s.titles)), older, nil
}

// openAsk puts the open ask of a hosted agent on the page of its session. A hosted agent has at most one open
// ask, because it waits for the outcome.
//
// If the context of the ask is the payload of the session, it is left out: the timeline begins with the payload.
func (s *site) openAsk(r request, t *pages.SessionPage, one askback.Session, asks []askback.Ask) {
	i := slices.IndexFunc(asks, func(a askback.Ask) bool { return !a.Settled() })
	if i < 0 {
		return
	}
	open := asks[i]
	if bytes.Equal(bytes.TrimSpace(open.Context), bytes.TrimSpace(one.Payload)) {
		open.Context = nil
	}
	drawn := view.For(open, r.principal.Name)
	drawn.Earlier = view.FindEarlier(r.Context(), r.client, open, r.principal.Name)
	t.Open, t.Form = &drawn, s.draftOf(r, drawn)
}

// maxRunForm is the limit in bytes for a form with a message.
const maxRunForm = 1 << 20

// sendMessage sends a message of the person to a session, and redirects to the page of the session.
func (s *site) sendMessage(w http.ResponseWriter, r request) error {
	form, err := readValues(w, r.Request, maxRunForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	id, text := r.PathValue("id"), form.Get("text")
	_, err = r.client.Send(r.Context(), id, askback.SendMessage{Text: text})
	if problem := problemOf(err); problem != "" {
		return s.renderSession(w, r, http.StatusUnprocessableEntity, problem, text)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r.Request, pages.SessionsPath+"/"+id, http.StatusSeeOther)
	return nil
}

// resume starts the next turn of a session, and redirects to the page of the session.
func (s *site) resume(w http.ResponseWriter, r request) error {
	if _, err := readValues(w, r.Request, maxEmptyForm); err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	_, err := r.client.Send(r.Context(), r.PathValue("id"), askback.ResumeSession{})
	if problem := problemOf(err); problem != "" {
		return s.renderSession(w, r, http.StatusUnprocessableEntity, problem, "")
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r.Request, pages.SessionsPath+"/"+r.PathValue("id"), http.StatusSeeOther)
	return nil
}

// cancelRun ends the turn of a session, or the whole session. It redirects to the page of the session.
func (s *site) cancelRun(w http.ResponseWriter, r request) error {
	form, err := readValues(w, r.Request, maxRunForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	var cmd askback.Command
	switch form.Get("what") {
	case "turn":
		cmd = askback.EndTurn{}
	case "session":
		cmd = askback.EndSession{}
	default:
		return errForm
	}
	if _, err := r.client.Send(r.Context(), r.PathValue("id"), cmd); err != nil && !errors.Is(err, askback.ErrEnded) {
		return err
	}
	http.Redirect(w, r.Request, pages.SessionsPath+"/"+r.PathValue("id"), http.StatusSeeOther)
	return nil
}

// startPage shows the form that starts a hosted agent. If the demo is the only agent, the form contains the
// task of the demo, because the demo does no other task.
func (s *site) startPage(w http.ResponseWriter, r request) error {
	p := pages.StartPage{Agent: r.URL.Query().Get("agent")}
	if all, err := r.client.HostedAgents(r.Context()); err == nil && len(all) == 1 && all[0].Name == demo.Name {
		p.Prompt = demo.Prompt
	}
	return s.renderStart(w, r, http.StatusOK, p)
}

// renderStart sends the form that starts a hosted agent. It returns an error if the person may not start
// agents.
func (s *site) renderStart(w http.ResponseWriter, r request, status int, p pages.StartPage) error {
	agents, err := r.client.HostedAgents(r.Context())
	if err != nil {
		return err
	}
	p.Agents = view.OfHostedAgents(agents)
	return s.render(w, r.Request, status, pages.StartRun(r.frame, p))
}

// startRun starts a hosted agent, and redirects to the page of its session.
func (s *site) startRun(w http.ResponseWriter, r request) error {
	form, err := readValues(w, r.Request, maxRunForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	p := pages.StartPage{Agent: form.Get("agent"), Prompt: form.Get("prompt")}
	in := askback.SessionRequest{Agent: p.Agent, Prompt: p.Prompt, Title: view.RunTitle(p.Prompt)}
	if !in.Hosted() {
		p.Problem = "Write the task of the agent."
		return s.renderStart(w, r, http.StatusUnprocessableEntity, p)
	}
	one, err := r.client.Start(r.Context(), in)
	if p.Problem = problemOf(err); p.Problem != "" {
		return s.renderStart(w, r, http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r.Request, pages.SessionsPath+"/"+one.ID, http.StatusSeeOther)
	return nil
}

// problemOf returns the sentence for a person about an error that the form can correct, or "".
func problemOf(err error) string {
	var invalid askback.Invalid
	var later *askback.RetryError
	switch {
	case errors.As(err, &invalid) && len(invalid) > 0:
		return pages.Sentence(invalid[0].Detail)
	case errors.Is(err, askback.ErrEnded):
		return "This session has ended for good. The message was not sent."
	case errors.Is(err, askback.ErrAsksOpen):
		return "Answer the open asks of this session first. Then it can be resumed."
	case errors.Is(err, askback.ErrStartBy):
		return pages.Sentence(askback.ErrStartBy.Error())
	case errors.As(err, &later):
		return pages.Sentence(later.Error())
	}
	return ""
}
