package agents_test

var copilot = client{
	program: "@github/copilot-" + platform() + "/copilot",
	init:    []string{"claude-code"},
	args:    []string{"--trust-folder", "--allow-tool", "askback", "-p"},
	prepare: func(*fixture) {},
	environ: func(f *fixture) []string {
		return []string{
			"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + f.model.url, "COPILOT_MODEL=gpt-5.4", "COPILOT_AUTO_UPDATE=false",
		}
	},
}
