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

// waitForAnswer is wait_for_answer: the wait of a call that was over before. It waits
// no longer than max_wait_s, nor than its client does.
func (c *call) waitForAnswer(ctx context.Context) (*mcp.CallToolResult, error) {
	in, err := readInput(c.input(), "question_id", "max_wait_s")
	if err != nil {
		return nil, err
	}
	ask, err := c.who.seat.Get(ctx, in.id)
	if err != nil {
		return nil, missing(in.id, err)
	}
	most := c.patience()
	if in.seconds >= 0 {
		most = min(most, time.Duration(in.seconds)*time.Second)
	}
	return c.bounded(ctx, c.linked(ask), key{}, most)
}

// getAnswer is get_answer: how an ask stands.
func (c *call) getAnswer(ctx context.Context) (*mcp.CallToolResult, error) {
	in, err := readInput(c.input(), "question_id")
	if err != nil {
		return nil, err
	}
	ask, err := c.who.seat.Get(ctx, in.id)
	if err != nil {
		return nil, missing(in.id, err)
	}
	return c.told(ctx, c.linked(ask), key{})
}

// withdraw is withdraw_question. Whoever was quicker is heard.
func (c *call) withdraw(ctx context.Context) (*mcp.CallToolResult, error) {
	in, err := readInput(c.input(), "question_id", "reason")
	if err != nil {
		return nil, err
	}
	ask, err := c.who.seat.Cancel(ctx, in.id, in.reason)
	if errors.Is(err, askback.ErrSettled) {
		return c.told(ctx, c.linked(ask), key{})
	}
	if err != nil {
		return nil, missing(in.id, err)
	}
	return said("Withdrawn: nobody is asked "+ask.ID+" any more. This is not consent.",
		map[string]any{"status": ask.Status, "question_id": ask.ID}), nil
}

// listed is one ask in a list.
type listed struct {
	ID      string   `json:"question_id"`
	Status  string   `json:"status"`
	Kind    string   `json:"kind"`
	Asks    []string `json:"asks"` // how the questions begin, or the action
	PageURL string   `json:"page_url,omitempty"`
	Since   string   `json:"created_at"`
}

// listOpen is list_open_questions, for agents that start anew: what is open, and
// what was settled and never given to them.
func (c *call) listOpen(ctx context.Context) (*mcp.CallToolResult, error) {
	in, err := readInput(c.input(), "cursor")
	if err != nil {
		return nil, err
	}
	after, late, both := strings.Cut(in.cursor, ".")
	if in.cursor != "" && !both {
		return nil, mistake("/cursor: the next_cursor of a list before, or nothing for the first. Example: {}")
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
	return said(sentences(open, settled, in.cursor == "", next), map[string]any{
		"questions": open, "settled": settled, "more": next != "", "next_cursor": next,
	}), nil
}

const (
	listEnd  = "-" // the cursor after the last row
	listRows = 50
	// listPages bounds what is read for one list: large asks make short pages.
	listPages = 10
	// listText is how many characters of a question stand in a list. get_answer
	// has all of it.
	listText = 200
)

// rows are those that come after a cursor, and the cursor after them.
func (c *call) rows(ctx context.Context, q askback.Query, after string) (rows []listed, next string, err error) {
	rows, q.Cursor = []listed{}, after
	for range listPages {
		if q.Cursor == listEnd || len(rows) >= listRows {
			break
		}
		q.Limit = listRows - len(rows)
		p, err := c.who.seat.List(ctx, q)
		if err != nil {
			return nil, "", err
		}
		for _, ask := range p.Items {
			if c.memory.told(ask.ID) {
				continue // it was given, and its receipt is not written yet
			}
			rows = append(rows, row(c.linked(ask)))
		}
		q.Cursor = cmp.Or(p.NextCursor, listEnd)
	}
	return rows, q.Cursor, nil
}

func row(ask askback.Ask) listed {
	l := listed{ID: ask.ID, Status: string(ask.Status), Kind: string(ask.Kind), PageURL: ask.PageURL, Since: ask.CreatedAt.UTC().Format(time.RFC3339)}
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
		if r := []rune(text); len(r) > listText {
			l.Asks[i] = string(r[:listText]) + "…"
		}
	}
	return l
}

// sentences says both lists in words. Texts are quoted: none can pass for another
// row.
func sentences(open, settled []listed, first bool, next string) string {
	var b strings.Builder
	switch {
	case len(open) > 0:
		fmt.Fprintf(&b, "%d open, oldest first. Call wait_for_answer with the question_id you need.", len(open))
	case first:
		b.WriteString("Nothing is open: everything you asked is settled.")
	default:
		b.WriteString("No more is open.")
	}
	for _, l := range open {
		fmt.Fprintf(&b, "\n%s since %s: %s", l.ID, l.Since, l.quoted())
	}
	if len(settled) > 0 {
		fmt.Fprintf(&b, "\n%d settled that you were not told of yet, newest first. Call get_answer with the question_id you need.", len(settled))
	}
	for _, l := range settled {
		fmt.Fprintf(&b, "\n%s %s, asked %s: %s", l.ID, l.Status, l.Since, l.quoted())
	}
	if next != "" {
		fmt.Fprintf(&b, "\nThere are more: call list_open_questions with the cursor %q.", next)
	}
	return b.String()
}

// quoted is what was asked, as JSON.
func (l listed) quoted() []byte {
	b, _ := json.Marshal(l.Asks) // a list of strings can be written
	return b
}

// missing says of an id that is not known, or not this agent's, what would be.
func missing(id string, err error) error {
	if errors.Is(err, askback.ErrNotFound) {
		return mistake(fmt.Sprintf("/question_id: you asked nothing that is called %q. "+
			"Call list_open_questions for the ids of what is open.", clip(id)))
	}
	return err
}
