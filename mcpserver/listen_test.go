package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
)

// listenCall returns a request for notifications about tasks.
func listenCall(id int, capabilities string, tasks ...string) string {
	ids, _ := json.Marshal(tasks)
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "subscriptions/listen", "params": {"notifications": {"taskIds": %s}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": %s}}}`, id, ids, capabilities)
}

// A stream receives the messages of a subscription.
type stream struct {
	t        *testing.T
	messages chan map[string]any
	close    func()
}

// next returns the next message in a synctest bubble, or nil at the end.
func (s *stream) next() map[string]any {
	s.t.Helper()
	return <-s.messages
}

// none requires that no message has arrived and that the stream has not ended.
func (s *stream) none() {
	s.t.Helper()
	synctest.Wait()
	select {
	case m, open := <-s.messages:
		s.t.Errorf("unexpected message %v, open %v", m, open)
	default:
	}
}

// listen opens a subscription over HTTP.
func listen(t *testing.T, c *http.Client, body string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://askback.test/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": stateless, "Mcp-Method": "subscriptions/listen",
	} {
		r.Header.Set(k, v)
	}
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering is %q: nginx would buffer the stream", got)
	}
	s := &stream{t, make(chan map[string]any, 100), cancel}
	go func() {
		defer close(s.messages)
		defer res.Body.Close()
		read(t, res.Body, s.messages)
	}()
	return s
}

// read parses each line that contains a JSON object and sends the object to a channel. A line may begin with
// "data: ".
func read(t *testing.T, from io.Reader, to chan<- map[string]any) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := bytes.TrimPrefix(lines.Bytes(), []byte("data: "))
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		to <- m
	}
}

// params requires a notification with this method for the subscription with this id. It returns the
// parameters.
func params(t *testing.T, m map[string]any, method string, id float64) map[string]any {
	t.Helper()
	p, _ := m["params"].(map[string]any)
	meta, _ := p["_meta"].(map[string]any)
	if m["method"] != method || m["id"] != nil || meta["io.modelcontextprotocol/subscriptionId"] != id {
		t.Fatalf("got %v, want %s for %v", m, method, id)
	}
	return p
}

// A client that subscribes to tasks gets the result of each task once, when a person has answered. The
// subscription ends after the result of the last task. It sends nothing about tasks of other agents (F9).
func TestSubscriptionSendsEachTaskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		question := fmt.Sprint(f.newTask(httpClient, "ask_user_question", database)["taskId"])
		action := fmt.Sprint(f.newTask(httpClient, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		foreign := fmt.Sprint(f.newTask(f.httpClient("other"), "ask_user_question", database)["taskId"])
		s := listen(t, httpClient, listenCall(7, withTasks, question, action, foreign, "ask_nothing", question))
		agreed := params(t, s.next(), "notifications/subscriptions/acknowledged", 7)
		if got, want := fmt.Sprint(agreed["notifications"]), fmt.Sprintf("map[taskIds:[%s %s]]", question,
			action); got != want {
			t.Errorf("agreed to %s, want %s", got, want)
		}
		<-time.After(time.Hour) // takes no real time; an idle stream stays open
		s.none()
		f.answer(question, askback.Choose("SQLite"))
		task := params(t, s.next(), "notifications/tasks", 7)
		nextTick()
		if !f.acked(t, question) {
			t.Error("the outcome is not acknowledged")
		}
		polled, _ := f.taskRequest(httpClient, "tasks/get", question)
		delete(task, "_meta")
		delete(polled, "_meta")
		delete(polled, "resultType")
		if fmt.Sprint(task) != fmt.Sprint(polled) || !strings.Contains(fmt.Sprint(task), "SQLite") {
			t.Errorf("got %v, polled %v", task, polled)
		}
		f.answer(action, askback.Decide(askback.Approve, ""))
		task = params(t, s.next(), "notifications/tasks", 7)
		if !strings.Contains(fmt.Sprint(task["result"]), "confirmed:true") {
			t.Errorf("got %v", task)
		}
		if again, _ := f.taskRequest(httpClient, "tasks/get",
			action); !strings.Contains(fmt.Sprint(again), "confirmed:false") {
			t.Errorf("the approval was delivered twice: %v", again)
		}
		end := s.next()
		if result, _ := end["result"].(map[string]any); end["id"] != 7.0 || result["resultType"] != "complete" {
			t.Errorf("the end is %v", end)
		}
		if m := s.next(); m != nil {
			t.Errorf("after the end: %v", m)
		}
	})
}

