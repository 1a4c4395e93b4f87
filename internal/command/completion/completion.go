// Package completion completes command lines in a shell: it prints the script for the shell, and
// the candidates for the last word of a line.
package completion

import (
	"bufio"
	"embed"
	"fmt"
	"io"
)

//go:embed scripts
var scripts embed.FS

// Script returns the completion script for a shell, which is bash, zsh or fish. The script calls the program.
func Script(shell string) ([]byte, error) { return scripts.ReadFile("scripts/askback." + shell) }

// A Candidate is a word that completes a command line. Both strings are one line each, and
// safe for a terminal. The scripts quote the value for the shell.
type Candidate struct {
	Value       string
	Description string // "" adds nothing
}

// Candidates are the result of a completion.
type Candidates struct {
	files bool // the shell completes the name of a file itself
	list  []Candidate
}

// Write writes the candidates for a script. The first line is the kind: files or words. Then each word has a
// line, with a tab before the description.
func (c Candidates) Write(out io.Writer) error {
	w := bufio.NewWriter(out)
	if c.files {
		fmt.Fprintln(w, "files")
	} else {
		fmt.Fprintln(w, "words")
	}
	for _, a := range c.list {
		if a.Description != "" {
			a.Value += "\t" + a.Description
		}
		fmt.Fprintln(w, a.Value)
	}
	return w.Flush()
}
