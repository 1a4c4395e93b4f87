package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

func TestSameCallAttachesToThePendingAsk(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		first := startCall(t.Context(), cs, "ask_user_question", database)
		second := startCall(t.Context(), cs, "ask_user_question", strings.ReplaceAll(database, `": `, `" : `))
		f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
		if a, b := (<-first).text(t), (<-second).text(t); a != b || !strings.Contains(a, "SQLite") {
			t.Errorf("got %q and %q", a, b)
		}
	})
}

// A client gives up, a person answers, and the same call gets the answer without another
// ask.
func TestUndeliveredAnswerIsReturnedToTheSameCall(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		ctx, giveUp := context.WithCancel(t.Context())
		done := startCall(ctx, cs, "ask_user_question", database)
		giveUp()
		if got := <-done; got.err == nil {
			t.Error("the call did not end")
		}
		synctest.Wait()
		if n := f.serving.Load(); n != 0 {
			t.Errorf("%d requests still wait", n)
		}
		f.answer(f.pendingAsk().ID, askback.Choose("SQLite")) // the disconnect did not withdraw the ask
		if got := callTool(t.Context(), cs, "ask_user_question", database).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Errorf("asked again: %v", asks)
		}
	})
}

func TestSameCallAfterItsAnswerIsANewAsk(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		seen := map[string]bool{}
		for _, answer := range []string{"SQLite", "PostgreSQL", "neither"} {
			done := startCall(t.Context(), cs, "ask_user_question", database)
			ask := f.pendingAsk()
			if seen[ask.ID] {
				t.Errorf("%s again", ask.ID)
			}
			seen[ask.ID] = true
			f.answer(ask.ID, askback.Choose(answer))
			if got := (<-done).text(t); !strings.Contains(got, answer) {
				t.Errorf("got %q, want %s", got, answer)
			}
		}
	})
}

// If another tool has returned the answer of an ask, or has withdrawn the ask, the same call asks again.
func TestOutcomeOfAnotherToolCountsAsDelivered(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		callTool(t.Context(), cs, "ask_user_question", database)
		first := f.pendingAsk().ID
		f.answer(first, askback.Choose("SQLite"))
		callTool(t.Context(), cs, "get_answer", `{"question_id": "`+first+`"}`)
		callTool(t.Context(), cs, "ask_user_question", database)
		second := f.pendingAsk().ID
		callTool(t.Context(), cs, "withdraw_question", `{"question_id": "`+second+`"}`)
		callTool(t.Context(), cs, "ask_user_question", database)
		if third := f.pendingAsk().ID; first == second || second == third {
			t.Errorf("%s, %s, %s", first, second, third)
		}
	})
}

// Two sessions of an agent that ask the same question have separate asks. Over HTTP in the revision without
// sessions, they share an ask.
func TestSessionsDoNotShareAsks(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		one := startCall(t.Context(), connect(), "ask_user_question", database)
		two := startCall(t.Context(), connect(), "ask_user_question", database)
		asks := f.pendingAsks()
		if strings.Contains(t.Name(), "http_"+stateless) { // this revision has no sessions
			f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
			if a, b := (<-one).text(t), (<-two).text(t); a != b {
				t.Errorf("got %q and %q", a, b)
			}
			return
		}
		if len(asks) != 2 {
			t.Fatalf("%d asks", len(asks))
		}
		f.answer(asks[0].ID, askback.Choose("SQLite"))
		f.answer(asks[1].ID, askback.Choose("PostgreSQL"))
		if a, b := (<-one).text(t), (<-two).text(t); a == b {
			t.Errorf("both got %q", a)
		}
	})
}

func TestSameCallFindsItsAskAfterARestart(t *testing.T) {
	for _, version := range []string{withSessions, stateless} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				cs := f.connectHTTP("bot", "codex-mcp-client", version, nil)
				callTool(t.Context(), cs, "ask_user_question", database)
				id := f.pendingAsk().ID
				f.restart()
				done := startCall(t.Context(), cs, "ask_user_question", database)
				if again := f.pendingAsk().ID; again != id {
					t.Errorf("got %s, want %s", again, id)
				}
				f.answer(id, askback.Choose("SQLite"))
				if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// Calls with the same idempotency key of the client share one ask in every session. A different call cannot
// have that key.
func TestCallsWithTheSameClientKeyShareOneAsk(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		keyed := func(args string) reply {
			p := &mcp.CallToolParams{Name: "ask_user_question", Arguments: json.RawMessage(args)}
			p.Meta = mcp.Meta{"askback/idempotency-key": "deploy-17"}
			r, err := connect().CallTool(t.Context(), p)
			return reply{r, err}
		}
		keyed(database)
		ask := f.pendingAsk()
		f.answer(ask.ID, askback.Choose("SQLite"))
		for range 3 {
			if got := keyed(database).text(t); !strings.Contains(got, "SQLite") {
				t.Errorf("got %q", got)
			}
		}
		if got := keyed(`{"question": "Which name?"}`); !got.IsError || !strings.Contains(got.text(t), "key") {
			t.Errorf("got %q", got.text(t))
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Errorf("asked again: %v", asks)
		}
	})
}

