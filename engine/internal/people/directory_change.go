package people

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/limits"
)

// changeDirectory commits a change of the stored directory and applies it. The function change modifies its
// argument, and reports whether it did.
func (c *Client) changeDirectory(
	ctx context.Context, change func(now int64, d *storedDirectory) (changed bool, err error),
) (*current, error) {
	e := c.service
	if err := c.Authorize(access.ActDirectory); err != nil {
		return nil, err
	}
	if err := e.ReadDirectory(ctx); err != nil {
		return nil, err
	}
	var after storedDirectory
	var version int64
	err := e.Update(ctx, func(t *txn.Tx) error {
		if err := t.Lock(KindDirectory); err != nil {
			return err
		}
		d, row, err := e.readDirectory(t.Context())
		if err != nil {
			return err
		}
		version = row.Version
		if changed, err := change(t.Now().UnixMilli(), &d); err != nil || !changed {
			return err
		}
		if row.State, err = json.Marshal(d); err != nil {
			return err
		}
		if row.Updated = t.Now(); row.Version == 0 {
			row.Created = t.Now()
		}
		t.Put(row)
		after, version = d, row.Version+1
		return nil
	})
	switch {
	case errors.Is(err, askback.ErrUnknown):
		e.directory.complete.Store(false) // the directory is read again when it is next needed
		return nil, err
	case err != nil:
		return nil, err
	case after.Format != 0:
		e.replaceDirectory(after, version)
		e.reportDirectory(ctx)
	}
	return e.applied.Load(), nil
}

// inSettings returns the error for a name that is in the settings.
func inSettings(what, name string) error {
	return askback.Invalid{{
		Detail: fmt.Sprintf("the %s %q is in the settings", what, name),
		Fix:    "change the settings file; the server reads it again",
	}}
}

// tooMany returns the error for a further person or group.
func tooMany(what string, limit int) error {
	return askback.Invalid{{
		Detail: fmt.Sprintf("there are %d %s of the API, which is the maximum", limit, what),
		Fix:    "remove unused entries",
	}}
}

// PutPerson implements [askback.DirectoryControl].
func (c *Client) PutPerson(ctx context.Context, r askback.PersonRequest) (askback.Person, error) {
	if err := c.Authorize(access.ActDirectory); err != nil {
		return askback.Person{}, err
	}
	if err := directory.CheckPerson(r); err != nil {
		return askback.Person{}, err
	}
	if err := c.service.CheckNewName(ctx, "", r.Name, askback.Responder); err != nil {
		return askback.Person{}, err
	}
	s, err := c.changeDirectory(ctx, func(now int64, d *storedDirectory) (bool, error) {
		if err := c.service.personFree(r, d); err != nil {
			return false, err
		}
		made := storedPerson{
			Name: r.Name, Email: r.Email, Slack: r.Slack, TimeZone: r.TimeZone, Quiet: r.Quiet, By: c.Who.Name, At: now,
		}
		i, exists := d.person(r.Name)
		switch {
		case exists:
			d.People[i] = made
		case len(d.People) >= limits.MaxPeople:
			return false, tooMany("people", limits.MaxPeople)
		default:
			d.People = slices.Insert(d.People, i, made)
		}
		return true, nil
	})
	if err != nil {
		return askback.Person{}, fmt.Errorf("person %q: %w", r.Name, err)
	}
	p, _ := s.personNamed(r.Name)
	return p, nil
}

// personFree returns an error if the settings have a person with this name, or if another person
// has one of these addresses.
func (e *Service) personFree(r askback.PersonRequest, d *storedDirectory) error {
	var bad askback.Invalid
	taken := func(name, email, slack string) {
		if sameEmail(email, r.Email) {
			bad = append(bad, askback.Problem{
				Pointer: "/email", Detail: fmt.Sprintf("this address belongs to %q", name),
				Fix: "give each person a different address",
			})
		}
		if slack != "" && slack == r.Slack {
			bad = append(bad, askback.Problem{
				Pointer: "/slack", Detail: fmt.Sprintf("this id belongs to %q", name),
				Fix: "give each person a different id",
			})
		}
	}
	for _, p := range e.applied.Load().People {
		switch {
		case p.Source != askback.SourceSettings:
		case p.Name == r.Name:
			return inSettings("person", r.Name)
		default:
			taken(p.Name, p.Email, p.Slack)
		}
	}
	for _, p := range d.People {
		if p.Name != r.Name {
			taken(p.Name, p.Email, p.Slack)
		}
	}
	if len(bad) > 0 {
		return bad
	}
	return nil
}

