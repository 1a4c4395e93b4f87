package copilot

import (
	"slices"
	"strings"

	"github.com/askback/askback/internal/wire/jcs"
)

// readOnlyCommands are commands that Copilot itself usually allows without a dialog. Asking about each of
// them would teach people to approve without reading. No command here has an option that writes a file or
// runs a program, as rg --pre does.
var readOnlyCommands = []string{"cat", "cd", "grep", "head", "ls", "pwd", "tail", "wc", "which"}

// isReadOnly reports whether the call is one plain command of readOnlyCommands. A hook that does
// not guard permissions then makes no decision, so that Copilot's own rules apply.
func isReadOnly(ev Event) bool {
	if ev.Server != "" || ev.Tool != "bash" {
		return false
	}
	v, err := jcs.Parse(ev.Input)
	if err != nil {
		return false
	}
	command, _ := v.Get("command")
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune(" ./_-:,", r)
	}
	words := strings.Fields(command.Text())
	return len(words) > 0 && strings.TrimFunc(command.Text(), plain) == "" &&
		slices.Contains(readOnlyCommands, words[0])
}
