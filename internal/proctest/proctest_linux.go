package main

import (
	"errors"
	"os/exec"
	"syscall"
)

// bind makes the child the leader of a new process group, which kill can end. Linux kills
// the child if this process ends.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill sends SIGKILL to a child and the processes that it started. It returns nil if the
// child has exited.
func kill(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil // the child has exited
	}
	return err
}
