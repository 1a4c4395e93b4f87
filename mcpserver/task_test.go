package mcpserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
)

// taskCall returns a request of the tasks extension.
func taskCall(method, id, capabilities string) string {
	return fmt.Sprintf(
		`{"jsonrpc": "2.0", "id": 7, "method": %q, "params": {"taskId": %q, "inputResponses": {"x": {"action": "accept"}}, "_meta": {
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": %s}}}`, method, id, capabilities)
}

// taskRequest sends a request of the tasks extension and returns its result, or its error.
func (f *fixture) taskRequest(httpClient *http.Client, method, id string) (result, failed map[string]any) {
	f.t.Helper()
	_, got := post(f.t, httpClient, method, id, taskCall(method, id, withTasks))
	result, _ = got["result"].(map[string]any)
	failed, _ = got["error"].(map[string]any)
	return result, failed
}

// newTask makes a call over HTTP and returns its task.
func (f *fixture) newTask(httpClient *http.Client, tool, args string) map[string]any {
	f.t.Helper()
	_, got := post(f.t, httpClient, "tools/call", tool, toolCall(tool, args, withTasks))
	task, _ := got["result"].(map[string]any)
	if task["resultType"] != "task" || task["status"] != "working" {
		f.t.Fatalf("got %v", got)
	}
	return task
}

// A request that declares the tasks extension gets a task immediately. The task has the id of its ask,
// survives a restart, and has the result of the call (F9).
func TestTaskReturnsIDAndResultOfItsAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		task := f.newTask(httpClient, "ask_user_question", database)
		ask := f.pendingAsk()
		created, _ := task["createdAt"].(string)
		at, err := time.Parse(time.RFC3339, created)
		if ttl, present := task["ttlMs"]; task["taskId"] != ask.ID || err != nil || !at.Equal(ask.CreatedAt) ||
			!present || ttl != nil {
			t.Errorf("got %v of %s at %s", task, ask.ID, ask.CreatedAt)
		}
		f.restart()
		for _, step := range []struct {
			age  time.Duration
			poll float64
		}{
			{0, 2000},
			{20 * time.Second, 2000},
			{time.Minute, 6000},
			{5 * time.Minute, 30_000},
			{72 * time.Hour, 30_000},
		} {
			<-time.After(time.Until(ask.CreatedAt.Add(step.age))) // takes no real time
			got, _ := f.taskRequest(httpClient, "tasks/get", ask.ID)
			if got["status"] != "working" || got["resultType"] != "complete" || got["pollIntervalMs"] != step.poll {
				t.Errorf("after %s: got %v, want to look every %v ms", step.age, got, step.poll)
			}
		}
		if ack, _ := f.taskRequest(httpClient, "tasks/update", ask.ID); ack["resultType"] != "complete" ||
			ack["taskId"] != nil {
			t.Errorf("update: got %v", ack)
		}
		f.answer(ask.ID, askback.Choose("SQLite"))
		f.restart()
		for range 2 { // reading the task changes nothing
			got, _ := f.taskRequest(httpClient, "tasks/get", ask.ID)
			result, _ := got["result"].(map[string]any)
			if got["status"] != "completed" || result["resultType"] != "complete" ||
				!strings.Contains(fmt.Sprint(result), `"Which database?" = "SQLite".`) {
				t.Errorf("got %v", got)
			}
		}
	})
}

