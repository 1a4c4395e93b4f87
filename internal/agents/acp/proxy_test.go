package acp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/acp"
)

// patience is the deadline of each wait.
const patience = 2 * time.Minute

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	initialized = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"gemini-cli","version":"1"}}}`
	newSession  = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/srv/shop","mcpServers":[]}}`
	opened      = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`
	toolCall    = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Run make","kind":"execute","rawInput":{"command":"make"}}}}`
	permission  = `{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","status":"pending"},"options":[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`
	allowed     = `{"jsonrpc":"2.0","id":"p","result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`

	approved  = `{"id":"p","jsonrpc":"2.0","result":{"outcome":{"optionId":"yes","outcome":"selected"}}}`
	denied    = `{"id":"p","jsonrpc":"2.0","result":{"outcome":{"optionId":"no","outcome":"selected"}}}`
	cancelled = `{"id":"p","jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}}`
	closed    = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}`
)

// A side is one end of the proxy. The test acts there as the editor or as the agent.
type side struct {
	t    testing.TB
	in   io.WriteCloser
	read chan string
}

// writes sends messages to the proxy, one per line.
func (s side) writes(messages ...string) {
	s.t.Helper()
	for _, m := range messages {
		if _, err := io.WriteString(s.in, m+"\n"); err != nil {
			s.t.Error(err)
		}
	}
}

// expects requires that the next messages from the proxy are the given messages.
func (s side) expects(messages ...string) {
	s.t.Helper()
	for _, want := range messages {
		select {
		case got := <-s.read:
			if got != want {
				s.t.Errorf("got  %s\nwant %s", got, want)
			}
		case <-time.After(patience):
			s.t.Fatalf("nothing arrived, want %s", want)
		}
	}
}

type fixture struct {
	t             *testing.T
	proxy         *acp.Proxy
	editor, agent side
	instance      *askbacktest.Instance
	person        *askbacktest.Person
	notes         chan string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOn(t, askbacktest.New(t))
}

func newFixtureOn(t *testing.T, instance *askbacktest.Instance) *fixture {
	t.Helper()
	f := &fixture{t: t, instance: instance, notes: make(chan string, 100)}
	f.person = f.instance.Person("ana")
	fromEditor, toProxy := io.Pipe()
	fromAgent, agentToProxy := io.Pipe()
	atEditor, toEditor := io.Pipe()
	atAgent, toAgent := io.Pipe()
	f.editor, f.agent = newSide(t, toProxy, atEditor), newSide(t, agentToProxy, atAgent)
	f.proxy = &acp.Proxy{
		Asks: f.instance.Agent("local"), Command: "agent", Run: "r", Program: agents.OverACP,
		Note: func(text string) { f.notes <- text },
	}
	f.proxy.Start(toAgent, toEditor)
	go func() { _ = f.proxy.FromEditor(fromEditor) }()
	go func() { _ = f.proxy.FromAgent(context.Background(), fromAgent) }()
	t.Cleanup(f.proxy.Close)
	return f
}

func newSide(t testing.TB, in io.WriteCloser, out io.Reader) side {
	s := side{t: t, in: in, read: make(chan string, 100)}
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<30)
		for lines.Scan() {
			s.read <- lines.Text()
		}
	}()
	return s
}

// opens starts a session in which the agent requests a permission.
func (f *fixture) opens() {
	f.t.Helper()
	f.editor.writes(initialize, newSession)
	f.agent.expects(initialize, newSession)
	f.agent.writes(initialized, opened, toolCall, permission)
	f.editor.expects(initialized, opened, toolCall, permission)
}

func (f *fixture) bounded() context.Context {
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	f.t.Cleanup(cancel)
	return ctx
}

func (f *fixture) next() askback.Ask {
	f.t.Helper()
	ask, err := f.person.Next(f.bounded())
	if err != nil {
		f.t.Fatal(err)
	}
	return ask
}

func (f *fixture) answer(ask askback.Ask, a askback.Answer) {
	f.t.Helper()
	if _, err := f.person.Answer(f.bounded(), ask.ID, a); err != nil {
		f.t.Fatal(err)
	}
}

// withdrawn waits until an ask is settled, and fails the test unless the ask was withdrawn with the reason.
func (f *fixture) withdrawn(ask askback.Ask, reason string) {
	f.t.Helper()
	got, err := f.person.Wait(f.bounded(), ask.ID)
	if err != nil || !got.Withdrawn() || got.Outcome.Reason != reason {
		f.t.Errorf("the ask is %s: %+v, %v", got.Status, got.Outcome, err)
	}
}

// The answer of a person closes the dialog of the editor. The late answer of the editor is dropped.
func TestPersonDecidesBeforeTheEditor(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]askback.Answer{
		approved: {Decision: askback.Approve}, denied: {Decision: askback.Deny},
	} {
		f := newFixture(t)
		f.opens()
		ask := f.next()
		if c := ask.Confirmation; ask.Agent != "gemini · shop" || c.ToolName != "execute" ||
			c.Description != "Run make" || !c.NoEdit ||
			string(c.Input) != `{"kind":"execute","rawInput":{"command":"make"},"title":"Run make"}` ||
			!strings.Contains(string(ask.Context), `"cwd":"/srv/shop"`) {
			t.Errorf("got the ask %+v of %s, input %s, context %s", c, ask.Agent, c.Input, ask.Context)
		}
		f.answer(ask, a)
		f.agent.expects(want)
		f.editor.expects(closed)
		f.editor.writes(allowed, `{"jsonrpc":"2.0","id":5,"method":"next"}`)
		f.agent.expects(`{"jsonrpc":"2.0","id":5,"method":"next"}`) // the late answer is not forwarded
	}
}

// A request that is repeated has only one ask.
func TestRepeatedRequestHasOneAsk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.opens()
	f.next()
	const want = "acp:738f89530cdd3019bfa4d9dd7097be4f2dec86f342023a49834cdedbe590eeda"
	page, err := f.instance.Agent("local").List(f.bounded(), askback.Query{Key: want})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%d asks have the key %s, %v; want 1", len(page.Items), want, err)
	}
}

func TestEditorDecidesBeforeThePerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ message, reason string }{
		"answered": {allowed, "Decided in the editor"},
		"failed":   {`{"jsonrpc":"2.0","id":"p","error":{"code":-32603,"message":"no"}}`, "Decided in the editor"},
		"stopped": {
			`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`, "The turn was cancelled",
		},
	} {
		t.Log(name)
		f := newFixture(t)
		f.opens()
		ask := f.next()
		f.editor.writes(c.message)
		f.agent.expects(c.message)
		f.withdrawn(ask, c.reason)
	}
}

func TestAgentCancelsItsRequest(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		closed,
		strings.Replace(toolCall, "Run make", "Run rm", 1),
		strings.Replace(toolCall, `"tool_call"`, `"tool_call_update"`,
			1)[:len(toolCall)-len(`"make"}}}}`)+len(`_update`)] + `"rm"}}}}`,
	} {
		f := newFixture(t)
		f.opens()
		ask := f.next()
		f.agent.writes(message)
		f.editor.expects(message)
		f.withdrawn(ask, "The turn was cancelled")
	}
}

// If the agent or the editor disconnects, the ask is withdrawn. Nothing is sent to the agent.
func TestAskIsWithdrawnIfAgentOrEditorDisconnects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.opens()
	ask := f.next()
	f.proxy.Close()
	f.withdrawn(ask, "The agent or the editor was disconnected")
	f.agent.writes(strings.Replace(permission, `"p"`, `"q"`, 1))
	f.editor.expects(strings.Replace(permission, `"p"`, `"q"`, 1))
	f.agent.writes(closed)
	f.editor.expects(closed)
	f.proxy.Wait() // until then, a dialog could make an ask
	if n := len(f.instance.Asks()); n != 1 {
		t.Errorf("there are %d asks, want 1", n)
	}
}

// A request is left to the editor if it is not valid, has no single option that allows the call once, or is
// about an unknown call.
func TestOtherRequestsAreLeftToTheEditor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.opens()
	f.next()
	for i, m := range []string{
		strings.Replace(permission, `"allow_once"`, `"allow_always"`, 1),
		strings.Replace(permission, `"allow_once"`, `"ALLOW_ONCE"`, 1),
		strings.Replace(permission, `"allow_always"`, `"allow_once"`, 1),
		strings.Replace(permission, `"no","name"`, `"yes","name"`, 1),
		strings.Replace(permission, `"toolCallId":"c"`, `"toolCallId":"other"`, 1),
		strings.Replace(permission, `"sessionId":"s"`, `"sessionId":""`, 1),
		strings.Replace(permission, `"options":[`, `"options":[{"optionId":7,"name":"?","kind":"reject_once"},`, 1),
		strings.Replace(permission, `"id":"p",`, ``, 1),
		strings.Replace(permission, `"sessionId":"s"`, `"sessionId":"s","sessionId":"t"`, 1),
		strings.Replace(permission, `"toolCallId":"c"`, `"toolCallId":"other","kind":"execute"`, 1),
		`[` + permission + `]`, `{"id":`, `not JSON`, `null`, `7`, ``,
	} {
		m = strings.Replace(m, `"id":"p"`, `"id":`+string(rune('0'+i%10)), 1)
		f.agent.writes(m)
		f.editor.expects(m)
	}
	f.proxy.Close()
	if n := len(f.instance.Asks()); n != 1 {
		t.Errorf("there are %d asks, want 1", n)
	}
}

// If the model makes two different calls with the same id at the same time, people are not asked about them.
// People could otherwise see the arguments of the wrong call.
func TestCallsWithTheSameIDAreNotConfused(t *testing.T) {
	t.Parallel()
	other := strings.Replace(toolCall, "make", "true", 2)
	done := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}`
	for name, c := range map[string]struct {
		messages []string
		asks     int
	}{
		"concurrent":                {[]string{toolCall, other}, 0},
		"repeated":                  {[]string{toolCall, toolCall}, 1},
		"one after the other":       {[]string{toolCall, done, other}, 1},
		"concurrent, and one ended": {[]string{toolCall, other, done, other}, 0},
	} {
		f := newFixture(t)
		f.editor.writes(initialize)
		f.agent.expects(initialize)
		f.agent.writes(initialized)
		f.editor.expects(initialized)
		for _, message := range append(c.messages, permission) {
			f.agent.writes(message)
			f.editor.expects(message)
		}
		if c.asks == 1 {
			f.next()
		}
		f.proxy.Close()
		if n := len(f.instance.Asks()); n != c.asks {
			t.Errorf("%s: there are %d asks, want %d", name, n, c.asks)
		}
	}
}

// A message that Askback does not understand may change a call. People are then not asked about the earlier
// state of the call (T49).
func TestUnreadableMessageEndsDialogs(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"half a surrogate pair": `\ud800`,
		"invalid UTF-8":         "\xff",
		"too deep":              `","x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `,"y":"`,
	} {
		update := strings.Replace(toolCall, `"command":"make"`, `"command":"rm -rf / `+text+`"`, 1)
		titled := strings.Replace(permission, `"toolCallId":"c"`, `"toolCallId":"c","title":"Run make"`, 1)
		f := newFixture(t)
		f.opens()
		ask := f.next()
		f.agent.writes(update)
		f.editor.expects(update)
		f.withdrawn(ask, "A message of the agent or the editor could not be read")
		for _, m := range []string{permission, titled} {
			m = strings.Replace(m, `"id":"p"`, `"id":"q"`, 1)
			f.agent.writes(m)
			f.editor.expects(m)
		}
		f.proxy.Close()
		if n := len(f.instance.Asks()); n != 1 {
			t.Errorf("%s: there are %d asks, want 1", name, n)
		}
	}
}

// The late answer to one request is not taken for an answer to the next request with the same id, which the
// editor gets with another id. People are asked again.
func TestLateAnswerDoesNotApproveAReusedID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.opens()
	f.answer(f.next(), askback.Answer{Decision: askback.Deny})
	f.agent.expects(denied)
	f.editor.expects(closed)
	f.agent.writes(permission)
	const renamed = `{"id":"askback-1","jsonrpc":"2.0",`
	f.editor.expects(renamed + strings.TrimPrefix(permission, `{"jsonrpc":"2.0","id":"p",`))
	second := f.next()
	f.editor.writes(allowed, initialize)
	f.agent.expects(initialize)
	f.answer(second, askback.Answer{Decision: askback.Approve})
	f.agent.expects(approved)
	f.editor.expects(strings.Replace(closed, `"p"`, `"askback-1"`, 1))
	f.agent.writes(permission) // the editor has answered p, but not askback-1
	f.editor.expects(permission)
	third := f.next()
	f.editor.writes(strings.Replace(allowed, `"p"`, `"askback-1"`, 1), allowed)
	f.agent.expects(allowed)
	f.withdrawn(third, "Decided in the editor")
}