// toolCall returns a call in the revision 2026-07-28.
func toolCall(tool, args, capabilities string) string {
	return fmt.Sprintf(
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": %q, "arguments": %s, "_meta": {
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": %s}}}`, tool, args, capabilities)
}

// withClientName adds the name of the client to a call.
func withClientName(program, call string) string {
	return strings.Replace(call, `"_meta": {`,
		fmt.Sprintf(`"_meta": {"io.modelcontextprotocol/clientInfo": {"name": %q, "version": "1"}, `, program), 1)
}

// If the connection breaks during the reply, the same call gets the outcome again.
func TestOutcomeIsReturnedAgainAfterABrokenReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp",
			strings.NewReader(withClientName("program", toolCall("ask_user_question", database, "{}"))))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": stateless, "Mcp-Method": "tools/call", "Mcp-Name": "ask_user_question",
		} {
			r.Header.Set(k, v)
		}
		var res *http.Response
		sent := make(chan error, 1)
		go func() { res, err = httpClient.Do(r); sent <- err }()
		synctest.Wait()
		f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the reply is written, and the test does not read it
		_ = res.Body.Close()
		synctest.Wait()
		done := startCall(t.Context(), f.connectHTTP("bot", "program", stateless, nil), "ask_user_question", database)
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Fatalf("asked again: %v", asks)
		}
		if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
	})
}

// ignoresCancel is a client whose Wait ends only when the ask is settled: the answer
// arrives just when the caller gives up.
type ignoresCancel struct{ askback.Client }

func (s ignoresCancel) Wait(ctx context.Context, id string) (askback.Ask, error) {
	return s.Client.Wait(context.WithoutCancel(ctx), id)
}

func TestAnswerToAnEndedCallIsReturnedToTheNextCall(t *testing.T) {
	for _, version := range []string{withSessions, stateless} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.wrap = func(s askback.Client) askback.Client { return ignoresCancel{s} }
				cs := f.connectStdio("program", version, nil)
				ctx, giveUp := context.WithCancel(t.Context())
				done := startCall(ctx, cs, "ask_user_question", database)
				giveUp()
				<-done
				synctest.Wait()
				f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
				synctest.Wait()
				again := startCall(t.Context(), cs, "ask_user_question", database)
				if asks := f.pendingAsks(); len(asks) != 0 {
					t.Fatalf("asked again: %v", asks)
				}
				if got := (<-again).text(t); !strings.Contains(got, "SQLite") {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// The asks of one call are counted for each agent, so an agent finds its own ask after a
// restart.
func TestSameCallsOfTwoAgentsAreCountedSeparately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		bot, cat := f.connectHTTP("bot", "program", stateless, nil), f.connectHTTP("cat", "program", stateless, nil)
		for range 3 {
			done := startCall(t.Context(), bot, "ask_user_question", database)
			f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
			<-done
		}
		callTool(t.Context(), cat, "ask_user_question", database)
		id := f.pendingAsk().ID
		f.restart()
		callTool(t.Context(), cat, "ask_user_question", database)
		if got := f.pendingAsk().ID; got != id {
			t.Errorf("got %s, want %s", got, id)
		}
	})
}

// When the input ends, all waits end. The ask stays pending.
func TestEndOfInputEndsStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		in, client := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.server.ServeStdio(t.Context(), f.engine.As(bot), in, io.Discard) }()
		for _, line := range []string{
			`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2"}}}`,
			`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
			`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which name?"}}}`,
		} {
			if _, err := io.WriteString(client, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		started := time.Now()
		id := f.pendingAsk().ID
		_ = client.Close()
		if err := <-served; err != nil || time.Since(started) != 0 {
			t.Errorf("ended with %v after %s", err, time.Since(started))
		}
		if f.pendingAsk().ID != id {
			t.Error("the ask is not pending")
		}
	})
}

