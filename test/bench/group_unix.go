//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// separateGroup makes a command start its own group of processes. Ctrl-C at the
// terminal does not reach the group.
func separateGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the group that a command started. The group may have ended.
func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