// personNamed returns the person with a name, in the form for lists. It also reports whether the settings or
// the API have the person.
func (c *current) personNamed(name string) (askback.Person, bool) {
	i := slices.IndexFunc(c.People, func(p askback.Person) bool { return p.Name == name })
	if i < 0 {
		return askback.Person{Name: name, Groups: c.GroupsOf(name)}, false
	}
	p := c.People[i]
	p.Groups = c.GroupsOf(name)
	return p, true
}

// DeletePerson implements [askback.DirectoryControl]. It does not fail if groups or routes name the person:
// it must always be possible to revoke a permission.
func (c *Client) DeletePerson(ctx context.Context, name string) (askback.Person, error) {
	var removed storedPerson
	s, err := c.changeDirectory(ctx, func(_ int64, d *storedDirectory) (bool, error) {
		i, exists := d.person(name)
		if !exists {
			return false, c.service.notOfAPI("person", name)
		}
		removed = d.People[i]
		d.People = slices.Delete(d.People, i, i+1)
		return true, nil
	})
	if err != nil {
		return askback.Person{}, fmt.Errorf("person %q: %w", name, err)
	}
	p := askback.Person{
		Name: name, Email: removed.Email, Slack: removed.Slack, TimeZone: removed.TimeZone, Quiet: removed.Quiet,
		Groups: s.GroupsOf(name), Source: askback.SourceAPI, By: removed.By, ChangedAt: storedTime(removed.At),
	}
	p.Warning, err = c.service.afterRemoval(ctx, s, name)
	return p, err
}

// afterRemoval returns a warning about a removed person, or "". It warns if groups or routes still name the
// person, or if the person may still answer.
func (e *Service) afterRemoval(ctx context.Context, s *current, name string) (string, error) {
	known, err := e.IsPerson(ctx, name)
	if err != nil {
		return "", err
	}
	var warnings []string
	if _, named := s.personNamed(name); named {
		warnings = append(warnings, "this person is also in the settings, and may still answer")
	} else if known {
		warnings = append(warnings,
			"this person may still answer with a token, or is named in channels of the settings")
	}
	var by []string
	for _, group := range s.GroupsOf(name) {
		by = append(by, "the group "+quoted([]string{group})[0])
	}
	by = append(by, s.routesNaming(name)...)
	if len(by) > 0 && !known {
		warnings = append(warnings,
			"this person is still named by "+strings.Join(by, ", ")+", where the person is skipped with a warning")
	}
	return strings.Join(warnings, "; "), nil
}

// routesNaming returns the names of the routes that name a person or, after "@", a group. A name is a text
// such as "route 2 of the API".
func (c *current) routesNaming(name string) (all []string) {
	of := map[askback.Source]string{askback.SourceSettings: "the settings", askback.SourceAPI: "the API"}
	counts := map[askback.Source]int{}
	for i := range c.Routes {
		r := &c.Routes[i]
		counts[r.Source]++
		if directory.Names(r, name) {
			all = append(all, fmt.Sprintf("route %d of %s", counts[r.Source], of[r.Source]))
		}
	}
	return all
}

// notOfAPI returns the error for the removal of an entry that was not made over the API.
func (e *Service) notOfAPI(what, name string) error {
	s := e.applied.Load()
	_, group := s.Groups[name]
	_, person := s.personNamed(name)
	if what == "group" && group || what == "person" && person {
		return inSettings(what, name)
	}
	return askback.ErrNotFound
}

// PutGroup implements [askback.DirectoryControl].
func (c *Client) PutGroup(ctx context.Context, name string, people []string) (askback.Group, error) {
	if err := c.Authorize(access.ActDirectory); err != nil {
		return askback.Group{}, err
	}
	if err := directory.CheckGroup(name, people); err != nil {
		return askback.Group{}, err
	}
	s, err := c.changeDirectory(ctx, func(now int64, d *storedDirectory) (bool, error) {
		if g, ok := c.service.applied.Load().groupNamed(name); ok && g.Source == askback.SourceSettings {
			return false, inSettings("group", name)
		}
		made := storedGroup{Name: name, People: slices.Clone(people), By: c.Who.Name, At: now}
		i, exists := d.group(name)
		switch {
		case exists:
			d.Groups[i] = made
		case len(d.Groups) >= limits.MaxGroups:
			return false, tooMany("groups", limits.MaxGroups)
		default:
			d.Groups = slices.Insert(d.Groups, i, made)
		}
		return true, nil
	})
	if err != nil {
		return askback.Group{}, fmt.Errorf("group %q: %w", name, err)
	}
	g, _ := s.groupNamed(name)
	return g, nil
}

