package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/test/kit/racedetector"
)

// hostile returns requests with s in every field that an agent can set.
func hostile(s string) []askback.Request {
	line := "~" + s
	s = "~\n\n" + s + "\n\n~" // with a line break before and after, and a character that Askback never uses
	raw, _ := json.Marshal(s)
	object, _ := json.Marshal(map[string]any{s: []any{s, 1, nil}})
	head := askback.Request{
		Agent: name(line), Title: name(line), Tags: []string{name(line)}, Context: raw,
		Warnings: []askback.Problem{{Pointer: name(line), Detail: front(s, 2_000), Fix: "x"}},
	}
	questions, call := head, head
	questions.Questions = []askback.Question{
		{Text: s, Header: front(line, 12), Default: []string{front(line, 190)}, Options: []askback.Option{
			{Label: front(line, 190), Description: front(s, 2_000), Preview: s},
			{Label: front(line, 190) + " 2", Description: front(s, 2_000), Preview: s},
		}},
		{
			Text: s + "?", MultiSelect: true, Optional: true,
			Options: askback.Options(front(line, 190), front(line, 190)+" 2"),
		},
		{Text: s + "!", Default: []string{s}},
	}
	call.Context = object
	call.Confirmation = &askback.Confirmation{
		ToolName: name(line), Server: name(line), Description: front(s, 2_000), InputPreview: s, Context: s,
		Input: object, Dangerous: true,
	}
	return []askback.Request{questions, call}
}

// name makes s a valid name, which is short and has no control characters.
func name(s string) string {
	r := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '_'
		}
		return r
	}, s))
	return string(r[:min(len(r), 200)])
}

func front(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), n)])
}

// Text of an agent adds no elements or attributes to the page, and is never in the title
// or in a button.
func TestAgentTextStaysInsideItsBlocks(t *testing.T) {
	racedetector.Omit(t)
	for _, s := range injections {
		h := newServer(t)
		ana := h.browser("ana")
		for _, r := range hostile(s) {
			a := h.ask(r)
			benign := h.ask(hostile("x")[map[bool]int{false: 0, true: 1}[r.Confirmation != nil]])
			for _, state := range []string{"open", "rejected", "late", "settled"} {
				got, want := renderState(ana, a, state), renderState(ana, benign, state)
				if d := cmp.Diff(structure(want), structure(got)); d != "" {
					t.Errorf("%.80q, %s: the page has another shape: %s", s, state, d)
				}
				checkFrames(t, got, s)
			}
		}
		for _, scope := range []askback.Scope{askback.ScopeTool, askback.ScopeInput} {
			a := h.ask(hostile(s)[1])
			answer := askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: scope}}
			if err := errorOf(h.client(askback.Responder, "ben").Answer(t.Context(), a.ID, answer)); err != nil &&
				!a.Settled() {
				t.Fatal(err)
			}
		}
		for _, path := range []string{
			"/agents", "/people", "/numbers", "/more", "/", "/rows", "/grants", "/history", "/history?q=script+alert+x",
		} {
			checkFrames(t, ana.open(path, http.StatusOK), s)
		}
		h.checkHostilePages(s)
	}
}

// checkHostilePages checks the pages that show sessions, tokens and several asks together, with s in every
// field that an agent or another admin can set.
func (h *server) checkHostilePages(s string) {
	h.t.Helper()
	ctx, bot := context.Background(), h.client(askback.Agent, "bot")
	session, err := bot.Start(ctx,
		askback.SessionRequest{Key: name("~" + s), Title: name("~" + s), Agent: name("~" + s)})
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := bot.Send(ctx, session.ID, askback.Report{Text: "~" + s}); err != nil {
		h.t.Fatal(err)
	}
	if _, err := bot.Send(ctx, session.ID,
		askback.SetTodos{Todos: []askback.Todo{{Content: name("~" + s), Status: askback.TodoPending}}}); err != nil {
		h.t.Fatal(err)
	}
	decide := "/decide"
	for i, r := range hostile(s) {
		r.SessionID = session.ID
		decide += map[bool]string{true: "?", false: "&"}[i == 0] + "ask=" + h.ask(r).ID
	}
	if _, _, err := h.engine.CreateToken(ctx,
		askback.TokenRequest{Kind: askback.Responder, Name: name("~" + s)}); err != nil {
		h.t.Fatal(err)
	}
	admin := browser{h, h.secret(askback.Admin, name("~"+s))}
	for _, path := range []string{
		"/sessions", "/sessions/" + session.ID, "/tokens", "/logins", "/people", "/more", decide,
		"/decide?all=" + session.ID,
	} {
		checkFrames(h.t, admin.open(path, http.StatusOK), s)
	}
}

