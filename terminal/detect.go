package terminal

import (
	"os"

	"golang.org/x/term"
)

// Is says whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Screen returns the options for drawing on a stream: as wide as its terminal is,
// or nil where it is none.
func Screen(stream any) *Options {
	if !Is(stream) {
		return nil
	}
	f := stream.(*os.File)
	return &Options{Style: style(), Width: func() int {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return 80
	}}
}
