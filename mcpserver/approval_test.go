package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

const pay = `{"action": "Pay 100"}`

// checkUsed requires the result for an approval that was consumed before. The result has the decision, but is
// marked as used and is not confirmed (F7).
func checkUsed(t *testing.T, r reply) {
	t.Helper()
	text, s := r.text(t), r.structured(t)
	outcome, _ := s["outcome"].(map[string]any)
	if s["confirmed"] != false || s["used"] != true || outcome["decision"] != "approved" || r.IsError ||
		!strings.HasPrefix(text, "This approval was used already: do not act on it again.") ||
		!strings.Contains(text, `Approved by "ana"`) {
		t.Errorf("got %q and %v, error %t", text, s, r.IsError)
	}
}

// isApproved reports whether a result is an approval. The test fails if the text and the structured content
// disagree.
func isApproved(t *testing.T, r reply) bool {
	t.Helper()
	yes := r.structured(t)["confirmed"] == true
	if text := strings.HasPrefix(r.text(t), "Approved by"); text != yes {
		t.Errorf("the text and the structured content differ: %q, %v", r.text(t), r.structured(t))
	}
	return yes
}

// If two calls wait for the same approval, one call consumes the approval and the other call asks again (F7).
func TestConcurrentCallsDoNotShareAnApproval(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		other := cs
		if strings.Contains(t.Name(), "http_"+stateless) {
			other = connect() // another run of the agent; the protocol does not distinguish the two
		}
		one, two := startCall(t.Context(), cs, "confirm_action",
			pay), startCall(t.Context(), other, "confirm_action", pay)
		first := f.pendingAsk().ID
		f.answer(first, askback.Decide(askback.Approve, ""))
		synctest.Wait()
		second := f.pendingAsk()
		if second.ID == first || second.Confirmation.Description != "Pay 100" {
			t.Fatalf("asked %+v", second)
		}
		f.answer(second.ID, askback.Decide(askback.Deny, "once is enough"))
		if a, b := isApproved(t, <-one), isApproved(t, <-two); a == b {
			t.Errorf("both got %t", a)
		}
	})
}

// A call that asks again waits no longer than its client waits. The progress in its notifications continues
// to grow.
func TestCallThatAsksAgainDoesNotWaitLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		notes := make(chan float64, 20)
		cs := f.connectStdio("program", withSessions, &mcp.ClientOptions{ProgressNotificationHandler: func(
			_ context.Context, r *mcp.ProgressNotificationClientRequest,
		) {
			notes <- r.Params.Progress
		}})
		started := time.Now()
		replies := make(chan reply, 2)
		for range 2 {
			p := &mcp.CallToolParams{Name: "confirm_action", Arguments: json.RawMessage(pay)}
			p.SetProgressToken("t1")
			go func() {
				r, err := cs.CallTool(t.Context(), p)
				replies <- reply{r, err}
			}()
		}
		<-time.After(25 * time.Second) // takes no real time
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Approve, ""))
		if !isApproved(t, <-replies) {
			t.Error("no call got the approval")
		}
		if got := (<-replies).structured(t); got["status"] != "pending" || got["question_id"] != f.pendingAsk().ID ||
			time.Since(started) != 45*time.Second {
			t.Errorf("got %v after %s, want pending after 45s", got, time.Since(started))
		}
		synctest.Wait()
		close(notes)
		var last float64
		for n := range notes {
			if n < last {
				t.Errorf("progress went from %v back to %v", last, n)
			}
			last = n
		}
		if last < 35 { // ten seconds after it asked again
			t.Errorf("the last progress was %v", last)
		}
	})
}

// If two calls read the same approval, one call gets the approval. The other call always gets the decision,
// marked as used (F7).
func TestConsumedApprovalIsReportedAsUsed(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		callTool(t.Context(), cs, "confirm_action", pay)
		id := `{"question_id": "` + f.pendingAsk().ID + `"}`
		one, two := startCall(t.Context(), cs, "wait_for_answer", id), startCall(t.Context(), cs, "wait_for_answer", id)
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Approve, ""))
		a, b := <-one, <-two
		if !isApproved(t, a) {
			a, b = b, a
		}
		if !isApproved(t, a) {
			t.Errorf("got %q", a.text(t))
		}
		checkUsed(t, b)
		for _, tool := range []string{"wait_for_answer", "get_answer", "withdraw_question", "get_answer"} {
			checkUsed(t, callTool(t.Context(), cs, tool, id))
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Errorf("a look asked: %v", asks)
		}
	})
}

func TestTaskReturnsItsApprovalOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		id := fmt.Sprint(f.newTask(httpClient, "confirm_action", pay)["taskId"])
		f.answer(id, askback.Decide(askback.Approve, ""))
		for i := range 3 {
			task, _ := f.taskRequest(httpClient, "tasks/get", id)
			result, _ := task["result"].(map[string]any)
			s, _ := result["structuredContent"].(map[string]any)
			if task["status"] != "completed" || result["resultType"] != "complete" || s["confirmed"] != (i == 0) ||
				(s["used"] == true) != (i > 0) {
				t.Errorf("look %d: got %v", i, task)
			}
		}
	})
}

// A call with an idempotency key of the client gets the same approval again.
func TestApprovalWithClientKeyIsReturnedAgain(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		keyed := func() reply {
			p := &mcp.CallToolParams{Name: "confirm_action", Arguments: json.RawMessage(pay)}
			p.Meta = mcp.Meta{"askback/idempotency-key": "pay-17"}
			r, err := connect().CallTool(t.Context(), p)
			return reply{r, err}
		}
		keyed()
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Approve, ""))
		for range 3 {
			if got := keyed(); !isApproved(t, got) {
				t.Errorf("got %q", got.text(t))
			}
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Errorf("asked again: %v", asks)
		}
	})
}

// If another call consumed the approval, a call that is resumed after the page asks again
// and shows a new page.
func TestResumedCallAsksAgainAfterConsumedApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		send := func(body string) map[string]any {
			t.Helper()
			_, got := post(t, httpClient, "tools/call", "confirm_action", body)
			result, _ := got["result"].(map[string]any)
			return result
		}
		state := fmt.Sprint(send(pageCall("confirm_action", pay))["requestState"])
		first := f.pendingAsk().ID
		f.answer(first, askback.Decide(askback.Approve, ""))
		resumed := strings.Replace(withState("confirm_action", pay, state), "decline", "accept", 1)
		if got := fmt.Sprint(send(resumed)); !strings.Contains(got, "confirmed:true") {
			t.Fatalf("got %s", got)
		}
		again := send(resumed)
		second := f.pendingAsk()
		if again["resultType"] != "input_required" || second.ID == first ||
			!strings.Contains(fmt.Sprint(again["inputRequests"]), second.ID) {
			t.Errorf("got %v", again)
		}
		f.answer(second.ID, askback.Decide(askback.Deny, ""))
		state = fmt.Sprint(again["requestState"])
		if got := fmt.Sprint(
			send(strings.Replace(withState("confirm_action", pay, state), "decline", "accept", 1)),
		); !strings.Contains(got, "confirmed:false") {
			t.Errorf("got %s", got)
		}
	})
}

// noConsume is a client whose Consume fails.
type noConsume struct {
	askback.Client
	err error
}

func (u noConsume) Consume(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, u.err
}

// An approval that cannot be consumed is not returned, because another call could get it as
// well (F7).
func TestApprovalThatCannotBeConsumedIsNotReturned(t *testing.T) {
	for _, err := range []error{askback.ErrUnreachable, askback.ErrBusy, errors.New("disk")} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.wrap = func(s askback.Client) askback.Client { return noConsume{s, err} }
			cs := f.connectStdio("program", withSessions, nil)
			done := startCall(t.Context(), cs, "confirm_action", pay)
			id := f.pendingAsk().ID
			f.answer(id, askback.Decide(askback.Approve, ""))
			replies := []reply{<-done}
			for _, tool := range []string{"wait_for_answer", "get_answer"} {
				replies = append(replies, callTool(t.Context(), cs, tool, `{"question_id": "`+id+`"}`))
			}
			for _, got := range replies {
				if text := got.text(t); !got.IsError || strings.Contains(text, "Approved by") {
					t.Errorf("%v: error %t, %q", err, got.IsError, text)
				}
			}
			nextTick()
			if ask, err := f.engine.As(bot).Get(t.Context(), id); err != nil || !ask.AckedAt.IsZero() {
				t.Errorf("the outcome is acknowledged, %v", err)
			}
		})
	}
}

// A noConsumeEngine is an engine whose clients cannot consume approvals.
type noConsumeEngine struct {
	*engine.Engine
	err error
}

