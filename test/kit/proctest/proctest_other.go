//go:build !linux

package proctest

import (
	"errors"
	"os"
	"os/exec"
)

// bind does nothing: on this system, a program is not killed if this process ends.
func bind(*exec.Cmd) {}

// Kill sends SIGKILL to a program. It returns nil if the program has exited.
func Kill(cmd *exec.Cmd) error {
	err := cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
