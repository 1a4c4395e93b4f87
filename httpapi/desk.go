package httpapi

import (
	"context"
	"net/http"

	"github.com/askback/askback"
)

// items is a list that has one page.
type items[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// whole is all there is: a list without anything is [], never null.
func whole[T any](all []T) items[T] { return items[T]{Items: append([]T{}, all...)} }

// some is a list as a seat gives it: nothing is nil.
func some[T any](all []T) []T {
	if len(all) == 0 {
		return nil
	}
	return all
}

func (c *call) people() error {
	people, err := c.seat.People(c.r.Context())
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, whole(people))
}

// groups is empty: this release has none, and refuses asks that name one.
func (c *call) groups() error { return c.reply(http.StatusOK, whole[string](nil)) }

func (c *call) agents() error {
	agents, err := c.seat.Agents(c.r.Context())
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, whole(agents))
}

func (c *call) stats() error {
	s, err := c.seat.Stats(c.r.Context())
	if err != nil {
		return err
	}
	s.Answers, s.Agents = whole(s.Answers).Items, whole(s.Agents).Items
	return c.reply(http.StatusOK, s)
}

// People implements [askback.Desk].
func (c *Client) People(ctx context.Context) ([]askback.Person, error) {
	var list items[askback.Person]
	_, _, err := c.do(ctx, request{method: "GET", path: base + "/people"}, &list)
	return some(list.Items), err
}

// Agents implements [askback.Desk].
func (c *Client) Agents(ctx context.Context) ([]askback.Asking, error) {
	var list items[askback.Asking]
	_, _, err := c.do(ctx, request{method: "GET", path: base + "/agents"}, &list)
	return some(list.Items), err
}

// Stats implements [askback.Desk].
func (c *Client) Stats(ctx context.Context) (askback.Stats, error) {
	var out askback.Stats
	_, _, err := c.do(ctx, request{method: "GET", path: base + "/stats"}, &out)
	out.Answers, out.Agents = some(out.Answers), some(out.Agents)
	return out, err
}
