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