// The editor's answer to a request with another id, and the agent's cancellation of the request, have the id
// that the other side knows.
func TestRenamedRequestIsAnsweredAndCancelled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.opens()
	for n, end := range []func(id string){
		func(id string) {
			f.editor.writes(strings.Replace(allowed, `"p"`, id, 1))
			f.agent.expects(`{"id":"p",` + strings.Replace(allowed, `"id":"p",`, "", 1)[1:])
		},
		func(id string) {
			f.agent.writes(closed)
			f.editor.expects(strings.Replace(closed, `"p"`, id, 1))
		},
	} {
		if n == 0 {
			f.answer(f.next(), askback.Answer{Decision: askback.Approve})
			f.agent.expects(approved)
			f.editor.expects(closed)
		}
		f.agent.writes(permission)
		id := fmt.Sprintf(`"askback-%d"`, n+1)
		f.editor.expects(`{"id":` + id + `,` + strings.Replace(permission, `"id":"p",`, "", 1)[1:])
		f.next()
		end(id)
	}
}

// A request id that the agent uses again, after the editor or Askback has answered, is asked about again.
func TestReusedIDIsAskedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.opens()
	f.answer(f.next(), askback.Answer{Decision: askback.Approve})
	f.agent.expects(approved)
	f.editor.expects(closed)
	f.editor.writes(allowed) // the late answer
	for range 2 {
		f.editor.writes(initialize)
		f.agent.expects(initialize)
		f.agent.writes(permission)
		f.editor.expects(permission)
		ask := f.next()
		f.editor.writes(allowed)
		f.agent.expects(allowed)
		f.withdrawn(ask, "Decided in the editor")
	}
	f.agent.writes(permission)
	f.editor.expects(permission)
	f.next()
	f.agent.writes(closed)
	f.editor.expects(closed)
}

