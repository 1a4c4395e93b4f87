//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
)

// bind does nothing: a child notices the end of its stdin.
func bind(*exec.Cmd) {}

// kill sends SIGKILL to a child.
func kill(cmd *exec.Cmd) error {
	err := cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
