package agentconfig

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/jcs"
)

// maxWait is the timeout for a reply in the configurations, in seconds. It is long, because
// people may take long to answer.
const maxWait = 24 * 60 * 60

// hookName is the end of the command or of the URL of each hook, before any flags.
const hookName = "claude-code"

func jsonFile(path string, edits ...edit) File {
	var paste strings.Builder
	for _, e := range edits {
		fmt.Fprintf(&paste, "%s: %s\n", strings.Join(e.path, "."), e.value)
	}
	return File{Path: path, edits: edits, paste: paste.String(), write: editJSON}
}

// member returns an edit that sets the member at path to value.
func member(value any, path ...string) edit { return edit{path: path, value: compact(value)} }

// compact returns v as compact JSON. Encoding the values of this package cannot fail.
func compact(v any) string {
	b, _ := jcs.Marshal(v)
	return string(b)
}

// server is the configuration of an MCP server in the format of most clients. The fields are
// in the same order as in the documentation of the clients.
type server struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	HTTPURL string            `json:"httpUrl,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Timeout int               `json:"timeout,omitempty"`
	Trust   bool              `json:"trust,omitempty"`
}

// withAddress returns s with the command or the URL of Askback. The client replaces
// tokenReference by the token.
func (s server) withAddress(o Options, tokenReference string) server {
	if o.URL == "" {
		s.Command, s.Args = o.Command, []string{"mcp"}
		return s
	}
	s.URL = o.URL + "/mcp"
	s.Headers = map[string]string{"Authorization": "Bearer " + tokenReference}
	return s
}

// transport returns the type of the MCP connection, "stdio" or "http".
func transport(o Options) string {
	if o.URL == "" {
		return "stdio"
	}
	return "http"
}

func claudeCode(scope Scope, o Options) ([]File, error) {
	servers := map[Scope]string{Project: ".mcp.json", User: ".claude.json"}[scope]
	if servers == "" {
		return nil, fmt.Errorf("%w: unknown scope; use project or user", ErrUnsupported)
	}
	s := server{Type: transport(o), Timeout: maxWait * 1000}.withAddress(o, "${"+TokenVariable+"}")
	edits := allowTools()
	for _, h := range claudeHooks {
		edits = append(edits, edit{path: []string{"hooks", h.event}, value: compact(h.group(o)), list: true, group: "hooks", isOwn: isOwnHook})
	}
	return []File{
		jsonFile(servers, member(s, "mcpServers", "askback")),
		jsonFile(".claude/settings.json", edits...),
	}, nil
}

// allowTools returns the edits that let Claude Code call the tools of Askback without a
// dialog. Other tools of a server named askback still need approval. Earlier versions of
// Askback wrote one rule for the whole server. The last edit removes that rule: the list then
// has other rules, so it is never removed as empty.
func allowTools() (edits []edit) {
	for i, tool := range claudehook.OwnTools {
		rule, last := compact("mcp__askback__"+tool), i == len(claudehook.OwnTools)-1
		edits = append(edits, edit{path: []string{"permissions", "allow"}, value: rule, list: true, isOwn: func(v string) bool {
			return v == rule || last && v == `"mcp__askback"`
		}})
	}
	return edits
}

// claudeHook is a hook for one event. Hooks that only withdraw asks are async, so that they do
// not delay the session, except at its end.
type claudeHook struct {
	event, matcher string
	timeout        int
	async          bool
}

var claudeHooks = []claudeHook{
	{event: "PermissionRequest", matcher: "*", timeout: maxWait},
	{event: "PreToolUse", matcher: "AskUserQuestion", timeout: maxWait}, // for claude -p
	{event: "Elicitation", matcher: "*", timeout: maxWait},
	{event: "ElicitationResult", matcher: "*", timeout: 10, async: true},
	// No hook reports that a person approved a call at the terminal. Askback knows it only
	// after the tool has run.
	{event: "PostToolUse", matcher: "*", timeout: 10, async: true},
	{event: "PostToolUseFailure", matcher: "*", timeout: 10, async: true},
	{event: "UserPromptSubmit", timeout: 10, async: true},
	{event: "Stop", timeout: 10, async: true},
	{event: "SessionEnd", timeout: 10}, // Claude Code does not wait for async hooks when it ends
}

type hookGroup struct {
	Matcher string      `json:"matcher,omitempty"`
	Hooks   []hookEntry `json:"hooks"`
}

type hookEntry struct {
	Type    string            `json:"type"`
	Command string            `json:"command,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Allowed []string          `json:"allowedEnvVars,omitempty"`
	Timeout int               `json:"timeout"`
	Async   bool              `json:"async,omitempty"`
}

