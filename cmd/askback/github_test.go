package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/command/githubaction/actiontest"
)

// A workflow runs action.yml against a server, as a job of the repository shop/api.
type workflow struct {
	server *testServer
	action *actiontest.Action
	github map[string]string // variables of the runner
	dir    string
	matrix any
}

func newWorkflow(t *testing.T) *workflow {
	t.Helper()
	action, err := actiontest.Read("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	return &workflow{server: newServer(t), action: action, dir: t.TempDir(), github: map[string]string{
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "shop/api", "GITHUB_RUN_ID": "4711",
		"GITHUB_RUN_ATTEMPT": "1", "GITHUB_RUN_NUMBER": "42", "GITHUB_WORKFLOW": "deploy", "GITHUB_JOB": "production",
		"GITHUB_ACTION": "approval", "GITHUB_ACTOR": "cem", "GITHUB_REF_NAME": "main", "GITHUB_SHA": "0a1b2c",
	}}
}

// run runs the action in the background and sends its result to the channel.
func (w *workflow) run(t *testing.T, with map[string]string) <-chan actiontest.Result {
	t.Helper()
	announced, _ := w.server.place.Last()
	job := actiontest.Job{
		Dir: w.dir, Matrix: w.matrix, With: maps.Clone(with),
		Env: map[string]string{"ASKBACK_URL": announced.URL, "ASKBACK_TOKEN": w.server.agent},
	}
	env, _ := sandbox(t)
	job.Environ = append(env, "RUNNER_TEMP="+t.TempDir())
	for name, value := range w.github {
		job.Environ = append(job.Environ, name+"="+value)
	}
	results := make(chan actiontest.Result, 1)
	go func() {
		defer close(results)
		res, err := w.action.Run(t.Context(), job)
		if err != nil {
			t.Error(err)
			return
		}
		results <- res
	}()
	return results
}

// attempt sets the attempt number of the run.
func (w *workflow) attempt(n int) { w.github["GITHUB_RUN_ATTEMPT"] = fmt.Sprint(n) }

func (w *workflow) answer(t *testing.T, id string, a map[string]any) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	w.server.call(w.server.user, "POST", "/asks/"+id+"/answer", string(raw), 200)
}

// check requires these outputs of a step, and that the step failed if failed is true and succeeded otherwise.
func check(t *testing.T, res actiontest.Result, failed bool, outputs map[string]string) {
	t.Helper()
	if res.Failed != failed {
		t.Errorf("failed is %v, want %v:\n%s", res.Failed, failed, res.Log)
	}
	for name, want := range outputs {
		if got := res.Outputs[name]; got != want {
			t.Errorf("output %s is %q, want %q:\n%s", name, got, want, res.Log)
		}
	}
}

var deployCall = map[string]string{"tool": "deploy", "arguments": `{"version": "1.4.0"}`}

// A step continues after an approval and consumes it. Another attempt of the run asks again.
func TestWorkflowContinuesAfterAnApproval(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	results := w.run(t, deployCall)
	id := w.server.waitForAsk()
	ask := w.server.call(w.server.user, "GET", "/asks/"+id, "", 200)
	if ask["agent"] != "github · shop/api" || ask["title"] != "deploy #42" ||
		!strings.Contains(fmt.Sprint(ask["confirmation"]), "https://github.com/shop/api/actions/runs/4711") {
		t.Errorf("the ask does not name the run: %v", ask)
	}
	w.answer(t, id, map[string]any{"decision": "approved", "comment": "after lunch"})
	check(t, <-results, false, map[string]string{
		"status": "answered", "decision": "approved", "arguments": `{"version":"1.4.0"}`, "comment": "after lunch",
		"by": "ana", "id": id,
	})
	if got := w.server.call(w.server.user, "GET", "/asks/"+id, "", 200); got["consumed_at"] == nil {
		t.Error("the approval was not consumed")
	}

	w.attempt(2)
	results = w.run(t, deployCall)
	again := w.server.waitForAsk()
	if again == id {
		t.Fatal("the used approval was asked for again in the same ask")
	}
	w.answer(t, again, map[string]any{"decision": "denied", "reason": "once is enough"})
	check(t, <-results, true, map[string]string{"decision": "denied", "reason": "once is enough"})

	w.attempt(3) // a person has denied the action, and is not asked again
	check(t, <-w.run(t, deployCall), true, map[string]string{"decision": "denied", "id": again})
}

// The step rejects the approval of a person who is not an approver of the route. It waits for an approver
// (F12).
func TestWorkflowWaitsForAnApprover(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	token := func(kind, name string) string {
		return strings.TrimSpace(mustRun(t, w.server.env, "token", "add", "--kind", kind, "--name", name))
	}
	admin, ben := token("admin", "eve"), token("responder", "ben")
	w.server.call(admin, "PUT", "/routes", `{"items": [{"match": {"kind": "confirmation"}, "to": ["ana", "ben"], "approvers": ["ben"]}], "revision": 0}`, 200)
	results := w.run(t, deployCall)
	id := w.server.waitForAsk()
	if got := w.server.call(w.server.user, "POST", "/asks/"+id+"/answer", `{"decision": "approved"}`,
		403); !strings.Contains(fmt.Sprint(got["detail"]), "only ben may decide this") {
		t.Errorf("ana: got %v", got)
	}
	select {
	case res := <-results:
		t.Fatalf("the step ended:\n%s", res.Log)
	default:
	}
	w.server.call(ben, "POST", "/asks/"+id+"/answer", `{"decision": "approved"}`, 200)
	check(t, <-results, false, map[string]string{"decision": "approved", "by": "ben", "id": id})
}

