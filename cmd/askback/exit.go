package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/server/hosting"
	"github.com/askback/askback/internal/settings"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/store/sqlite"
)

// The exit codes of wire.md §9.
const (
	exitDone        = 0
	exitNo          = 1 // declined or denied
	exitUsage       = 2 // bad usage or input, or a database that this version cannot use
	exitExpired     = 3
	exitCancelled   = 4
	exitRefused     = 5 // unreachable, or rejected
	exitInterrupted = 130
)

// An exitError is an error with an exit code, such as the error for a declined ask.
type exitError struct {
	code int
	text string
}

func (e exitError) Error() string { return e.text }

// usage returns an error for an invalid command line or input.
func usage(text string) error { return exitError{exitUsage, text} }

// unusableFile returns the usage error for a file that cannot be read or written.
func unusableFile(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return usage(fmt.Sprintf("cannot use the file %s: %v", file.Path, file.Err))
	}
	return usage(err.Error())
}

// printError writes an error to w and returns its exit code. It writes nothing for a
// cancelled context, or for a nil error, which has the code 0.
func printError(w io.Writer, err error) int {
	var (
		coded   exitError
		invalid askback.Invalid
		syntax  *jcs.SyntaxError
		file    settings.Invalid
		files   hosting.Error
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded):
		note(w, coded.text)
		return coded.code
	case errors.As(err, &invalid):
		for _, line := range problemLines(err, invalid) {
			note(w, line)
		}
		return exitUsage
	case errors.As(err, &files):
		return printLines(w, files.Error())
	case errors.As(err, &file):
		return printLines(w, file.Error())
	case errors.As(err, &syntax), errors.Is(err, askback.ErrKeyReused), errors.Is(err, sqlite.ErrNewer),
		errors.Is(err, sqlite.ErrForeign):
		note(w, safetext.Line(withoutRoute(err)).String())
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	note(w, safetext.Line(advice(err)).String())
	return exitRefused
}

// printLines prints the problems in files, one per line.
func printLines(w io.Writer, text string) (exit int) {
	for line := range strings.Lines(text) {
		note(w, strings.TrimSuffix(line, "\n"))
	}
	return exitUsage
}

// note writes a note for the user, without control characters other than line breaks. It
// writes nothing for "". The text may quote an agent, so its further lines are indented if
// they begin with "askback:".
func note(w io.Writer, text string) {
	if text != "" {
		safe := safetext.Block(text).String()
		fmt.Fprintf(w, "askback: %s\n", strings.ReplaceAll(safe, "\naskback:", "\n  askback:"))
	}
}