// A subscription to a task that has ended sends the task immediately. A subscription without the extension is
// an error. If the client disconnects, no approval is consumed.
func TestSubscriptionSendsEndedTaskImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		id := fmt.Sprint(f.newTask(httpClient, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		s := listen(t, httpClient, listenCall(1, "{}", id))
		if got := s.next(); !strings.Contains(fmt.Sprint(got["error"]), "-32021") {
			t.Errorf("without the extension: got %v", got)
		}
		left := listen(t, httpClient, listenCall(2, withTasks, id))
		params(t, left.next(), "notifications/subscriptions/acknowledged", 2)
		left.close()
		synctest.Wait()
		f.answer(id, askback.Decide(askback.Approve, ""))
		synctest.Wait()
		if ask, err := f.engine.As(bot).Get(t.Context(), id); err != nil || !ask.ConsumedAt.IsZero() {
			t.Errorf("a client that left consumed the approval: %v, %v", ask.ConsumedAt, err)
		}
		s = listen(t, httpClient, listenCall(3, withTasks, id))
		params(t, s.next(), "notifications/subscriptions/acknowledged", 3)
		if task := params(t, s.next(), "notifications/tasks",
			3); !strings.Contains(fmt.Sprint(task["result"]), "confirmed:true") {
			t.Errorf("got %v", task)
		}
		if end := s.next(); end["id"] != 3.0 {
			t.Errorf("the end is %v", end)
		}
		s = listen(t, httpClient, listenCall(4, withTasks, "ask_nothing"))
		params(t, s.next(), "notifications/subscriptions/acknowledged", 4)
		if end := s.next(); end["id"] != 4.0 {
			t.Errorf("the end is %v", end)
		}
	})
}

// A server that stops ends its subscriptions, and consumes nothing.
func TestStopEndsSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		id := fmt.Sprint(f.newTask(httpClient, "confirm_action", `{"action": "Delete it"}`)["taskId"])
		s := listen(t, httpClient, listenCall(1, withTasks, id))
		params(t, s.next(), "notifications/subscriptions/acknowledged", 1)
		f.server.Stop()
		if end := s.next(); end["id"] != 1.0 || end["result"] == nil {
			t.Errorf("the end is %v", end)
		}
		f.server.Finish()
	})
}

// On stdio, notifications arrive between replies, and a cancellation ends the subscription.
func TestSubscriptionWorksOnStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		r, w := io.Pipe()
		in, stdin := io.Pipe()
		// the connection is not initialized, because 2026-07-28 has no initialization
		c := &stdioPeer{stdin, make(chan error, 1)}
		go func() { c.served <- f.server.ServeStdio(t.Context(), f.engine.As(bot), in, w) }()
		s := &stream{t, make(chan map[string]any, 100), nil}
		go read(t, r, s.messages)
		start := func(id int, action string) string {
			c.send(t, strings.ReplaceAll(toolCall("confirm_action", `{"action": "`+action+`"}`, withTasks), "\n", " "))
			task, _ := s.next()["result"].(map[string]any)
			c.send(t, listenCall(id, withTasks, fmt.Sprint(task["taskId"])))
			params(t, s.next(), "notifications/subscriptions/acknowledged", float64(id))
			return fmt.Sprint(task["taskId"])
		}
		first, second := start(11, "Delete it"), start(12, "Delete more")
		c.send(t, `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12}}`)
		synctest.Wait()
		f.answer(second, askback.Decide(askback.Approve, ""))
		f.answer(first, askback.Decide(askback.Approve, ""))
		if task := params(t, s.next(), "notifications/tasks", 11); task["taskId"] != first ||
			!strings.Contains(fmt.Sprint(task["result"]), "confirmed:true") {
			t.Errorf("got %v", task)
		}
		if end := s.next(); end["id"] != 11.0 {
			t.Errorf("the end is %v", end)
		}
		s.none()
		if ask, err := f.engine.As(bot).Get(t.Context(), second); err != nil || !ask.ConsumedAt.IsZero() {
			t.Errorf("a cancelled subscription consumed the approval: %v, %v", ask.ConsumedAt, err)
		}
		start(13, "Delete the rest")
		_ = c.in.Close() // the input ends while a subscription is open
		<-c.served
		_ = w.Close()
	})
}
