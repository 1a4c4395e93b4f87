package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/reports"
)

// RunTimeline returns the history of the session of a hosted agent, newest last. It contains the result of
// [Timeline], the messages and calls of the events, and the sessions that the session started.
func RunTimeline(
	s askback.Session, events []askback.Event, children []askback.Session, asks []askback.Ask,
	late []reports.LateAnswer, deliveries []Delivery,
) []Moment {
	t := runTimeline{calls: map[string]int{}, asks: map[string]int64{}, settled: map[string]int64{}}
	for _, ev := range events {
		t.add(ev)
	}
	all := append(Timeline(s, asks, nil, late, deliveries), t.moments...)
	for _, c := range children {
		child := SessionOf(c)
		all = append(all, Moment{At: c.CreatedAt, Child: &child})
	}
	for i := range all {
		if a := all[i].Ask; a != nil && all[i].Settled {
			all[i].seq = t.settled[a.ID.String()]
		} else if a != nil && all[i].ClaimedBy.String() == "" && all[i].Late == nil && all[i].Delivery == nil {
			all[i].seq = t.asks[a.ID.String()]
		}
	}
	slices.SortStableFunc(all, func(a, b Moment) int {
		if c := cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()); c != 0 || a.seq == 0 || b.seq == 0 {
			return c
		}
		return cmp.Compare(a.seq, b.seq)
	})
	return withFollowers(all)
}

// A runTimeline collects the moments from the events of a run.
type runTimeline struct {
	run     Run
	moments []Moment
	calls   map[string]int   // index of the moment of a call
	asks    map[string]int64 // number of the event that opened an ask
	settled map[string]int64 // number of the event that settled an ask
}

func (t *runTimeline) add(ev askback.Event) {
	e := t.run.Read(ev)
	switch {
	case ev.Type == askback.EventQuestionPending:
		t.asks[e.AskID.String()] = ev.Seq
	case ev.Type.Settles():
		t.settled[e.AskID.String()] = ev.Seq
	case e.Message != nil:
		t.message(e)
	case e.Call != nil:
		t.call(e)
	}
}

// message adds a message. A message that was queued until calls had ended replaces its earlier entry.
func (t *runTimeline) message(e RunEvent) {
	m := *e.Message
	if e.Type == askback.EventMessage && !m.OfAgent {
		t.moments = slices.DeleteFunc(t.moments, func(q Moment) bool {
			return q.Queued && q.Text == m.Text && q.By == m.By
		})
		for i, q := range t.moments {
			if q.Call != nil {
				t.calls[q.Call.ID] = i
			}
		}
	}
	if m.Text.String() == "" {
		return // the message has only calls
	}
	one := Moment{At: e.At, seq: e.Seq, Text: m.Text, By: m.By, Queued: e.Type == askback.EventMessageQueued}
	one.OfProgram = !m.OfAgent && m.By.String() == ""
	if m.OfAgent || strings.Contains(m.Text.String(), "```") {
		one.Markdown = markdown.Parse(m.Text.String())
	}
	t.moments = append(t.moments, one)
}

// call adds a call when it starts, or when it ends without a start, and changes it when it ends. A call that
// asks people is shown by its ask. A call that sets the todos is shown by the todos, unless it failed.
func (t *runTimeline) call(e RunEvent) {
	c := e.Call
	if i, known := t.calls[c.ID]; known {
		t.moments[i].Call = c
		return
	}
	if e.Type == askback.EventToolInput || (c.Asks || c.SetsTodos) && !c.Failed {
		return
	}
	t.calls[c.ID] = len(t.moments)
	t.moments = append(t.moments, Moment{At: e.At, seq: e.Seq, Call: c})
}
