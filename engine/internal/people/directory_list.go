package people

import (
	"cmp"
	"context"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
)

// People implements [askback.Directory]. It returns the people of the settings and of the API, and people
// with a valid token of kind responder or admin.
func (c *Client) People(ctx context.Context) ([]askback.Person, error) {
	if err := c.Authorize(access.ActPeople); err != nil {
		return nil, err
	}
	s, err := c.service.current(ctx)
	if err != nil {
		return nil, err
	}
	people := slices.Clone(s.People)
	err = c.service.EachToken(ctx, true, func(t askback.Token) {
		known := slices.ContainsFunc(people, func(p askback.Person) bool { return p.Name == t.Name })
		if !known && (t.Kind == askback.Responder || t.Kind == askback.Admin) {
			people = append(people, askback.Person{Name: t.Name, Source: askback.SourceToken})
		}
	})
	slices.SortFunc(people, func(a, b askback.Person) int { return cmp.Compare(a.Name, b.Name) })
	for i := range people {
		people[i].Groups = s.GroupsOf(people[i].Name)
	}
	return people, err
}

// Groups implements [askback.Directory].
func (c *Client) Groups(ctx context.Context) ([]askback.Group, error) {
	if err := c.Authorize(access.ActPeople); err != nil {
		return nil, err
	}
	s, err := c.service.current(ctx)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(s.groups)
	for i := range all {
		all[i].People = slices.Clone(all[i].People)
	}
	return all, nil
}

// Routes implements [askback.Directory].
func (c *Client) Routes(ctx context.Context) (askback.RouteList, error) {
	if err := c.Authorize(access.ActPeople); err != nil {
		return askback.RouteList{}, err
	}
	s, err := c.service.current(ctx)
	if err != nil {
		return askback.RouteList{}, err
	}
	return s.routeList(), nil
}
