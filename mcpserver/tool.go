package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
)

// The names of the tools beside those of package asktool.
const (
	waitForAnswer     = "wait_for_answer"
	getAnswer         = "get_answer"
	listOpenQuestions = "list_open_questions"
	withdrawQuestion  = "withdraw_question"
	permissionPrompt  = "permission_prompt"
)

// statelessVersion is the first revision of the protocol without sessions.
const statelessVersion = "2026-07-28"

// instructions are for the model of each client, beside the tools (C4).
const instructions = `Askback asks the people you work for. Its answers come from a person, minutes, hours or days later.
Ask when the decision is theirs: architecture, unclear requirements, real trade-offs, preferences, names and values you cannot know, and before steps that are hard to undo. Do not ask what you can infer or look up, what is trivial, or what was asked or said before.
Ask related questions in one call. A result with "status": "pending" is no answer: the question is kept, so do not ask it again. Call wait_for_answer with its question_id, now or after work that does not depend on it. After a restart, list_open_questions shows what is still open, and what was answered meanwhile.
Silence, a refusal and a denial are never consent.`

// speak makes the protocol's side of a server: its tools and the tasks extension.
func (s *Server) speak() *mcp.Server {
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	capabilities.AddExtension(tasksExtension, nil)
	p := mcp.NewServer(
		&mcp.Implementation{Name: "askback", Title: "Askback", Version: s.options.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: capabilities, SetCacheable: cached},
	)
	for _, t := range tools() {
		p.AddTool(t.Tool, s.tool(t.run))
	}
	p.AddReceivingMiddleware(s.called)
	s.addTasks(p)
	return p
}

// A tool is what is listed and what it does. The run judges its input itself:
// no validator stands before it, so that what models really send is mended or
// explained (F15).
type tool struct {
	*mcp.Tool
	run func(*call, context.Context) (*mcp.CallToolResult, error)
}

func tools() []tool {
	yes, no := true, false
	asking := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &yes}
	looking := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	writing := &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
	permitting := &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &yes}
	// Some clients show a model only the tools it searches for. Nobody searches
	// for a way to ask.
	always := mcp.Meta{"anthropic/alwaysLoad": true}
	return []tool{
		{&mcp.Tool{
			Name: asktool.AskUserQuestion, Title: "Ask people", Annotations: asking, Meta: always,
			Description: asktool.Description(asktool.AskUserQuestion), InputSchema: asktool.Schema(asktool.AskUserQuestion),
		}, (*call).askQuestions},
		{&mcp.Tool{
			Name: asktool.ConfirmAction, Title: "Ask for approval", Annotations: asking, Meta: always,
			Description: asktool.Description(asktool.ConfirmAction), InputSchema: asktool.Schema(asktool.ConfirmAction),
		}, (*call).askConfirmation},
		{&mcp.Tool{
			Name: waitForAnswer, Title: "Wait for an answer", Annotations: looking,
			Description: `Wait for the answer to a question that is "pending", and return it as soon as it is there. Use it when you cannot go on without the answer. It may return "pending" again: then call it again, or do other work first.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"question_id": {"type": "string", "description": "From the pending result, such as ask_01k8…"}, "max_wait_s": {"type": "integer", "minimum": 0, "maximum": 86400, "description": "How many seconds to wait at most; 0 does not wait. Leave it out for as long as this client allows."}}, "required": ["question_id"]}`),
		}, (*call).waitForAnswer},
		{&mcp.Tool{
			Name: getAnswer, Title: "Look for an answer", Annotations: looking,
			Description: `Return the answer to a question if it is there, without waiting. To wait, use wait_for_answer; never call this in a loop.`,
			InputSchema: json.RawMessage(idSchema),
		}, (*call).getAnswer},
		{&mcp.Tool{
			Name: listOpenQuestions, Title: "List open questions", Annotations: looking,
			Description: `List what you asked that nobody has answered yet, and answers you were not given yet. Use it after a restart, and before you ask something again.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"cursor": {"type": "string", "description": "The next_cursor of the list before. Leave it out for the first."}}}`),
		}, (*call).listOpen},
		{&mcp.Tool{
			Name: withdrawQuestion, Title: "Withdraw a question", Annotations: writing,
			Description: `Withdraw a question of yours that needs no answer any more, so that nobody spends time on it.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"question_id": {"type": "string", "description": "From the pending result, such as ask_01k8…"}, "reason": {"type": "string", "description": "Why it needs no answer, for the people who see it."}}, "required": ["question_id"]}`),
		}, (*call).withdraw},
		{&mcp.Tool{
			Name: permissionPrompt, Title: "Permission prompt", Annotations: permitting,
			Description: `For the option --permission-prompt-tool of Claude Code, which calls it by itself. A model has no use for it: confirm_action asks for approval.`,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {"tool_name": {"type": "string"}, "input": {"type": "object"}, "tool_use_id": {"type": "string"}}, "required": ["tool_name", "input"]}`),
		}, (*call).permission},
	}
}

const idSchema = `{"type": "object", "properties": {"question_id": {"type": "string", "description": "From the pending result, such as ask_01k8…"}}, "required": ["question_id"]}`

// tool makes a handler of the protocol of what a tool does. Whatever goes wrong
// is a result that a model can read, unless the request itself is broken.
func (s *Server) tool(run func(*call, context.Context) (*mcp.CallToolResult, error)) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		who, err := callerOf(ctx)
		if err != nil {
			return nil, err
		}
		c := &call{s, who, req}
		if n := len(c.input()); n > maxArguments {
			return c.failed(tooLarge(n))
		}
		result, err := run(c, ctx)
		if err != nil {
			return c.failed(err)
		}
		return result, nil
	}
}

// maxArguments bounds what a call says, in bytes: all that may be approved, and what
// stands around it.
const maxArguments = askback.MaxInput + askback.MaxInput/2

func tooLarge(n int) error {
	return mistake(fmt.Sprintf("The input has %d bytes; a call takes at most %d. "+
		"Shorten it: say what people need to decide, and where they find the rest.", n, maxArguments))
}

type madeKey struct{}

// made is where a tool leaves a result that has another shape than tools have.
type made struct{ task *taskResult }

// called stands before each request: on stdio it finds who makes it; names that
// other programs give the ask tool mean it too, and a task that was made is the result of
// the call. A list of tools is for the client that asks.
func (s *Server) called(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		ctx = onStdio(ctx, req)
		p, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if !ok {
			result, err := next(ctx, method, req)
			return offered(ctx, req, result), err
		}
		if name, known := asktool.Canonical(p.Name); known {
			p.Name = name
		}
		made := &made{}
		result, err := next(context.WithValue(ctx, madeKey{}, made), method, req)
		if err == nil && made.task != nil {
			return made.task, nil
		}
		return result, err
	}
}

// offered is a list of tools for the client that asks for it: permission_prompt is for
// Claude Code alone. Models of others would take it for a way to ask. Other results stay
// as they are.
func offered(ctx context.Context, req mcp.Request, result mcp.Result) mcp.Result {
	list, ok := result.(*mcp.ListToolsResult)
	if !ok || list == nil {
		return result
	}
	var meta mcp.Meta
	if p, ok := req.GetParams().(*mcp.ListToolsParams); ok && p != nil {
		meta = p.Meta
	}
	session, _ := req.GetSession().(*mcp.ServerSession)
	who, err := callerOf(ctx)
	if err != nil || session == nil || !programOf(clientOf(meta, session, who)).claudeCode() {
		list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *mcp.Tool) bool { return t.Name == permissionPrompt })
	}
	return list
}

// cached says who may keep a result: it depends on the client.
func cached(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }
