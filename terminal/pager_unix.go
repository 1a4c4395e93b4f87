//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Exit codes of a shell that could not run a program.
const cannotRun, notFound = 126, 127

// page shows text in $PAGER, or in less.
func (t *TTY) page(ctx context.Context, text string) error {
	return t.run(ctx, strings.NewReader(text), cmp.Or(os.Getenv("PAGER"), "less"))
}

// edit lets a person change text in $VISUAL, $EDITOR or vi, and returns the new text. The file has the given
// name, whose extension identifies the format.
func (t *TTY) edit(ctx context.Context, name, text string) (string, error) {
	dir, err := os.MkdirTemp("", "askback-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	if err := t.run(ctx, nil, editor+` "$1"`, file); err != nil {
		return "", err
	}
	changed, err := os.ReadFile(file)
	return string(changed), err
}

// run runs a program of the person in a shell. While it runs, it is the foreground process
// group of the terminal, so that it receives Ctrl+C. It is terminated when ctx ends. If in is
// nil, the program reads the terminal.
func (t *TTY) run(ctx context.Context, in io.Reader, command string, args ...string) error {
	screen, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer screen.Close()
	fd := int(screen.Fd())
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", command, "sh"}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, screen, screen
	if in == nil {
		cmd.Stdin = screen
	}
	if os.Getenv("LESSCHARSET") == "" {
		cmd.Env = append(os.Environ(), "LESSCHARSET=utf-8")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: fd}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets the program restore the screen
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && in != nil && exit.ExitCode() != cannotRun && exit.ExitCode() != notFound {
		err = nil // the pager ran and showed the text, whatever its exit code
	}
	return errors.Join(err, t.control(toForeground))
}

// toForeground makes this process the foreground process group of its terminal again.
func toForeground(fd int) error {
	return unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, unix.Getpgrp())
}
