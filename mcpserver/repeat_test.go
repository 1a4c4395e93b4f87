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

// The same call twice at a time is one ask, and both are told the answer.
func TestTheSameCallAttachesToTheOpenAsk(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		first := start(t.Context(), cs, "ask_user_question", database)
		second := start(t.Context(), cs, "ask_user_question", strings.ReplaceAll(database, `": `, `" : `))
		d.answer(d.only().ID, askback.Choose("SQLite"))
		if a, b := (<-first).text(t), (<-second).text(t); a != b || !strings.Contains(a, "SQLite") {
			t.Errorf("got %q and %q", a, b)
		}
	})
}

// A client gives up, a person answers, the client tries again: it is told the
// answer, and nobody is asked twice.
func TestAnAnswerThatNobodyWaitedForIsGivenToTheSameCall(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		ctx, giveUp := context.WithCancel(t.Context())
		done := start(ctx, cs, "ask_user_question", database)
		giveUp()
		if got := <-done; got.err == nil {
			t.Error("the call did not end")
		}
		synctest.Wait()
		if n := d.serving.Load(); n != 0 {
			t.Errorf("%d requests still wait for nobody", n)
		}
		d.answer(d.only().ID, askback.Choose("SQLite")) // a disconnect withdrew nothing
		if got := call(t.Context(), cs, "ask_user_question", database).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("asked again: %v", asks)
		}
	})
}

// Once the answer was given, the same call wants to know again.
func TestTheSameCallAfterItsAnswerIsANewAsk(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		seen := map[string]bool{}
		for _, answer := range []string{"SQLite", "PostgreSQL", "neither"} {
			done := start(t.Context(), cs, "ask_user_question", database)
			ask := d.only()
			if seen[ask.ID] {
				t.Errorf("%s again", ask.ID)
			}
			seen[ask.ID] = true
			d.answer(ask.ID, askback.Choose(answer))
			if got := (<-done).text(t); !strings.Contains(got, answer) {
				t.Errorf("got %q, want %s", got, answer)
			}
		}
	})
}

// An answer that another tool gave was given, and so was a withdrawal.
func TestWhatOtherToolsGaveCountsAsGiven(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		call(t.Context(), cs, "ask_user_question", database)
		first := d.only().ID
		d.answer(first, askback.Choose("SQLite"))
		call(t.Context(), cs, "get_answer", `{"question_id": "`+first+`"}`)
		call(t.Context(), cs, "ask_user_question", database)
		second := d.only().ID
		call(t.Context(), cs, "withdraw_question", `{"question_id": "`+second+`"}`)
		call(t.Context(), cs, "ask_user_question", database)
		if third := d.only().ID; first == second || second == third {
			t.Errorf("%s, %s, %s", first, second, third)
		}
	})
}

// Two runs of an agent that ask the same do not share an answer, as far as the
// protocol lets them be told apart.
func TestSessionsAskForThemselves(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		one := start(t.Context(), connect(), "ask_user_question", database)
		two := start(t.Context(), connect(), "ask_user_question", database)
		asks := d.open()
		if strings.Contains(t.Name(), "http_"+modern) { // no sessions there
			d.answer(d.only().ID, askback.Choose("SQLite"))
			if a, b := (<-one).text(t), (<-two).text(t); a != b {
				t.Errorf("got %q and %q", a, b)
			}
			return
		}
		if len(asks) != 2 {
			t.Fatalf("%d asks", len(asks))
		}
		d.answer(asks[0].ID, askback.Choose("SQLite"))
		d.answer(asks[1].ID, askback.Choose("PostgreSQL"))
		if a, b := (<-one).text(t), (<-two).text(t); a == b {
			t.Errorf("both got %q", a)
		}
	})
}