// A denial cancels the turn if no option rejects the call.
func TestDenialWithoutRejectingOptionCancelsTheTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.editor.writes(initialize)
	f.agent.expects(initialize)
	f.agent.writes(initialized, toolCall, strings.Replace(permission, "reject_once", "reject_always", 1))
	f.answer(f.next(), askback.Answer{Decision: askback.Deny})
	f.agent.expects(cancelled)
}

// If several options reject the call, the first is chosen.
func TestFirstRejectingOptionIsChosen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.editor.writes(initialize)
	f.agent.expects(initialize)
	f.agent.writes(initialized, toolCall, strings.Replace(permission, `"kind":"reject_once"}`,
		`"kind":"reject_once"},{"optionId":"stop","name":"No, and stop","kind":"reject_once"}`, 1))
	f.answer(f.next(), askback.Answer{Decision: askback.Deny})
	f.agent.expects(denied)
}

// A call without a title is asked about if its arguments are known.
func TestArgumentsAreShownWithoutTitle(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.editor.writes(initialize)
	f.agent.expects(initialize)
	f.agent.writes(initialized,
		strings.Replace(permission, `"toolCallId":"c"`, `"toolCallId":"c","rawInput":{"command":"make"}`, 1))
	if c := f.next().Confirmation; string(c.Input) != `{"rawInput":{"command":"make"}}` || c.ToolName != "tool" {
		t.Errorf("got %s with %s", c.ToolName, c.Input)
	}
}

