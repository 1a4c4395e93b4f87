package main

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
func (l laneCheck) checkOpenCode(ctx context.Context, f clientFile) {
	const check = "lane"
	const fix = "askback init opencode writes it again"
	name, program, loaded := opencode.LoadedPlugin(f.scope, f.content)
	path := filepath.FromSlash(name)
	if home, err := os.UserHomeDir(); f.scope == config.User && err == nil {
		path = filepath.Join(home, path)
	}
	if !loaded {
		l.warn(check, fix, "%s does not load the plugin %s, so OpenCode asks its own questions and permissions only at the terminal", f, homePath(path))
		return
	}
	switch content, err := readClientFile(path); {
	case err != nil:
		l.fail(check, "", "%s: %v", f, err)
		return
	case content == nil:
		l.fail(check, fix, "%s loads the plugin %s, which does not exist", f, homePath(path))
		return
	case !opencode.IsCurrentPlugin(content):
		l.warn(check, fix, "%s: the plugin %s is not that of this version", f, homePath(path))
		return
	}
	switch executable := l.own.paths[program]; {
	case executable == "":
		l.refuse(l.own, f.String(), program+" hook opencode", "")
	case !l.quiet:
		l.ok(check, "%s: the plugin %s is that of this version; nothing was asked, because people could be notified", f, homePath(path))
	default:
		ctx, cancel := context.WithTimeout(ctx, laneTime)
		defer cancel()
		one := opencode.Canaries(config.Hook{})[0]
		c := newCanary("opencode, plugin ("+homePath(path)+")", false)
		err := c.ask(ctx, l.conn, one.Want, hookRun{command: []string{executable, "hook", "opencode"}, in: one.Payload(c.text, c.token), open: true}.output)
		l.report(f, one.What+" as the plugin "+homePath(path)+" sends it", false, err)
	}
}

// checkClaudePlugin checks the plugin of Claude Code, if no file of init has its entries: where one
// has, the hooks of the plugin do nothing. The plugin has what this version writes into it.
func (l laneCheck) checkClaudePlugin(ctx context.Context) {
	const name = "plugin askback@askback"
	switch installed, enabled := installedClaudePlugin(); {
	case !installed:
	case !enabled:
		l.warn("lane", "claude plugin enable askback@askback, or askback init claude-code", "claude-code: the %s is installed, but not enabled in this folder", name)
	default:
		files := claudecode.Plugin()
		agent, _ := agents.Named(claudecode.Name)
		for _, path := range slices.Sorted(maps.Keys(files)) {
			f := clientFile{agent: agent, scope: config.User, name: path, shown: name, content: files[path]}
			if lane, ok := f.agent.Config.LaneIn(f.content); ok {
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
	list, _ := readClientFile(filepath.Join(folder, "plugins", "installed_plugins.json")) // without one, none is installed
	for _, path := range []string{filepath.Join(folder, "settings.json"), ".claude/settings.json", ".claude/settings.local.json"} {
		settings, _ := readClientFile(path)
		if on, known := claudecode.EnablesPlugin(settings); known {
			enabled = on
		}
	}
	return claudecode.InstalledPlugin(list), enabled
}
