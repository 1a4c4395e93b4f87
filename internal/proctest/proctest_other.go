//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
)

// bind does nothing: on this system, a child is not killed if this process ends.
func bind(*exec.Cmd) {}

// kill sends SIGKILL to a child. It returns nil if the child has exited.
func kill(cmd *exec.Cmd) error {
	err := cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
