package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
)

// A client can be killed at any time.
type client struct {
	call func(tool, args, meta string) <-chan string // the text of the result, or nothing
	kill func()
	drop func() // breaks the connection of the present call, over HTTP
}

// eachKilled runs a test with clients that can be killed, on stdio and over HTTP with sessions.
func eachKilled(t *testing.T, run func(t *testing.T, f *fixture, start func() *client)) {
	t.Run("stdio", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			run(t, f, func() *client { return f.startStdio() })
		})
	})
	t.Run("http", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			run(t, f, func() *client { return f.startHTTP("bot") })
		})
	})
}

// message returns a call in a revision with sessions.
func message(id, tool, args, meta string) string {
	if meta == "" {
		meta = "{}"
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` +
		strings.ReplaceAll(args, "\n", " ") + `,"_meta":` + meta + `}}`
}

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"program","version":"1"}}}`
	ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// textIn returns the text of the result in a message, or "".
func textIn(raw []byte) string {
	var m struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	_, data, ok := strings.Cut(string(raw), "data: ")
	if !ok {
		data = string(raw)
	}
	if json.Unmarshal([]byte(data), &m) != nil || len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

// startStdio starts a client whose end closes the pipes, as the end of a process does.
func (f *fixture) startStdio() *client {
	f.t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan struct{})
	ctx, cancel := context.WithCancel(f.t.Context())
	go func() {
		defer close(served)
		_ = f.server.ServeStdio(ctx, f.wrap(f.engine.As(bot)), in, out)
	}()
	results := make(chan string)
	go func() {
		defer close(results)
		for lines := json.NewDecoder(fromServer); ; {
			var m json.RawMessage
			if lines.Decode(&m) != nil {
				return
			}
			if text := textIn(m); text != "" {
				select {
				case results <- text:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	c := &client{
		call: func(tool, args, meta string) <-chan string {
			_, _ = io.WriteString(toServer, message("1", tool, args, meta)+"\n")
			return results
		},
		kill: func() { _ = toServer.Close(); _ = fromServer.Close(); synctest.Wait(); <-served },
	}
	_, _ = io.WriteString(toServer, hello+"\n"+ready+"\n")
	f.t.Cleanup(func() { cancel(); _ = toServer.Close(); _ = fromServer.Close(); <-served })
	return c
}

// startHTTP starts a client of an agent whose end breaks its connections.
func (f *fixture) startHTTP(agent string) *client {
	f.t.Helper()
	ctx, kill := context.WithCancel(f.t.Context())
	f.t.Cleanup(kill)
	c, session, killed := f.httpClient(agent), "", &client{}
	send := func(method, body string) (raw []byte, err error) {
		r, err := http.NewRequestWithContext(ctx, method, "http://askback.test/mcp", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		if strings.Contains(body, "tools/call") {
			connected, cut := context.WithCancel(ctx)
			killed.drop = func() { cut(); synctest.Wait() }
			r = r.WithContext(connected)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", withSessions)
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		res, err := c.Do(r)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		if id := res.Header.Get("Mcp-Session-Id"); id != "" && session == "" {
			session = id
		}
		return io.ReadAll(res.Body)
	}
	if _, err := send(http.MethodPost, hello); err != nil || session == "" {
		f.t.Fatalf("no session: %v", err)
	}
	killed.kill = func() { kill(); synctest.Wait() }
	killed.call = func(tool, args, meta string) <-chan string {
		if tool == "" { // any other message
			_, _ = send(args, meta)
			return nil
		}
		result := make(chan string, 1)
		go func() {
			defer close(result)
			if raw, err := send(http.MethodPost, message("1", tool, args, meta)); err == nil {
				result <- textIn(raw)
			}
		}()
		return result
	}
	return killed
}

// ask makes a client ask the question about the database.
func (c *client) ask() <-chan string {
	result := c.call("ask_user_question", database, "")
	synctest.Wait()
	return result
}

// asksOf returns the ids of the pending asks.
func (f *fixture) want(n int) []askback.Ask {
	f.t.Helper()
	synctest.Wait()
	asks := f.pendingAsks()
	if len(asks) != n {
		f.t.Fatalf("%d asks are open, want %d", len(asks), n)
	}
	return asks
}

// A client that was killed while its question was open finds the question after its restart. The person sees
// one ask, with the time of the repeat. After the answer was delivered, the same question is asked anew.
func TestRestartedClientFindsItsOpenQuestion(t *testing.T) {
	eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
		first := start()
		first.ask()
		ask := f.want(1)[0]
		first.kill()
		second := start()
		result := second.ask()
		if again := f.want(1)[0]; again.ID != ask.ID || again.AskedAgainAt.IsZero() || !ask.AskedAgainAt.IsZero() {
			t.Errorf("got the ask %s, asked again at %v, want %s", again.ID, again.AskedAgainAt, ask.ID)
		}
		f.answer(ask.ID, askback.Choose("SQLite"))
		if text := <-result; !strings.Contains(text, "SQLite") {
			t.Errorf("got %q", text)
		}
		second.ask()
		if again := f.want(1)[0]; again.ID == ask.ID || !again.AskedAgainAt.IsZero() {
			t.Errorf("got the ask %s again", again.ID)
		}
	})
}

// A client that was killed gets the answer that a person gave meanwhile, once.
func TestRestartedClientGetsTheAnswerOnce(t *testing.T) {
	eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
		first := start()
		first.ask()
		ask := f.want(1)[0]
		first.kill()
		f.answer(ask.ID, askback.Choose("SQLite"))
		second := start()
		if text := <-second.ask(); !strings.Contains(text, "SQLite") {
			t.Errorf("got %q", text)
		}
		<-time.After(time.Second)
		if got, err := f.engine.As(bot).Get(t.Context(), ask.ID); err != nil || got.AckedAt.IsZero() {
			t.Errorf("the answer is not acknowledged: %v", err)
		}
		second.ask()
		if again := f.want(1)[0]; again.ID == ask.ID {
			t.Error("the answer was given twice")
		}
		start().ask()
		f.want(2)
	})
}

// The third client gets the answer if the second has ended, too.
func TestQuestionIsPassedOnAgain(t *testing.T) {
	eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
		for range 3 {
			c := start()
			c.ask()
			f.want(1)
			c.kill()
		}
		f.answer(f.want(1)[0].ID, askback.Choose("SQLite"))
		if text := <-start().ask(); !strings.Contains(text, "SQLite") {
			t.Errorf("got %q", text)
		}
	})
}