// renderState returns the page of an ask in one of its states.
func renderState(b browser, a askback.Ask, state string) *node {
	b.t.Helper()
	ctx := context.Background()
	filled := url.Values{"action": {"answer"}, "q1": {"1"}, "q3-other": {"fine"}}
	if a.Confirmation != nil {
		filled = url.Values{"action": {"deny"}}
	}
	switch state {
	case "rejected":
		if a.Confirmation != nil {
			filled.Set("reason", strings.Repeat("x", limits.MaxText+1))
		}
		filled.Del("q3-other")
		return b.send("/asks/"+a.ID, filled, http.StatusUnprocessableEntity)
	case "late":
		answer := askback.Decide(askback.Deny, "")
		if a.Confirmation == nil {
			answer = askback.Answer{Answers: []askback.QuestionAnswer{
				{ID: "q1", Selected: []string{a.Questions[0].Options[0].Label}}, {ID: "q3", Other: "x"},
			}}
		}
		if _, err := b.client(askback.Responder, "ben").Answer(ctx, a.ID, answer); err != nil {
			b.t.Fatal(err)
		}
		return b.send("/asks/"+a.ID, filled, http.StatusConflict)
	}
	return b.open("/asks/"+a.ID, http.StatusOK)
}

// structure returns the elements of a page outside the agent's blocks, with their
// attributes.
func structure(n *node) string {
	var b strings.Builder
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		if n.is(".hidden-badge") || n.is(".notice-line") {
			return // Askback's own note about hidden characters
		}
		if n.is("wbr") {
			return // a place where a long word may be broken
		}
		if n.is(".list-pane") || n.is("link#icon") {
			return // these elements depend on the other asks, too: see rows
		}
		if n.is(".agent-text") || n.is(".markdown") || n.is(".preview") {
			b.WriteString(strings.Repeat(" ", depth) + "(frame)\n")
			return
		}
		if n.tag != "" {
			b.WriteString(strings.Repeat(" ", depth) + n.tag)
			for _, name := range []string{
				"id", "name", "value", "type", "class", "href", "src", "action", "for", "checked",
			} {
				if v, ok := n.attr[name]; ok && !strings.Contains(v, "ask_") {
					b.WriteString(" " + name + "=" + v)
				}
			}
			b.WriteString("\n")
		}
		for _, k := range n.kids {
			walk(k, depth+1)
		}
	}
	walk(n, 0)
	return b.String()
}

// checkFrames reports text of the agent outside of its blocks.
func checkFrames(t *testing.T, page *node, s string) {
	t.Helper()
	page.walk(func(n *node) {
		ours := n.tag == "" && !n.inside("bdi") && !n.inside(".markdown") && !n.inside(".plain-text") &&
			!n.inside(".row-text") && !n.inside("pre") && !n.inside("code") && !n.inside("textarea")
		if ours && strings.Contains(n.text, "~") {
			t.Errorf("%.60q is outside of every block of the agent, in %s %v", s, n.parent.tag, n.parent.attr)
		}
		if (n.tag == "title" || n.tag == "button" && !n.is(".from-agent") || n.tag == "h1" || n.tag == "summary" ||
			n.tag == "style" || n.tag == "script") && strings.Contains(n.raw(), "~") {
			t.Errorf("%.60q is in a %s", s, n.tag)
		}
	})
}

// The page shows padded arguments unfolded, with their size and a warning above (T3).
func TestPaddedArgumentsAreShownInFull(t *testing.T) {
	h := newServer(t)
	input, _ := json.Marshal(map[string]string{
		"command": "ls" + strings.Repeat("\n", 10_000) + "rm -rf /" + strings.Repeat(" ", 100_000) + "&& reboot",
	})
	a := h.ask(askback.Request{Confirmation: &askback.Confirmation{ToolName: "shell", Input: input}})
	page := h.browser("ana").open("/asks/"+a.ID, http.StatusOK)
	code := page.one(t, ".call .tree .string")
	for _, want := range []string{"rm -rf /", "&& reboot"} {
		if !strings.Contains(code.raw(), want) || !strings.Contains(page.one(t, ".call .exact pre.code").raw(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	for n := code; n != nil; n = n.parent {
		if n.tag == "details" && !has(n, "open") {
			t.Error("the arguments are folded")
		}
	}
	if got := page.one(t, ".call .size").visibleText(); !strings.Contains(got, "10 003 lines") {
		t.Errorf("the size is %q", got)
	}
	notice := page.one(t, ".call .notice-line")
	for _, want := range []string{"9999 empty lines in a row", "100 000 spaces in a row", "a line of 100 0"} {
		if !strings.Contains(notice.visibleText(), want) {
			t.Errorf("%q is not in the warning %q", want, notice.visibleText())
		}
	}
	if all := page.one(t,
		"#detail").visibleText(); strings.Index(all, "empty lines in a row") > strings.Index(all, "Exact arguments") {
		t.Error("the warning is below the arguments")
	}
}
