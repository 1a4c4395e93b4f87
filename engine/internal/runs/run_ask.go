package runs

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
)

// openAsk opens the ask of a call, unless the run no longer waits for the ask. If the request is not valid,
// the error is the result of the call, so that the model can correct the request.
func (e *Service) openAsk(ctx context.Context, f store.Effect, r *runRecord, w runWork) error {
	call, ok, err := e.callOf(ctx, r, conversation.Awaiting, w.Call)
	if err != nil {
		return err
	}
	if !ok {
		return e.finish(ctx, f, "", nil)
	}
	c := e.hosted(r.fixed.Agent)
	n, about := &txn.NewAsk{}, ""
	request, wrong := e.Runner.Question(r.fixed.Run, call)
	if wrong == nil {
		if err := e.explain(ctx, r.row.ID, w.Call, &request); err != nil {
			return err
		}
		request.Agent, request.SessionID, request.StartedBy = r.fixed.Agent, r.row.ID, r.fixed.StartedBy
		if err := e.preferCallback(ctx, r.row.ID, &request); err != nil {
			return err
		}
		if about, err = e.subject(ctx, r.row.ID); err != nil {
			return err
		}
		if n.Directed, err = e.directorsFor(ctx, r); err != nil {
			return err
		}
		err := e.Asker.Prepare(ctx, c.Who, n, request)
		if wrong = n.Late; wrong == nil && errors.As(err, new(askback.Invalid)) {
			wrong = err
		} else if err != nil {
			return err
		}
	}
	if wrong != nil {
		return e.finish(ctx, f, f.Subject, func(t *txn.Tx, r *runRecord) error {
			return r.step(t, conversation.AskSettled{
				Call: w.Call, Text: "No one was asked: " + wrong.Error(), IsError: true, At: t.Now(),
			})
		})
	}
	n.Asked.Call, n.Asked.Ask.Path, n.Asked.Ask.SessionTitle = w.Call, r.fixed.Path, about
	done, err := e.Reserve(ctx, c.Who.Name)
	if err != nil {
		return err
	}
	var opened *askback.Ask
	err = e.finish(ctx, f, f.Subject, func(t *txn.Tx, r *runRecord) (err error) {
		opened = nil
		if _, ok := r.open(conversation.Awaiting, w.Call); !ok {
			return nil
		}
		opened, err = e.Asker.Open(t, c.Who, n)
		return err
	})
	done(err == nil && opened != nil && !opened.Settled() && !opened.Repeated)
	return err
}

// directorsFor returns the directors of a run if a route forbids self-approval, because they must not settle
// the asks of the run. Otherwise it returns nil.
func (e *Service) directorsFor(ctx context.Context, r *runRecord) ([]string, error) {
	s, err := e.Current(ctx)
	if err != nil || !slices.ContainsFunc(s.Routes, func(r askback.Route) bool { return r.NoSelfApproval }) {
		return nil, err
	}
	return e.directors(ctx, r)
}

