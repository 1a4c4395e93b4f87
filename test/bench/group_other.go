//go:build !unix

package main

import "os/exec"

// separateGroup does nothing: this system has no groups of processes.
func separateGroup(*exec.Cmd) {}

// killGroup kills the process of a command.
func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }
