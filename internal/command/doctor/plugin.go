package doctor

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/opencode"
)

// checkOpenCode checks that the configuration of OpenCode loads the plugin of this version, and asks
// through the command that the plugin runs.
func (l laneCheck) checkOpenCode(ctx context.Context, f File) {
	const check = "lane"
	const fix = "askback init opencode writes it again"
	name, program, loaded := opencode.LoadedPlugin(f.scope, f.Content)
	path := filepath.FromSlash(name)
	if home, err := os.UserHomeDir(); f.scope == config.User && err == nil {
		path = filepath.Join(home, path)
	}
	if !loaded {
		l.Warn(check, fix,
			"%s does not load the plugin %s, so OpenCode asks its own questions and permissions only at the terminal",
			f, agents.HomePath(path))
		return
	}
	switch content, err := agents.ReadFile(path); {
	case err != nil:
		l.Fail(check, "", "%s: %v", f, err)
		return
	case content == nil:
		l.Fail(check, fix, "%s loads the plugin %s, which does not exist", f, agents.HomePath(path))
		return
	case !opencode.IsCurrentPlugin(content):
		l.Warn(check, fix, "%s: the plugin %s is from another version", f, agents.HomePath(path))
		return
	}
	switch executable := l.own.paths[program]; {
	case executable == "":
		l.refuse(l.own, f.String(), program+" hook opencode", "")
	case !l.quiet:
		l.OK(check,
			"%s: the plugin %s is from this version; doctor sent no test question, because it could notify people", f,
			agents.HomePath(path))
	default:
		ctx, cancel := context.WithTimeout(ctx, laneTime)
		defer cancel()
		one := opencode.Canaries(config.Hook{})[0]
		c := newCanary("opencode, plugin ("+agents.HomePath(path)+")", false)
		err := c.ask(ctx, l.conn, one.Want,
			hookRun{
				command: []string{executable, "hook", "opencode"}, in: one.Payload(c.text, c.token), open: true,
			}.output)
		l.report(f, one.What+" as the plugin "+agents.HomePath(path)+" sends it", false, err)
	}
}

// checkClaudePlugin checks the plugin of Claude Code. It is called if no file has the entries of askback
// init, because the hooks of the plugin do nothing if a file has these entries. It checks the files that this
// version writes into the plugin.
func (l laneCheck) checkClaudePlugin(ctx context.Context) {
	const name = "plugin askback@askback"
	switch installed, enabled := installedClaudePlugin(); {
	case !installed:
	case !enabled:
		l.Warn("lane", "claude plugin enable askback@askback, or askback init claude-code",
			"claude-code: the %s is installed, but not enabled in this folder", name)
	default:
		files := claudecode.Plugin()
		agent, _ := agents.Named(claudecode.Name)
		for _, path := range slices.Sorted(maps.Keys(files)) {
			f := File{Agent: agent, Content: files[path], scope: config.User, shown: name}
			if lane, ok := f.Agent.Config.LaneIn(f.Content); ok {
				l.checkServer(ctx, f, lane)
			}
			l.checkHooks(ctx, f)
		}
	}
}

// installedClaudePlugin reports whether Claude Code has the plugin of Askback, and whether the
// settings that apply in this folder enable it.
func installedClaudePlugin() (installed, enabled bool) {
	folder := os.Getenv("CLAUDE_CONFIG_DIR")
	if home, err := os.UserHomeDir(); folder == "" && err == nil {
		folder = filepath.Join(home, ".claude")
	}
	// without a list, no plugin is installed
	list, _ := agents.ReadFile(filepath.Join(folder, "plugins", "installed_plugins.json"))
	for _, path := range []string{
		filepath.Join(folder, "settings.json"), ".claude/settings.json", ".claude/settings.local.json",
	} {
		settings, _ := agents.ReadFile(path)
		if on, known := claudecode.EnablesPlugin(settings); known {
			enabled = on
		}
	}
	return claudecode.InstalledPlugin(list), enabled
}
