package agents_test

// key is the API key of Claude Code. Its last 20 characters are approved in the
// profile.
const key = "sk-ant-api03-0123456789-0123456789-scripted-model"

var claude = client{
	program: "@anthropic-ai/claude-code-" + platform() + "/claude",
	init:    []string{"claude-code", "--project"},
	args:    []string{"--print"},
	prepare: func(f *fixture) {
		f.writeJSON(".claude.json", map[string]any{
			"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5, "autoUpdates": false,
			"customApiKeyResponses": map[string]any{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
			"projects": map[string]any{f.project: map[string]any{
				"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
			}},
		})
		f.writeJSON(".claude/settings.json", map[string]any{"enabledMcpjsonServers": []string{"askback"}})
	},
	environ: func(f *fixture) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + f.model.host, "ANTHROPIC_API_KEY=" + key,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
			"CLAUDE_CODE_TMPDIR=" + f.Home,
		}
	},
}
