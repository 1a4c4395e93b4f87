package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// waitForAnswer implements wait_for_answer. It waits for at most max_wait_s, and never longer than maxWait.
func (c *call) waitForAnswer(ctx context.Context) (*mcp.CallToolResult, error) {
	in, err := readInput(c.input(), "question_id", "max_wait_s")
	if err != nil {
		return nil, err
	}
	ask, err := c.caller.client.Get(ctx, in.id)
	if err != nil {
		return nil, notFound(in.id, err)
	}
	c.resumeWaiting(in.id)
	limit := c.maxWait()
	if in.seconds >= 0 {
		limit = min(limit, time.Duration(in.seconds)*time.Second)
	}
	return c.waitReply(ctx, c.withPageURL(ask), key{}, time.Now(), limit)
}

// getAnswer implements get_answer.
func (c *call) getAnswer(ctx context.Context) (*mcp.CallToolResult, error) {
	in, err := readInput(c.input(), "question_id")
	if err != nil {
		return nil, err
	}
	ask, err := c.caller.client.Get(ctx, in.id)
	if err != nil {
		return nil, notFound(in.id, err)
	}
	return c.result(ctx, c.withPageURL(ask), key{})
}

// withdraw implements withdraw_question. If the ask is settled, it returns the outcome.
func (c *call) withdraw(ctx context.Context) (*mcp.CallToolResult, error) {
	in, err := readInput(c.input(), "question_id", "reason")
	if err != nil {
		return nil, err
	}
	ask, err := c.caller.client.Cancel(ctx, in.id, in.reason)
	if errors.Is(err, askback.ErrSettled) {
		return c.result(ctx, c.withPageURL(ask), key{})
	}
	if err != nil {
		return nil, notFound(in.id, err)
	}
	c.waiting.Remove(ask.ID)
	return textResult("Withdrawn: "+ask.ID+" needs no answer any more. This is not consent.",
		map[string]any{"status": ask.Status, "question_id": ask.ID}), nil
}

// A listRow is an ask in a list.
type listRow struct {
	ID      string   `json:"question_id"`
	Status  string   `json:"status"`
	Kind    string   `json:"kind"`
	Asks    []string `json:"asks"` // the questions, or the action, shortened
	PageURL string   `json:"page_url,omitempty"`
	Since   string   `json:"created_at"`
}

// listOpen implements list_open_questions, for agents after a restart. It lists pending asks, and outcomes
// that were not delivered.
func (c *call) listOpen(ctx context.Context) (*mcp.CallToolResult, error) {
	in, err := readInput(c.input(), "cursor")
	if err != nil {
		return nil, err
	}
	after, late, both := strings.Cut(in.cursor, ".")
	if in.cursor != "" && !both {
		return nil,
			inputError("/cursor: use the next_cursor of the previous list, or leave it out for the first. Example: {}")
	}
	open, after, err := c.rows(ctx, askback.Query{Status: askback.Pending}, after)
	if err != nil {
		return nil, err
	}
	settled, late, err := c.rows(ctx, askback.Query{Unacked: true}, late)
	if err != nil {
		return nil, err
	}
	next := ""
	if after != listEnd || late != listEnd {
		next = after + "." + late
	}
	return textResult(formatList(open, settled, in.cursor == "", next), map[string]any{
		"questions": open, "settled": settled, "more": next != "", "next_cursor": next,
	}), nil
}

const (
	listEnd  = "-" // the cursor after the last row
	listRows = 50
	// listPages bounds the pages that are read for one list. Pages with large asks are
	// short.
	listPages = 10
	// listText is the maximum number of characters of a question in a list. get_answer returns the whole
	// question.
	listText = 200
)

// rows returns the rows after a cursor, and the cursor of the next rows, which is listEnd
// after the last row. It omits asks whose outcome was just delivered.
func (c *call) rows(ctx context.Context, q askback.Query, after string) (rows []listRow, next string, err error) {
	rows, q.Cursor = []listRow{}, after
	for range listPages {
		if q.Cursor == listEnd || len(rows) >= listRows {
			break
		}
		q.Limit = listRows - len(rows)
		p, err := c.caller.client.List(ctx, q)
		if err != nil {
			return nil, "", err
		}
		for _, ask := range p.Items {
			if c.recent.has(ask.ID) {
				continue // delivered, but not yet acknowledged
			}
			rows = append(rows, newListRow(c.withPageURL(ask)))
		}
		q.Cursor = cmp.Or(p.NextCursor, listEnd)
	}
	return rows, q.Cursor, nil
}

func newListRow(ask askback.Ask) listRow {
	l := listRow{
		ID: ask.ID, Status: string(ask.Status), Kind: string(ask.Kind), PageURL: ask.PageURL,
		Since: ask.CreatedAt.UTC().Format(time.RFC3339),
	}
	for _, q := range ask.Questions {
		l.Asks = append(l.Asks, q.Text)
	}
	if k := ask.Confirmation; k != nil {
		l.Asks = []string{k.Description}
		if k.Description == "" {
			l.Asks = []string{k.ToolName + " " + string(k.Input)}
		}
	}
	for i, text := range l.Asks {
		l.Asks[i] = clip(text, listText)
	}
	return l
}

// formatList returns the rows in open and settled as text. Questions are quoted, so that a question cannot
// look like another row.
func formatList(open, settled []listRow, first bool, next string) string {
	var b strings.Builder
	switch {
	case len(open) > 0:
		fmt.Fprintf(&b, "%d open, oldest first. Call wait_for_answer with the question_id you need.", len(open))
	case first:
		b.WriteString("Nothing is open: everything you asked is settled.")
	default:
		b.WriteString("No others are open.")
	}
	for _, l := range open {
		fmt.Fprintf(&b, "\n%s since %s: %s", l.ID, l.Since, l.quoted())
	}
	if len(settled) > 0 {
		fmt.Fprintf(&b, "\n%d settled whose outcome you did not get yet, newest first. Call get_answer with the "+
			"question_id you need.", len(settled))
	}
	for _, l := range settled {
		fmt.Fprintf(&b, "\n%s %s, asked %s: %s", l.ID, l.Status, l.Since, l.quoted())
	}
	if next != "" {
		fmt.Fprintf(&b, "\nThere are more: call list_open_questions with the cursor %q.", next)
	}
	return b.String()
}

// quoted returns the questions as JSON.
func (l listRow) quoted() []byte {
	b, _ := json.Marshal(l.Asks) // a list of strings can be marshalled
	return b
}

// notFound returns an error with advice for the id if err is [askback.ErrNotFound], and any
// other err unchanged.
func notFound(id string, err error) error {
	if errors.Is(err, askback.ErrNotFound) {
		return inputError(fmt.Sprintf("/question_id: you have no question called %q. "+
			"Call list_open_questions for the ids of open questions.", clip(id, maxName)))
	}
	return err
}
