package setup

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/askback/askback/internal/agents/config"
)

// print prints the diff of a change. If brief is set, it prints a single line for a new or removed file. It
// also prints a single line for a file that is a program of Askback. If the content does not change, it
// prints only a note.
func (c *Setup) print(one change, brief bool) error {
	if !one.differs() {
		if one.removes {
			c.Note(one.path + " does not contain Askback")
		} else {
			c.Note(one.path + " is up to date")
		}
		return nil
	}
	text := config.Diff(one.path, one.before, one.after)
	if one.program || brief && (one.before == nil || one.after == nil) {
		text = one.line()
	}
	return c.Print(text)
}

// line returns a line about a change without its content.
func (c change) line() string {
	content := c.after
	if content == nil {
		content = c.before
	}
	count := bytes.Count(content, []byte("\n"))
	if len(content) > 0 && content[len(content)-1] != '\n' {
		count++
	}
	plural := "s"
	if count == 1 {
		plural = ""
	}
	return fmt.Sprintf("%s file %s (%d line%s)\n", c.kind(), c.path, count, plural)
}

// kind returns the kind of the change.
func (c change) kind() string {
	switch {
	case c.before == nil:
		return "new"
	case c.after == nil:
		return "removed"
	}
	return "changed"
}

// done returns the note about a change that was made.
func (c change) done() string {
	if c.after == nil {
		return "removed " + c.path
	}
	return "wrote " + c.path
}

// listChanges prints the kind of change of each file that differs, and returns the number of these files.
func (c *Setup) listChanges(plans []clientPlan) (files int) {
	var list strings.Builder
	for _, p := range plans {
		for _, one := range p.plan.changes {
			if one.differs() {
				files++
				fmt.Fprintf(&list, "\n  %-7s  %s", one.kind(), one.path)
			}
		}
	}
	if files > 0 {
		c.Note("the files:" + list.String())
	}
	return files
}

// question returns the question whether to make the changes.
func (c *Setup) question(files int) string {
	these := fmt.Sprintf("these %d files", files)
	if files == 1 {
		these = "this file"
	}
	if c.Remove {
		return "remove Askback from " + these + "? [y/N] "
	}
	return "change " + these + "? [y/N] "
}
