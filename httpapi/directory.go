package httpapi

import (
	"context"
	"net/url"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/wire/decode"
)

// items is the JSON of a list that has only one page.
type items[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// itemsOf returns all as a list, and err. An empty list is encoded as [], not as null.
func itemsOf[T any](all []T, err error) (items[T], error) {
	return items[T]{Items: append([]T{}, all...)}, err
}

// nilIfEmpty returns all, or nil if all is empty. The engine also returns nil for an empty list.
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

func (c *call) putPerson() error {
	r, err := decode.PersonRequest(c.body)
	if err != nil {
		return err
	}
	r.Name = c.r.PathValue("name")
	return c.result(c.client.PutPerson(c.r.Context(), r))
}

func (c *call) deletePerson() error {
	return c.result(c.client.DeletePerson(c.r.Context(), c.r.PathValue("name")))
}

func (c *call) putGroup() error {
	people, err := decode.GroupRequest(c.body)
	if err != nil {
		return err
	}
	return c.result(c.client.PutGroup(c.r.Context(), c.r.PathValue("name"), people))
}

func (c *call) deleteGroup() error {
	return c.result(c.client.DeleteGroup(c.r.Context(), c.r.PathValue("name")))
}

// wireRoutes is the JSON of a list of routes.
type wireRoutes struct {
	items[askback.Route]
	Revision  int64   `json:"revision"`
	By        *string `json:"by"`
	ChangedAt *string `json:"changed_at"`
}

// timeFormat is the format of times in replies.
const timeFormat = "2006-01-02T15:04:05.000Z"

// wireRoutesOf returns all as wireRoutes, and err.
func wireRoutesOf(all askback.RouteList, err error) (w wireRoutes, _ error) {
	w.Items, w.Revision = append([]askback.Route{}, all.Items...), all.Revision
	if all.Revision > 0 {
		w.By, w.ChangedAt = &all.By, new(all.ChangedAt.UTC().Format(timeFormat))
	}
	return w, err
}

// list returns the list of routes that w contains. The error is not nil if the time in w is invalid.
func (w wireRoutes) list() (all askback.RouteList, err error) {
	all.Items, all.Revision = nilIfEmpty(w.Items), w.Revision
	if w.By != nil {
		all.By = *w.By
	}
	if w.ChangedAt != nil {
		all.ChangedAt, err = time.Parse(time.RFC3339, *w.ChangedAt)
	}
	return all, err
}

func (c *call) routes() error { return c.result(wireRoutesOf(c.client.Routes(c.r.Context()))) }

func (c *call) putRoutes() error {
	routes, revision, err := decode.RoutesRequest(c.body)
	if err != nil {
		return err
	}
	return c.result(wireRoutesOf(c.client.PutRoutes(c.r.Context(), routes, revision)))
}

func (c *call) agents() error {
	return c.result(itemsOf(c.client.Agents(c.r.Context())))
}

func (c *call) stats() error {
	s, err := c.client.Stats(c.r.Context())
	s.Answers, s.Agents = append([]askback.PersonStats{}, s.Answers...), append([]askback.AgentStats{}, s.Agents...)
	return c.result(s, err)
}

// fetchItems returns the items of a list with a single page, or nil if the list is empty.
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
func (c *Client) Routes(ctx context.Context) (askback.RouteList, error) {
	w, err := fetch[wireRoutes](ctx, c, request{method: "GET", path: base + "/routes"})
	if err != nil {
		return askback.RouteList{}, err
	}
	return w.list()
}

// PutPerson implements [askback.DirectoryControl].
func (c *Client) PutPerson(ctx context.Context, r askback.PersonRequest) (askback.Person, error) {
	if err := directory.CheckPerson(r); err != nil { // not every name can be in an address
		return askback.Person{}, err
	}
	return fetch[askback.Person](ctx, c, request{
		method: "PUT", path: base + "/people/" + url.PathEscape(r.Name),
		body: body[askback.PersonRequest]{r, appendPersonRequest},
	})
}

// DeletePerson implements [askback.DirectoryControl].
func (c *Client) DeletePerson(ctx context.Context, name string) (askback.Person, error) {
	if directory.NameProblem(name) != "" {
		return askback.Person{}, askback.ErrNotFound
	}
	return fetch[askback.Person](ctx, c, request{method: "DELETE", path: base + "/people/" + url.PathEscape(name)})
}

type wireGroup struct {
	People []string `json:"people"`
}

// PutGroup implements [askback.DirectoryControl].
func (c *Client) PutGroup(ctx context.Context, name string, people []string) (askback.Group, error) {
	if err := directory.CheckGroup(name, people); err != nil {
		return askback.Group{}, err
	}
	return fetch[askback.Group](ctx, c, request{
		method: "PUT", path: base + "/groups/" + url.PathEscape(name), body: wireGroup{append([]string{}, people...)},
	})
}

// DeleteGroup implements [askback.DirectoryControl].
func (c *Client) DeleteGroup(ctx context.Context, name string) (askback.Group, error) {
	if directory.NameProblem(name) != "" {
		return askback.Group{}, askback.ErrNotFound
	}
	return fetch[askback.Group](ctx, c, request{method: "DELETE", path: base + "/groups/" + url.PathEscape(name)})
}

type wirePutRoutes struct {
	Items    []askback.Route `json:"items"`
	Revision int64           `json:"revision"`
}

// PutRoutes implements [askback.DirectoryControl].
func (c *Client) PutRoutes(ctx context.Context, routes []askback.Route, revision int64) (askback.RouteList, error) {
	w, err := fetch[wireRoutes](ctx, c, request{
		method: "PUT", path: base + "/routes", body: wirePutRoutes{append([]askback.Route{}, routes...), revision},
	})
	if err != nil {
		return askback.RouteList{}, err
	}
	return w.list()
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