// A consumed approval is not used again, not even after a restart. The decision can still
// be read (F7).
func TestApprovalIsReturnedOnce(t *testing.T) {
	for _, version := range []string{withSessions, stateless} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				cs := f.connectHTTP("bot", "program", version, nil)
				const deploy = `{"action": "Deploy to production"}`
				done := startCall(t.Context(), cs, "confirm_action", deploy)
				first := f.pendingAsk().ID
				f.answer(first, askback.Decide(askback.Approve, ""))
				if got := (<-done).structured(t); got["confirmed"] != true {
					t.Fatalf("got %v", got)
				}
				f.restart()
				for range 2 {
					checkUsed(t, callTool(t.Context(), cs, "get_answer", `{"question_id": "`+first+`"}`))
				}
				f.restart()
				done = startCall(t.Context(), cs, "confirm_action", deploy)
				if second := f.pendingAsk().ID; second == first {
					t.Fatal("one approval twice")
				}
				f.answer(f.pendingAsk().ID, askback.Decide(askback.Deny, ""))
				if got := (<-done).structured(t); got["confirmed"] != false {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}

func TestReadingAnApprovalConsumesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		httpClient := f.httpClient("bot")
		cs := f.connectHTTP("bot", "program", stateless, nil)
		for _, read := range []func(id string){
			func(id string) { callTool(t.Context(), cs, "wait_for_answer", `{"question_id": "`+id+`"}`) },
			func(id string) { f.taskRequest(httpClient, "tasks/get", id) },
		} {
			id := fmt.Sprint(f.newTask(httpClient, "confirm_action", `{"action": "Deploy"}`)["taskId"])
			f.answer(id, askback.Decide(askback.Approve, ""))
			read(id)
			f.restart()
			if again := fmt.Sprint(
				f.newTask(httpClient, "confirm_action", `{"action": "Deploy"}`)["taskId"],
			); again == id {
				t.Error("one approval twice")
			}
			callTool(t.Context(), cs, "withdraw_question", `{"question_id": "`+f.pendingAsk().ID+`"}`)
		}
	})
}

// An outcome that was not delivered is kept for the same call of its session, across
// restarts. Without sessions it is kept for a day.
func TestUndeliveredAnswerIsReturnedAfterRestarts(t *testing.T) {
	for _, test := range []struct {
		version string
		restart bool
		age     time.Duration
		again   bool
	}{
		{withSessions, false, 72 * time.Hour, false},
		{withSessions, true, 72 * time.Hour, false},
		{stateless, true, 23 * time.Hour, false},
		{stateless, true, 25 * time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			cs := f.connectHTTP("bot", "program", test.version, nil)
			callTool(t.Context(), cs, "ask_user_question", database)
			f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
			if test.restart {
				f.restart()
			}
			<-time.After(test.age) // takes no real time
			startCall(t.Context(), cs, "ask_user_question", database)
			if got := len(f.pendingAsks()) == 1; got != test.again {
				t.Errorf("%+v: asked again: %t", test, got)
			}
		})
	}
}

// A delivered outcome is acknowledged, and list_open_questions omits it. The same call then
// makes a new ask, even after a restart (F6).
func TestDeliveredOutcomeIsAcknowledged(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		callTool(t.Context(), cs, "ask_user_question", database)
		id := f.pendingAsk().ID
		f.answer(id, askback.Choose("SQLite"))
		listed := func() bool {
			r := callTool(t.Context(), cs, "list_open_questions", "{}")
			settled, _ := r.structured(t)["settled"].([]any)
			if listed := strings.Contains(r.text(t), id); listed != (len(settled) == 1) {
				t.Errorf("the list has %v and the text %q", settled, r.text(t))
			}
			return len(settled) == 1
		}
		for range 2 { // listing an outcome does not deliver it
			if !listed() {
				t.Error("the answer is not in the list before it is delivered")
			}
		}
		callTool(t.Context(), cs, "get_answer", `{"question_id": "`+id+`"}`)
		for range 2 { // the list is checked before and after the ack
			synctest.Wait()
			if listed() {
				t.Error("the answer is in the list after it was delivered")
			}
			nextTick()
		}
		if ask, err := f.engine.As(bot).Get(t.Context(), id); err != nil || ask.AckedAt.IsZero() {
			t.Errorf("the outcome is not acknowledged, %v", err)
		}
		if strings.HasPrefix(t.Name()[strings.LastIndex(t.Name(), "/")+1:], "http") {
			f.restart()
		}
		startCall(t.Context(), cs, "ask_user_question", database)
		if again := f.pendingAsk().ID; again == id {
			t.Errorf("%s again", id)
		}
	})
}
