package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// commandGroups are the headings of the first help.
var commandGroups = []kong.Group{
	{Key: "ask", Title: "Ask people:"},
	{Key: "answer", Title: "Answer:"},
	{Key: "agents", Title: "Set up agents:"},
	{Key: "server", Title: "Run a server:"},
	{Key: "people", Title: "People and access:"},
	{Key: "channels", Title: "Channels, through which questions reach people and programs:"},
}

// otherGroups are the commands that the first help only names, because people seldom type them.
var otherGroups = []kong.Group{
	{Key: "programs", Title: "Programs run these:"},
	{Key: "shells", Title: "For shells:"},
}

// printHelp prints the help of a command. It replaces only the first help of kong, which lists every command.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() != nil {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	_, err := fmt.Fprint(ctx.Stdout, firstHelp(ctx.Model))
	return err
}

// firstHelp returns the help of the program: its commands by group, and its flags.
func firstHelp(program *kong.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s <command> [flags]\n\n%s\n", program.Name, program.Help)
	for _, g := range commandGroups {
		fmt.Fprintf(&b, "\n%s\n", g.Title)
		for _, c := range inGroup(program, g.Key) {
			fmt.Fprintf(&b, "  %-9s  %s\n", c.Name, c.Help)
		}
	}
	b.WriteString("\nFlags of every command:\n")
	for _, f := range program.Flags {
		name := "    --" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", --" + f.Name
		}
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		fmt.Fprintf(&b, "  %-17s  %s\n", name, kong.DefaultHelpValueFormatter(f.Value))
	}
	var others []string
	for _, g := range otherGroups {
		var names []string
		for _, c := range inGroup(program, g.Key) {
			names = append(names, c.Name)
		}
		others = append(others, g.Title+" "+strings.Join(names, ", ")+".")
	}
	fmt.Fprintf(&b, "\n%s\n", strings.Join(others, " "))
	fmt.Fprintf(&b, "Run \"%s <command> --help\" to read about any command and its flags.\n", program.Name)
	return b.String()
}

// inGroup returns the commands of a group.
func inGroup(program *kong.Application, group string) (all []*kong.Node) {
	for _, c := range program.Children {
		if !c.Hidden && c.Group != nil && c.Group.Key == group {
			all = append(all, c)
		}
	}
	return all
}
