package doctor

import (
	"bytes"
	"os"

	"github.com/askback/askback/internal/agents"
)

// checkCopy checks that agents run the same program if this program is in a cache: see [agents.CopyPath].
// Without a copy, askback init has not been run by this program.
func (d *doctor) checkCopy() {
	const check = "copy"
	executable, err := os.Executable()
	if err != nil || !agents.IsCached(executable) {
		return
	}
	state, err := d.program.StateDir()
	if err != nil {
		return // another check has reported the problem
	}
	path := agents.CopyPath(state)
	copied, err := os.ReadFile(path)
	if err != nil {
		return
	}
	if own, err := os.ReadFile(executable); err != nil || !bytes.Equal(own, copied) {
		d.Warn(check, "run askback init again", "agents run %s, which is another version of this program", path)
		return
	}
	d.OK(check, "agents run %s, a copy of this program", path)
}
