package config

import (
	"strings"

	"github.com/askback/askback/internal/wire/jcs"
)

// MaxWait is the timeout for a reply in the configurations, in seconds. It is long, because people may take
// long to answer.
const MaxWait = 24 * 60 * 60

// WaitingServer lists the arguments of the MCP server for a client that waits for MaxWait, or for as long as
// it gets progress notifications. With --wait, the server replies earlier.
var WaitingServer = []string{"mcp", "--wait", "23h"}

// JSONFile returns a file that is changed by edits.
func JSONFile(path string, edits ...Edit) File {
	return File{Path: path, edits: edits, Write: func(f File, present []byte) ([]byte, error) {
		return EditJSON(present, f.remove, f.edits...)
	}}
}

// Member returns an edit that sets the member at path to value.
func Member(value any, path ...string) Edit { return Edit{Path: path, Value: Compact(value)} }

// Compact returns v as compact JSON. Encoding the values of this package cannot fail.
func Compact(v any) string {
	b, _ := jcs.Marshal(v)
	return string(b)
}

// A Server is the configuration of an MCP server in the format of most clients. The fields are in the order
// of the clients' documentation.
type Server struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	HTTPURL string            `json:"httpUrl,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Timeout int               `json:"timeout,omitempty"`
	Trust   bool              `json:"trust,omitempty"`
}

// WithAddress returns the server with the command or the URL of Askback. The client replaces tokenReference
// with the token.
func (s Server) WithAddress(o Options, tokenReference string) Server {
	if o.URL == "" {
		s.Command, s.Args = o.Command, []string{"mcp"}
		if s.Timeout > 0 {
			s.Args = WaitingServer
		}
		return s
	}
	s.URL = o.URL + "/mcp"
	s.Headers = map[string]string{"Authorization": "Bearer " + tokenReference}
	return s
}

// HookVersion is an edit that sets the version of the format of a file with hooks.
var HookVersion = Edit{Path: []string{"version"}, Value: "1", KeepWithOthers: true}

// Transport returns the type of the MCP connection, "stdio" or "http".
func Transport(o Options) string {
	if o.URL == "" {
		return "stdio"
	}
	return "http"
}

// HookCommand returns the shell command of a hook. The command ends with code 0 and no output if the program
// is missing, so that people without Askback can use the same project.
func HookCommand(program, client string) string {
	program = ShellQuote(program)
	return "command -v " + program + " >/dev/null || exit 0; exec " + program + " hook " + client
}

// ShellQuote returns path, in single quotes if path contains a character that a shell could interpret.
func ShellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if strings.TrimFunc(path, plain) == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
