package opencode_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/opencode"
)

const (
	askBash  = `{"type":"permission.asked","directory":"/srv","properties":{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["make"],"metadata":{"command":"make"}}}`
	askDB    = `{"type":"question.asked","properties":{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which DB?","header":"DB","options":[{"label":"Postgres","description":""},{"label":"SQLite","description":""}]}]}}`
	callBash = `{"type":"tool.execute.before","properties":{"tool":"bash","sessionID":"ses_1","callID":"call_1","args":{"command":"make"}}}`
)

func run(ctx context.Context, t *testing.T, client hook.Client, raw string) (hook.Reply, error) {
	t.Helper()
	job, err := new(opencode.Hook).Read([]byte(raw), hook.Env{})
	if err != nil {
		return hook.Reply{}, err
	}
	return new(hook.Runner).Do(ctx, "", client, job)
}

// A request of OpenCode has only one ask. The model can use the id of a call again, so another call with the
// same id has a new ask (F7, F9).
func TestEachRequestIsAskedOnce(t *testing.T) {
	server := askbacktest.New(t)
	server.Person("ana", askbacktest.Answer("Which DB?", "SQLite"), askbacktest.Approve("bash"),
		askbacktest.Approve("bash"), askbacktest.Deny("bash", "not twice"), askbacktest.Approve("bash"))
	client := server.Agent("local")
	for _, step := range []struct{ event, want string }{
		{askDB, `{"answers":[["SQLite"]]}`},
		{askDB, `{"answers":[["SQLite"]]}`}, // the first reply did not arrive
		{askBash, `{"reply":"once"}`},
		{callBash, `{"decision":"approved"}`},
		{callBash, `"decision":"denied"`},
		{strings.Replace(callBash, "make", "make all", 1), `{"decision":"approved"}`}, // the model used the id again
	} {
		reply, err := run(t.Context(), t, client, step.event)
		if err != nil || !strings.Contains(string(reply.Output), step.want) {
			t.Errorf("%s: got %s, %v; want %s", step.event, reply.Output, err, step.want)
		}
	}
	if n := len(server.Asks()); n != 5 {
		t.Errorf("got %d asks, want 5", n)
	}
	// An approval is used once, even by a repetition of the same request.
	if reply, err := run(t.Context(), t, client, askBash); reply.Output != nil || !errors.Is(err, askback.ErrConsumed) {
		t.Errorf("got %s, %v; want the approval spent", reply.Output, err)
	}
}

// When OpenCode no longer waits, the ask is withdrawn.
func TestAskEndsWithTheHook(t *testing.T) {
	server := askbacktest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	client := recordingClient{server.Agent("local"), cancel}
	reply, err := run(ctx, t, client, askBash)
	if reply.Output != nil || err != nil {
		t.Errorf("got %s, %v; want no reply", reply.Output, err)
	}
	if ask := server.Asks()[0]; ask.Status != askback.Cancelled || !hook.NeedsHook(ask, []string{opencode.Name}) {
		t.Errorf("the ask is %s with the context %s", ask.Status, ask.Context)
	}
}

// A recordingClient is a client that ends the hook once the hook has asked.
type recordingClient struct {
	hook.Client
	asked func()
}

func (c recordingClient) Wait(ctx context.Context, id string) (askback.Ask, error) {
	c.asked()
	return c.Client.Wait(ctx, id)
}

// The plugin knows all tools of Askback, and exports one function, because OpenCode calls
// every export.
func TestPluginListsAllToolsOfAskback(t *testing.T) {
	for _, tool := range opencode.OwnTools() {
		if !strings.Contains(opencode.Plugin, `"`+tool+`"`) {
			t.Errorf("the plugin does not know %s", tool)
		}
	}
	for _, name := range regexp.MustCompile(`"(askback_\w+)"`).FindAllStringSubmatch(opencode.Plugin, -1) {
		if !slices.Contains(opencode.OwnTools(), name[1]) {
			t.Errorf("%s is not a tool", name[1])
		}
	}
	if n := len(regexp.MustCompile(`(?m)^export `).FindAllString(opencode.Plugin, -1)); n != 1 {
		t.Errorf("the plugin exports %d times, want once", n)
	}
	if !strings.HasPrefix(opencode.Plugin, "// Askback's plugin for OpenCode, written by askback init opencode.\n") {
		t.Error("older versions of the plugin are recognised by its first line")
	}
}

// No event causes a panic, and only an approval results in an approval (T5).
func FuzzEvents(f *testing.F) {
	captured, err := os.ReadFile("testdata/permission.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(captured)) {
		if _, event, ok := strings.Cut(strings.TrimSpace(line), "event "); ok {
			f.Add([]byte(event))
		}
	}
	f.Add([]byte(askDB))
	f.Add([]byte(callBash))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ev, err := opencode.Read(raw)
		if err != nil {
			return
		}
		call, err := opencode.Call(ev)
		if err != nil {
			return
		}
		r := call.Request
		if _, err := r.Normalize(); err != nil {
			t.Errorf("%s: the request is rejected: %v", raw, err)
		}
		ask := pending(r)
		if got, ok := opencode.Decide(ev, ask); ok {
			t.Errorf("%s: got %+v for a pending ask", raw, got)
		}
		for _, o := range []askback.Outcome{
			{Status: askback.Declined},
			{Status: askback.Cancelled},
			{Status: askback.Expired},
			{Status: askback.Answered, Decision: askback.Deny, Reason: "approved"},
			{Status: askback.Answered},
		} {
			ask.Status, ask.Outcome = o.Status, &o
			if got, _ := opencode.Decide(ev, ask); got.Permission == "once" || got.Decision == "approved" ||
				got.Permission == "always" {
				t.Errorf("%s: %+v results in %+v", raw, o, got)
			}
		}
	})
}

// The keys of asks must not change, because a later version uses the keys to find the asks of this version.
func TestKeysAreStable(t *testing.T) {
	for raw, want := range map[string]string{
		askDB:    "opencode:0e3b23878a00fa84537e652120aab78f4c0b61e5087cfd6e47b523fb4adc3957",
		callBash: "opencode:d0f9c3873ee268415417ace91a18f4a0f05f636105efd35c0b259973afbb30e4",
	} {
		ev, err := opencode.Read([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		call, _ := opencode.Call(ev)
		if call.Request.Key != want {
			t.Errorf("%s: got %s, want %s", raw, call.Request.Key, want)
		}
	}
}
