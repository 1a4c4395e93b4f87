package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// People see the client and the project's folder (B7). Over HTTP the folder is not known.
func TestLabelIsClientAndFolder(t *testing.T) {
	for _, test := range []struct{ client, folder, want string }{
		{"codex-mcp-client", "shop", "codex · shop"},
		{"gemini-cli-mcp-client", "shop", "gemini · shop"},
		{"copilot-cli", "shop", "copilot · shop"},
		{"claude-code", "shop", "claude-code · shop"},
		{"opencode", "shop", "opencode · shop"},
		{"cursor-vscode", "shop", "cursor · shop"},
		{"Visual Studio Code - Insiders", "", "vscode"},
		{"my-agent", "", "my-agent"},
		{"qwen-cli-mcp-client-askback", "shop", "qwen · shop"},
		{"@cline/core", "shop", "cline · shop"},
		{"continue-cli-client", "shop", "continue · shop"},
		{" My\x1b[31m\n\u202eAgent ", "a\tb\xff", "My [31m Agent · a b"},
		{"\n", "shop", "bot"},
		{strings.Repeat("ä", 41), strings.Repeat("ö", 40), strings.Repeat("ä", 39) + "… · " + strings.Repeat("ö", 40)},
	} {
		for _, version := range []string{withSessions, stateless} {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.options.Folder = test.folder
				f.restart()
				startCall(t.Context(), f.connectStdio(test.client, version, nil), "ask_user_question", database)
				if got := f.pendingAsk().Agent; got != test.want || !utf8.ValidString(got) {
					t.Errorf("%q in %q: got %q, want %q", test.client, test.folder, got, test.want)
				}
				startCall(t.Context(), f.connectHTTP("web", test.client, version, nil), "confirm_action", pay)
				want, _, _ := strings.Cut(test.want, " · ")
				if want == "bot" {
					want = "web" // the name of the token
				}
				p, err := f.engine.As(askback.Principal{Kind: askback.Agent, Name: "web"}).List(t.Context(),
					askback.Query{})
				if err != nil || len(p.Items) != 1 || p.Items[0].Agent != want {
					t.Errorf("%q over HTTP: got %+v %v, want %q", test.client, p.Items, err, want)
				}
			})
		}
	}
}

func TestClientKeyFindsItsAskInEveryFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for _, folder := range []string{"build-1", "build-2"} {
			f.options.Folder = folder
			f.restart()
			p := &mcp.CallToolParams{Name: "ask_user_question", Arguments: json.RawMessage(database)}
			p.Meta = mcp.Meta{"askback/idempotency-key": "deploy-17"}
			got, err := f.connectStdio("program", stateless, nil).CallTool(t.Context(), p)
			if s := (reply{got, err}).structured(t); s["question_id"] != f.pendingAsk().ID {
				t.Errorf("%s: got %v", folder, s)
			}
		}
	})
}

// A standing approval covers one client in one project (F8).
func TestGrantCoversOneClientAndFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		for _, test := range []struct {
			client, folder string
			covered        bool
		}{
			{"codex-mcp-client", "shop", false}, // makes the grant
			{"codex-mcp-client", "shop", true},
			{"opencode", "shop", false},
			{"codex-mcp-client", "blog", false},
		} {
			f.options.Folder = test.folder
			f.restart()
			done := startCall(t.Context(), f.connectStdio(test.client, stateless, nil), "confirm_action", pay)
			if covered := len(f.pendingAsks()) == 0; covered != test.covered {
				t.Fatalf("%+v: covered %t", test, covered)
			}
			if !test.covered {
				decision := askback.ApproveAll
				if test.folder != "shop" || test.client == "opencode" {
					decision = askback.Approve
				}
				f.answer(f.pendingAsk().ID, askback.Decide(decision, ""))
			}
			if got := (<-done).structured(t); got["confirmed"] != true {
				t.Errorf("%+v: got %v", test, got)
			}
		}
	})
}
