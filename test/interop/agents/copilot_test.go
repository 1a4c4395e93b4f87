package agents_test

import (
	"maps"
	"testing"
)

var copilot = client{
	program: "@github/copilot-" + platform() + "/copilot",
	init:    []string{"copilot"},
	args:    []string{"--trust-folder", "--allow-tool", "askback", "-p"},
	prepare: func(f *fixture) {
		f.mustRun("git", "init", "--quiet") // at the terminal, hooks are read only in a repository
		f.writeJSON(".copilot/config.json", map[string]any{"trustedFolders": []string{f.project}})
	},
	environ: func(f *fixture) []string {
		return []string{
			"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + f.model.url, "COPILOT_MODEL=gpt-5.4",
			"COPILOT_AUTO_UPDATE=false",
		}
	},
}

// copilotHooks are the hooks that askback init copilot writes.
var copilotHooks = hookLane{
	agent: "copilot · project", client: copilot,
	impatient: func(f *fixture) { f.change("project/.github/hooks/askback.json", "86400", "3") },
	shell: func(id, command string) call {
		return call{id, "bash", map[string]any{"command": command, "description": "Make a file"}}
	},
	ask: func(id string) call {
		return call{id, "ask_user", map[string]any{"message": "Which colour now?", "requestedSchema": map[string]any{
			"properties": map[string]any{
				"colour": map[string]any{"type": "string", "title": "Colour", "enum": []string{"red", "green"}},
			},
			"required": []string{"colour"},
		}}}
	},
	terminal: []string{"-i"},
	dialog:   "Do you want to run this command?", deny: []string{"Escape"}, pick: []string{"Down", "Enter"},
}

const copilotWaits = "GitHub Copilot CLI shows no dialog while its hook waits."

func copilotLanes() []lane {
	permissions := copilotHooks.permissionCells()
	maps.Copy(permissions, map[situation]func(*testing.T){away: copilotHooks.awayAtTerminal})
	return []lane{
		{
			agent: "GitHub Copilot CLI", kind: permission, by: "permissionRequest hook", cells: permissions,
			not: map[situation]string{dialog: copilotWaits},
		},
		{
			agent: "GitHub Copilot CLI",
			kind:  question, by: "hook of ask_user", cells: copilotHooks.questionCells(), not: map[situation]string{
				dialog: copilotWaits, headless: "copilot -p does not offer the tool ask_user.",
			},
		},
	}
}
