package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// end waits until no answer is held, and withdraws the ask if no person has answered it. It then compares the
// outcome with the outcome that the clients received. A held answer is sent even if no client is connected.
func (g *heldGame) end(ctx context.Context) {
	var a askback.Ask
	for {
		var err error
		a, _, err = call(ctx, g.clientPool.conn, g.ben.token,
			func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) { return c.Get(ctx, g.id) })
		if err != nil {
			g.clientPool.violate(lost, "%s: %v; held: %d", g.id, err, len(a.Held))
			return
		}
		if a.Settled() || len(a.Held) == 0 {
			break
		}
		if pause.For(ctx, 20*time.Millisecond) != nil {
			g.clientPool.violate(lost, "%s: an answer is held, and was never sent", g.id)
			return
		}
	}
	if !a.Settled() {
		var err error
		a, _, err = call(ctx,
			g.clientPool.conn, g.agent.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
				return c.Cancel(ctx, g.id, "no answer")
			})
		if err != nil && !errors.Is(err, askback.ErrSettled) {
			g.clientPool.violate(failed, "withdraw %s: %v", g.id, err)
			return
		}
	}
	g.learn(ctx, "end", a, nil)
	if by := a.Outcome.Actor.Name; a.Outcome.Actor.Kind == askback.ActorPerson && g.undone[by] {
		g.clientPool.violate(accepted, "%s: the answer of %s was undone, and then it was sent", g.id, by)
	}
	g.clientPool.record(ack{Op: opSettled, ID: g.id, Text: outcomeText(a.Outcome)})
}

// audit compares the history of each ask with the rules. An answer that is sent was held before or sent
// without a delay. No answer is undone after the outcome, and there is one outcome.
func (h *heldTest) audit(ctx context.Context) (bad []violation, err error) {
	db, err := sqlite.Open(h.path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all := map[string]*heldHistory{}
	for after := int64(0); ; {
		events, err := db.History(ctx, "", after, store.MaxList)
		if err != nil {
			return bad, err
		}
		for _, e := range events {
			after = e.Seq
			if isSessionEvent(e) {
				continue
			}
			if all[e.Subject] == nil {
				all[e.Subject] = &heldHistory{held: map[string]bool{}}
			}
			one, err := all[e.Subject].apply(e)
			if bad = append(bad, one...); err != nil {
				return bad, err
			}
		}
		if len(events) == 0 {
			break
		}
	}
	for id, one := range all {
		h.counts.add(one.counts)
		more, err := h.compare(ctx, db, id, one)
		if bad = append(bad, more...); err != nil {
			return bad, err
		}
	}
	return bad, nil
}

// A heldHistory is the state of an ask after its events so far.
type heldHistory struct {
	held    map[string]bool // the people who hold an answer; once the ask is settled, the people who held an answer
	settled string          // the type of the event that settled the ask
	counts  heldCounts
}

// apply adds an event. It returns violations if the event cannot follow the earlier events.
func (h *heldHistory) apply(e store.Event) (bad []violation, err error) {
	said, err := lifecycle.DecodeEvent(e.Type, e.Data)
	if err != nil {
		return nil, err
	}
	violate := func(f fault, what string) {
		bad = append(bad, violated(f, "%s: event %d, %s by %s, %s", e.Subject, e.Seq, e.Type, said.By, what))
	}
	switch t := said.Type; {
	case t == askback.EventQuestionPending:
		h.counts.asks++
	case t == askback.EventAnswerHeld:
		if h.settled != "" {
			violate(accepted, "is held after the outcome")
		}
		h.held[said.By] = true
		h.counts.held++
	case t == askback.EventAnswerUndone:
		if h.settled != "" || !h.held[said.By] {
			violate(accepted, "undoes what was sent, or what was not held")
		}
		delete(h.held, said.By)
	case t.Settles():
		if h.settled != "" {
			violate(duplicated, "follows "+h.settled)
		}
		h.settled = e.Type
	case t == askback.EventAnswerRefused:
		h.counts.late++
	}
	return bad, nil
}

// compare compares the record of an ask with its history and with the outcome that the clients received. It
// returns the differences as violations.
func (h *heldTest) compare(
	ctx context.Context, db *sqlite.Store, id string, one *heldHistory,
) (bad []violation, err error) {
	r, err := db.Read(ctx, kindAsk, id)
	if err != nil {
		return nil, err
	}
	s, err := lifecycle.DecodeAsk(columnsOf(r), r.Fixed, r.State)
	if err != nil {
		return nil, err
	}
	a := s.Ask
	if len(s.Held) > 0 || !a.Settled() || one.settled != "question_"+string(a.Status) {
		return []violation{violated(inconsistent, "%s is %s with %d held answers, and its "+
			"history says %q", id, a.Status, len(s.Held), one.settled)}, nil
	}
	if told := h.clientPool.ackLog.outcomes[id]; told != "" && told != outcomeText(a.Outcome) {
		bad = append(bad,
			violated(duplicated, "%s: a client was told %s, and stored is %s", id, told, outcomeText(a.Outcome)))
	}
	switch by := a.Outcome.Actor; {
	case by.Kind == askback.ActorPerson && by.Name == h.ana.name && !one.held[by.Name]:
		bad = append(bad, violated(accepted,
			"%s: the answer of %s is the outcome, and the history says that it was undone", id, by.Name))
	case by.Kind == askback.ActorPerson:
		h.counts.sent++
	case a.Status == askback.Cancelled:
		h.counts.withdrawn++
	case a.Status == askback.Expired:
		h.counts.expired++
		if len(one.held) > 0 {
			bad = append(bad, violated(lost, "%s expired although an answer was held", id))
		}
	}
	return bad, nil
}

func (c *heldCounts) add(d heldCounts) {
	c.asks, c.held, c.late = c.asks+d.asks, c.held+d.held, c.late+d.late
}

func (h *heldTest) report() report {
	c := h.counts
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{c.asks, "asks"},
		{c.held, "answers held"},
		{c.undone, "undone"},
		{c.sent, "sent"},
		{c.withdrawn, "withdrawn"},
		{c.expired, "expired"},
		{c.late, "late"},
	} {
		parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
	}
	return report{
		noun: "kills", what: "with answers that can be undone", n: h.kills, detail: strings.Join(parts, ", "),
		bad: h.bad,
	}
}
