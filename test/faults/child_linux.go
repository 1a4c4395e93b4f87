package main

import (
	"errors"
	"os/exec"
	"syscall"
)

// bind puts a child into its own process group, which is killed with this
// process.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill sends SIGKILL to a child and the processes it started.
func kill(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil // the child has exited
	}
	return err
}