// group returns the hook in the format of Claude Code's settings.
func (h claudeHook) group(o Options) hookGroup {
	entry := hookEntry{Type: "command", Command: shellQuote(o.Command) + " hook " + hookName, Timeout: h.timeout, Async: h.async}
	if o.HookURL != "" {
		entry = hookEntry{
			Type: "http", URL: o.HookURL, Timeout: h.timeout,
			Headers: map[string]string{"Authorization": "Bearer $" + TokenVariable, claudehook.EntrypointHeader: "$" + claudehook.EntrypointVariable},
			Allowed: []string{TokenVariable, claudehook.EntrypointVariable},
		}
	}
	return hookGroup{h.matcher, []hookEntry{entry}}
}

// isOwnHook reports whether any version of Askback wrote the entry. The path of the program
// may differ, and a user may have added flags such as --defer.
func isOwnHook(entry string) bool {
	var h hookEntry
	if json.Unmarshal([]byte(entry), &h) != nil {
		return false
	}
	program, flags, ok := strings.Cut(h.Command, " hook "+hookName)
	address, _, _ := strings.Cut(h.URL, "?")
	return ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ') ||
		h.Type == "http" && strings.HasSuffix(address, "/"+hookName) && strings.Contains(h.Headers["Authorization"], TokenVariable)
}

// shellQuote returns path, in single quotes if a shell could interpret a character of it.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if strings.TrimFunc(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func cursor(_ Scope, o Options) ([]File, error) {
	return []File{jsonFile(".cursor/mcp.json", member(server{}.withAddress(o, "${env:"+TokenVariable+"}"), "mcpServers", "askback"))}, nil
}

func gemini(_ Scope, o Options) ([]File, error) {
	// Without trust, each call needs approval at the terminal, and gemini -p lacks the tools.
	s := server{Timeout: maxWait * 1000, Trust: true}.withAddress(o, "$"+TokenVariable)
	s.URL, s.HTTPURL = "", s.URL
	return []File{jsonFile(".gemini/settings.json", member(s, "mcpServers", "askback"))}, nil
}

// opencodeServer is the configuration of an MCP server in the format of OpenCode.
type opencodeServer struct {
	Type    string            `json:"type"`
	Command []string          `json:"command,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Enabled bool              `json:"enabled"`
}

func opencode(scope Scope, o Options) ([]File, error) {
	s := opencodeServer{Type: "local", Command: []string{o.Command, "mcp"}, Enabled: true}
	if o.URL != "" {
		remote := server{}.withAddress(o, "{env:"+TokenVariable+"}")
		s = opencodeServer{Type: "remote", URL: remote.URL, Headers: remote.Headers, Enabled: true}
	}
	path := "opencode.json"
	if scope == User {
		path = ".config/opencode/opencode.json"
	}
	// A rule for all tools would require approval at the terminal for each call. Without
	// rules, tools are allowed. The last matching rule applies.
	allow := member("allow", "permission", "askback_*")
	allow.onlyIfParent = true
	return []File{jsonFile(path, member(s, "mcp", "askback"), allow)}, nil
}

// vscode returns the file of Visual Studio Code. The editor asks for the token of a server and
// stores it.
func vscode(scope Scope, o Options) ([]File, error) {
	if scope == User {
		return nil, fmt.Errorf("%w: the file with a user's servers depends on the profile of Visual Studio Code; use the project scope, or the editor's command MCP: Open User Configuration", ErrUnsupported)
	}
	edits := []edit{member(server{Type: transport(o)}.withAddress(o, "${input:askback_token}"), "servers", "askback")}
	if o.URL != "" || o.Remove {
		edits = append(edits, edit{
			path: []string{"inputs"}, list: true,
			value: `{"type":"promptString","id":"askback_token","description":"Token of Askback","password":true}`,
			isOwn: func(v string) bool { return strings.Contains(v, `"id":"askback_token"`) },
		})
	}
	return []File{jsonFile(".vscode/mcp.json", edits...)}, nil
}

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
		lines = append(lines, "command = "+compact(o.Command), `args = ["mcp"]`, "env_vars = "+tomlArray(locationVariables))
	} else {
		lines = append(lines, "url = "+compact(o.URL+"/mcp"), "bearer_token_env_var = "+compact(TokenVariable))
	}
	lines = append(lines, fmt.Sprintf("tool_timeout_sec = %d", maxWait))
	return []File{{Path: ".codex/config.toml", paste: strings.Join(lines, "\n") + "\n", write: editTOML}}, nil
}
