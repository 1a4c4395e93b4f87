// Package leftout skips tests that need a missing program, and prints that they were skipped.
package leftout

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Reported is the name of an environment variable. If it is set, [Skip] prints nothing on
// the terminal, because the program that runs go test prints the skipped tests.
const Reported = "ASKBACK_LEFT_OUT"

var printed sync.Map // the lines on the terminal

// Skip skips a test with a formatted message. It also prints the message on the terminal,
// once for each package, since go test does not show skipped tests.
func Skip(t testing.TB, format string, args ...any) {
	t.Helper()
	line := "LEFT OUT: " + fmt.Sprintf(format, args...)
	if _, before := printed.LoadOrStore(line, true); !before && os.Getenv(Reported) == "" {
		if tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
			_, _ = fmt.Fprintln(tty, line)
			_ = tty.Close()
		}
	}
	t.Skip(line)
}
