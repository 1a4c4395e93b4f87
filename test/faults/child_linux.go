package main

import (
	"errors"
	"os/exec"
	"syscall"
)

// bind makes a child a group of its own that does not outlive this process.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends a child and all that it started, as kill -9 does.
func kill(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil // it has ended by itself
	}
	return err
}
