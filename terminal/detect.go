package terminal

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether stream is a file that is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// StreamOptions returns the options for drawing on stream, or nil if it is not a terminal.
func StreamOptions(stream any) *Options {
	if !IsTerminal(stream) {
		return nil
	}
	f := stream.(*os.File)
	return &Options{Style: style(), Width: func() int { return columns(int(f.Fd())) }}
}

// columns returns the current width of a terminal, or [defaultWidth] if it is unknown.
func columns(fd int) int {
	if width, _, err := term.GetSize(fd); err == nil && width > 0 {
		return width
	}
	return defaultWidth
}
