package agentconfig

import (
	"fmt"
	"strings"
)

// locationVariables are the environment variables that determine which server a command of
// Askback uses. Codex passes only listed variables to an MCP server.
var locationVariables = []string{"ASKBACK_CONFIG", "ASKBACK_DB", TokenVariable, "ASKBACK_URL", "XDG_STATE_HOME"}

// tomlArray returns a TOML array on one line.
func tomlArray(list []string) string {
	return "[" + strings.ReplaceAll(strings.Trim(compact(list), "[]"), ",", ", ") + "]"
}

func codex(_ Scope, o Options) ([]File, error) {
	lines := []string{"[mcp_servers.askback]"}
	if o.URL == "" {
		lines = append(lines, "command = "+compact(o.Command), "args = "+tomlArray(waitingServer), "env_vars = "+tomlArray(locationVariables))
	} else {
		lines = append(lines, "url = "+compact(o.URL+"/mcp"), "bearer_token_env_var = "+compact(TokenVariable))
	}
	lines = append(lines, fmt.Sprintf("tool_timeout_sec = %d", maxWait))
	return []File{{Path: ".codex/config.toml", paste: strings.Join(lines, "\n") + "\n", write: editTOML}}, nil
}
