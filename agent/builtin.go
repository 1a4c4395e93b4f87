package agent

import (
	"encoding/json"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/wire/decode"
)

var todoTool = Tool{
	Name: TodoWrite,
	Description: `Replace the list of your tasks, which people see while you work.
Use it for work of three steps or more: write the list first, mark one entry as in_progress when you begin it, and as completed as soon as it is done. Do not use it for simple tasks.`,
	Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "todos": {
      "type": "array",
      "maxItems": 100,
      "description": "All entries, in order. An empty list removes them.",
      "items": {
        "type": "object",
        "properties": {
          "content": {"type": "string", "maxLength": 500, "description": "What is to be done."},
          "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
        },
        "required": ["content", "status"]
      }
    }
  },
  "required": ["todos"]
}`),
}

var spawnTool = Tool{
	Name: SpawnAgents,
	Description: `Start 1 to 8 agents that work side by side, and wait until all have finished. Each result is one line of JSON.
Use it for parts of the work that do not depend on each other. Do not use it for what you can do in a few calls yourself.`,
	Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "tasks": {
      "type": "array",
      "minItems": 1,
      "maxItems": 8,
      "items": {
        "type": "object",
        "properties": {
          "prompt": {"type": "string", "description": "The whole task, and what the result should contain. The agent sees nothing else of this conversation."},
          "agent": {"type": "string", "description": "The name of the agent. Leave it out for an agent like you."}
        },
        "required": ["prompt"]
      }
    }
  },
  "required": ["tasks"]
}`),
}

// todos decodes and checks the input of todo_write. The list is not nil.
func todos(input []byte) ([]askback.Todo, error) {
	set, err := decode.Todos(input)
	if err == nil {
		err = set.Check()
	}
	return append([]askback.Todo{}, set.Todos...), err
}

// Task returns the agent and the prompt of the task with the index child in call. If the task has no agent,
// agent is the agent of run. If call has no such task, prompt is "".
func (r *Runner) Task(run conversation.Run, call conversation.Call, child int) (agent, prompt string) {
	tasks, err := decode.Tasks(call.Input)
	if err != nil || child < 0 || child >= len(tasks) {
		return run.Agent, "" // such a task was not planned, so it is never started
	}
	if t := tasks[child]; t.Agent != "" {
		return t.Agent, t.Prompt
	}
	return run.Agent, tasks[child].Prompt
}