// Clients that live never share a question: while both wait, and after one has the result that its question
// is pending.
func TestLiveClientsDoNotShareAQuestion(t *testing.T) {
	eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
		first, second := start(), start()
		result := first.ask()
		second.ask()
		f.want(2)
		<-time.After(time.Minute)
		if text := <-result; !strings.Contains(text, "wait_for_answer") {
			t.Errorf("got %q", text)
		}
		start().ask()
		f.want(3)
	})
}

// Two clients that are started at the same time after the end of one do not share its question.
func TestOneOfTwoClientsGetsTheQuestion(t *testing.T) {
	eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
		first := start()
		first.ask()
		f.want(1)
		first.kill()
		second, third := start(), start()
		second.ask()
		third.ask()
		f.want(2)
	})
}

// The question of a client that is killed while it waits with wait_for_answer is passed on, too.
func TestQuestionOfWaitForAnswerIsPassedOn(t *testing.T) {
	eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
		first := start()
		result := first.ask()
		<-time.After(time.Minute)
		<-result // pending
		first.call("wait_for_answer", `{"question_id":"`+f.want(1)[0].ID+`"}`, "")
		synctest.Wait()
		first.kill()
		start().ask()
		f.want(1)
	})
}

// An approval is never passed on to another client.
func TestConfirmationIsNotPassedOn(t *testing.T) {
	eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
		const action = `{"action":"Delete the logs"}`
		first := start()
		first.call("confirm_action", action, "")
		ask := f.want(1)[0]
		first.kill()
		f.answer(ask.ID, askback.Answer{Decision: askback.Approve})
		start().call("confirm_action", action, "")
		f.want(1)
	})
}

// Another question, the same question in another conversation, and the question of another agent are not
// passed on.
func TestOtherQuestionsAreNotPassedOn(t *testing.T) {
	eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
		first := start()
		first.call("ask_user_question", database, `{"threadId":"a"}`)
		f.want(1)
		first.kill()
		start().call("ask_user_question", database, `{"threadId":"b"}`)
		f.want(2)
		start().ask() // without a conversation
		f.want(3)
		start().call("ask_user_question", strings.Replace(database, "SQLite", "DuckDB", 1), `{"threadId":"a"}`)
		f.want(4)
		f.startHTTP("other").call("ask_user_question", database, `{"threadId":"a"}`)
		f.want(5)
		start().call("ask_user_question", database, `{"threadId":"a"}`)
		f.want(5)
	})
}

