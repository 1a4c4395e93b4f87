//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
)

// bind does nothing here: a child notices that its input ended.
func bind(*exec.Cmd) {}

// kill ends a child as kill -9 does.
func kill(cmd *exec.Cmd) error {
	err := cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
