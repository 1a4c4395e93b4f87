package agents_test

var opencode = client{
	program: "opencode-" + platform() + "/bin/opencode",
	init:    []string{"opencode"},
	args:    []string{"run", "--model", "scripted/model"},
	prepare: func(f *fixture) {
		// With this setting alone, opencode run rejects every tool call. The settings
		// of askback init must permit the tools of Askback.
		f.writeJSON("project/opencode.json", map[string]any{"permission": map[string]any{"*": "ask"}})
		f.writeJSON(".config/opencode/opencode.json", map[string]any{
			"provider": map[string]any{"scripted": map[string]any{
				"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
				"options": map[string]any{"baseURL": f.model.url, "apiKey": "x"},
				"models":  map[string]any{"model": map[string]any{"name": "Model"}},
			}},
		})
	},
	unless: []string{"registry.npmjs.org"}, // for the types of plugins
	environ: func(*fixture) []string {
		return []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_DISABLE_CLAUDE_CODE=1",
		}
	},
}
