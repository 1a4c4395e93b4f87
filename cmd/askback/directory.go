package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/terminal"
)

// personCommand has the commands for the people who may answer.
type personCommand struct {
	List   personList   `cmd:"" help:"List the people who may answer, and whether the settings, the API or a token names them."`
	Add    personAdd    `cmd:"" help:"Add a person, or replace a person who was added. Only an admin can do this."`
	Remove personRemove `cmd:"" help:"Remove a person who was added. Only an admin can do this."`
}

type personList struct {
	JSON bool `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints the people, one per line.
func (c *personList) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	all, err := conn.User.People(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printItems(io, all)
	}
	var lines []string
	for _, p := range all {
		lines = append(lines, personLine(p))
	}
	printFitted(io, lines)
	return nil
}

// printItems prints a list of the API as JSON.
func printItems[T any](io streams, all []T) error {
	return printJSON(io.out, struct {
		Items []T `json:"items"`
	}{append([]T{}, all...)})
}

// printFitted prints lines without control characters. On a terminal it shortens them to the width of the
// terminal.
func printFitted(io streams, lines []string) {
	width := math.MaxInt
	if screen := terminal.StreamOptions(io.out); screen != nil {
		width = screen.Width() - 1
	}
	for _, line := range lines {
		printLine(io.out, safetext.Fit(safetext.Line(line), width))
	}
}

// personLine describes a person in one line.
func personLine(p askback.Person) string {
	parts := []string{safetext.Name(p.Name).String(), "(" + string(p.Source) + ")"}
	quiet, zone := p.Quiet, p.TimeZone
	if quiet != "" {
		quiet, zone = quiet+" "+zone, ""
	}
	for _, part := range []struct{ what, value string }{
		{"", p.Email},
		{"Slack ", p.Slack},
		{"quiet ", quiet},
		{"time zone ", zone},
		{"in @", strings.Join(p.Groups, ", @")},
		{"WARNING: ", p.Warning},
	} {
		if part.value != "" {
			parts = append(parts, part.what+part.value)
		}
	}
	return strings.Join(parts, "  ")
}

type personAdd struct {
	Name     string `arg:"" help:"Name the person. Asks and routes use this name."`
	Email    string `placeholder:"ADDRESS" help:"Send mails to this address, and let the person log in with it."`
	Slack    string `placeholder:"MEMBER" help:"Send Slack messages to this member id, and accept answers from it."`
	TimeZone string `name:"time-zone" placeholder:"ZONE" help:"Read --quiet in this time zone, such as Europe/Berlin."`
	Quiet    string `placeholder:"HOURS" help:"Send no messages during these hours, such as 22:00-07:00."`
}

// Run adds or replaces a person.
func (c *personAdd) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	p, err := conn.User.PutPerson(ctx,
		askback.PersonRequest{Name: c.Name, Email: c.Email, Slack: c.Slack, TimeZone: c.TimeZone, Quiet: c.Quiet})
	if err == nil {
		noteWarning(io, p.Warning)
	}
	return err
}

type personRemove struct {
	Name string `arg:"" complete:"person" help:"Remove the person with this name (see askback person list)."`
}

// Run removes a person, and prints a warning if groups or routes still name the person.
func (c *personRemove) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	p, err := conn.User.DeletePerson(ctx, c.Name)
	if err == nil {
		noteWarning(io, p.Warning)
	}
	return unknownName(err, "person", c.Name)
}

// noteWarning prints a warning of the server, if there is one.
func noteWarning(io streams, warning string) {
	if warning != "" {
		note(io.err, safetext.Line(warning).String())
	}
}

// unknownName replaces a not-found error with an error that names the item. It returns other errors unchanged.
func unknownName(err error, what, name string) error {
	if errors.Is(err, askback.ErrNotFound) {
		return exitError{
			exitRefused, fmt.Sprintf("there is no %s %q; see askback %s list", what, safetext.Line(name), what),
		}
	}
	return err
}

// groupCommand has the commands for groups of people.
type groupCommand struct {
	List   groupList   `cmd:"" help:"List the groups of people, and whether the settings or the API has each."`
	Add    groupAdd    `cmd:"" help:"Add a group, or replace the people of a group that was added. Only an admin can do this."`
	Remove groupRemove `cmd:"" help:"Remove a group that was added. Only an admin can do this."`
}

type groupList struct {
	JSON bool `name:"json" help:"Print the reply of the API as JSON."`
}

// Run prints the groups, one per line.
func (c *groupList) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	all, err := conn.User.Groups(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printItems(io, all)
	}
	var lines []string
	for _, g := range all {
		line := fmt.Sprintf("@%s  (%s)  %s", g.Name, g.Source, strings.Join(g.People, ", "))
		if g.Warning != "" {
			line += "  WARNING: " + g.Warning
		}
		lines = append(lines, line)
	}
	printFitted(io, lines)
	return nil
}

type groupAdd struct {
	Name   string   `arg:"" complete:"group" help:"Name the group, without @."`
	People []string `arg:"" name:"person" complete:"person" help:"Put these people into the group, and no others."`
}

// Run adds or replaces a group.
func (c *groupAdd) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	g, err := conn.User.PutGroup(ctx, strings.TrimPrefix(c.Name, "@"), c.People)
	if err == nil {
		noteWarning(io, g.Warning)
	}
	return err
}

type groupRemove struct {
	Name string `arg:"" complete:"group" help:"Name the group, without @."`
}

// Run removes a group.
func (c *groupRemove) Run(ctx context.Context, conn *connection.Connector) error {
	name := strings.TrimPrefix(c.Name, "@")
	_, err := conn.User.DeleteGroup(ctx, name)
	return unknownName(err, "group", name)
}

// routeCommand has the commands for routes.
type routeCommand struct {
	List routeList `cmd:"" help:"List the routes in the order of matching: first the routes of the settings, then the routes of the API."`
	Set  routeSet  `cmd:"" help:"Replace all routes of the API. Only an admin can do this."`
}

type routeList struct {
	JSON bool `name:"json" help:"Print the routes as JSON, in the format that askback route set reads."`
}

// Run prints the routes, one per line.
func (c *routeList) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	all, err := conn.User.Routes(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, struct {
			Items    []askback.Route `json:"items"`
			Revision int64           `json:"revision"`
		}{append([]askback.Route{}, all.Items...), all.Revision})
	}
	var lines []string
	for i, r := range all.Items {
		lines = append(lines, fmt.Sprintf("%d  (%s)  %s", i+1, r.Source, routeLine(r)))
	}
	printFitted(io, lines)
	return nil
}

// routeLine describes a route in one line.
func routeLine(r askback.Route) string {
	match := []string{}
	for _, part := range []struct {
		what, value string
	}{{"agent ", r.Match.Agent}, {"", string(r.Match.Kind)}, {"tags ", strings.Join(r.Match.Tags, ", ")}} {
		if part.value != "" {
			match = append(match, part.what+part.value)
		}
	}
	if len(match) == 0 {
		match = []string{"every ask"}
	}
	out := []string{strings.Join(match, ", ") + ":"}
	add := func(set bool, format string, args ...any) {
		if set {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	short := func(s askback.Span) string { // 2h, not 2h0m0s
		text := s.Duration().String()
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(text, zero) {
				text = text[:len(text)-2]
			}
		}
		return text
	}
	add(len(r.To) > 0, "to %s", strings.Join(r.To, ", "))
	add(len(r.Approvers) > 0, "decided by %s", strings.Join(r.Approvers, ", "))
	add(len(r.Channels) > 0, "by %s", strings.Join(r.Channels, ", "))
	add(r.Quorum > 0, "%d must approve", r.Quorum)
	add(r.NoSelfApproval, "not who started it")
	for _, after := range r.Remind {
		add(true, "remind after %s", short(after))
	}
	for _, e := range r.Escalate {
		add(true, "after %s to %s", short(e.After), strings.Join(e.To, ", "))
	}
	add(r.Timeout > 0, "timeout %s %s", short(r.Timeout), r.OnTimeout)
	add(r.Join, "equal asks are joined")
	add(r.Warning != "", "WARNING: %s", r.Warning)
	return strings.Join(out, "  ")
}

type routeSet struct {
	File string `arg:"" complete:"file" help:"Read the routes from this YAML or JSON file, or - for standard input. The format is the same as under routes in the settings."`
}

// Run replaces the routes of the API.
func (c *routeSet) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	f, err := readRoutes(c.File, io.in)
	if err != nil {
		return err
	}
	if f.Revision < 0 {
		now, err := conn.User.Routes(ctx)
		if err != nil {
			return err
		}
		f.Revision = now.Revision
	}
	if f.Left > 0 {
		note(io.err, fmt.Sprintf("left out the routes of the settings: %d", f.Left))
	}
	all, err := conn.User.PutRoutes(ctx, f.Routes, f.Revision)
	for _, r := range all.Items {
		if r.Source == askback.SourceAPI {
			noteWarning(io, r.Warning)
		}
	}
	return f.Locate(err)
}

// readRoutes reads routes from a file, or from in if path is "-".
func readRoutes(path string, in io.Reader) (config.RouteFile, error) {
	if path == "-" {
		return config.ReadRoutes("standard input", in)
	}
	f, err := os.Open(path)
	if err != nil {
		return config.RouteFile{}, unusableFile(err)
	}
	defer f.Close()
	return config.ReadRoutes(path, f)
}
