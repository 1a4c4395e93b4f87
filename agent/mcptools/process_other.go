//go:build !unix

package mcptools

import "os/exec"

// inheritedHere are the variables that programs need on this system.
var inheritedHere = []string{
	"SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
}

func ownGroup(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { kill(cmd) }

// kill kills the process. The processes that it started continue.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
