package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// An item is an ask in the list.
type item struct {
	ask       askback.Ask
	row       view.Ask
	place     view.Place
	back      bool          // whether the snooze of the ask has ended
	settledAt time.Time     // time when the inbox learned that the ask is settled; zero while it is open
	sending   bool          // whether an answer is being sent
	run       *view.Session // the session of the settled ask, or nil if it is not known
	answered  bool          // whether this person has settled the ask here
	held      view.Held     // answer that this person can still undo, or zero

	watchers    string // sentence about the other people who are looking at the ask, or ""
	rightToLeft bool   // whether the row has right-to-left text
}

// open reports whether the ask can be answered here.
func (it *item) open() bool { return it.settledAt.IsZero() && !it.sending && !it.isHeld() }

// order is the order of the list. The inbox in the browser has the same order.
var order view.Order

// leaveTime is the time that a settled ask stays in the list, as in the browser.
const leaveTime = 4 * time.Second

type leaveMsg struct{}

// takeList replaces the list, and shows which answers were sent or not sent. The selected ask stays in its
// row on the screen.
func (i *inbox) takeList(m loadedMsg) tea.Cmd {
	now, row := i.options.now(), i.rowOfCurrent()
	kept := map[string]*item{}
	for _, it := range i.items {
		kept[it.ask.ID] = it
	}
	var items []*item
	back := map[string]bool{}
	for _, s := range m.page.Snoozes {
		back[s.AskID] = !s.Hides(now)
	}
	for _, a := range m.page.Items {
		it := kept[a.ID]
		if it == nil {
			it = &item{}
		}
		delete(kept, a.ID)
		if it.settledAt.IsZero() { // if the ask is settled here, the list is older than the answer
			it.ask, it.row, it.back = a, view.Brief(a), back[a.ID]
			i.noteHeld(it)
			it.rightToLeft = hasRightToLeft(it.row.Line().String() + it.row.SmallPrint().String() + it.watchers)
			if p := i.pickers[a.ID]; p != nil {
				p.watchers = it.watchers
			}
		}
		items = append(items, it)
	}
	for _, a := range m.settled {
		it := kept[a.ID]
		if it != nil {
			it.run = m.runs[a.ID]
		}
		switch {
		case it == nil || !it.settledAt.IsZero():
		case it.isHeld():
			_ = i.settleHeld(it, a)
			i.status = "Not sent: it was " + view.Of(a).Status().String() + "."
			if it.answered {
				i.status = "Sent: " + view.Of(a).Status().String() + "."
			}
		default:
			it.settle(a, now)
		}
	}
	var leave tea.Cmd
	for id, it := range kept {
		if !it.settledAt.IsZero() || it.sending || id == i.current && i.hasTyped(id) {
			items = append(items, it)
			leave = i.after(leaveTime, leaveMsg{})
		}
	}
	i.more, i.loaded = m.page.NextCursor != "", true
	i.setItems(items, now, row)
	if it := i.find(i.current); it != nil && it.answered { // no other ask was open when this ask was answered
		i.moveOn()
	}
	return leave
}

// watchers returns a sentence about the other people who are looking at an ask, or "".
func (i *inbox) watchers(a view.Ask) string {
	a.Claims = slices.DeleteFunc(slices.Clone(a.Claims), func(c view.Claim) bool {
		return i.options.Name != "" && c.Name.String() == safetext.Line(i.options.Name).String()
	})
	return a.Watchers()
}

// settle records the outcome of an ask.
func (it *item) settle(a askback.Ask, now time.Time) {
	it.ask, it.settledAt, it.sending = a, now, false
	it.row.Outcome = view.Of(a).Outcome
	it.rightToLeft = it.rightToLeft || hasRightToLeft(it.row.Outcome.Sentence.String())
}

// rowOfCurrent returns the row of the selected ask in the part of the list on the screen.
func (i *inbox) rowOfCurrent() int { return i.lineOf(i.current) - i.first }