// An old answer is not given to a client that only its label identifies. In the same conversation, it is.
func TestOldAnswerNeedsItsConversation(t *testing.T) {
	for meta, want := range map[string]int{"": 1, `{"threadId":"a"}`: 0} {
		eachKilled(t, func(t *testing.T, f *fixture, start func() *client) {
			first := start()
			first.call("ask_user_question", database, meta)
			ask := f.want(1)[0]
			first.kill()
			f.answer(ask.ID, askback.Choose("SQLite"))
			<-time.After(25 * time.Hour)
			start().call("ask_user_question", database, meta)
			f.want(want)
		})
	}
}

// On stdio, the client's own id of its conversation identifies it.
func TestConversationOnStdioIdentifiesAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for i, conversation := range []string{"a", "b", "a"} {
			f.options.Conversation = conversation
			f.options.Waiting = t.TempDir() // no records of an earlier server
			f.restart()
			c := f.startStdio()
			c.ask()
			f.want(min(i, 1) + 1 + i/2)
			c.kill()
			again := f.startStdio()
			again.ask()
			f.want(min(i, 1) + 1 + i/2)
			again.kill()
		}
	})
}

// Over HTTP, a client that only gave up lives: it cancels its request, or sends another one. A client that
// ends its session has ended.
func TestClientThatGaveUpKeepsItsQuestion(t *testing.T) {
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	for name, c := range map[string]struct {
		then func(first *client)
		asks int
	}{
		"cancelled":         {func(first *client) { first.call("", http.MethodPost, cancelled) }, 2},
		"ended its session": {func(first *client) { first.call("", http.MethodDelete, "") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				first := f.startHTTP("bot")
				first.ask()
				f.want(1)
				c.then(first)
				f.startHTTP("bot").ask()
				f.want(c.asks)
			})
		})
	}
}

// A client over HTTP that began before the end of the other is not its restart.
func TestEarlierClientDoesNotGetTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		earlier := f.startHTTP("bot")
		first := f.startHTTP("bot")
		first.ask()
		<-time.After(time.Second)
		first.kill()
		earlier.ask()
		f.want(2)
		f.startHTTP("bot").ask()
		f.want(2)
	})
}

// If the server was restarted too, a new client gets the question of a client that had ended, or whose
// connection ended with the server. A client with a reply may live.
func TestQuestionIsPassedOnAfterARestartOfTheServer(t *testing.T) {
	for name, c := range map[string]struct {
		before func(first *client, result <-chan string)
		asks   int
	}{
		"the client was killed before": {func(first *client, _ <-chan string) { first.kill() }, 1},
		"the client was waiting":       {func(*client, <-chan string) {}, 1},
		"the client had a reply": {func(_ *client, result <-chan string) {
			<-time.After(time.Minute)
			<-result
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.options.Waiting = t.TempDir()
				f.restart()
				first := f.startHTTP("bot")
				result := first.ask()
				f.want(1)
				c.before(first, result)
				f.server.Kill()
				f.restart()
				<-time.After(time.Second)
				f.startHTTP("bot").ask()
				f.want(c.asks)
			})
		})
	}
}

// A client that seemed to have ended, and finds that another client has its question, asks again.
func TestClientThatComesBackAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		first := f.startHTTP("bot")
		first.ask()
		ask := f.want(1)[0]
		first.drop()
		second := f.startHTTP("bot")
		result := second.ask()
		f.want(1)
		first.ask()
		f.want(2)
		f.answer(ask.ID, askback.Choose("SQLite"))
		if text := <-result; !strings.Contains(text, "SQLite") {
			t.Errorf("got %q", text)
		}
		f.want(1)
	})
}

// A client can send any session id. The record of its question does not have it, so that the size of a record does
// not depend on the client (T25).
func TestRecordOfALongSessionIDIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.options.Waiting = t.TempDir()
		f.restart()
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://askback.test/mcp",
			strings.NewReader(message("1", "ask_user_question", database, "")))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", withSessions)
		r.Header.Set("Mcp-Session-Id", strings.Repeat("x", 50_000))
		client := f.httpClient("bot")
		go func() {
			if res, err := client.Do(r); err == nil {
				_ = res.Body.Close()
			}
		}()
		ask := f.want(1)[0]
		records, err := filepath.Glob(filepath.Join(f.options.Waiting, "*", ask.ID))
		if err != nil || len(records) != 1 {
			t.Fatalf("the records are %v, %v", records, err)
		}
		if raw, err := os.ReadFile(records[0]); err != nil || len(raw) > 1000 {
			t.Errorf("the record has %d bytes, %v", len(raw), err)
		}
		leave()
		synctest.Wait()
	})
}
