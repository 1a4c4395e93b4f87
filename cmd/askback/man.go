package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

type manCommand struct{}

// Run writes the manual page.
func (manCommand) Run(io streams) error {
	return writeManual(io.out, (&commands{}).parser().Model.Node)
}

// writeManual writes the page of all commands as roff, from the parser of the command line.
func writeManual(w io.Writer, root *kong.Node) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH ASKBACK 1 \"\" \"%s\" \"Askback\"\n", roff("askback "+version()))
	fmt.Fprint(&b, ".SH NAME\naskback \\- ask people on behalf of agents, and answer\n")
	fmt.Fprint(&b, ".SH SYNOPSIS\n.B askback\n[flags] command\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(root.Help))
	fmt.Fprint(&b, ".SH GLOBAL FLAGS\n")
	manFlags(&b, root.Flags)
	fmt.Fprint(&b, ".SH COMMANDS\n")
	manCommands(&b, root)
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n",
		roff("https://github.com/askback/askback/blob/main/docs/cli.md has examples, files and exit codes."))
	_, err := io.WriteString(w, b.String())
	return err
}

// manCommands writes the commands below a node. It omits commands that only contain other commands.
func manCommands(b *strings.Builder, n *kong.Node) {
	for _, c := range n.Children {
		if c.Hidden {
			continue
		}
		if len(c.Children) > 0 {
			manCommands(b, c)
			continue
		}
		fmt.Fprintf(b, ".SS \"%s\"\n%s\n", roff(c.FullPath()), roff(c.Help))
		for _, p := range c.Positional {
			fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(strings.ToUpper(p.Name)), roff(p.Help))
		}
		manFlags(b, c.Flags)
	}
}

func manFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := "--" + f.Name
		switch {
		case f.Tag.Negatable != "":
			name = "--[no-]" + f.Name
		case !f.IsBool():
			name += "=" + strings.Trim(f.FormatPlaceHolder(), "= ")
		}
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		help := f.Help
		if len(f.Envs) > 0 {
			help += " Environment: " + strings.Join(f.Envs, ", ") + "."
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(help))
	}
}

// roff escapes text for a line of a manual page.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ", `"`, `\(dq`).Replace(s)
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	s = b.String()
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
