//go:build unix

package mcptools

import (
	"os/exec"
	"syscall"
)

// inheritedHere are the variables that programs need on this system.
var inheritedHere []string

// ownGroup makes a command start in its own group of processes. The processes of a group can be ended
// together. They get no signals from the terminal of this process.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate sends SIGTERM to the group of a command.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill kills the group of a command.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
