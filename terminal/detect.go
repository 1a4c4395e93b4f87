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

// StreamOptions returns the options for drawing on stream, or nil if stream is not a terminal.
func StreamOptions(stream any) *Options {
	if !IsTerminal(stream) {
		return nil
	}
	f := stream.(*os.File)
	return &Options{Style: style(), Width: func() int { return columns(int(f.Fd())) }}
}

// columns returns the current width of a terminal, or [defaultWidth] if the width is unknown.
func columns(fd int) int {
	if width, _, err := term.GetSize(fd); err == nil && width > 0 {
		return width
	}
	return defaultWidth
}

// Rows returns the current number of rows of the terminal that stream is, or [defaultHeight] if the number is
// unknown.
func Rows(stream any) int {
	if f, ok := stream.(*os.File); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
			return height
		}
	}
	return defaultHeight
}

// size returns the current width and height of a terminal, or the defaults if they are unknown.
func size(fd int) (width, height int) {
	if width, height, err := term.GetSize(fd); err == nil && width > 0 && height > 0 {
		return width, height
	}
	return defaultWidth, defaultHeight
}
