package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/limits"
)

// The names of the tools that are not in package asktool.
const (
	waitForAnswer     = "wait_for_answer"
	getAnswer         = "get_answer"
	listOpenQuestions = "list_open_questions"
	withdrawQuestion  = "withdraw_question"
	permissionPrompt  = "permission_prompt"
)

// statelessVersion is the first revision of the protocol without sessions.
const statelessVersion = "2026-07-28"

// instructions are sent to the model together with the tools (C4).
const instructions = `Askback asks the people you work for. Its answers come from a person, minutes, hours or days later.
Ask when the decision is theirs: architecture, unclear requirements, real trade-offs, preferences, names and values you cannot know, and before steps that are hard to undo. Do not ask what you can infer or look up, what is trivial, or what was asked or said before.
Ask related questions in one call. A result with "status": "pending" is not an answer: the question is kept, so do not ask it again. Call wait_for_answer with its question_id, now or after work that does not depend on it. After a restart, list_open_questions shows what is still open, and what was answered meanwhile.
Silence, a refusal and a denial are never consent.`

// newProtocol returns the protocol server with its tools and the tasks extension.
func (s *Server) newProtocol() *mcp.Server {
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	capabilities.AddExtension(tasksExtension, nil)
	p := mcp.NewServer(
		s.implementation(),
		&mcp.ServerOptions{Instructions: instructions, Capabilities: capabilities, SetCacheable: markPrivate},
	)
	for _, t := range tools() {
		s.tools[t.Name] = t.run
		p.AddTool(t.Tool, s.tool(t.run))
	}
	p.AddReceivingMiddleware(s.intercept)
	s.addTasks(p)
	return p
}

// implementation returns the name and the version of this program for clients.
func (s *Server) implementation() *mcp.Implementation {
	return &mcp.Implementation{Name: "askback", Title: "Askback", Version: s.options.Version}
}

// A toolFunc is the implementation of a tool.
type toolFunc func(*call, context.Context) (*mcp.CallToolResult, error)

// A tool is the declaration of a tool with its implementation. The implementation reads the
// input without a schema validator, so that it can repair or explain malformed input (F15).
type tool struct {
	*mcp.Tool
	run toolFunc
}

func tools() []tool {
	yes, no := true, false
	askHints := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &yes}
	readHints := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	writeHints := &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
	permissionHints := &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &yes}
	// Some clients show a model only the tools that it searches for, and a model does not
	// search for a way to ask.
	always := mcp.Meta{"anthropic/alwaysLoad": true}
	return []tool{
		{&mcp.Tool{
			Name: asktool.AskUserQuestion, Title: "Ask people", Annotations: askHints, Meta: always,
			Description: asktool.Description(asktool.AskUserQuestion),
			InputSchema: asktool.Schema(asktool.AskUserQuestion),
		}, (*call).askQuestions},
		{&mcp.Tool{
			Name: asktool.ConfirmAction, Title: "Ask for approval", Annotations: askHints, Meta: always,
			Description: asktool.Description(asktool.ConfirmAction), InputSchema: asktool.Schema(asktool.ConfirmAction),
		}, (*call).askConfirmation},
		{&mcp.Tool{
			Name: waitForAnswer, Title: "Wait for an answer", Annotations: readHints,
			Description: `Wait for the answer to a question that is "pending", and return it as soon as it is there. Use it when you cannot go on without the answer. It may return "pending" again: then call it again, or do other work first.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"question_id": {"type": "string", "description": "From the pending result, such as ask_01k8…"}, "max_wait_s": {"type": "integer", "minimum": 0, "maximum": 86400, "description": "How many seconds to wait at most; 0 does not wait. Leave it out for as long as this client allows."}}, "required": ["question_id"]}`),
		}, (*call).waitForAnswer},
		{&mcp.Tool{
			Name: getAnswer, Title: "Look for an answer", Annotations: readHints,
			Description: `Return the answer to a question if it is there, without waiting. To wait, use wait_for_answer; never call this in a loop.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"question_id": {"type": "string", "description": "From the pending result, such as ask_01k8…"}}, "required": ["question_id"]}`),
		}, (*call).getAnswer},
		{&mcp.Tool{
			Name: listOpenQuestions, Title: "List open questions", Annotations: readHints,
			Description: `List your questions without an answer, and answers that you did not get yet. Use it after a restart, and before you ask something again.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"cursor": {"type": "string", "description": "The next_cursor of the previous list. Leave it out for the first."}}}`),
		}, (*call).listOpen},
		{&mcp.Tool{
			Name: withdrawQuestion, Title: "Withdraw a question", Annotations: writeHints,
			Description: `Withdraw a question of yours that needs no answer any more, so that people do not spend time on it.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"question_id": {"type": "string", "description": "From the pending result, such as ask_01k8…"}, "reason": {"type": "string", "description": "Why it needs no answer, for the people who see it."}}, "required": ["question_id"]}`),
		}, (*call).withdraw},
		{&mcp.Tool{
			Name: permissionPrompt, Title: "Permission prompt", Annotations: permissionHints,
			Description: `For the option --permission-prompt-tool of Claude Code, which calls this tool itself. Do not call it: use confirm_action to ask for approval.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"tool_name": {"type": "string"}, "input": {"type": "object"}, "tool_use_id": {"type": "string"}}, "required": ["tool_name", "input"]}`),
		}, (*call).permission},
	}
}

