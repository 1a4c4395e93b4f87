//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The exit codes of a shell that could not run a program.
const cannotRun, notFound = 126, 127

// page shows text in $PAGER, or in less. While the pager runs, it is the foreground process
// group of the terminal, so that it receives Ctrl+C. It is terminated when ctx ends.
func (t *TTY) page(ctx context.Context, text string) error {
	screen, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer screen.Close()
	fd := int(screen.Fd())
	cmd := exec.CommandContext(ctx, "sh", "-c", cmp.Or(os.Getenv("PAGER"), "less"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), screen, screen
	if os.Getenv("LESSCHARSET") == "" {
		cmd.Env = append(os.Environ(), "LESSCHARSET=utf-8")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: fd}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets the pager restore the screen
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != cannotRun && exit.ExitCode() != notFound {
		err = nil // the text was shown
	}
	return errors.Join(err, t.control(toForeground))
}

// toForeground makes this process the foreground process group of its terminal again.
func toForeground(fd int) error {
	return unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, unix.Getpgrp())
}
