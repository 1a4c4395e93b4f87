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
)

// hostile puts one string into every field an agent has.
func hostile(s string) []askback.Request {
	line := "~" + s
	s = "~\n\n" + s + "\n\n~" // a mark begins a line; and it is no word of ours
	raw, _ := json.Marshal(s)
	object, _ := json.Marshal(map[string]any{s: []any{s, 1, nil}})
	head := askback.Request{
		Agent: name(line), Title: name(line), Tags: []string{name(line)}, Context: raw,
		Warnings: []askback.Problem{{Pointer: name(line), Detail: front(s, 2_000), Fix: "x"}},
	}
	questions, call := head, head
	questions.Questions = []askback.Question{
		{Text: s, Header: front(line, 12), Default: []string{front(line, 190)}, Options: []askback.Option{
			{Label: front(line, 190), Description: front(s, 2_000), Preview: s}, {Label: front(line, 190) + " 2", Description: front(s, 2_000), Preview: s},
		}},
		{Text: s + "?", MultiSelect: true, Optional: true, Options: askback.Options(front(line, 190), front(line, 190)+" 2")},
		{Text: s + "!", Default: []string{s}},
	}
	call.Context = object
	call.Confirmation = &askback.Confirmation{
		ToolName: name(line), Server: name(line), Description: front(s, 2_000), InputPreview: s, Context: s, Input: object, Dangerous: true,
	}
	return []askback.Request{questions, call}
}

// name is as much of s as a name may be: short, and without control characters.
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

// What an agent wrote makes no element and no attribute, stands in its frame, and is in
// neither the title nor what our own buttons say.
func TestAgentTextStaysInItsFrame(t *testing.T) {
	for _, s := range sampled(16) {
		h := newHouse(t)
		ana := h.browser("ana")
		for _, r := range hostile(s) {
			a := h.ask(r)
			benign := h.ask(hostile("x")[map[bool]int{false: 0, true: 1}[r.Confirmation != nil]])
			for _, state := range []string{"open", "refused", "late", "settled"} {
				got, want := seen(ana, a, state), seen(ana, benign, state)
				if d := cmp.Diff(shape(want), shape(got)); d != "" {
					t.Errorf("%.80q, %s: the page has another shape: %s", s, state, d)
				}
				framed(t, got, s)
			}
		}
		for _, path := range []string{"/", "/grants"} {
			framed(t, ana.open(path, http.StatusOK), s)
		}
	}
}

// seen is the page of an ask in one of the states it can be seen in.
func seen(b browser, a askback.Ask, state string) *node {
	b.t.Helper()
	ctx := context.Background()
	filled := url.Values{"action": {"answer"}, "q1": {"1"}, "q3-other": {"fine"}}
	if a.Confirmation != nil {
		filled = url.Values{"action": {"deny"}}
	}
	switch state {
	case "refused":
		if a.Confirmation != nil {
			filled.Set("reason", strings.Repeat("x", askback.MaxText+1))
		}
		filled.Del("q3-other")
		return b.send("/asks/"+a.ID, filled, http.StatusUnprocessableEntity)
	case "late":
		answer := askback.Decide(askback.Deny, "")
		if a.Confirmation == nil {
			answer = askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{a.Questions[0].Options[0].Label}}, {ID: "q3", Other: "x"}}}
		}
		if _, err := b.house.seat(askback.Responder, "ben").Answer(ctx, a.ID, answer); err != nil {
			b.t.Fatal(err)
		}
		return b.send("/asks/"+a.ID, filled, http.StatusConflict)
	}
	return b.open("/asks/"+a.ID, http.StatusOK)
}

// shape is a page without the agent's words: elements, and their attributes by name and
// value. What stands inside a frame is the agent's.
func shape(n *node) string {
	var b strings.Builder
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		if n.is(".hidden-badge") || n.is(".notice-line") {
			return // ours: some of the words hide something
		}
		if n.is(".says") || n.is(".prose") || n.is(".preview") {
			b.WriteString(strings.Repeat(" ", depth) + "(frame)\n")
			return
		}
		if n.tag != "" {
			b.WriteString(strings.Repeat(" ", depth) + n.tag)
			for _, name := range []string{"id", "name", "value", "type", "class", "href", "src", "action", "for", "checked"} {
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

// framed holds that agent text stands only where our markup says whose it is.
func framed(t *testing.T, page *node, s string) {
	t.Helper()
	page.walk(func(n *node) {
		ours := n.tag == "" && !n.inside("bdi") && !n.inside(".prose") && !n.inside(".words") && !n.inside("pre") && !n.inside("code") && !n.inside("textarea")
		if ours && strings.Contains(n.text, "~") {
			t.Errorf("%.60q stands outside of every frame, in %s %v", s, n.parent.tag, n.parent.attr)
		}
		if (n.tag == "title" || n.tag == "button" || n.tag == "h1" || n.tag == "summary" || n.tag == "style" || n.tag == "script") && strings.Contains(n.raw(), "~") {
			t.Errorf("%.60q is in a %s", s, n.tag)
		}
	})
}

// T3: padding hides nothing: all of it is on the page, unfolded, and its size is said.
func TestPaddedArgumentsAreShownInFull(t *testing.T) {
	h := newHouse(t)
	input, _ := json.Marshal(map[string]string{"command": "ls" + strings.Repeat("\n", 10_000) + "rm -rf /" + strings.Repeat(" ", 100_000) + "&& reboot"})
	a := h.ask(askback.Request{Confirmation: &askback.Confirmation{ToolName: "shell", Input: input}})
	page := h.browser("ana").open("/asks/"+a.ID, http.StatusOK)
	code := page.one(t, ".call pre.code")
	for _, want := range []string{"rm -rf /", "&& reboot"} {
		if !strings.Contains(code.raw(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if code.inside("details") {
		t.Error("the arguments are folded")
	}
	if got := page.one(t, ".call .size").words(); !strings.Contains(got, "10 003 lines") {
		t.Errorf("the size is %q", got)
	}
	notice := page.one(t, ".call .notice-line")
	for _, want := range []string{"9999 empty lines in a row", "100 000 spaces in a row", "a line of 100 0"} {
		if !strings.Contains(notice.words(), want) {
			t.Errorf("%q is not in the warning %q", want, notice.words())
		}
	}
	if all := page.one(t, "main").words(); strings.Index(all, "empty lines in a row") > strings.Index(all, "Exact arguments") {
		t.Error("the warning stands below the arguments")
	}
}
