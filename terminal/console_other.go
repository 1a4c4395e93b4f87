//go:build !windows

package terminal

import "os"

// openTerminal opens the terminal of this process. Its input and its output are one file.
func openTerminal() (input, screen *os.File, err error) {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return file, file, err
}

// readLine reads a line that the terminal delivers whole.
func (t *TTY) readLine(p []byte) (int, error) { return t.file.Read(p) }