func (g noConsumeEngine) As(p askback.Principal) askback.Client {
	return noConsume{g.Engine.As(p), g.err}
}

func TestApprovalThatCannotBeConsumedIsNotATaskResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := &http.Client{Transport: &handlerTransport{
			handler: func() http.Handler { return f.server.Handler(noConsumeEngine{f.engine, askback.ErrBusy}) },
			serving: &f.serving, secret: f.secret(askback.Agent, "bot"),
		}}
		id := fmt.Sprint(f.newTask(httpClient, "confirm_action", pay)["taskId"])
		f.answer(id, askback.Decide(askback.Approve, ""))
		if task, failed := f.taskRequest(httpClient, "tasks/get", id); failed == nil || task != nil {
			t.Errorf("got %v", task)
		}
		if task, _ := f.taskRequest(f.httpClient("bot"), "tasks/get",
			id); !strings.Contains(fmt.Sprint(task), "confirmed:true") {
			t.Errorf("later: got %v", task)
		}
	})
}

// A hangUpEngine is an engine whose client disconnects as soon as an ask has been read.
type hangUpEngine struct {
	*engine.Engine
	hangUp func()
}

func (e hangUpEngine) As(p askback.Principal) askback.Client {
	return hangUpClient{e.Engine.As(p), e.hangUp}
}

type hangUpClient struct {
	askback.Client
	hangUp func()
}

func (c hangUpClient) Get(ctx context.Context, id string) (askback.Ask, error) {
	defer c.hangUp()
	return c.Client.Get(ctx, id)
}

// A client that disconnects before it has the result of its task leaves the approval
// unused.
func TestTaskOfDisconnectedClientConsumesNoApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		id := fmt.Sprint(f.newTask(httpClient, "confirm_action", pay)["taskId"])
		f.answer(id, askback.Decide(askback.Approve, ""))
		ctx, hangUp := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp",
			strings.NewReader(taskCall("tasks/get", id, withTasks)))
		for name, value := range map[string]string{
			"Authorization": "Bearer " + f.secret(askback.Agent, "bot"),
			"Content-Type":  "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": stateless, "Mcp-Method": "tasks/get", "Mcp-Name": id,
		} {
			r.Header.Set(name, value)
		}
		f.server.Handler(hangUpEngine{f.engine, hangUp}).ServeHTTP(httptest.NewRecorder(), r)
		if ctx.Err() == nil {
			t.Error("the ask was not read")
		}
		synctest.Wait()
		if task, _ := f.taskRequest(httpClient, "tasks/get",
			id); !strings.Contains(fmt.Sprint(task), "confirmed:true") {
			t.Errorf("later: got %v", task)
		}
	})
}

// If Consume rejects an approval with ErrNotApproved, a person is asked again (F8). This happens if the
// approval was given by a grant that has ended.
func TestPersonIsAskedAfterGrantEnds(t *testing.T) {
	for tool, args := range map[string]string{"confirm_action": pay, "permission_prompt": bash} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.wrap = func(s askback.Client) askback.Client { return noConsume{s, askback.ErrNotApproved} }
			cs := f.connectStdio("program", withSessions, nil)
			startCall(t.Context(), cs, tool, args)
			id := f.pendingAsk().ID
			f.answer(id, askback.Decide(askback.Approve, ""))
			synctest.Wait()
			if again := f.pendingAsk(); again.ID == id {
				t.Errorf("%s: no person is asked again", tool)
			}
		})
	}
}

// Claude Code gets neither tasks nor pages, even if it declares them. Its calls wait longer if it requests
// progress notifications.
func TestClaudeCodeGetsNeitherTasksNorPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		const all = `{"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"url": {}}}`
		for _, c := range []struct {
			progress string
			wait     time.Duration
		}{{`"progressToken": 1, `, 25 * time.Minute}, {"", 45 * time.Second}} {
			body := strings.Replace(toolCall("ask_user_question", database, all), `"_meta": {`,
				`"_meta": {`+c.progress+
					`"io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2"}, `, 1)
			started := time.Now()
			_, got := post(t, httpClient, "tools/call", "ask_user_question", body)
			if result, _ := got["result"].(map[string]any); result["resultType"] != "complete" ||
				time.Since(started) != c.wait {
				t.Errorf("%q: got %v after %s", c.progress, got, time.Since(started))
			}
		}
	})
}