// tool returns the handler of a tool.
func (s *Server) tool(run toolFunc) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		caller, err := callerOf(ctx)
		if err != nil {
			return nil, err
		}
		c := &call{s, caller, req, req.Session.NotifyProgress}
		return c.do(ctx, run)
	}
}

// do runs a tool. Errors become results that a model can read, unless the request itself is
// invalid.
func (c *call) do(ctx context.Context, run toolFunc) (*mcp.CallToolResult, error) {
	if n := len(c.input()); n > maxArguments {
		return c.errorResult(tooLarge(n))
	}
	result, err := run(c, ctx)
	if err != nil {
		return c.errorResult(err)
	}
	return result, nil
}

// maxArguments bounds the arguments of a call, in bytes: the largest input that can be
// approved, and the fields around it.
const maxArguments = limits.MaxInput + limits.MaxInput/2

func tooLarge(n int) error {
	return inputError(fmt.Sprintf("The input has %d bytes; a call takes at most %d. "+
		"Shorten it: say what people need to decide, and where they find the rest.", n, maxArguments))
}

type taskSlotKey struct{}

// A taskSlot receives the task that replaces the result of a call.
type taskSlot struct{ task *taskResult }

// intercept is middleware for every request. It finds the caller of a request on stdio,
// filters lists of tools, and replaces results by tasks. It also maps the names that other
// programs give to the ask tools to the names of this package.
func (s *Server) intercept(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		ctx = withStdioCaller(ctx, req)
		p, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if !ok {
			result, err := next(ctx, method, req)
			return filterTools(ctx, req, result), err
		}
		if name, known := asktool.Canonical(p.Name); known {
			p.Name = name
		}
		slot := &taskSlot{}
		result, err := next(context.WithValue(ctx, taskSlotKey{}, slot), method, req)
		if err == nil && slot.task != nil {
			return slot.task, nil
		}
		return result, err
	}
}

// filterTools removes permission_prompt from a list of tools unless the client is Claude
// Code: other models would take it for a way to ask.
func filterTools(ctx context.Context, req mcp.Request, result mcp.Result) mcp.Result {
	list, ok := result.(*mcp.ListToolsResult)
	if !ok || list == nil {
		return result
	}
	var meta mcp.Meta
	if p, ok := req.GetParams().(*mcp.ListToolsParams); ok && p != nil {
		meta = p.Meta
	}
	session, _ := req.GetSession().(*mcp.ServerSession)
	caller, err := callerOf(ctx)
	if err != nil || session == nil || !programOf(clientNameOf(meta, session, caller)).claudeCode() {
		list.Tools = slices.DeleteFunc(slices.Clone(list.Tools),
			func(t *mcp.Tool) bool { return t.Name == permissionPrompt })
	}
	return list
}

// markPrivate makes results private, because they depend on the client.
func markPrivate(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }
