package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/config"
	"github.com/askback/askback/internal/jcs"
	"github.com/askback/askback/internal/safetext"
)

// The exit codes of wire.md §9.
const (
	exitDone        = 0
	exitNo          = 1 // declined or denied
	exitUsage       = 2 // bad usage or input
	exitExpired     = 3
	exitCancelled   = 4
	exitRefused     = 5 // out of reach, or refused
	exitInterrupted = 130
)

// ended says how an ask ended, where that is no answer.
type ended struct {
	code int
	why  string
}

func (e ended) Error() string { return e.why }

// usage is a mistake in what was typed.
type usage string

func (u usage) Error() string { return string(u) }

// code says on w what went wrong, and returns the exit code.
func code(w io.Writer, err error) int {
	var (
		end     ended
		typed   usage
		invalid askback.Invalid
		syntax  *jcs.SyntaxError
		file    config.Invalid
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &end):
		say(w, end.why)
		return end.code
	case errors.As(err, &invalid):
		for _, line := range mistakes(err, invalid) {
			say(w, line)
		}
		return exitUsage
	case errors.As(err, &file):
		for line := range strings.Lines(file.Error()) {
			say(w, strings.TrimSuffix(line, "\n"))
		}
		return exitUsage
	case errors.As(err, &typed):
		say(w, err.Error())
		return exitUsage
	case errors.As(err, &syntax), errors.Is(err, askback.ErrKeyReused):
		say(w, safetext.Line(withoutRoute(err)).String())
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	say(w, safetext.Line(withoutRoute(err)).String())
	return exitRefused
}

// say writes a note for a person. What it quotes may come from an agent: no line of it looks
// like the beginning of another note.
func say(w io.Writer, note string) {
	if note != "" {
		safe := safetext.Block(note).String()
		fmt.Fprintf(w, "askback: %s\n", strings.ReplaceAll(safe, "\naskback:", "\n  askback:"))
	}
}
