package proctest

import (
	"errors"
	"os/exec"
	"syscall"
)

// bind makes the program the leader of a new process group. Linux kills it if this process ends.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Kill sends SIGKILL to a program and the processes that it started. It returns nil if they have
// exited.
func Kill(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