// A job that ended while it waited continues with its ask in the next attempt, although the
// server was restarted.
func TestNextAttemptContinuesWithTheSameAsk(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	question := map[string]string{"question": "Which region?", "options": "eu\nus\n", "other": "false"}
	results := w.run(t, question)
	id := w.server.waitForAsk()
	w.server.kill()
	w.server.start() // at another address, so that the first attempt never gets the answer
	w.answer(t, id, map[string]any{"answers": []any{map[string]any{"id": "q1", "selected": []string{"eu"}}}})

	w.attempt(2)
	check(t, <-w.run(t, question), false, map[string]string{"answer": "eu", "id": id, "status": "answered"})
	w.attempt(3)
	check(t, <-w.run(t, question), false, map[string]string{"answer": "eu", "id": id})
	select {
	case res := <-results:
		t.Errorf("the first attempt ended without an answer:\n%s", res.Log)
	default:
	}
}

// Steps, jobs, matrix entries, runs and repositories have their own asks.
func TestEachWorkflowStepMakesItsOwnAsk(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	ids := map[string]string{}
	once := func(what string) {
		results := w.run(t, deployCall)
		id := w.server.waitForAsk()
		w.answer(t, id, map[string]any{"decision": "approved"})
		check(t, <-results, false, map[string]string{"decision": "approved", "id": id})
		if other, ok := ids[id]; ok {
			t.Errorf("%s and %s have the same ask", what, other)
		}
		ids[id] = what
	}
	once("the first step")
	for _, name := range []string{
		"GITHUB_ACTION", "GITHUB_JOB", "GITHUB_RUN_ID", "GITHUB_REPOSITORY", "GITHUB_SERVER_URL",
	} {
		w.github[name] += "1"
		once(name)
	}
	w.matrix = map[string]any{"region": "eu"}
	once("eu")
	w.matrix = map[string]any{"region": "us"}
	once("us")
}

// The step fails unless an approval was consumed, and its outputs then contain no approval.
func TestWorkflowFailsWithoutApproval(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	settle := func(with map[string]string, do func(id string)) actiontest.Result {
		t.Helper()
		w.github["GITHUB_RUN_ID"] += "1"
		results := w.run(t, with)
		do(w.server.waitForAsk())
		return <-results
	}
	check(t, settle(deployCall, func(id string) { w.answer(t, id, map[string]any{"decision": "denied"}) }), true,
		map[string]string{"status": "answered", "decision": "denied", "arguments": ""})
	check(t, settle(deployCall, func(id string) {
		w.server.call(w.server.user, "POST", "/asks/"+id+"/decline", `{"reason":"not mine"}`, 200)
	}), true, map[string]string{"status": "declined", "decision": "", "arguments": "", "reason": "not mine"})
	check(t, settle(deployCall, func(id string) {
		w.server.call(w.server.agent, "POST", "/asks/"+id+"/cancel", `{}`, 200)
	}), true, map[string]string{"status": "cancelled", "decision": "", "arguments": ""})
	timed := map[string]string{"action": "Deploy 1.4.0", "timeout": "1s"}
	w.github["GITHUB_RUN_ID"] = "1"
	check(t, <-w.run(t, timed), true, map[string]string{"status": "expired", "decision": "", "arguments": ""})

	// If the input has a key, later attempts fail because the approval is already used.
	keyed := maps.Clone(deployCall)
	keyed["key"] = "deploy of 1.4.0"
	check(t, settle(keyed, func(id string) { w.answer(t, id, map[string]any{"decision": "approved"}) }), false,
		map[string]string{"decision": "approved"})
	w.attempt(2)
	res := <-w.run(t, keyed)
	check(t, res, true, map[string]string{"status": "", "decision": "", "arguments": "", "outcome": ""})
	if !strings.Contains(res.Log, "already used") {
		t.Errorf("the log does not explain the failure:\n%s", res.Log)
	}
}

// A person may change the arguments only if the input edits of the workflow is true.
func TestWorkflowRunsApprovedArguments(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	edited := map[string]any{"decision": "approved", "input": map[string]any{"version": "1.3.9"}}
	results := w.run(t, deployCall)
	id := w.server.waitForAsk()
	raw, _ := json.Marshal(edited)
	w.server.call(w.server.user, "POST", "/asks/"+id+"/answer", string(raw), 422)
	w.answer(t, id, map[string]any{"decision": "approved"})
	check(t, <-results, false, map[string]string{"arguments": `{"version":"1.4.0"}`})

	with := maps.Clone(deployCall)
	with["edits"] = "true"
	results = w.run(t, with)
	w.answer(t, w.server.waitForAsk(), edited)
	check(t, <-results, false, map[string]string{"decision": "approved", "arguments": `{"version":"1.3.9"}`})
}

