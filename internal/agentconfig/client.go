package agentconfig

import (
	"encoding/json"
	"fmt"
	"strings"
)

// day is how long a client may wait for a person. Askback's own waits are
// shorter; this keeps the client from giving up before.
const day = 24 * 60 * 60

// hookWord ends the command of each of our hooks, and the path of its address.
const hookWord = "claude-code"

func jsonFile(path string, edits ...edit) File {
	var paste strings.Builder
	for _, e := range edits {
		fmt.Fprintf(&paste, "%s: %s\n", strings.Join(e.path, "."), e.value)
	}
	return File{Path: path, edits: edits, paste: paste.String(), write: editJSON}
}

// member is an edit that puts one member into an object.
func member(value any, path ...string) edit { return edit{path: path, value: compact(value)} }

// compact writes JSON that was made here and can be written.
func compact(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSpace(b.String())
}

// server is an MCP server as most clients write it. The order of its fields is
// that of their documentation.
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

// of fills in how the server is reached; reference is how the client names an
// environment variable.
func (s server) of(w Wish, reference string) server {
	if w.URL == "" {
		s.Command, s.Args = w.Command, []string{"mcp"}
		return s
	}
	s.URL = w.URL + "/mcp"
	s.Headers = map[string]string{"Authorization": "Bearer " + reference}
	return s
}

func transport(w Wish) string {
	if w.URL == "" {
		return "stdio"
	}
	return "http"
}

func claudeCode(scope Scope, w Wish) ([]File, error) {
	servers := map[Scope]string{Project: ".mcp.json", User: ".claude.json"}[scope]
	if servers == "" {
		return nil, fmt.Errorf("%w: the scope is project or user", ErrUnknown)
	}
	s := server{Type: transport(w), Timeout: day * 1000}.of(w, "${"+TokenVariable+"}")
	edits := claudeTools()
	for _, h := range claudeHooks {
		edits = append(edits, edit{path: []string{"hooks", h.event}, value: compact(h.group(w)), list: true, within: "hooks", ours: ourHook})
	}
	return []File{
		jsonFile(servers, member(s, "mcpServers", "askback")),
		jsonFile(".claude/settings.json", edits...),
	}, nil
}

// ownTools are the tools of our server. Claude Code is told to use these without a
// dialog, and no others of a server of that name.
var ownTools = []string{
	"ask_user_question", "confirm_action", "wait_for_answer", "get_answer", "list_open_questions", "withdraw_question", "permission_prompt",
}

// claudeTools are the rules that allow our tools. Older versions allowed whatever the
// server has: that rule goes with the last of ours, so that the list is never empty
// on the way and stays where it is.
func claudeTools() (edits []edit) {
	for i, tool := range ownTools {
		rule, last := compact("mcp__askback__"+tool), i == len(ownTools)-1
		edits = append(edits, edit{path: []string{"permissions", "allow"}, value: rule, list: true, ours: func(v string) bool {
			return v == rule || last && v == `"mcp__askback"`
		}})
	}
	return edits
}

// claudeEntrypoint says how Claude Code was started. A command finds it in its
// environment; for an address it is a header.
const claudeEntrypoint = "CLAUDE_CODE_ENTRYPOINT"

// claudeHook is one event that we hear of. What only retires a card must not
// hold up the session: it is aside.
type claudeHook struct {
	event, matcher string
	timeout        int
	aside          bool
}