// A restart in between changes nothing for a client over HTTP: its session goes
// on, and the same call finds its ask.
func TestTheSameCallFindsItsAskAfterARestart(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				cs := d.http("bot", "codex-mcp-client", version, nil)
				call(t.Context(), cs, "ask_user_question", database)
				id := d.only().ID
				d.restart()
				done := start(t.Context(), cs, "ask_user_question", database)
				if again := d.only().ID; again != id {
					t.Errorf("got %s, want %s", again, id)
				}
				d.answer(id, askback.Choose("SQLite"))
				if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// A call with a key of its own is the one ask, in every session, for good; and
// another call cannot have that key.
func TestAKeyOfItsOwnIsTheOneAsk(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		keyed := func(args string) reply {
			p := &mcp.CallToolParams{Name: "ask_user_question", Arguments: json.RawMessage(args)}
			p.Meta = mcp.Meta{"askback/idempotency-key": "deploy-17"}
			r, err := connect().CallTool(t.Context(), p)
			return reply{r, err}
		}
		keyed(database)
		ask := d.only()
		d.answer(ask.ID, askback.Choose("SQLite"))
		for range 3 {
			if got := keyed(database).text(t); !strings.Contains(got, "SQLite") {
				t.Errorf("got %q", got)
			}
		}
		if got := keyed(`{"question": "Which name?"}`); !got.IsError || !strings.Contains(got.text(t), "key") {
			t.Errorf("got %q", got.text(t))
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("asked again: %v", asks)
		}
	})
}

// toolCall is a call as it stands on the wire of 2026-07-28.
func toolCall(tool, args, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": %q, "arguments": %s, "_meta": {
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": %s}}}`, tool, args, capabilities)
}

// from is a call that names its client.
func from(program, call string) string {
	return strings.Replace(call, `"_meta": {`, fmt.Sprintf(`"_meta": {"io.modelcontextprotocol/clientInfo": {"name": %q, "version": "1"}, `, program), 1)
}

// A reply that was on its way when the connection broke did not arrive: the same
// call is given it again.
func TestAReplyThatDidNotArriveIsGivenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp",
			strings.NewReader(from("program", toolCall("ask_user_question", database, "{}"))))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "ask_user_question",
		} {
			r.Header.Set(k, v)
		}
		var res *http.Response
		sent := make(chan error, 1)
		go func() { res, err = web.Do(r); sent <- err }()
		synctest.Wait()
		d.answer(d.only().ID, askback.Choose("SQLite"))
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the reply is written, and nobody reads it
		_ = res.Body.Close()
		synctest.Wait()
		done := start(t.Context(), d.http("bot", "program", modern, nil), "ask_user_question", database)
		if asks := d.open(); len(asks) != 0 {
			t.Fatalf("asked again: %v", asks)
		}
		if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
	})
}

// slow is a seat whose wait is over only when the ask is settled, whatever else
// ends before: the answer comes just when a client gives up.
type slow struct{ askback.Client }

func (s slow) Wait(ctx context.Context, id string) (askback.Ask, error) {
	return s.Client.Wait(context.WithoutCancel(ctx), id)
}

// An answer that comes just when the client gives up was not given.
func TestAnAnswerToACallThatEndedIsGivenAgain(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.seat = func(s askback.Client) askback.Client { return slow{s} }
				cs := d.stdio("program", version, nil)
				ctx, giveUp := context.WithCancel(t.Context())
				done := start(ctx, cs, "ask_user_question", database)
				giveUp()
				<-done
				synctest.Wait()
				d.answer(d.only().ID, askback.Choose("SQLite"))
				synctest.Wait()
				again := start(t.Context(), cs, "ask_user_question", database)
				if asks := d.open(); len(asks) != 0 {
					t.Fatalf("asked again: %v", asks)
				}
				if got := (<-again).text(t); !strings.Contains(got, "SQLite") {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// How often one agent asked the same is nothing to another.
func TestAnAgentFindsItsAskWhateverOthersAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		bot, cat := d.http("bot", "program", modern, nil), d.http("cat", "program", modern, nil)
		for range 3 {
			done := start(t.Context(), bot, "ask_user_question", database)
			d.answer(d.only().ID, askback.Choose("SQLite"))
			<-done
		}
		call(t.Context(), cat, "ask_user_question", database)
		id := d.only().ID
		d.restart()
		call(t.Context(), cat, "ask_user_question", database)
		if got := d.only().ID; got != id {
			t.Errorf("got %s, want %s", got, id)
		}
	})
}

// When the client of stdio goes away nothing waits for it, and its ask goes on.
func TestTheEndOfInputEndsStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		in, client := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- d.server.ServeStdio(t.Context(), d.engine.As(bot), in, io.Discard) }()
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
		begun := time.Now()
		id := d.only().ID
		_ = client.Close()
		if err := <-served; err != nil || time.Since(begun) != 0 {
			t.Errorf("ended with %v after %s", err, time.Since(begun))
		}
		if d.only().ID != id {
			t.Error("the ask is gone")
		}
	})
}

