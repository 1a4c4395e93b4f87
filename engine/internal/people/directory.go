package people

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/store"
)

// People, groups and routes are in the settings. If they were made over the API, they are in one record of
// the store (F12). The record is read when it is first needed, and cached. No other process uses the store.

// KindDirectory is the kind of the record with the people, groups and routes of the API. directoryID is the
// id of the record.
const (
	KindDirectory = "directory"
	directoryID   = "directory"
)

// A storedPerson is the stored form of a person. Times are in milliseconds since 1970.
type storedPerson struct {
	Name     string `json:"name"`
	Email    string `json:"email,omitempty"`
	Slack    string `json:"slack,omitempty"`
	TimeZone string `json:"time_zone,omitempty"`
	Quiet    string `json:"quiet,omitempty"`
	By       string `json:"by"`
	At       int64  `json:"at"`
}

// A storedGroup is the stored form of a group.
type storedGroup struct {
	Name   string   `json:"name"`
	People []string `json:"people"`
	By     string   `json:"by"`
	At     int64    `json:"at"`
}

// storedDirectory is the state of the record. People and groups are sorted by name.
type storedDirectory struct {
	Format   int             `json:"v"`
	People   []storedPerson  `json:"people,omitempty"`
	Groups   []storedGroup   `json:"groups,omitempty"`
	Routes   []askback.Route `json:"routes,omitempty"`
	Revision int64           `json:"revision,omitempty"` // the number of the revision, which changes with the routes
	By       string          `json:"by,omitempty"`       // who last changed the routes
	At       int64           `json:"at,omitempty"`       // when
}

func (d *storedDirectory) person(name string) (int, bool) {
	return slices.BinarySearchFunc(d.People, name,
		func(p storedPerson, name string) int { return cmp.Compare(p.Name, name) })
}

func (d *storedDirectory) group(name string) (int, bool) {
	return slices.BinarySearchFunc(d.Groups, name,
		func(g storedGroup, name string) int { return cmp.Compare(g.Name, name) })
}

// A current is a snapshot of the effective settings: the settings passed to [Service.Set], combined with the
// stored people, groups and routes. It is immutable once published.
type current struct {
	txn.Settings
	groups []askback.Group // the groups in Settings.Groups, sorted by name
	routes askback.RouteList
	quiet  map[string]quietHours // keyed by the name of the person
}

// directories holds the settings and the stored directory, from which the effective settings are combined.
type directories struct {
	complete atomic.Bool // whether the stored directory was read

	mu      sync.Mutex   // held while a field is replaced
	file    txn.Settings // the argument of [Service.Set]
	stored  storedDirectory
	version int64           // the version of the record with the stored directory; 0 if there is no record
	warned  map[string]bool // the warnings that were logged

	reported map[string]bool // the problems that [Service.CheckDirectory] has logged
}

// Set replaces the settings.
func (e *Service) Set(s txn.Settings) {
	s.People, s.Routes, s.Groups, s.Receivers = slices.Clone(s.People), slices.Clone(s.Routes), maps.Clone(s.Groups),
		slices.Clone(s.Receivers)
	e.directory.mu.Lock()
	defer e.directory.mu.Unlock()
	e.directory.file = s
	e.combine()
}

// current returns the effective settings. It first reads the stored directory unless the directory was
// already read. If that fails, current returns an error, because a rule of a route must not be missed.
func (e *Service) current(ctx context.Context) (*current, error) {
	if e.directory.complete.Load() {
		return e.applied.Load(), nil
	}
	e.directory.mu.Lock()
	defer e.directory.mu.Unlock()
	if e.directory.complete.Load() {
		return e.applied.Load(), nil
	}
	d, row, err := e.readDirectory(ctx)
	if err != nil {
		return nil, fmt.Errorf("people, groups and routes: %w", txn.FromStore(err))
	}
	e.directory.stored, e.directory.version = d, row.Version
	e.combine()
	// this is set after combine, because other callers then use the settings without the mutex
	e.directory.complete.Store(true)
	return e.applied.Load(), nil
}

// ReadDirectory reads the stored people, groups and routes, unless they were already read. Without this call,
// they are read when they are first needed.
func (e *Service) ReadDirectory(ctx context.Context) error {
	_, err := e.current(ctx)
	return err
}