// directors returns the sorted names of the owners and the starters of a run and of its ancestors. It also
// returns the names of the people who wrote to these runs.
func (e *Service) directors(ctx context.Context, r *runRecord) (names []string, err error) {
	for {
		row, err := e.Store.Read(ctx, txn.KindSession, r.row.ID)
		if err != nil {
			return nil, txn.FromStore(err)
		}
		history, err := e.runHistory(ctx, r.row.ID)
		if err != nil {
			return nil, err
		}
		names = append(names, row.Owner, r.fixed.StartedBy)
		for _, m := range append(conversation.Messages(history), r.state.Queued...) {
			names = append(names, m.By)
		}
		if r.fixed.Parent == "" {
			break
		}
		if r, err = e.readRun(ctx, r.fixed.Parent); err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" }), nil
}

// resumeRun steps a run with the outcome of its ask. If the approval can no longer be used, the outcome for
// the model is a refusal.
func (e *Service) resumeRun(ctx context.Context, f store.Effect, r *runRecord) error {
	a, err := e.Fetch(ctx, f.Subject)
	if err != nil {
		return err
	}
	n := a.State.Call
	call, ok, err := e.callOf(ctx, r, conversation.Awaiting, n)
	if err != nil {
		return err
	}
	if !ok {
		return e.finish(ctx, f, "", nil)
	}
	out := e.Runner.Outcome(r.fixed.Run, call, a.State.Ask)
	out.Call, out.AskID = n, a.State.Ask.ID
	resume := func(t *txn.Tx, r *runRecord) error {
		out.At = t.Now()
		return r.step(t, out)
	}
	err = e.finish(ctx, f, f.Stream, func(t *txn.Tx, r *runRecord) error {
		if err := deliverOutcome(t, f.Subject, call); err != nil {
			return err
		}
		if err := resume(t, r); err != nil {
			return err
		}
		return t.PerformEffects() // PerformEffects returns an error if the grant was revoked
	})
	if why := refusal(err); why != "" {
		out.Approved, out.IsError, out.Text = false, true, "This is not approved, because "+
			why+". Do not do this. Ask again if it is still needed."
		return e.finish(ctx, f, f.Stream, resume)
	}
	return err
}

// deliverOutcome records that a run has the outcome of its ask. An approval of an action that the model
// described is consumed now (F7). An approval of a tool call is consumed when the tool runs. Other outcomes
// are acknowledged.
func deliverOutcome(t *txn.Tx, id string, call conversation.Call) error {
	a, err := t.AskNow(id)
	if err != nil {
		return err
	}
	switch o := a.State.Ask.Outcome; {
	case !o.Approved():
		return a.Step(t, lifecycle.Acked{At: t.Now()})
	case call.Kind == conversation.KindAsk:
		return a.Step(t, lifecycle.Consumed{Digest: o.Digest, At: t.Now()})
	}
	return nil
}

// explain adds a context to a request that has no context, because people need it before they decide. For the
// approval of a call, the context is the model's text with the call. For questions, it is the payload of the
// session, if the payload is an object.
func (e *Service) explain(ctx context.Context, id string, n int, q *askback.Request) (err error) {
	switch {
	case q.Confirmation != nil && q.Confirmation.Context == "":
		explained := *q.Confirmation
		explained.Context, err = e.textBefore(ctx, id, n)
		q.Confirmation = &explained
	case q.Confirmation == nil && len(q.Context) == 0:
		row, err := e.Store.Read(ctx, txn.KindSession, id)
		if err != nil {
			return txn.FromStore(err)
		}
		s, err := txn.DecodeSession(row)
		if p := bytes.TrimLeft(s.Session.Payload, " \t\r\n"); err == nil && len(p) <= limits.MaxContext &&
			bytes.HasPrefix(p, []byte("{")) {
			q.Context = p
		}
		return err
	}
	return err
}

// textBefore returns the text of the message that has a call, limited by limitContext. It returns "" if there
// is no such message.
func (e *Service) textBefore(ctx context.Context, id string, n int) (string, error) {
	found := false
	for before := int64(0); ; {
		rows, err := e.Store.Recent(ctx, id, before, txn.HistoryChunk)
		if err != nil {
			return "", txn.FromStore(err)
		}
		for _, row := range rows {
			before = row.Seq
			kind := conversation.EventType(row.Type)
			if kind != conversation.EventToolInput && kind != conversation.EventMessage {
				continue
			}
			h, ok := e.DecodeEvent(row)
			if found = found ||
				ok && kind == conversation.EventToolInput && h.Call == n; found && kind == conversation.EventMessage {
				return limitContext(h.Text), nil
			}
		}
		if len(rows) < txn.HistoryChunk {
			return "", nil
		}
	}
}

// limitContext returns the text, or its end if it is too long for a context: the reason for a call is close
// to the call.
func limitContext(text string) string {
	if text = strings.TrimSpace(text); len(text) <= limits.MaxContext {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-limits.MaxContext+len("…"):], "")
}
