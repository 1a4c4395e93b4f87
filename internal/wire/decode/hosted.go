package decode

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback/internal/limits"
)

// A Task is one task in the input of the tool spawn_agents.
type Task struct {
	Prompt string
	Agent  string // the name of the agent, or "" for the agent that makes the call
}

// MaxTasks is the maximum number of tasks in one call. The tasks run concurrently.
const MaxTasks = 8

const exampleTasks = `{"tasks": [{"prompt": "Read docs/a.md and list its open points."}]}`

var (
	tasksNames = []string{"tasks"}
	taskNames  = []string{"agent", "prompt"}
)

// Tasks parses the input of the tool spawn_agents: {"tasks": [{"prompt", "agent"}]}.
func Tasks(raw []byte) ([]Task, error) {
	r, n, err := parse(raw)
	if err != nil {
		return nil, err
	}
	var out []Task
	r.members(n, exampleTasks, tasksNames, func(name string, n node) bool {
		if name != "tasks" {
			return false
		}
		r.elements(n, `[{"prompt": "…"}]`, func(n node) { out = append(out, r.task(n)) })
		return true
	})
	switch n := len(out); {
	case n == 0 && r.err() == nil:
		r.problemAt("/tasks", fmt.Sprintf("a call needs 1 to %d tasks; this one has 0", MaxTasks), exampleTasks)
	case n > MaxTasks:
		r.problemAt("/tasks", fmt.Sprintf("a call needs 1 to %d tasks; this one has %d", MaxTasks, n),
			"make several calls")
	}
	return out, r.err()
}

func (r *reader) task(n node) (t Task) {
	before := len(r.problems)
	r.members(n, `{"prompt": "…"}`, taskNames, func(name string, n node) bool {
		switch name {
		case "prompt":
			r.text(n, &t.Prompt)
		case "agent":
			r.text(n, &t.Agent)
		default:
			return false
		}
		return true
	})
	switch {
	case len(r.problems) > before:
	case strings.TrimSpace(t.Prompt) == "":
		r.problem("prompt is missing", `{"prompt": "…"}`)
	case utf8.RuneCountInString(t.Prompt) > limits.MaxMessage:
		r.problem(fmt.Sprintf("the prompt has more than %d characters", limits.MaxMessage), "shorten it")
	}
	return t
}
