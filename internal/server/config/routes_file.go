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

	"github.com/goccy/go-yaml/ast"

	"github.com/askback/askback"
)

// RouteFile are routes for the API, from a file.
type RouteFile struct {
	Routes   []askback.Route
	Revision int64 // of the list that the file was made from; -1: it has none
	Left     int   // how many routes of the settings were left out
	name     string
	from     []value // the place of each route in the file
}

var routePointer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/items/(\d+)(/.*)?$`) })

// Locate returns err with the places of the file instead of the pointers of the API, if the
// API has found problems in the routes.
func (f RouteFile) Locate(err error) error {
	var invalid askback.Invalid
	if !errors.As(err, &invalid) {
		return err
	}
	out := Invalid{File: f.name}
	for _, p := range invalid {
		m := routePointer().FindStringSubmatch(p.Pointer)
		if m == nil {
			return err
		}
		i, outOfRange := strconv.Atoi(m[1])
		if outOfRange != nil || i >= len(f.from) {
			return err
		}
		at := f.from[i].at
		out.Problems = append(out.Problems, Problem{at.line, at.column, f.from[i].key + keyOf(m[2]) + ": " + p.Detail, p.Fix})
	}
	return out
}

// keyOf returns a pointer as a key of the file: list entries are counted from 1.
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

// ReadRoutes reads routes for the API from r, in YAML or JSON: a list, a group of keys as in the
// settings, or what GET /routes replies. It has the checks of [Load], except that groups need
// not be in it, and that no variables are replaced.
func ReadRoutes(name string, r io.Reader) (RouteFile, error) {
	src, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return RouteFile{}, fmt.Errorf("read %s: %w", name, err)
	}
	l := &loader{name: name, listed: true}
	f := RouteFile{Revision: -1, name: name}
	root := l.parse(src)
	switch root.(type) {
	case nil:
		if len(l.problems) == 0 {
			l.addProblem(position{1, 1}, "write routes: [] for none", "this file is empty")
		}
	case *ast.SequenceNode:
		f.Routes = l.routes(value{root, "routes", positionOf(root)})
	default:
		l.routeFields(root, &f)
	}
	if err := l.err(); err != nil {
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
func (l *loader) routeFields(root ast.Node, f *RouteFile) {
	found := false
	list := func(v value) {
		found = true
		f.Routes = append(f.Routes, l.routes(value{v.node, "routes", v.at})...)
	}
	ignore := func(value) {} // they describe the list, and are not part of a route
	l.fields(root, "", []setting{
		{key: "routes", read: list},
		{key: "items", read: list},
		{key: "revision", read: l.number("the revision of GET /routes", func(s string) string {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || n < 0 {
				return "is not a revision"
			}
			f.Revision = n
			return ""
		})},
		{key: "next_cursor", read: ignore},
		{key: "by", read: ignore},
		{key: "changed_at", read: ignore},
	})
	if !found && len(l.problems) == 0 {
		l.addProblem(positionOf(root), "write routes: [] for none", "this file has no routes")
	}
}

// listedSettings are what a route has in addition in a list of the API.
func (l *loader) listedSettings(r *askback.Route) []setting {
	if !l.listed {
		return nil
	}
	var source string
	return []setting{
		{key: "source", read: func(v value) {
			l.oneOf(&source, string(askback.SourceSettings), string(askback.SourceAPI))(v)
			r.Source = askback.Source(source)
		}},
		{key: "warning", read: func(value) {}},
	}
}
