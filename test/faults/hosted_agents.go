package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hostedAgents are the definitions of one run and their scripts, keyed by file. $RUN is the name of the run,
// so that each question and each call belongs to one run.
var hostedAgents = map[string]string{
	"$RUN.md": `---
model: $RUN
tools: [files, ask_user_question, confirm_action, todo_write, spawn_agents]
allow: [files.write]
subagents: bubble
async_questions: true
---
You read, write, ask, and have helpers.
`,
	"$RUN.yaml": `
- reply: I begin.
  tools:
    - {name: files__list}
    - {name: files__write, input: {path: $RUN/first, text: first}}
    - {name: ask_user_question, input: {question: "Which way does $RUN go?", options: [left, right]}}
    - {name: files__delete, input: {path: $RUN/first}}
- reply: My helpers continue.
  tools:
    - {name: spawn_agents, input: {tasks: [{agent: $RUN-left, prompt: Go left.}, {agent: $RUN-right, prompt: Go right.}]}}
    - {name: files__write, input: {path: $RUN/second, text: second}}
    - {name: files__read, input: {path: $RUN/second}}
- tools:
    - {name: todo_write, input: {todos: [{content: Finish, status: in_progress}]}}
    - {name: confirm_action, input: {action: Finish $RUN}}
- reply: $RUN is done.
`,
	"$RUN-left.md": `---
model: $RUN-left
tools: [files, ask_user_question]
allow: [files.write]
---
You help.
`,
	"$RUN-left.yaml": `
- tools:
    - {name: files__list}
    - {name: ask_user_question, input: {question: "How far does $RUN go to the left?", options: [near, far]}}
    - {name: files__write, input: {path: $RUN/left, text: left}}
- reply: $RUN-left is done.
`,
	"$RUN-right.md": `---
model: $RUN-right
tools: [files]
---
You help.
`,
	"$RUN-right.yaml": `
- tools:
    - {name: files__write, input: {path: $RUN/right, text: right}}
    - {name: files__list}
- reply: $RUN-right is done.
`,
}

// A hostedShape is the required result of a run of an agent, regardless of when the server was killed.
type hostedShape struct {
	result  string
	replies int      // the number of replies of the model
	calls   int      // the number of tool calls
	writes  []string // the calls that change a file, as in the log of the tool
	asks    []string // the questions to people
}

// hostedShapes returns the shapes of a run and of its children, by agent.
func hostedShapes(run string) map[string]hostedShape {
	return map[string]hostedShape{
		run: {
			run + " is done.", 4, 9,
			[]string{"write " + run + "/first", "delete " + run + "/first", "write " + run + "/second"},
			[]string{"Which way does " + run + " go?", "files.delete " + run + "/first", "Finish " + run},
		},
		run + "-left": {
			run + "-left is done.", 2, 3,
			[]string{"write " + run + "/left"},
			[]string{"How far does " + run + " go to the left?"},
		},
		run + "-right": {
			run + "-right is done.", 2, 2,
			[]string{"write " + run + "/right"},
			[]string{"files.write " + run + "/right"},
		},
	}
}

// writeAgents replaces the definitions of the agents with the definitions for these runs, and writes the
// settings.
func (t *hostedTest) writeAgents(runs []string) error {
	if err := os.RemoveAll(t.agents); err != nil {
		return err
	}
	if err := os.MkdirAll(t.agents, 0o700); err != nil {
		return err
	}
	var settings strings.Builder
	fmt.Fprintf(&settings, "agents: %q\nmcp_servers:\n  files: {command: [%q, -log, %q, %q]}\n", t.agents,
		t.filesServer, t.callLog, filepath.Join(t.dir, "work"))
	if len(runs) > 0 {
		settings.WriteString("models:\n")
	}
	var all []error
	for _, run := range runs {
		for file, text := range hostedAgents {
			file = strings.ReplaceAll(file, "$RUN", run)
			path := filepath.Join(t.agents, file)
			all = append(all, os.WriteFile(path, []byte(strings.ReplaceAll(text, "$RUN", run)), 0o600))
			if name, isScript := strings.CutSuffix(file, ".yaml"); isScript {
				fmt.Fprintf(&settings, "  %s: {provider: scripted, script: %q}\n", name, path)
			}
		}
	}
	return errors.Join(append(all, os.WriteFile(t.settings, []byte(settings.String()), 0o600))...)
}
