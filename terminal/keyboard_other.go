//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import (
	"os"
	"time"
)

// A keyboard reads keys from a terminal.
type keyboard struct{ *os.File }

// openKeyboard opens the terminal of this process to read keys.
func openKeyboard() (*keyboard, error) {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &keyboard{file}, nil
}

// readable returns false, because this system cannot report it.
func readable(int, time.Duration) bool { return false }
