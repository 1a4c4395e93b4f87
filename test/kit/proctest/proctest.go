// Package proctest ends the programs that tests start, so that no program outlives its test.
package proctest

import (
	"os/exec"
	"time"
)

// outputTime is how long the output of a killed program may last, before [exec.Cmd.Wait] returns anyway. A
// process that the program has started may have the output open.
const outputTime = 30 * time.Second

// Bind prepares a command that is not started yet. The command ends with this process at the latest, and
// [Kill] also ends the processes that the command has started. The command has a process group of its own, so
// it gets no signals of a terminal.
func Bind(cmd *exec.Cmd) {
	bind(cmd)
	cmd.WaitDelay = outputTime
	if cmd.Cancel != nil { // the command has a context
		cmd.Cancel = func() error { return Kill(cmd) }
	}
}
