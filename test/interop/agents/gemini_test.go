package agents_test

var gemini = client{
	program: "@google/gemini-cli/bundle/gemini.js",
	init:    []string{"gemini"},
	args:    []string{"--model", "gemini-2.5-pro", "--prompt"},
	prepare: func(f *fixture) {
		f.writeJSON(".gemini/settings.json", map[string]any{
			"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
			"general":   map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
			"privacy":   map[string]any{"usageStatisticsEnabled": false},
			"telemetry": map[string]any{"enabled": false},
			"ui":        map[string]any{"hideTips": true, "hideBanner": true},
			"tools":     map[string]any{"useRipgrep": false}, // Gemini CLI would download ripgrep
			"ide":       map[string]any{"enabled": false, "hasSeenNudge": true},
		})
	},
	environ: func(f *fixture) []string {
		return []string{
			"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + f.model.host, "GEMINI_CLI_TRUST_WORKSPACE=true",
			"GEMINI_CLI_NO_RELAUNCH=true",
			"GEMINI_TELEMETRY_ENABLED=false",
		}
	},
}