// signInPeople returns the issuer and the people who may sign in. It omits the people of the API as long as
// the store cannot be read.
func (e *Service) signInPeople() (issuer string, people []askback.Person) {
	s, err := e.current(context.Background())
	if err != nil {
		e.Log.Error("the people of the API cannot be read", "error", err)
		s = e.applied.Load()
	}
	return s.Issuer, s.People
}

// readDirectory returns the stored directory and its record. If no directory is
// stored, the version of the record is 0.
func (e *Service) readDirectory(ctx context.Context) (d storedDirectory, row store.Record, err error) {
	row, err = e.Store.Read(ctx, KindDirectory, directoryID)
	if errors.Is(err, store.ErrNotFound) {
		return storedDirectory{
			Format: 1,
		}, store.Record{Kind: KindDirectory, ID: directoryID, Fixed: []byte(`{"v":1}`)}, nil
	}
	if err != nil {
		return d, row, err
	}
	d, err = decodeDirectory(row)
	row.Fixed = nil
	return d, row, err
}

// replaceDirectory applies a stored directory that was committed, unless a later version is already applied.
func (e *Service) replaceDirectory(d storedDirectory, version int64) {
	e.directory.mu.Lock()
	defer e.directory.mu.Unlock()
	if version > e.directory.version {
		e.directory.stored, e.directory.version = d, version
		e.combine()
		e.directory.complete.Store(true)
	}
}

// combine publishes the effective settings, calls Changed, and logs new warnings. The caller holds the mutex.
func (e *Service) combine() {
	c, warnings := combined(e.directory.file, &e.directory.stored)
	e.applied.Store(c)
	e.Settings.Store(&c.Settings)
	e.tokens.forget() // a sign-in of a person may have ended
	if e.Changed != nil {
		e.Changed(c.Settings)
	}
	warned := map[string]bool{}
	for _, w := range warnings {
		if warned[w] = true; !e.directory.warned[w] {
			e.Log.Warn(w)
		}
	}
	e.directory.warned = warned
}

// combined returns the settings combined with the stored directory, and warnings for operators. If the
// settings have the same name or address as the directory, the settings win.
func combined(file txn.Settings, d *storedDirectory) (c *current, warnings []string) {
	c = &current{Settings: file}
	c.addPeople(d.People, &warnings)
	c.addGroups(d.Groups, &warnings)
	c.addRoutes(d, &warnings)
	c.quiet = quietHoursOf(c.People)
	return c, warnings
}

// addPeople adds the stored people to the settings, and warnings about the people, addresses and ids that the
// settings already have. Such a person, address or id is not added.
func (c *current) addPeople(stored []storedPerson, warnings *[]string) {
	c.People = slices.Clone(c.People)
	c.Receivers = slices.Clip(c.Receivers)
	for i := range c.People {
		c.People[i].Source = askback.SourceSettings
	}
	own := len(c.People)
	for _, s := range stored {
		if i := slices.IndexFunc(c.People[:own], func(p askback.Person) bool { return p.Name == s.Name }); i >= 0 {
			c.People[i].Warning = "a person of the API with the same name has no effect"
			*warnings = append(*warnings, fmt.Sprintf(
				"the settings have the person %q, so the person of the API with this name has no effect", s.Name,
			))
			continue
		}
		p := askback.Person{
			Name: s.Name, Email: s.Email, Slack: s.Slack, TimeZone: s.TimeZone, Quiet: s.Quiet,
			Source: askback.SourceAPI, By: s.By, ChangedAt: storedTime(s.At),
		}
		if i := slices.IndexFunc(c.People[:own],
			func(o askback.Person) bool { return sameEmail(o.Email, p.Email) }); i >= 0 {
			p.Email, p.Warning = "", fmt.Sprintf("the e-mail address of this person belongs to %q in the settings",
				c.People[i].Name)
		}
		if i := slices.IndexFunc(c.People[:own],
			func(o askback.Person) bool { return p.Slack != "" && o.Slack == p.Slack }); i >= 0 {
			p.Slack, p.Warning = "", fmt.Sprintf("the Slack id of this person belongs to %q in the settings",
				c.People[i].Name)
		}
		if p.Warning != "" {
			*warnings = append(*warnings, fmt.Sprintf("%q is a person of the API: %s", p.Name, p.Warning))
		}
		c.People = append(c.People, p)
		if c.Reach != nil {
			c.Receivers = append(c.Receivers, c.Reach(p)...)
		}
	}
}

// sameEmail reports whether two addresses are the same, ignoring case. It returns false if an address is "".
func sameEmail(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// addGroups adds the stored groups to the settings. A group whose name the settings already have is not
// added, which is a warning.
func (c *current) addGroups(stored []storedGroup, warnings *[]string) {
	inSettings := c.Groups
	c.Groups = maps.Clone(c.Groups)
	if c.Groups == nil {
		c.Groups = map[string][]string{}
	}
	for name, people := range inSettings {
		c.groups = append(c.groups, askback.Group{Name: name, People: people, Source: askback.SourceSettings})
	}
	for _, s := range stored {
		if _, taken := inSettings[s.Name]; taken {
			i := slices.IndexFunc(c.groups, func(g askback.Group) bool { return g.Name == s.Name })
			c.groups[i].Warning = "a group of the API with the same name has no effect"
			*warnings = append(*warnings, fmt.Sprintf(
				"the settings have the group %q, so the group of the API with this name has no effect", s.Name,
			))
			continue
		}
		c.Groups[s.Name] = s.People
		c.groups = append(c.groups, askback.Group{
			Name: s.Name, People: s.People, Source: askback.SourceAPI, By: s.By, ChangedAt: storedTime(s.At),
		})
	}
	slices.SortFunc(c.groups, func(a, b askback.Group) int { return cmp.Compare(a.Name, b.Name) })
}

// addRoutes adds the stored routes after the routes of the settings, so that the first match in the settings
// still applies. A route that names a missing group is a warning.
func (c *current) addRoutes(d *storedDirectory, warnings *[]string) {
	c.Routes = slices.Clone(c.Routes)
	for i := range c.Routes {
		c.Routes[i].Source = askback.SourceSettings
	}
	for i, r := range d.Routes {
		r.Source = askback.SourceAPI
		if missing, _ := directory.MissingGroups(&r, c.hasGroup); len(missing) > 0 {
			r.Warning = "there is no group " + strings.Join(quoted(missing), ", ")
			*warnings = append(*warnings, fmt.Sprintf("route %d of the API: %s", i+1, r.Warning))
		}
		c.Routes = append(c.Routes, r)
	}
	c.routes = askback.RouteList{Items: c.Routes, Revision: d.Revision, By: d.By}
	if d.At != 0 {
		c.routes.ChangedAt = storedTime(d.At)
	}
}

func (c *current) hasGroup(name string) bool {
	_, ok := c.Groups[name]
	return ok
}

// A DirectoryReport describes a stored directory.
type DirectoryReport struct {
	People, Groups, Routes int
	Warnings               []string // about entries that have no effect with the settings
	Problems               []DirectoryProblem
}

// InspectDirectory describes the stored record of kind [KindDirectory], and reports its problems with the
// settings. A row without an id means that there is no record. The tokens are the names of the people with a
// valid token. The recipients are the people whom the asks of hosted agents name.
func InspectDirectory(
	file txn.Settings, row store.Record, tokens []string, recipients map[string][]string,
) (DirectoryReport, error) {
	d := storedDirectory{Format: 1}
	if row.ID != "" {
		var err error
		if d, err = decodeDirectory(row); err != nil {
			return DirectoryReport{}, err
		}
	}
	c, warnings := combined(file, &d)
	known := c.everyone(tokens)
	return DirectoryReport{
		len(d.People), len(d.Groups), len(d.Routes), warnings,
		append(c.problems(known), c.excluding(recipients, known)...),
	}, nil
}

func decodeDirectory(row store.Record) (d storedDirectory, err error) {
	d, err = txn.Readable(d, json.Unmarshal(row.State, &d))
	if err == nil && d.Format != 1 {
		err = txn.ErrUnreadable
	}
	return d, err
}