var claudeHooks = []claudeHook{
	{"PermissionRequest", "*", day, false},
	{"PreToolUse", "AskUserQuestion", day, false}, // where nobody sits: claude -p
	{"Elicitation", "*", day, false},
	{"ElicitationResult", "*", 10, true},
	// A hook is not told when somebody at the desk said yes first, whether it is a
	// command or an address; that the tool ran tells it.
	{"PostToolUse", "*", 10, true},
	{"PostToolUseFailure", "*", 10, true},
	{"UserPromptSubmit", "", 10, true},
	{"Stop", "", 10, true},
	{"SessionEnd", "", 10, false}, // afterwards nobody would wait for it
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

func (h claudeHook) group(w Wish) hookGroup {
	entry := hookEntry{Type: "command", Command: shell(w.Command) + " hook " + hookWord, Timeout: h.timeout, Async: h.aside}
	if w.HookURL != "" {
		entry = hookEntry{
			Type: "http", URL: w.HookURL, Timeout: h.timeout,
			Headers: map[string]string{"Authorization": "Bearer $" + TokenVariable, "X-Askback-Entrypoint": "$" + claudeEntrypoint},
			Allowed: []string{TokenVariable, claudeEntrypoint},
		}
	}
	return hookGroup{h.matcher, []hookEntry{entry}}
}

// ourHook knows an entry that some version of us wrote, wherever askback was, and
// also when somebody gave it flags (--defer) since.
func ourHook(entry string) bool {
	var h hookEntry
	if json.Unmarshal([]byte(entry), &h) != nil {
		return false
	}
	program, flags, ok := strings.Cut(h.Command, " hook "+hookWord)
	address, _, _ := strings.Cut(h.URL, "?")
	return ok && strings.Contains(program, "askback") && (flags == "" || flags[0] == ' ') ||
		h.Type == "http" && strings.HasSuffix(address, "/"+hookWord) && strings.Contains(h.Headers["Authorization"], TokenVariable)
}

// shell quotes a path for a shell where it needs it.
func shell(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if strings.TrimFunc(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func cursor(_ Scope, w Wish) ([]File, error) {
	return []File{jsonFile(".cursor/mcp.json", member(server{}.of(w, "${env:"+TokenVariable+"}"), "mcpServers", "askback"))}, nil
}

func gemini(_ Scope, w Wish) ([]File, error) {
	// Without trust each call asks at the terminal first, and gemini -p has no such tools.
	s := server{Timeout: day * 1000, Trust: true}.of(w, "$"+TokenVariable)
	s.URL, s.HTTPURL = "", s.URL
	return []File{jsonFile(".gemini/settings.json", member(s, "mcpServers", "askback"))}, nil
}

// opencodeServer has one list for command and arguments.
type opencodeServer struct {
	Type    string            `json:"type"`
	Command []string          `json:"command,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Enabled bool              `json:"enabled"`
}

func opencode(scope Scope, w Wish) ([]File, error) {
	s := opencodeServer{Type: "local", Command: []string{w.Command, "mcp"}, Enabled: true}
	if w.URL != "" {
		remote := server{}.of(w, "{env:"+TokenVariable+"}")
		s = opencodeServer{Type: "remote", URL: remote.URL, Headers: remote.Headers, Enabled: true}
	}
	path := "opencode.json"
	if scope == User {
		path = ".config/opencode/opencode.json"
	}
	// Rules for all tools would make the terminal ask before Askback can. Without
	// any, tools are allowed. The last rule that matches decides.
	allow := member("allow", "permission", "askback_*")
	allow.among = true
	return []File{jsonFile(path, member(s, "mcp", "askback"), allow)}, nil
}

// vscode asks for the token itself and keeps it.
func vscode(scope Scope, w Wish) ([]File, error) {
	if scope == User {
		return nil, fmt.Errorf("%w: where Visual Studio Code keeps a user's servers depends on its profile; use the project, or its command MCP: Open User Configuration", ErrUnknown)
	}
	edits := []edit{member(server{Type: transport(w)}.of(w, "${input:askback_token}"), "servers", "askback")}
	if w.URL != "" || w.Remove {
		edits = append(edits, edit{
			path: []string{"inputs"}, list: true,
			value: `{"type":"promptString","id":"askback_token","description":"Token of Askback","password":true}`,
			ours:  func(v string) bool { return strings.Contains(v, `"id":"askback_token"`) },
		})
	}
	return []File{jsonFile(".vscode/mcp.json", edits...)}, nil
}

// placeVariables decide where Askback is found. Codex hands a server that it
// starts few variables, and of others those that it is told.
var placeVariables = []string{"ASKBACK_CONFIG", "ASKBACK_DB", TokenVariable, "ASKBACK_URL", "XDG_STATE_HOME"}

// inline is a list in one line of TOML.
func inline(list []string) string {
	return "[" + strings.ReplaceAll(strings.Trim(compact(list), "[]"), ",", ", ") + "]"
}

func codex(_ Scope, w Wish) ([]File, error) {
	lines := []string{"[mcp_servers.askback]"}
	if w.URL == "" {
		lines = append(lines, "command = "+compact(w.Command), `args = ["mcp"]`, "env_vars = "+inline(placeVariables))
	} else {
		lines = append(lines, "url = "+compact(w.URL+"/mcp"), "bearer_token_env_var = "+compact(TokenVariable))
	}
	lines = append(lines, fmt.Sprintf("tool_timeout_sec = %d", day))
	return []File{{Path: ".codex/config.toml", paste: strings.Join(lines, "\n") + "\n", write: editTOML}}, nil
}
