package codex_test

import (
	"testing"

	"github.com/askback/askback/internal/agents/codex"
	"github.com/askback/askback/internal/agents/config"
)

// state returns a table in which Codex records the trust in a hook.
func state(key string) string {
	return "\n[hooks.state.\"" + key + "\"]\ntrusted_hash = \"sha256:00\"\n"
}

func edited(t *testing.T, o config.Options, text string) string {
	t.Helper()
	files, err := codex.Config.FilesFor(config.User, o)
	if err != nil {
		t.Fatal(err)
	}
	after, err := files[0].Edit([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(after)
}

// Removing Askback removes what Codex recorded about its hooks in this file, and nothing else.
func TestRemovalRemovesTheStateOfOwnHooks(t *testing.T) {
	const others = "model = \"x\"\n\n[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"notify\" }]\n"
	const path = "/home/ana/.codex/config.toml"
	o := config.Options{Folder: "/home/ana"}
	kept := state(path+":stop:0:0") + state("/srv/app/.codex/config.toml:stop:1:0") + state(path+":stop:7:0")
	own := ""
	for _, key := range []string{
		":permission_request:0:0", ":pre_tool_use:0:0", ":user_prompt_submit:0:0", ":stop:1:0", ":interrupt:0:0",
		":session_end:0:0",
	} {
		own += state(path + key)
	}
	for name, before := range map[string]string{"other hooks": others, "only Askback": "model = \"x\"\n"} {
		tables := own
		if name == "only Askback" {
			tables = state(path+":stop:0:0") + state(path+":permission_request:0:0")
		}
		with := edited(t, o, before) + tables
		o.Remove = true
		if got := edited(t, o, with); got != before {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, before)
		}
		o.Remove = false
	}
	o.Remove = true
	with := edited(t, config.Options{}, others) + kept + own + "\n[tui]\ntheme = \"a\"\n"
	// the empty line before the block of Askback stays if other tables follow the block
	if got, want := edited(t, o, with), others+"\n"+kept+"\n[tui]\ntheme = \"a\"\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	o.Folder = ""
	if got, want := edited(t, o, with), others+"\n"+kept+own+"\n[tui]\ntheme = \"a\"\n"; got != want {
		t.Errorf("without the folder of the file, its states are not known: got\n%s", got)
	}
}
