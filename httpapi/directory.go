package httpapi

import (
	"context"

	"github.com/askback/askback"
)

// items is a list with a single page.
type items[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// itemsOf returns all as a list, and err. An empty list is encoded as [], not as null.
func itemsOf[T any](all []T, err error) (items[T], error) {
	return items[T]{Items: append([]T{}, all...)}, err
}

// nilIfEmpty returns a slice, or nil if it is empty, as the engine does.
func nilIfEmpty[T any](all []T) []T {
	if len(all) == 0 {
		return nil
	}
	return all
}

func (c *call) people() error {
	return c.result(itemsOf(c.client.People(c.r.Context())))
}

func (c *call) groups() error {
	return c.result(itemsOf(c.client.Groups(c.r.Context())))
}

func (c *call) routes() error {
	return c.result(itemsOf(c.client.Routes(c.r.Context())))
}

func (c *call) agents() error {
	return c.result(itemsOf(c.client.Agents(c.r.Context())))
}

func (c *call) stats() error {
	s, err := c.client.Stats(c.r.Context())
	s.Answers, s.Agents = append([]askback.PersonStats{}, s.Answers...), append([]askback.AgentStats{}, s.Agents...)
	return c.result(s, err)
}

// fetchItems returns the items of a list with a single page, or nil if it is empty.
func fetchItems[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	list, err := fetch[items[T]](ctx, c, request{method: "GET", path: base + path})
	return nilIfEmpty(list.Items), err
}

// People implements [askback.Directory].
func (c *Client) People(ctx context.Context) ([]askback.Person, error) {
	return fetchItems[askback.Person](ctx, c, "/people")
}

// Groups implements [askback.Directory].
func (c *Client) Groups(ctx context.Context) ([]askback.Group, error) {
	return fetchItems[askback.Group](ctx, c, "/groups")
}

// Routes implements [askback.Directory].
func (c *Client) Routes(ctx context.Context) ([]askback.Route, error) {
	return fetchItems[askback.Route](ctx, c, "/routes")
}

// Agents implements [askback.Directory].
func (c *Client) Agents(ctx context.Context) ([]askback.AgentStats, error) {
	return fetchItems[askback.AgentStats](ctx, c, "/agents")
}

// Stats implements [askback.Directory].
func (c *Client) Stats(ctx context.Context) (askback.Stats, error) {
	out, err := fetch[askback.Stats](ctx, c, request{method: "GET", path: base + "/stats"})
	out.Answers, out.Agents = nilIfEmpty(out.Answers), nilIfEmpty(out.Agents)
	return out, err
}