// groupNamed returns a copy of the group with a name, in the form for lists. It also reports whether the
// group exists.
func (c *current) groupNamed(name string) (askback.Group, bool) {
	for _, g := range c.groups {
		if g.Name == name {
			g.People = slices.Clone(g.People)
			return g, true
		}
	}
	return askback.Group{Name: name}, false
}

// DeleteGroup implements [askback.DirectoryControl].
func (c *Client) DeleteGroup(ctx context.Context, name string) (askback.Group, error) {
	var removed storedGroup
	_, err := c.changeDirectory(ctx, func(_ int64, d *storedDirectory) (bool, error) {
		i, exists := d.group(name)
		if !exists {
			return false, c.service.notOfAPI("group", name)
		}
		if g, _ := c.service.applied.Load().groupNamed(name); g.Source != askback.SourceSettings {
			if err := unusedGroup(name, d.Routes); err != nil {
				return false, err
			}
		}
		removed = d.Groups[i]
		d.Groups = slices.Delete(d.Groups, i, i+1)
		return true, nil
	})
	if err != nil {
		return askback.Group{}, fmt.Errorf("group %q: %w", name, err)
	}
	return askback.Group{
		Name: name, People: removed.People, Source: askback.SourceAPI, By: removed.By,
		ChangedAt: storedTime(removed.At),
	}, nil
}

// unusedGroup returns an error if routes name a group. If the group were deleted, the asks of these routes
// would reach other people, or no people.
func unusedGroup(name string, routes []askback.Route) error {
	s := current{Settings: txn.Settings{Routes: slices.Clone(routes)}}
	for i := range s.Routes {
		s.Routes[i].Source = askback.SourceAPI
	}
	if used := s.routesNaming("@" + name); len(used) > 0 {
		return askback.Invalid{{
			Detail: fmt.Sprintf("the group %q is named by %s", name, strings.Join(used, ", ")),
			Fix:    "change the routes first",
		}}
	}
	return nil
}

// PutRoutes implements [askback.DirectoryControl].
func (c *Client) PutRoutes(ctx context.Context, routes []askback.Route, revision int64) (askback.RouteList, error) {
	if err := c.Authorize(access.ActDirectory); err != nil {
		return askback.RouteList{}, err
	}
	if len(routes) > limits.MaxRoutes {
		return askback.RouteList{}, askback.Invalid{{
			Pointer: "/items",
			Detail:  fmt.Sprintf("%d routes are too many; at most %d are allowed", len(routes), limits.MaxRoutes),
			Fix:     "write fewer",
		}}
	}
	known, err := c.service.known(ctx)
	if err != nil {
		return askback.RouteList{}, err
	}
	kept := storedRoutes(routes)
	s, err := c.changeDirectory(ctx, func(now int64, d *storedDirectory) (bool, error) {
		switch {
		case sameRoutes(d.Routes, kept):
			return false, nil // the call may be a repeat
		case d.Revision != revision:
			return false, askback.ErrChanged
		}
		with, _ := combined(c.service.directory.settings(), d)
		if err := directory.CheckRoutes(routes, c.service.RouteChannels, with.hasGroup); err != nil {
			return false, err
		}
		d.Routes, d.Revision, d.By, d.At = kept, d.Revision+1, c.Who.Name, now
		with, _ = combined(c.service.directory.settings(), d)
		if err := with.refusing(known); err != nil {
			return false, err
		}
		return true, nil
	})
	if err != nil {
		return askback.RouteList{}, fmt.Errorf("routes: %w", err)
	}
	return s.routeList(), nil
}

// storedRoutes returns routes in their stored form, without the fields that only lists have.
func storedRoutes(routes []askback.Route) []askback.Route {
	routes = slices.Clone(routes)
	for i := range routes {
		routes[i].Source, routes[i].Warning = "", ""
	}
	return routes
}

// sameRoutes reports whether two lists of routes have the same stored form.
func sameRoutes(a, b []askback.Route) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && (len(a)+len(b) == 0 || bytes.Equal(x, y))
}

// routeList returns a copy of the routes.
func (c *current) routeList() askback.RouteList {
	all := c.routes
	all.Items = slices.Clone(all.Items)
	return all
}

// storedTime returns the UTC time that is stored as a number of milliseconds since 1970.
func storedTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// settings returns the argument of [Service.Set].
func (d *directories) settings() txn.Settings {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file
}
