package hooktest

import (
	"context"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// A Client settles each ask immediately with the same outcome. Its approvals cannot be consumed.
type Client struct {
	hook.Client // the methods that no test calls
	Outcome     askback.Outcome
	asked       sync.Map // the asks, keyed by their key, which is also their id
}

// Ask returns an ask for r that is settled with Outcome.
func (c *Client) Ask(_ context.Context, r askback.Request) (askback.Ask, error) {
	ask := askback.Ask{
		ID: r.Key, Status: c.Outcome.Status, Confirmation: r.Confirmation, Questions: r.Questions, Outcome: &c.Outcome,
	}
	c.asked.Store(r.Key, ask)
	return ask, nil
}

// Wait returns the ask with this id.
func (c *Client) Wait(_ context.Context, id string) (askback.Ask, error) {
	ask, _ := c.asked.Load(id)
	return ask.(askback.Ask), nil
}

// Ack does nothing and returns no error.
func (c *Client) Ack(context.Context, string) (askback.Ask, error) { return askback.Ask{}, nil }

// Cancel does nothing and returns no error.
func (c *Client) Cancel(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, nil
}

// Consume returns [askback.ErrNotApproved].
func (c *Client) Consume(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrNotApproved
}

// Unapproved returns outcomes that approve nothing. word is text that people wrote, which must not be taken
// for a decision.
func Unapproved(word string) []askback.Outcome {
	return []askback.Outcome{
		{Status: askback.Answered, Decision: askback.Deny, Reason: word},
		{Status: askback.Declined, Reason: word},
		{Status: askback.Expired},
		{Status: askback.Cancelled},
		{Status: askback.Answered},
		{Status: askback.Answered, Comment: word, Answers: []askback.QuestionAnswer{{ID: "q1"}}},
		{Status: askback.Answered, Decision: askback.Approve}, // this approval cannot be consumed
	}
}
