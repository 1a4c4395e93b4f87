// Package leftout skips tests for want of a program, and lets no person miss it.
package leftout

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Reported is the environment variable of a program that runs go test and prints
// what was left out itself.
const Reported = "ASKBACK_LEFT_OUT"

var told sync.Map // what was printed at the terminal

// Skip skips a test. What is left out, and why, is printed at the terminal too,
// once for each package: go test shows nothing of a test that is skipped.
func Skip(t testing.TB, format string, args ...any) {
	t.Helper()
	line := "LEFT OUT: " + fmt.Sprintf(format, args...)
	if _, before := told.LoadOrStore(line, true); !before && os.Getenv(Reported) == "" {
		if tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
			_, _ = fmt.Fprintln(tty, line)
			_ = tty.Close()
		}
	}
	t.Skip(line)
}