// If a person declines, the task is completed, because the model has to read the result.
// Only a withdrawn ask is a cancelled task.
func TestTaskStatusDependsOnTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		id := fmt.Sprint(f.newTask(httpClient, "ask_user_question", database)["taskId"])
		if _, err := f.engine.As(ana).Decline(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		got, _ := f.taskRequest(httpClient, "tasks/get", id)
		result, _ := got["result"].(map[string]any)
		if got["status"] != "completed" || result["isError"] != true ||
			!strings.Contains(fmt.Sprint(result), "declined") {
			t.Errorf("declined: got %v", got)
		}
		id = fmt.Sprint(f.newTask(httpClient, "ask_user_question", database)["taskId"])
		if _, err := f.engine.As(ana).Send(t.Context(), f.pendingAsk().SessionID,
			askback.EndSession{Reason: "no longer needed"}); err != nil {
			t.Fatal(err)
		}
		if got, _ := f.taskRequest(httpClient, "tasks/get", id); got["status"] != "completed" ||
			!strings.Contains(fmt.Sprint(got["result"]), "no longer needed") {
			t.Errorf("cancelled by a person: got %v", got)
		}
		id = fmt.Sprint(f.newTask(httpClient, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		for range 2 {
			if ack, failed := f.taskRequest(httpClient, "tasks/cancel", id); ack["resultType"] != "complete" {
				t.Errorf("cancel: got %v, %v", ack, failed)
			}
		}
		if got, _ := f.taskRequest(httpClient, "tasks/get", id); got["status"] != "cancelled" || got["result"] != nil {
			t.Errorf("withdrawn: got %v", got)
		}
		again := fmt.Sprint(f.newTask(httpClient, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		f.taskRequest(httpClient, "tasks/cancel", again)
		id = fmt.Sprint(f.newTask(httpClient, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		if id == again {
			t.Error("a withdrawn ask is not asked again")
		}
		f.answer(id, askback.Decide(askback.Approve, ""))
		if ack, failed := f.taskRequest(httpClient, "tasks/cancel", id); ack["resultType"] != "complete" {
			t.Errorf("cancelled too late: got %v, %v", ack, failed)
		}
		if got, _ := f.taskRequest(httpClient, "tasks/get", id); got["status"] != "completed" ||
			!strings.Contains(fmt.Sprint(got), "confirmed:true") {
			t.Errorf("cancelled too late: got %v", got)
		}
	})
}

// A task is visible to its agent alone, and only in requests that declare the extension
// (T21).
func TestTaskIsPrivateToItsAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		bot, cat := f.httpClient("bot"), f.httpClient("cat")
		id := fmt.Sprint(f.newTask(bot, "ask_user_question", database)["taskId"])
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if _, failed := f.taskRequest(cat, method, id); failed["code"] != -32602.0 {
				t.Errorf("%s by another agent: got %v", method, failed)
			}
			_, got := post(t, bot, method, id, taskCall(method, id, "{}"))
			failed, _ := got["error"].(map[string]any)
			if want := "map[requiredCapabilities:map[extensions:map[io.modelcontextprotocol/tasks:map[]]]]"; failed["code"] != -32021.0 || fmt.Sprint(
				failed["data"],
			) != want {
				t.Errorf("%s undeclared: got %v", method, got)
			}
		}
		if f.pendingAsk().ID != id {
			t.Error("the ask is not pending")
		}
		_, got := post(t, bot, "tools/call", "ask_user_question", toolCall("ask_user_question", database, "{}"))
		if result, _ := got["result"].(map[string]any); result["resultType"] != "complete" || result["taskId"] != nil {
			t.Errorf("a request that declares nothing got %v", got)
		}
	})
}

// A proxy may route by the header, so a request about a task must name the same task in
// header and body.
func TestTaskHeaderMustMatchTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		id := fmt.Sprint(f.newTask(httpClient, "ask_user_question", database)["taskId"])
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			for _, name := range []string{"", "ask_other"} {
				status, got := post(t, httpClient, method, name, taskCall(method, id, withTasks))
				failed, _ := got["error"].(map[string]any)
				if status != http.StatusBadRequest || failed["code"] != float64(-32020) || got["id"] == nil {
					t.Errorf("%s named %q: got %d %v", method, name, status, got)
				}
			}
		}
		if f.pendingAsk().ID != id {
			t.Error("the ask is not pending")
		}
	})
}
