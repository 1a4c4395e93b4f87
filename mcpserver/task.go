package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// tasksExtension is the extension of protocol 2026-07-28 that turns a call into a task. An ask
// is a task already: it is recorded before the reply, its id cannot be guessed, and it is
// independent of this process.
const tasksExtension = "io.modelcontextprotocol/tasks"

// The limits for the interval at which a client polls. The interval is a tenth of the age of the ask, so the
// client sees an answer at most one interval later.
const (
	quickPoll = 2 * time.Second
	slowPoll  = 30 * time.Second
)

// A taskResult is a task: the reply to a call, or to tasks/get.
type taskResult struct {
	mcp.ResultBase
	ResultType string      `json:"resultType,omitempty"` // "" in a notification
	ID         string      `json:"taskId"`
	Status     string      `json:"status"`
	Message    string      `json:"statusMessage,omitempty"`
	Created    time.Time   `json:"createdAt"`
	Updated    time.Time   `json:"lastUpdatedAt"`
	TTL        *int64      `json:"ttlMs"` // null, because the task exists as long as the ask
	Poll       int64       `json:"pollIntervalMs,omitempty"`
	Result     *toolResult `json:"result,omitempty"`
}

// A toolResult is the result of a call that runs as a task. Clients decode it like the result of any other
// call, so it includes resultType.
type toolResult struct {
	ResultType string        `json:"resultType"`
	Content    []mcp.Content `json:"content"`
	Structured any           `json:"structuredContent,omitempty"`
	IsError    bool          `json:"isError,omitempty"`
}

// An ackResult is the reply to a request that has no result.
type ackResult struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

// taskParams are the parameters of the tasks extension. Askback sends no input requests, so
// inputResponses are ignored.
type taskParams struct {
	mcp.ParamsBase
	ID string `json:"taskId"`
}

// acceptsTask reports whether this request supports a task as its result. Claude Code is excluded, because
// its model is instructed that the result of a task is neither user input nor an approval.
func (c *call) acceptsTask() bool {
	return c.isStateless() && hasTasks(c.req.Params.Meta) && !c.claudeCode()
}

// hasTasks reports whether a request declares the extension.
func hasTasks(meta map[string]any) bool {
	extensions, _ := declared(meta, mcp.MetaKeyClientCapabilities)["extensions"].(map[string]any)
	_, declared := extensions[tasksExtension]
	return declared
}

// task makes the task of an ask the reply to this call. The result that it returns is empty,
// and [Server.intercept] replaces it by the task.
func (c *call) task(ctx context.Context, ask askback.Ask) (*mcp.CallToolResult, error) {
	slot, ok := ctx.Value(taskSlotKey{}).(*taskSlot)
	if !ok {
		return nil, errors.New("the call has no slot for its task")
	}
	slot.task = taskOf(ask, time.Now())
	slot.task.ResultType = "task"
	return &mcp.CallToolResult{}, nil
}

// taskOf returns the task of an ask. The task of a settled ask is completed, because the
// model has to read the result, even if a person declined. Only an ask that the agent
// withdrew is a cancelled task.
func taskOf(ask askback.Ask, now time.Time) *taskResult {
	t := &taskResult{
		ResultType: "complete", ID: ask.ID, Status: "working", Created: ask.CreatedAt.UTC(),
		Updated: ask.CreatedAt.UTC(),
	}
	if !ask.Settled() {
		t.Poll = pollEvery(now.Sub(ask.CreatedAt)).Milliseconds()
		t.Message = "Waiting for a person. " + ask.PageURL
		return t
	}
	t.Updated = ask.Outcome.At.UTC()
	if ask.Withdrawn() {
		t.Status = "cancelled"
		return t
	}
	t.complete(resultOf(ask))
	return t
}

// complete sets the result of a task.
func (t *taskResult) complete(r *mcp.CallToolResult) {
	t.Status, t.Result = "completed", &toolResult{
		ResultType: "complete", Content: r.Content, Structured: r.StructuredContent, IsError: r.IsError,
	}
}

func pollEvery(age time.Duration) time.Duration { return min(max(age/10, quickPoll), slowPoll) }

// addTasks adds the methods of the extension.
func (s *Server) addTasks(p *mcp.Server) {
	for method, do := range map[string]func(context.Context, *caller, string) (mcp.Result, error){
		"tasks/get": s.getTask, "tasks/update": s.updateTask, "tasks/cancel": s.cancelTask,
	} {
		err := mcp.AddReceivingCustomMethod(p,
			method, func(ctx context.Context, _ *mcp.ServerSession, params *taskParams) (*anyResult, error) {
				if params == nil || !hasTasks(params.GetMeta()) {
					return nil, missingTasks()
				}
				caller, err := callerOf(ctx)
				if err != nil {
					return nil, err
				}
				result, err := do(ctx, caller, params.ID)
				if err != nil {
					return nil, s.taskError(err)
				}
				return &anyResult{Result: result}, nil
			})
		if err != nil {
			panic("mcpserver: " + err.Error()) // the SDK implements this method itself now
		}
	}
}

// An anyResult is the result of a method of the extension.
type anyResult struct{ mcp.Result }

// MarshalJSON implements [json.Marshaler].
func (r *anyResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.Result) }

func (s *Server) getTask(ctx context.Context, caller *caller, id string) (mcp.Result, error) {
	ask, err := caller.client.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	ask = s.withPageURL(ask)
	c := &call{Server: s, caller: caller}
	result, err := c.result(ctx, ask, key{})
	if err != nil {
		return nil, err
	}
	task := taskOf(ask, time.Now())
	if task.Status == "completed" {
		task.complete(result)
	}
	return task, nil
}

// updateTask changes nothing, because tasks of Askback request no input. It returns an error
// if the task does not exist.
func (s *Server) updateTask(ctx context.Context, caller *caller, id string) (mcp.Result, error) {
	_, err := caller.client.Get(ctx, id)
	return &ackResult{ResultType: "complete"}, err
}

// cancelTask withdraws the ask, unless it is settled.
func (s *Server) cancelTask(ctx context.Context, caller *caller, id string) (mcp.Result, error) {
	_, err := caller.client.Cancel(ctx, id, "")
	if errors.Is(err, askback.ErrSettled) {
		err = nil
	}
	return &ackResult{ResultType: "complete"}, err
}

func missingTasks() error {
	data := json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)
	return &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "this request does not declare " + tasksExtension,
		Data: data,
	}
}

func (s *Server) taskError(err error) error {
	if errors.Is(err, askback.ErrNotFound) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this task does not exist, or is not yours"}
	}
	s.log.Error("a task failed", "error", err)
	return &jsonrpc.Error{
		Code: jsonrpc.CodeInternalError, Message: "something went wrong on the server; the task is unchanged",
	}
}
