package config

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/settings"
)

// A RouteFile has routes for the API, from a file.
type RouteFile struct {
	Routes   []askback.Route
	Revision int64 // the revision of the list from which the file was made, or -1
	Left     int   // the number of routes of the settings that were left out
	name     string
	from     []settings.Value // the place of each route in the file
}

var routePointer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/items/(\d+)(/.*)?$`) })

// Locate replaces the pointers of the API in err by the places in the file, if the API found problems in the
// routes.
func (f RouteFile) Locate(err error) error {
	var invalid askback.Invalid
	if !errors.As(err, &invalid) {
		return err
	}
	out := settings.Invalid{File: f.name}
	for _, p := range invalid {
		m := routePointer().FindStringSubmatch(p.Pointer)
		if m == nil {
			return err
		}
		i, outOfRange := strconv.Atoi(m[1])
		if outOfRange != nil || i >= len(f.from) {
			return err
		}
		at := f.from[i].At
		out.Problems = append(out.Problems, settings.Problem{
			Line: at.Line, Column: at.Column, Detail: f.from[i].Key + keyOf(m[2]) + ": " + p.Detail, Fix: p.Fix,
		})
	}
	return out
}

// keyOf returns a pointer as a key of the file, in which list entries are counted from 1.
func keyOf(pointer string) (key string) {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if n, err := strconv.Atoi(part); err == nil {
			key += "[" + strconv.Itoa(n+1) + "]"
		} else if part != "" {
			key += "." + part
		}
	}
	return key
}

// ReadRoutes reads routes for the API from r, in YAML or JSON: a list, a group of keys as in the settings, or
// a reply of GET /routes. It makes the checks of [Load], except that groups need not be in the file, and that
// no variables are replaced.
func ReadRoutes(name string, r io.Reader) (RouteFile, error) {
	src, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return RouteFile{}, fmt.Errorf("read %s: %w", name, err)
	}
	l := &loader{Reader: settings.Reader{Name: name, Renamed: renamedSettings}, listed: true}
	f := RouteFile{Revision: -1, name: name}
	root := l.parse(src)
	switch {
	case root == nil:
		if l.Problems() == 0 {
			l.AddProblem(settings.Position{Line: 1, Column: 1}, "write routes: [] for none", "this file is empty")
		}
	case root.Kind == settings.List:
		f.Routes = l.routes(settings.Value{Node: *root, Key: "routes"})
	default:
		l.routeFields(*root, &f)
	}
	if err := l.Err(); err != nil {
		return RouteFile{}, err
	}
	all := len(f.Routes)
	for i, r := range f.Routes {
		if r.Source != askback.SourceSettings {
			f.from = append(f.from, l.routePlaces[i])
		}
	}
	f.Routes = slices.DeleteFunc(f.Routes, func(r askback.Route) bool { return r.Source == askback.SourceSettings })
	f.Left = all - len(f.Routes)
	return f, nil
}

// routeFields reads a file that is a group of keys.
func (l *loader) routeFields(root settings.Node, f *RouteFile) {
	found := false
	list := func(v settings.Value) {
		found = true
		f.Routes = append(f.Routes, l.routes(settings.Value{Node: v.Node, Key: "routes"})...)
	}
	ignore := func(settings.Value) {} // these keys describe the list, and are not part of a route
	l.Fields(root, "", []settings.Setting{
		{Key: "routes", Read: list},
		{Key: "items", Read: list},
		{Key: "revision", Read: l.Number("the revision of GET /routes", func(s string) string {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || n < 0 {
				return "is not a revision"
			}
			f.Revision = n
			return ""
		})},
		{Key: "next_cursor", Read: ignore},
		{Key: "by", Read: ignore},
		{Key: "changed_at", Read: ignore},
	})
	if !found && l.Problems() == 0 {
		l.AddProblem(root.At, "write routes: [] for none", "this file has no routes")
	}
}

// listedSettings returns the additional settings of a route in a list of the API. It returns nil for a
// settings file.
func (l *loader) listedSettings(r *askback.Route) []settings.Setting {
	if !l.listed {
		return nil
	}
	var source string
	return []settings.Setting{
		{Key: "source", Read: func(v settings.Value) {
			l.OneOf(&source, string(askback.SourceSettings), string(askback.SourceAPI))(v)
			r.Source = askback.Source(source)
		}},
		{Key: "warning", Read: func(settings.Value) {}},
	}
}