// An approval that was given is spent, also after a restart: the same action is
// approved anew, and what was decided can still be read (F7).
func TestAnApprovalIsGivenOnce(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				cs := d.http("bot", "program", version, nil)
				const deploy = `{"action": "Deploy to production"}`
				done := start(t.Context(), cs, "confirm_action", deploy)
				first := d.only().ID
				d.answer(first, askback.Decide(askback.Approve, ""))
				if got := (<-done).structured(t); got["confirmed"] != true {
					t.Fatalf("got %v", got)
				}
				d.restart()
				for range 2 {
					usedUp(t, call(t.Context(), cs, "get_answer", `{"question_id": "`+first+`"}`))
				}
				d.restart()
				done = start(t.Context(), cs, "confirm_action", deploy)
				if second := d.only().ID; second == first {
					t.Fatal("one approval twice")
				}
				d.answer(d.only().ID, askback.Decide(askback.Deny, ""))
				if got := (<-done).structured(t); got["confirmed"] != false {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}

// An approval that other tools gave is spent as well.
func TestAnApprovalThatWasReadIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		cs := d.http("bot", "program", modern, nil)
		for _, read := range []func(id string){
			func(id string) { call(t.Context(), cs, "wait_for_answer", `{"question_id": "`+id+`"}`) },
			func(id string) { d.on(web, "tasks/get", id) },
		} {
			id := fmt.Sprint(d.newTask(web, "confirm_action", `{"action": "Deploy"}`)["taskId"])
			d.answer(id, askback.Decide(askback.Approve, ""))
			read(id)
			d.restart()
			if again := fmt.Sprint(d.newTask(web, "confirm_action", `{"action": "Deploy"}`)["taskId"]); again == id {
				t.Error("one approval twice")
			}
			call(t.Context(), cs, "withdraw_question", `{"question_id": "`+d.only().ID+`"}`)
		}
	})
}

// An answer that nobody heard is kept for the same call of its session, however
// late and whatever was restarted. Where there are no sessions it is another day's
// question tomorrow.
func TestAnAnswerWaitsForItsAgent(t *testing.T) {
	for _, test := range []struct {
		version string
		restart bool
		age     time.Duration
		again   bool
	}{
		{legacy, false, 72 * time.Hour, false},
		{legacy, true, 72 * time.Hour, false},
		{modern, true, 23 * time.Hour, false},
		{modern, true, 25 * time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			cs := d.http("bot", "program", test.version, nil)
			call(t.Context(), cs, "ask_user_question", database)
			d.answer(d.only().ID, askback.Choose("SQLite"))
			if test.restart {
				d.restart()
			}
			<-time.After(test.age) // by the clock of the bubble
			start(t.Context(), cs, "ask_user_question", database)
			if got := len(d.open()) == 1; got != test.again {
				t.Errorf("%+v: asked again: %t", test, got)
			}
		})
	}
}

// What was given has a receipt that outlives the server: the same call is a new
// question then, and the list of what waits for the agent is empty (F6).
func TestWhatWasGivenHasAReceipt(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		call(t.Context(), cs, "ask_user_question", database)
		id := d.only().ID
		d.answer(id, askback.Choose("SQLite"))
		waits := func() bool {
			r := call(t.Context(), cs, "list_open_questions", "{}")
			settled, _ := r.structured(t)["settled"].([]any)
			if listed := strings.Contains(r.text(t), id); listed != (len(settled) == 1) {
				t.Errorf("the list has %v, and says %q", settled, r.text(t))
			}
			return len(settled) == 1
		}
		for range 2 { // to list it is not to give it
			if !waits() {
				t.Error("the answer is not in the list before it was given")
			}
		}
		call(t.Context(), cs, "get_answer", `{"question_id": "`+id+`"}`)
		for range 2 { // before its receipt, and after it
			synctest.Wait()
			if waits() {
				t.Error("the answer is in the list after it was given")
			}
			nextTick()
		}
		if ask, err := d.engine.As(bot).Get(t.Context(), id); err != nil || ask.AckedAt.IsZero() {
			t.Errorf("there is no receipt, %v", err)
		}
		if strings.HasPrefix(t.Name()[strings.LastIndex(t.Name(), "/")+1:], "http") {
			d.restart()
		}
		start(t.Context(), cs, "ask_user_question", database)
		if again := d.only().ID; again == id {
			t.Errorf("%s again", id)
		}
	})
}
