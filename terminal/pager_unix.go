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
	"unsafe"
)

// The exit codes of a shell for a program that it did not run.
const cannotRun, notFound = 126, 127

// page shows a text in $PAGER, or less. The pager is the foreground of the terminal while it
// runs, so that Ctrl+C is its own; it ends with ctx.
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
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it puts the screen back
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != cannotRun && exit.ExitCode() != notFound {
		err = nil // the text was shown
	}
	return errors.Join(err, t.control(bringBack))
}

// bringBack makes this process the foreground of its terminal again.
func bringBack(fd int) error {
	group := int32(syscall.Getpgrp())
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCSPGRP, uintptr(unsafe.Pointer(&group))); errno != 0 {
		return errno
	}
	return nil
}