// Messages of other versions of the protocol are left to the editor, because their meaning could differ.
func TestOtherVersionsAreLeftToTheEditor(t *testing.T) {
	t.Parallel()
	for _, version := range []string{`2`, `"1"`, `1.0`} {
		f := newFixture(t)
		f.editor.writes(initialize)
		f.agent.expects(initialize)
		other := strings.Replace(initialized, `"protocolVersion":1`, `"protocolVersion":`+version, 1)
		f.agent.writes(other, toolCall, permission)
		f.editor.expects(other, toolCall, permission)
		f.proxy.Close()
		if n := len(f.instance.Asks()); n != 0 {
			t.Errorf("version %s: there are %d asks, want none", version, n)
		}
	}
}

// An agent that never ends its calls does not use more and more memory. A forgotten call is not shown as
// another call with the same id.
func TestNumberOfKeptCallsIsLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.editor.writes(initialize)
	f.agent.expects(initialize)
	f.agent.writes(initialized)
	f.editor.expects(initialized)
	update := func(id, title, rest string) {
		call := strings.NewReplacer(`"toolCallId":"c"`, fmt.Sprintf(`"toolCallId":"%s"%s`, id, rest), "Run make",
			title).Replace(toolCall)
		f.agent.writes(call)
		f.editor.expects(call)
	}
	for i := range 3 * acp.MaxCalls {
		update(fmt.Sprint("ended ", i), "Run make", "")
		update(fmt.Sprint("ended ", i), "Run make", `,"status":"completed"`)
	}
	if got := f.proxy.Kept(); got != 0 {
		t.Errorf("%d calls are kept that have ended", got)
	}
	for i := range acp.MaxCalls {
		update(fmt.Sprint(i), "Run make", "")
	}
	if got := f.proxy.Kept(); got != acp.MaxCalls {
		t.Errorf("%d calls are kept, want %d", got, acp.MaxCalls)
	}
	for i := range acp.MaxCalls {
		update(fmt.Sprint("more ", i), "Run make", "")
	}
	update("0", "Run rm", "")
	if got := f.proxy.Kept(); got != 0 {
		t.Errorf("%d of too many calls are kept", got)
	}
	late := strings.Replace(permission, `"toolCallId":"c"`, `"toolCallId":"0"`, 1)
	f.agent.writes(late)
	f.editor.expects(late)
	f.proxy.Close()
	if n := len(f.instance.Asks()); n != 0 {
		t.Errorf("there are %d asks, want none", n)
	}
}

func TestHugeMessageIsForwarded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	huge := `{"jsonrpc":"2.0","method":"session/update","params":"` + strings.Repeat("x", 9<<20) + `"}`
	f.agent.writes(huge)
	f.editor.expects(huge)
}
