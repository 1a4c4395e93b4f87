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

// taskCall is a method of the tasks extension on the wire.
func taskCall(method, id, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": %q, "params": {"taskId": %q, "inputResponses": {"x": {"action": "accept"}}, "_meta": {
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": %s}}}`, method, id, capabilities)
}

// on makes such a request and returns its result, or its error.
func (d *desk) on(web *http.Client, method, id string) (result, failed map[string]any) {
	d.t.Helper()
	_, got := post(d.t, web, method, id, taskCall(method, id, withTasks))
	result, _ = got["result"].(map[string]any)
	failed, _ = got["error"].(map[string]any)
	return result, failed
}

// newTask asks over HTTP and returns the task.
func (d *desk) newTask(web *http.Client, tool, args string) map[string]any {
	d.t.Helper()
	_, got := post(d.t, web, "tools/call", tool, toolCall(tool, args, withTasks))
	task, _ := got["result"].(map[string]any)
	if task["resultType"] != "task" || task["status"] != "working" {
		d.t.Fatalf("got %v", got)
	}
	return task
}

// A request that declares the tasks extension is given a task at once. It is the
// ask: kept before the reply, the same after a restart, its result that of the
// call (F9).
func TestATaskIsItsAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		task := d.newTask(web, "ask_user_question", database)
		ask := d.only()
		created, _ := task["createdAt"].(string)
		at, err := time.Parse(time.RFC3339, created)
		if ttl, there := task["ttlMs"]; task["taskId"] != ask.ID || err != nil || !at.Equal(ask.CreatedAt) || !there || ttl != nil {
			t.Errorf("got %v of %s at %s", task, ask.ID, ask.CreatedAt)
		}
		d.restart()
		for _, step := range []struct {
			age  time.Duration
			poll float64
		}{{0, 2000}, {20 * time.Second, 2000}, {time.Minute, 6000}, {5 * time.Minute, 30_000}, {72 * time.Hour, 30_000}} {
			<-time.After(time.Until(ask.CreatedAt.Add(step.age))) // by the clock of the bubble
			got, _ := d.on(web, "tasks/get", ask.ID)
			if got["status"] != "working" || got["resultType"] != "complete" || got["pollIntervalMs"] != step.poll {
				t.Errorf("after %s: got %v, want to look every %v ms", step.age, got, step.poll)
			}
		}
		if ack, _ := d.on(web, "tasks/update", ask.ID); ack["resultType"] != "complete" || ack["taskId"] != nil {
			t.Errorf("update: got %v", ack)
		}
		d.answer(ask.ID, askback.Choose("SQLite"))
		d.restart()
		for range 2 { // looking changes nothing
			got, _ := d.on(web, "tasks/get", ask.ID)
			result, _ := got["result"].(map[string]any)
			if got["status"] != "completed" || result["resultType"] != "complete" || !strings.Contains(fmt.Sprint(result), `"Which database?" = "SQLite".`) {
				t.Errorf("got %v", got)
			}
		}
	})
}

// What a person refuses is a result that the model has to read; only what the
// agent withdrew is cancelled.
func TestHowATaskEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		id := fmt.Sprint(d.newTask(web, "ask_user_question", database)["taskId"])
		if _, err := d.engine.As(ana).Decline(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		got, _ := d.on(web, "tasks/get", id)
		result, _ := got["result"].(map[string]any)
		if got["status"] != "completed" || result["isError"] != true || !strings.Contains(fmt.Sprint(result), "declined") {
			t.Errorf("declined: got %v", got)
		}
		id = fmt.Sprint(d.newTask(web, "ask_user_question", database)["taskId"])
		if _, err := d.engine.As(ana).Send(t.Context(), d.only().SessionID, askback.EndSession{Reason: "no longer needed"}); err != nil {
			t.Fatal(err)
		}
		if got, _ := d.on(web, "tasks/get", id); got["status"] != "completed" || !strings.Contains(fmt.Sprint(got["result"]), "no longer needed") {
			t.Errorf("cancelled by a person: got %v", got)
		}
		id = fmt.Sprint(d.newTask(web, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		for range 2 {
			if ack, failed := d.on(web, "tasks/cancel", id); ack["resultType"] != "complete" {
				t.Errorf("cancel: got %v, %v", ack, failed)
			}
		}
		if got, _ := d.on(web, "tasks/get", id); got["status"] != "cancelled" || got["result"] != nil {
			t.Errorf("withdrawn: got %v", got)
		}
		again := fmt.Sprint(d.newTask(web, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		d.on(web, "tasks/cancel", again)
		id = fmt.Sprint(d.newTask(web, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		if id == again {
			t.Error("what was withdrawn is asked no more")
		}
		d.answer(id, askback.Decide(askback.Approve, ""))
		if ack, failed := d.on(web, "tasks/cancel", id); ack["resultType"] != "complete" {
			t.Errorf("cancelled too late: got %v, %v", ack, failed)
		}
		if got, _ := d.on(web, "tasks/get", id); got["status"] != "completed" || !strings.Contains(fmt.Sprint(got), "confirmed:true") {
			t.Errorf("cancelled too late: got %v", got)
		}
	})
}

// A task is its agent's alone, and only for requests that declare the extension.
func TestATaskIsNobodyElses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		bot, cat := d.web("bot"), d.web("cat")
		id := fmt.Sprint(d.newTask(bot, "ask_user_question", database)["taskId"])
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if _, failed := d.on(cat, method, id); failed["code"] != -32602.0 {
				t.Errorf("%s by another agent: got %v", method, failed)
			}
			_, got := post(t, bot, method, id, taskCall(method, id, "{}"))
			failed, _ := got["error"].(map[string]any)
			if want := "map[requiredCapabilities:map[extensions:map[io.modelcontextprotocol/tasks:map[]]]]"; failed["code"] != -32021.0 || fmt.Sprint(failed["data"]) != want {
				t.Errorf("%s undeclared: got %v", method, got)
			}
		}
		if d.only().ID != id {
			t.Error("it is not open any more")
		}
		_, got := post(t, bot, "tools/call", "ask_user_question", toolCall("ask_user_question", database, "{}"))
		if result, _ := got["result"].(map[string]any); result["resultType"] != "complete" || result["taskId"] != nil {
			t.Errorf("a request that declares nothing got %v", got)
		}
	})
}

// A request about a task names it in its header as well; a proxy that routes by
// that must not be told another one.
func TestTheHeaderNamesTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		id := fmt.Sprint(d.newTask(web, "ask_user_question", database)["taskId"])
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			for _, name := range []string{"", "ask_other"} {
				status, got := post(t, web, method, name, taskCall(method, id, withTasks))
				failed, _ := got["error"].(map[string]any)
				if status != http.StatusBadRequest || failed["code"] != float64(-32020) || got["id"] == nil {
					t.Errorf("%s named %q: got %d %v", method, name, status, got)
				}
			}
		}
		if d.only().ID != id {
			t.Error("the task is gone")
		}
	})
}
