package terminal

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// maxBatch is the number of calls that are decided together, as on the page. A person would not read more.
const maxBatch = 100

// A batch is a list of calls that are shown and then decided. Each call gets a separate answer.
type batch struct {
	approve bool
	calls   []askback.Ask
	apart   int // number of selected asks that must be answered separately
	text    scroller
	armed   bool  // whether keys that decide work
	reason  field // reason of each answer
	former  field // reason before it was edited
	editing bool  // whether keys are text of the reason
	running bool
	results []batchResult
}

// A batchResult is the result for one call. If why is its zero value, the call was decided.
type batchResult struct {
	ask askback.Ask
	why string
}

type decidedMsg struct{ results []batchResult }

// apart is the sentence that lists the kinds of asks that are decided separately.
const apart = "questions, dangerous calls, calls with hidden characters, calls that others decide, and calls for " +
	"which you typed something are decided separately."

// startBatch shows the selected calls.
func (i *inbox) startBatch(approve bool) tea.Cmd {
	b := batch{approve: approve}
	for _, it := range i.items {
		switch {
		case !i.selected[it.ask.ID]:
		case it.open() && view.For(it.ask, i.options.Name).Together() && !i.hasTyped(it.ask.ID):
			b.calls = append(b.calls, it.ask)
		default:
			b.apart++
		}
	}
	if len(b.calls) == 0 {
		i.status = "None of the selected asks can be decided here: " + apart
		return nil
	}
	i.batch, i.mode = b, batching
	i.guard.appear(i.options.now())
	return i.after(i.guard.pause, armedMsg{})
}

// verb returns the verb for the action of the batch.
func (b *batch) verb() string {
	if b.approve {
		return "approve"
	}
	return "deny"
}

// rows returns the visible rows of the calls with their exact arguments or, after the decision, of the
// results.
func (b *batch) rows(f *frame, room int) []string {
	if b.results != nil {
		b.drawResults(f)
	} else {
		b.drawCalls(f)
	}
	return b.text.window(f, f.lines(), room)
}

func (b *batch) drawCalls(f *frame) {
	f.message(strings.ToUpper(b.verb()[:1]) + b.verb()[1:] + " " + view.Count(len(b.calls), "call") +
		"? Each gets a separate answer.")
	if b.apart > 0 {
		f.message(view.Count(b.apart, "selected ask") + " will not be decided: " + apart)
	}
	for n, a := range b.calls {
		v := view.Of(a)
		f.rule(fmt.Sprintf("%d of %d", n+1, len(b.calls)))
		f.asker(v)
		f.target(v.Confirmation)
		f.arguments(v.Confirmation)
	}
	f.rule("")
}

func (b *batch) drawResults(f *frame) {
	failed := 0
	for _, r := range b.results {
		if r.why != "" {
			failed++
		}
	}
	f.message(fmt.Sprintf("%d of %d calls were decided. The others:", len(b.results)-failed, len(b.results)))
	for _, r := range b.results {
		if v := view.Of(r.ask); r.why != "" {
			f.rule("")
			f.oneLine("agent", bold, v.From())
			f.oneLine("call", plain, callLine(v.Confirmation, nil))
			f.message(r.why)
		}
	}
	f.rule("")
}

// keys returns the keys of the batch in one sentence.
func (b *batch) keys() string {
	switch {
	case b.results != nil:
		return "Esc goes back to the list"
	case b.running:
		return "Sending …"
	case b.editing:
		return "Enter keeps it · Esc goes back"
	case b.text.unseen() > 0:
		return "Enter shows the rest · Esc goes back"
	case !b.armed:
		return "One moment …"
	}
	return fmt.Sprintf("Enter: %s %s · n reason for all · Esc goes back", b.verb(), view.Count(len(b.calls), "call"))
}

// pressInBatch handles a key while the calls of a batch, or their results, are shown.
func (i *inbox) pressInBatch(key, text string) tea.Cmd {
	b := &i.batch
	if b.editing {
		b.pressInReason(key, text)
		return nil
	}
	switch key {
	case "n":
		if b.editing = b.results == nil && !b.running; b.editing {
			b.former = b.reason
			b.reason.set(cmp.Or(b.reason.aside, b.reason.text()))
		}
	case "esc", "q", "u":
		if b.running {
			i.status = "The answers are being sent."
			return nil
		}
		i.mode = listing
	case "pgdown", "space":
		b.text.press("pgdown")
	case "pgup":
		b.text.press("pgup")
	case "enter":
		switch {
		case i.mode == decided:
			i.mode = listing
		case b.running:
		case !i.guard.live:
			i.guard.ignore()
			i.status = i.guard.notice()
		case b.text.unseen() > 0:
			b.text.press("pgdown")
		default:
			return i.runBatch()
		}
	}
	return nil
}

// pressInReason handles a key while the reason is typed.
func (b *batch) pressInReason(key, text string) {
	switch key {
	case "esc":
		typed := b.reason.text()
		b.reason, b.editing = b.former, false
		b.reason.aside = typed
	case "enter":
		b.editing = false
	case "alt+enter":
	default:
		if !b.reason.press(key) && text != "" {
			_ = b.reason.insert(text)
		}
	}
}

// runBatch decides each call. A call that cannot be decided does not affect the other calls.
func (i *inbox) runBatch() tea.Cmd {
	i.batch.running = true
	calls, decision, reason := i.batch.calls, askback.Deny, strings.TrimSpace(i.batch.reason.text())
	if i.batch.approve {
		decision = askback.Approve
	}
	for _, a := range calls {
		if it := i.find(a.ID); it != nil {
			it.sending = true
		}
	}
	return i.call(func() tea.Msg {
		var m decidedMsg
		for _, a := range calls {
			after, err := i.settle(a, Answered{askback.Decide(decision, reason)})
			r := batchResult{ask: a}
			if err != nil {
				r.why = whyNot(after, err)
			}
			if _, held := heldHere(after); after.Settled() || held {
				r.ask = after
			}
			m.results = append(m.results, r)
		}
		return m
	})
}

// takeDecided shows the results. If all calls were decided, it returns to the list.
func (i *inbox) takeDecided(m decidedMsg) tea.Cmd {
	now, failed := i.options.now(), 0
	var tick tea.Cmd
	for _, r := range m.results {
		if r.why != "" {
			failed++
		}
		it := i.find(r.ask.ID)
		if it != nil {
			it.sending = false
		}
		if _, held := heldHere(r.ask); it != nil && held {
			tick = i.hold(it, r.ask)
		}
		if it != nil && r.ask.Settled() {
			it.settle(r.ask, now)
			it.answered = r.why == ""
			delete(i.selected, r.ask.ID)
		}
	}
	i.batch.running, i.batch.results, i.batch.text, i.mode = false, m.results, scroller{}, decided
	if failed == 0 {
		i.mode = listing
		i.status = fmt.Sprintf("%s: %s.", map[bool]string{true: "Approved", false: "Denied"}[i.batch.approve],
			view.Count(len(m.results), "call"))
	}
	if it := i.find(i.current); it != nil && !it.settledAt.IsZero() {
		i.moveOn()
	}
	return tea.Batch(tick, i.after(leaveTime, leaveMsg{}))
}
