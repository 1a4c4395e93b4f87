package config

import (
	"strings"

	"github.com/askback/askback/internal/wire/jcs"
)

// maxWait is the timeout for a reply in the configurations, in seconds. It is long, because
// people may take long to answer.
const maxWait = 24 * 60 * 60

// waitingServer are the arguments of the MCP server for a client that waits for maxWait, or
// for as long as it gets progress notifications. The server replies earlier.
var waitingServer = []string{"mcp", "--wait", "23h"}

func jsonFile(path string, edits ...edit) File {
	return File{Path: path, edits: edits, write: editJSON}
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
		if s.Timeout > 0 {
			s.Args = waitingServer
		}
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

// hookCommand returns the shell command of a hook. It ends with code 0 and no output if the
// program is missing, so that people without Askback can use the same project.
func hookCommand(program, client string) string {
	program = shellQuote(program)
	return "command -v " + program + " >/dev/null || exit 0; exec " + program + " hook " + client
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
