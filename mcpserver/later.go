package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// waitForAnswer is wait_for_answer: the wait of a call that was over before.
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
		most = min(most, max(minimalWait, time.Duration(in.seconds)*time.Second))
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
	Asks    []string `json:"asks"` // the questions, or the action
	PageURL string   `json:"page_url,omitempty"`
	Since   string   `json:"created_at"`
}

// listOpen is list_open_questions, for agents that start anew: what is open, and
// what was settled and never given to them.
func (c *call) listOpen(ctx context.Context) (*mcp.CallToolResult, error) {
	if _, err := readInput(c.input()); err != nil {
		return nil, err
	}
	p, err := c.who.seat.List(ctx, askback.Query{Status: askback.Pending})
	if err != nil {
		return nil, err
	}
	late, err := c.who.seat.List(ctx, askback.Query{Undelivered: true})
	if err != nil {
		return nil, err
	}
	open, settled := c.rows(p.Items), c.rows(late.Items)
	more := p.NextCursor != "" || late.NextCursor != ""
	return said(sentences(open, settled, more), map[string]any{"questions": open, "settled": settled, "more": more}), nil
}

func (c *call) rows(asks []askback.Ask) []listed {
	rows := make([]listed, len(asks))
	for i, ask := range asks {
		rows[i] = row(c.linked(ask))
	}
	return rows
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
	return l
}

// sentences says both lists in words. Texts are quoted: none can pass for another
// row.
func sentences(open, settled []listed, more bool) string {
	var b strings.Builder
	if len(open) == 0 {
		b.WriteString("Nothing is open: everything you asked is settled.")
	} else {
		fmt.Fprintf(&b, "%d open, oldest first. Call wait_for_answer with the question_id you need.", len(open))
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
	if more {
		b.WriteString("\nThere are more.")
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
