package hook

import (
	"slices"
	"strings"

	"github.com/askback/askback/asktool"
)

// OwnServer is the name of Askback's MCP server in the configurations that askback init writes.
const OwnServer = "askback"

// OwnTools lists all tools of Askback's MCP server. They need no approval, because they only ask people and
// handle these asks. Other tools of a server with the same name need approval.
var OwnTools = []string{
	asktool.AskUserQuestion, asktool.ConfirmAction, "wait_for_answer", "get_answer", "list_open_questions",
	"withdraw_question", "permission_prompt",
}

// IsOwnTool reports whether server has the name of Askback's MCP server and tool is in OwnTools. Other
// servers can have this name. If an event has the address of the server, compare the address with a [Server],
// too.
func IsOwnTool(server, tool string) bool {
	return server == OwnServer && slices.Contains(OwnTools, tool)
}

// A Server is the address of Askback's MCP server, as askback init writes it into configurations.
type Server struct {
	Programs []string // the programs that run the server with the argument mcp
	URL      string   // the address of Askback, or "" if Askback is on this machine
}

// IsCommand reports whether a program with arguments is the command of the server.
func (s Server) IsCommand(program string, args []string) bool {
	return slices.Contains(s.Programs, program) && len(args) > 0 && args[0] == mcpCommand
}

// IsCommandLine reports whether a text is the command of the server, with spaces between the program and its
// arguments.
func (s Server) IsCommandLine(line string) bool {
	return slices.ContainsFunc(s.Programs, func(program string) bool {
		flags, ok := strings.CutPrefix(line, program+" "+mcpCommand)
		return ok && (flags == "" || flags[0] == ' ')
	})
}

// IsURL reports whether url is the URL of the server's MCP endpoint.
func (s Server) IsURL(url string) bool {
	return s.URL != "" && url == strings.TrimRight(s.URL, "/")+"/mcp"
}

// mcpCommand is the command of Askback that runs the server.
const mcpCommand = "mcp"