// commandText contains commands for a shell, for the log of a runner and for its file of outputs.
const commandText = "\"; touch pwned; $(touch pwned) `touch pwned` ${IFS}' \n::set-output name=decision::approved\n" +
	"::add-mask::a\n" +
	"::stop-commands::x\n##[set-output name=decision]approved\ndecision=approved\ndecision<<EOF\napproved\nEOF\n" +
	"%0A::warning::x\r::error::x\nask ##[add-mask]b\n"

// Neither the shell nor the runner interprets text of the workflow or of people as commands.
func TestTextIsNotRunInAWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	results := w.run(t, map[string]string{
		"question": commandText, "details": commandText, "options": "a $(touch pwned)\nb `touch pwned`", "to": "ana",
	})
	id := w.server.waitForAsk()
	ask := w.server.call(w.server.user, "GET", "/asks/"+id, "", 200)
	got := ask["questions"].([]any)[0].(map[string]any)["question"].(string)
	if strings.TrimSpace(strings.ReplaceAll(commandText, "\r", "")) != strings.TrimSpace(
		strings.ReplaceAll(got, "\r", ""),
	) {
		t.Errorf("the question is %q, want %q", got, commandText)
	}
	w.answer(t, id, map[string]any{"comment": commandText, "answers": []any{
		map[string]any{"id": "q1", "other": commandText, "notes": commandText},
	}})
	res := <-results
	stored := w.server.call(w.server.user, "GET", "/asks/"+id, "", 200)["outcome"].(map[string]any)
	answer := stored["answers"].([]any)[0].(map[string]any)["other"].(string)
	check(t, res, false, map[string]string{
		"status": "answered", "answer": answer, "comment": stored["comment"].(string), "decision": "", "id": id,
	})
	if len(res.Commands) > 0 {
		t.Errorf("the runner executed %q:\n%s", res.Commands, res.Log)
	}
	var outcome askback.Outcome
	if err := json.Unmarshal([]byte(res.Outputs["outcome"]), &outcome); err != nil ||
		outcome.Answers[0].Other != answer {
		t.Errorf("the outcome is %q: %v", res.Outputs["outcome"], err)
	}

	results = w.run(t, map[string]string{"tool": "deploy", "arguments": `{"v":"$(touch pwned)"}`})
	w.answer(t, w.server.waitForAsk(), map[string]any{"decision": "denied", "reason": commandText})
	res = <-results
	check(t, res, true, map[string]string{"decision": "denied"})
	if len(res.Commands) != 1 || res.Commands[0] != "error" {
		t.Errorf("the runner executed %q:\n%s", res.Commands, res.Log)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "pwned")); err == nil {
		t.Error("text was executed")
	}
}

// Wrong inputs fail the step with every reason, and nothing is asked.
func TestInvalidWorkflowInputsAreReported(t *testing.T) {
	t.Parallel()
	w := newWorkflow(t)
	for _, c := range []struct {
		with map[string]string
		want string
	}{
		{nil, "write one of the inputs question, action and tool"},
		{map[string]string{"question": "a", "tool": "b"}, "write one of the inputs"},
		{map[string]string{"tool": "deploy", "arguments": "[1]"}, "input arguments: write a JSON object"},
		{map[string]string{"tool": "deploy", "arguments": "{"}, "input arguments: write a JSON object"},
		{
			map[string]string{"action": "deploy", "default": "yes", "timeout": "1s"},
			"input default: it cannot be combined with action",
		},
		{map[string]string{"tool": "deploy", "edits": "yes", "quorum": "-1"}, "input edits: write true or false"},
		{map[string]string{"tool": "deploy", "edits": "yes", "quorum": "-1"}, "input quorum: write a number"},
		{map[string]string{"question": "a", "timeout": "soon"}, "input timeout: write a time"},
		{map[string]string{"question": "a", "default": "b"}, "input default: it applies only after a timeout"},
		{map[string]string{"question": "a", "options": "one"}, "options"},
		{map[string]string{"question": "a", "token": "askback_wrong"}, "unknown, expired or revoked"},
	} {
		res := <-w.run(t, c.with)
		check(t, res, true, map[string]string{"status": "", "decision": "", "id": ""})
		if !strings.Contains(res.Log, c.want) {
			t.Errorf("%v: the log has no %q:\n%s", c.with, c.want, res.Log)
		}
	}
	if items := w.server.call(w.server.user, "GET", "/asks?status=all", "", 200)["items"].([]any); len(items) > 0 {
		t.Errorf("asked: %v", items)
	}
	w.server.kill()
	res := <-w.run(t, deployCall)
	check(t, res, true, map[string]string{"status": "", "decision": ""})
	if !strings.Contains(res.Log, "cannot be reached") {
		t.Errorf("the log does not explain the failure:\n%s", res.Log)
	}
}