// setItems replaces the items of the list, and sorts them. The selected ask stays selected, in the given row
// of the screen. If the selected ask is gone, the ask at its position is selected.
func (i *inbox) setItems(items []*item, now time.Time, row int) {
	at := i.index()
	rows := make([]*view.Ask, len(items))
	for n, it := range items {
		it.place = order.Place(it.row, now)
		rows[n] = &it.row
	}
	view.TellApart(rows)
	slices.SortFunc(items, func(a, b *item) int { return cmp.Compare(a.place.Sort, b.place.Sort) })
	i.items = items
	if i.index() < 0 {
		i.current, i.inDetail = "", false
		if n := min(max(at, 0), len(items)-1); n >= 0 {
			for n > 0 && !items[n].settledAt.IsZero() {
				n--
			}
			i.current = items[n].ask.ID
		}
	} else if row >= 0 {
		i.first = i.lineOf(i.current) - row
	}
	for id := range i.selected {
		if it := i.find(id); it == nil || !it.settledAt.IsZero() {
			delete(i.selected, id)
		}
	}
}

// dropSettled removes the asks that were settled at least leaveTime ago, except the selected ask.
func (i *inbox) dropSettled() {
	now := i.options.now()
	i.setItems(slices.DeleteFunc(slices.Clone(i.items), func(it *item) bool {
		return it.ask.ID != i.current && !it.settledAt.IsZero() && now.Sub(it.settledAt) >= leaveTime
	}), now, i.rowOfCurrent())
}

func (i *inbox) index() int {
	return slices.IndexFunc(i.items, func(it *item) bool { return it.ask.ID == i.current })
}

func (i *inbox) find(id string) *item {
	for _, it := range i.items {
		if it.ask.ID == id {
			return it
		}
	}
	return nil
}

// move selects the n-th open ask after the selected ask. If n is negative, it selects an ask before the
// selected ask. If the selected ask is settled and the last ask in this direction, move goes in the other
// direction.
func (i *inbox) move(n int) {
	before := i.current
	i.step(n)
	if it := i.find(i.current); i.current == before && it != nil && !it.settledAt.IsZero() {
		i.step(cmp.Compare(0, n))
	}
	i.dropSettled()
}

func (i *inbox) step(n int) {
	at := i.index()
	for step := cmp.Compare(n, 0); n != 0; n -= step {
		next := at + step
		for next >= 0 && next < len(i.items) && !i.items[next].settledAt.IsZero() {
			next += step
		}
		if next < 0 || next >= len(i.items) {
			break
		}
		at = next
	}
	if at >= 0 && at < len(i.items) {
		i.current = i.items[at].ask.ID
	}
}

// moveOn selects the next open ask after an ask that was settled here, or otherwise the previous open ask.
func (i *inbox) moveOn() {
	before := i.current
	i.move(1)
	if i.current == before {
		i.inDetail = false
	}
}

// openCount returns the number of open asks.
func (i *inbox) openCount() (n int) {
	for _, it := range i.items {
		if it.settledAt.IsZero() {
			n++
		}
	}
	return n
}

// A listLine is a row of the list: the heading of a group, or one of the rows of an ask.
type listLine struct {
	heading string
	item    *item
	row     int
}

// rows returns the number of rows that an ask has in the list.
func (it *item) rows() int {
	if it.watchers != "" && it.row.Outcome == nil {
		return 3
	}
	return 2
}

// listMargin is the number of columns of the list for the words of Askback: the cursor, the checkbox, and the
// age or the mark of the ask.
const listMargin = 9

// listFrame returns a frame for a list that is this number of columns wide.
func (i *inbox) listFrame(columns int) *frame {
	return &frame{
		margin: listMargin, width: min(max(columns-listMargin-3, minText), maxText), style: i.options.Style,
		zone: i.options.zone(),
	}
}

// lines returns all rows of the list, which are not drawn yet.
func (i *inbox) lines() (all []listLine) {
	for n, it := range i.items {
		if n == 0 && it.place.Group != i.items[len(i.items)-1].place.Group ||
			n > 0 && it.place.Group != i.items[n-1].place.Group {
			all = append(all, listLine{heading: it.place.Name})
		}
		for row := range it.rows() {
			all = append(all, listLine{item: it, row: row})
		}
	}
	return all
}

