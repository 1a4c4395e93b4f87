package hook

import (
	"slices"

	"github.com/askback/askback/asktool"
)

// OwnServer is the name of Askback's MCP server in the configurations that askback init writes.
const OwnServer = "askback"

// OwnTools are all tools of Askback's MCP server. They need no approval, because they only ask people
// and handle these asks. Other tools of a server with the same name need approval.
var OwnTools = []string{
	asktool.AskUserQuestion, asktool.ConfirmAction, "wait_for_answer", "get_answer", "list_open_questions", "withdraw_question", "permission_prompt",
}

// IsOwnTool reports whether a tool has the name of one of OwnTools, and its server that of Askback's.
func IsOwnTool(server, tool string) bool {
	return server == OwnServer && slices.Contains(OwnTools, tool)
}
