package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

type listCommand struct {
	Status  string `default:"pending" enum:"pending,answered,declined,cancelled,expired,settled,all" help:"List asks with this status: pending, answered, declined, cancelled, expired, settled (every status but pending) or all."`
	Agent   string `complete:"agent" placeholder:"NAME" help:"List only asks of the agent with this name."`
	Limit   int    `default:"50" help:"List at most this many asks, from 1 to 200."`
	Cursor  string `help:"Continue the list after this cursor, which the previous page printed."`
	Snoozed bool   `help:"List only the open asks that you have snoozed."`
	JSON    bool   `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints a page of asks. Without --json, the list of open asks omits snoozed asks, and a note has the
// number of snoozed asks.
func (c *listCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	q := askback.Query{Status: askback.Status(c.Status), Agent: c.Agent, Limit: c.Limit, Cursor: c.Cursor}
	if c.Snoozed || !c.JSON && c.Status == string(askback.Pending) {
		q.Snoozed = new(c.Snoozed)
	}
	page, err := conn.User.List(ctx, q)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, page)
	}
	if q.Snoozed != nil && !c.Snoozed {
		defer noteSnoozed(ctx, io, conn.User, c.Agent)
	}
	if len(page.Items) == 0 {
		text := c.empty(page.NextCursor)
		if page.NextCursor == "" && c.Cursor == "" {
			text += c.similar(ctx, conn.User)
		}
		note(io.err, text)
		return nil
	}
	if screen := terminal.StreamOptions(io.out); screen != nil {
		c.draw(io.out, page, screen.Width(), time.Now())
	} else {
		views := viewsOf(page.Items, view.Of)
		for i, ask := range page.Items {
			printLine(io.out, listLine(ask, views[i], time.Now())+snoozeMark(page, ask.ID, time.Now()))
		}
	}
	if page.NextCursor != "" {
		note(io.err, "there are more; continue with --cursor "+page.NextCursor)
	}
	return nil
}

// checkLimit returns an error if the flag --limit is not valid. The API would take 0 for the default.
func checkLimit(n int) error {
	if n < 1 || n > askback.MaxLimit {
		return usage(fmt.Sprintf("--limit must be from 1 to %d", askback.MaxLimit))
	}
	return nil
}

// empty returns the note for an empty page.
func (c *listCommand) empty(next string) string {
	if next != "" {
		return "No asks on this page, but there may be more; continue with --cursor " + next
	}
	if c.Cursor != "" {
		return "No more asks."
	}
	kind := c.Status
	if kind == string(askback.AnyStatus) {
		kind = ""
	}
	switch {
	case c.Snoozed:
		return "No snoozed asks."
	case c.Agent != "":
		return strings.TrimSpace("No "+kind) + " asks of " + c.Agent + "."
	case c.Status == string(askback.Pending):
		return `No open asks. To ask a question: askback ask "Which database?" PostgreSQL SQLite`
	}
	return strings.TrimSpace("No "+kind) + " asks."
}

// maxSimilar is how many names of agents the note for an empty list has at most.
const maxSimilar = 5

// similar returns a sentence with the names of agents that contain c.Agent, among the newest
// asks. A name can have two parts, such as "codex · shop", and the list needs the whole name.
func (c *listCommand) similar(ctx context.Context, client askback.Inbox) string {
	if c.Agent == "" {
		return ""
	}
	page, err := client.List(ctx, askback.Query{Status: askback.AnyStatus, Limit: askback.MaxLimit})
	if err != nil {
		return ""
	}
	var names []string
	for _, ask := range page.Items {
		name := strconv.Quote(ask.Agent)
		if ask.Agent != c.Agent && strings.Contains(strings.ToLower(ask.Agent), strings.ToLower(c.Agent)) &&
			!slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Agents with similar names: " + strings.Join(names[:min(len(names), maxSimilar)], ", ") + "."
}

// viewsOf returns the views of the asks of a list, which tell sessions of one agent apart.
func viewsOf(asks []askback.Ask, viewOf func(askback.Ask) view.Ask) []view.Ask {
	views := make([]view.Ask, len(asks))
	for i, ask := range asks {
		views[i] = viewOf(ask)
	}
	view.TellApart(view.References(views))
	return views
}

// listLine formats an ask as one line for programs: id, status, age, agent and headline. At
// the end, it notes what tells the ask apart, a dangerous call, and the outcome if there is one.
func listLine(ask askback.Ask, v view.Ask, now time.Time) string {
	line := fmt.Sprintf("%s  %-9s  %4s  %s: %s", v.ID, ask.Status, elapsed(now.Sub(ask.CreatedAt)), v.From(),
		v.Line())
	if words := v.Note().String(); words != "" {
		line += " (" + words + ")"
	}
	if words := v.Approvals(); words != "" && !ask.Settled() {
		line += " (" + words + ")"
	}
	if isDangerous(v) {
		line += " (dangerous)"
	}
	if v.Outcome != nil {
		line += "  → " + briefOutcome(ask)
	}
	return line
}

func isDangerous(v view.Ask) bool { return v.Confirmation != nil && v.Confirmation.Dangerous }

// maxOutcome is the maximum width of the outcome in a list, in columns.
const maxOutcome = 24

// draw writes the list for people: a title, and one row for each ask. No row is wider than the screen.
func (c *listCommand) draw(w io.Writer, page askback.Page, width int, now time.Time) {
	asks := page.Items
	printLine(w, c.title(page))
	whole := make([]string, len(asks))
	for i, ask := range asks {
		whole[i] = ask.ID
	}
	ids, ends, outcome := shortIDs(whole), make([]string, len(asks)), 0
	if c.Status != string(askback.Pending) {
		outcome = len("OUTCOME")
		for i, ask := range asks {
			ends[i] = safetext.Fit(safetext.Line(briefOutcome(ask)), maxOutcome)
			outcome = max(outcome, safetext.Width(safetext.Line(ends[i])))
		}
	}
	row := func(id, age, end, rest, note string) {
		line := padded(id, len(ids[0])) + "  " + fmt.Sprintf("%4s", age) + "  "
		if outcome > 0 {
			line += padded(end, outcome) + "  "
		}
		room := width - 1 - safetext.Width(safetext.Line(line))
		if note != "" { // a long question leaves a part of the row to the words that tell it apart
			note = "  " + safetext.Fit(safetext.Line(note), max(room/3, room-2-safetext.Width(safetext.Line(rest))))
		}
		printLine(w, line+safetext.Fit(safetext.Line(rest), room-safetext.Width(safetext.Line(note)))+note)
	}
	row("ID", "AGE", "OUTCOME", "QUESTION", "")
	views := viewsOf(asks, view.Brief)
	for i, ask := range asks {
		v := views[i]
		rest := v.From().String() + ": " + v.Line().String()
		if isDangerous(v) {
			rest = "DANGEROUS " + rest
		}
		if mark := snoozeMark(page, ask.ID, now); mark != "" {
			rest = strings.TrimSpace(mark) + " " + rest
		}
		note := v.Note().String()
		if note != "" {
			note = "(" + note + ")"
		}
		row(ids[i], elapsed(now.Sub(ask.CreatedAt)), ends[i], rest, note)
	}
}

// title returns a title with the number of asks on the page. It ends with "of a longer list"
// if there are other pages.
func (c *listCommand) title(page askback.Page) string {
	what := c.Status + " ask"
	switch c.Status {
	case string(askback.Pending):
		what = "open question"
		if c.Snoozed {
			what = "snoozed question"
		}
	case string(askback.AnyStatus):
		what = "ask"
	}
	title := view.Count(len(page.Items), what)
	if c.Cursor != "" || page.NextCursor != "" {
		title += " of a longer list"
	}
	return title
}

// padded appends spaces to text until it is width columns wide.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-safetext.Width(safetext.Line(text))))
}

// briefOutcome describes in a few words how an ask ended, such as its answer. For a pending ask it returns
// "open".
func briefOutcome(ask askback.Ask) string {
	o := ask.Outcome
	if o == nil {
		return "open"
	}
	var values []string
	for _, a := range o.Answers {
		values = append(values, a.Values()...)
	}
	answer := strings.Join(values, ", ")
	switch {
	case o.Status == askback.Cancelled:
		return "withdrawn"
	case o.Defaulted:
		return "default: " + answer
	case o.Status != askback.Answered:
		return string(o.Status)
	case !ask.ConsumedAt.IsZero():
		return briefDecision(*o) + ", used"
	case o.Decision != "":
		return briefDecision(*o)
	}
	return answer
}

// briefDecision returns the decision about a call in a few words.
func briefDecision(o askback.Outcome) string {
	switch {
	case len(o.Input) > 0:
		return "approved, edited"
	case o.Decision == askback.ApproveAll:
		return "approved, all"
	}
	return string(o.Decision)
}

type showCommand struct {
	ID   string `arg:"" name:"ask" complete:"ask" help:"Name the ask by its id, the beginning or end of its id, or latest for the newest open ask."`
	JSON bool   `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints an ask and its outcome. It also prints the deliveries of the ask if the user may see them.
func (c *showCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	ask, err := lookup{client: conn.User, verb: "see"}.get(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, ask)
	}
	drawn := withSession(ctx, conn.User, ask, withDeliveries(ctx, conn.User, ask.ID, view.Of(ask)))
	return terminal.Show(io.out, drawn, terminal.StreamOptions(io.out))
}
