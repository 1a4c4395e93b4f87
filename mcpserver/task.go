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

// tasksExtension is the extension of 2026-07-28 that turns a call into a task.
// An ask is one already: it is written before the reply, its id is unguessable,
// and it is kept whatever becomes of this process.
const tasksExtension = "io.modelcontextprotocol/tasks"

// How often a client looks: often while a person may be at the desk, seldom when
// it takes hours. The answer is then at most a tenth of the wait late.
const (
	quickPoll = 2 * time.Second
	slowPoll  = 30 * time.Second
)

// A taskResult is a task: the reply to a call, or to tasks/get.
type taskResult struct {
	mcp.ResultBase
	ResultType string      `json:"resultType"`
	ID         string      `json:"taskId"`
	Status     string      `json:"status"`
	Message    string      `json:"statusMessage,omitempty"`
	Created    time.Time   `json:"createdAt"`
	Updated    time.Time   `json:"lastUpdatedAt"`
	TTL        *int64      `json:"ttlMs"` // null: it is kept as long as its ask
	Poll       int64       `json:"pollIntervalMs,omitempty"`
	Result     *toolResult `json:"result,omitempty"`
}

// A toolResult is the result of the call inside its task. It says its type like
// the result of a call does: clients read it by the same schema.
type toolResult struct {
	ResultType string        `json:"resultType"`
	Content    []mcp.Content `json:"content"`
	Structured any           `json:"structuredContent,omitempty"`
	IsError    bool          `json:"isError,omitempty"`
}

// An ackResult says that a request was taken.
type ackResult struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

// taskParams name a task. Responses to questions that were never put are ignored.
type taskParams struct {
	mcp.ParamsBase
	ID        string          `json:"taskId"`
	Responses json.RawMessage `json:"inputResponses,omitempty"`
}

// declaresTasks says whether this request takes a task for its result.
// Claude Code does too, and then tells its model the answer in a note that says it
// is no user's input and no approval: what a person said must not reach it so.
func (c *call) declaresTasks() bool {
	return c.modern() && tasksIn(c.req.Params.Meta) && !c.claudeCode()
}

// tasksIn looks for the extension in what one request declares.
func tasksIn(meta map[string]any) bool {
	extensions, _ := declared(meta, mcp.MetaKeyClientCapabilities)["extensions"].(map[string]any)
	_, declared := extensions[tasksExtension]
	return declared
}

// task leaves a task in place of the result of a call.
func (c *call) task(ctx context.Context, ask askback.Ask) (*mcp.CallToolResult, error) {
	made, ok := ctx.Value(madeKey{}).(*made)
	if !ok {
		return nil, errors.New("a call came without a place for its task")
	}
	made.task = taskOf(ask, time.Now())
	made.task.ResultType = "task"
	return &mcp.CallToolResult{}, nil
}

// taskOf is how a task stands. What a person, a timer or an operator made of the
// ask is a result that the model has to know; only what the agent itself withdrew
// is cancelled.
func taskOf(ask askback.Ask, now time.Time) *taskResult {
	t := &taskResult{ResultType: "complete", ID: ask.ID, Status: "working", Created: ask.CreatedAt.UTC(), Updated: ask.CreatedAt.UTC()}
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
	t.complete(toldOf(ask))
	return t
}

// complete gives a task its result.
func (t *taskResult) complete(r *mcp.CallToolResult) {
	t.Status, t.Result = "completed", &toolResult{"complete", r.Content, r.StructuredContent, r.IsError}
}

func pollEvery(age time.Duration) time.Duration { return min(max(age/10, quickPoll), slowPoll) }

// addTasks adds the methods of the extension.
func (s *Server) addTasks(p *mcp.Server) {
	for method, do := range map[string]func(context.Context, *caller, string) (mcp.Result, error){
		"tasks/get": s.getTask, "tasks/update": s.updateTask, "tasks/cancel": s.cancelTask,
	} {
		err := mcp.AddReceivingCustomMethod(p, method, func(ctx context.Context, _ *mcp.ServerSession, params *taskParams) (*anyResult, error) {
			if params == nil || !tasksIn(params.GetMeta()) {
				return nil, missingTasks()
			}
			who, err := callerOf(ctx)
			if err != nil {
				return nil, err
			}
			result, err := do(ctx, who, params.ID)
			if err != nil {
				return nil, s.taskFailed(err)
			}
			return &anyResult{Result: result}, nil
		})
		if err != nil {
			panic("mcpserver: " + err.Error()) // the protocol has such a method of its own now
		}
	}
}

// anyResult is whichever result a method of the extension has.
type anyResult struct{ mcp.Result }

// MarshalJSON writes the result itself.
func (r *anyResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.Result) }

func (s *Server) getTask(ctx context.Context, who *caller, id string) (mcp.Result, error) {
	ask, err := who.seat.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	task := taskOf(s.linked(ask), time.Now())
	if spendable(ask) {
		err := s.spend(ctx, who, ask)
		switch {
		case errors.Is(err, askback.ErrConsumed):
			task.complete(usedOf(ask))
		case err != nil:
			return nil, err
		}
	}
	if ask.Settled() {
		s.tell(who, ask, ask.ID)
	}
	return task, nil
}

// updateTask takes nothing: a task of ours never asks its client for input.
func (s *Server) updateTask(ctx context.Context, who *caller, id string) (mcp.Result, error) {
	_, err := who.seat.Get(ctx, id)
	return &ackResult{ResultType: "complete"}, err
}

// cancelTask withdraws the ask, unless somebody was quicker.
func (s *Server) cancelTask(ctx context.Context, who *caller, id string) (mcp.Result, error) {
	_, err := who.seat.Cancel(ctx, id, "")
	if errors.Is(err, askback.ErrSettled) {
		err = nil
	}
	return &ackResult{ResultType: "complete"}, err
}

func missingTasks() error {
	data := json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)
	return &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "this request does not declare " + tasksExtension, Data: data,
	}
}

func (s *Server) taskFailed(err error) error {
	if errors.Is(err, askback.ErrNotFound) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such task, or it is not yours"}
	}
	s.log.Error("a task failed", "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "something went wrong on the server; the task is as it was"}
}