// drawLines draws a part of the list.
func (i *inbox) drawLines(lines []listLine, columns int) (rows []string) {
	now := i.options.now()
	var drawn []string
	for n, l := range lines {
		f := i.listFrame(columns)
		switch {
		case l.item == nil:
			f.rule(l.heading)
			rows = append(rows, f.lines()[0])
			continue
		case n == 0 || l.row == 0:
			i.drawItem(f, l.item, now)
			drawn = f.lines()
		}
		rows = append(rows, drawn[l.row])
	}
	return rows
}

// drawItem draws an ask: its subject, its agent or its outcome, and the people who are looking at it.
func (i *inbox) drawItem(f *frame, it *item, now time.Time) {
	cursor, box, sgr := " ", "   ", plain
	if it.ask.ID == i.current {
		cursor, sgr = ">", bold
	}
	if i.selected[it.ask.ID] {
		box = "[x]"
	}
	if !it.settledAt.IsZero() {
		sgr = dim
	}
	f.oneLine(cursor+box+fmt.Sprintf("%4s", age(now.Sub(it.ask.CreatedAt))), sgr, it.row.Line())
	if it.row.Outcome == nil {
		f.oneLine(it.mark(now), dim, it.row.SmallPrint())
		if it.rows() > 2 {
			f.sentence(it.watchers)
		}
		return
	}
	sentence := it.row.Outcome.Sentence.String()
	f.sentence(strings.ToUpper(sentence[:1]) + sentence[1:])
}

// sentence draws the beginning of a sentence of Askback on one row of the list.
func (f *frame) sentence(words string) {
	f.b.WriteString(f.note(safetext.Wrap(safetext.Line(words), f.width+2)[0].String()) + "\n")
}

// mark returns the mark of an ask, in at most listMargin-1 columns.
func (it *item) mark(now time.Time) string {
	left := it.ask.Deadline.Sub(now)
	switch {
	case it.sending:
		return "sending"
	case it.row.Kind() == view.KindDangerous:
		return "DANGER"
	case view.Soon(it.ask.Deadline, now):
		return "due " + age(max(0, left))
	case it.back:
		return "is back"
	}
	return ""
}

// age formats a duration in at most four columns.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", min(int(d.Hours()/24), 999))
}

// lineOf returns the first row of an ask in the list, or -1.
func (i *inbox) lineOf(id string) int {
	return slices.IndexFunc(i.lines(), func(l listLine) bool { return l.item != nil && l.item.ask.ID == id })
}

// listRows returns the rows of the list around the selected ask. If some asks do not fit, the first or the
// last row has the number of these asks.
func (i *inbox) listRows(columns, height int) (rows []string) {
	all := i.lines()
	f := i.listFrame(columns)
	if len(all) == 0 {
		return i.emptyRows(f)
	}
	if at := i.lineOf(i.current); at >= 0 { // with a row above and a row below it
		i.first = max(min(i.first, at-1), at+1+all[at].item.rows()-height)
	}
	i.first = max(0, min(i.first, len(all)-height))
	last := min(len(all), i.first+height)
	rows = i.drawLines(all[i.first:last], columns)
	if above := asksIn(all[:min(i.first+1, len(all))]); i.first > 0 {
		rows[0] = f.note(fmt.Sprintf("(%d more above)", above))
	}
	if below := asksIn(all[last-1:]); last < len(all) {
		rows[len(rows)-1] = f.note(fmt.Sprintf("(%d more below)", below))
	}
	return rows
}

// asksIn returns the number of asks that have a row in lines.
func asksIn(lines []listLine) (n int) {
	for at, l := range lines {
		if l.item != nil && (at == 0 || lines[at-1].item != l.item) {
			n++
		}
	}
	return n
}

// emptyRows returns the rows of a list without asks.
func (i *inbox) emptyRows(f *frame) []string {
	switch {
	case !i.loaded:
		f.message("Reading the list …")
	case i.search.text() != "":
		f.message("No open ask contains these words. Esc shows all.")
	default:
		f.message("Nothing is waiting for you. New asks appear here by themselves.")
	}
	return f.lines()
}
