package main

import (
	"bufio"
	"context"
	"embed"
	"fmt"
	"io"
	"time"
)

// completionScripts are the scripts for the shells, which call this program.
//
//go:embed completion
var completionScripts embed.FS

// completionTime is how long the candidates may take, because a person waits for them after
// each press of Tab.
const completionTime = 800 * time.Millisecond

type completionCommand struct {
	Shell string   `arg:"" enum:"bash,zsh,fish" help:"Shell to print the script for: bash, zsh or fish."`
	Words []string `arg:"" optional:"" sep:"none" name:"word" help:"Words of a command line, after --: print the candidates for the last one, as the scripts do."`
}

// Run prints the script or, with words, the candidates for the last one. Nothing that goes
// wrong with the candidates is an error: the shell would print it into the command line.
func (c *completionCommand) Run(ctx context.Context, io streams, all *commands) error {
	if len(c.Words) == 0 {
		script, err := completionScripts.ReadFile("completion/askback." + c.Shell)
		if err == nil {
			_, err = io.out.Write(script)
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	found := make(chan candidates, 1)
	go func() { found <- newCompletion(all, c.Shell, c.Words).find(ctx) }()
	select {
	case list := <-found:
		return list.write(io.out)
	case <-ctx.Done(): // what still runs, such as a read of a file, ends with the process
		return candidates{}.write(io.out)
	}
}

// A candidate is a word that completes a command line. Both strings are one line each, and
// safe for a terminal. The scripts quote the value for the shell.
type candidate struct {
	value       string
	description string // "" adds nothing
}

// candidates is the result of a completion.
type candidates struct {
	files bool // the shell completes the name of a file itself
	list  []candidate
}

// write writes the candidates for a script: first a line with the kind, files or words, and
// then a line for each word, with a tab in front of the description.
func (c candidates) write(out io.Writer) error {
	w := bufio.NewWriter(out)
	if c.files {
		fmt.Fprintln(w, "files")
	} else {
		fmt.Fprintln(w, "words")
	}
	for _, a := range c.list {
		if a.description != "" {
			a.value += "\t" + a.description
		}
		fmt.Fprintln(w, a.value)
	}
	return w.Flush()
}
