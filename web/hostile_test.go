package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/askback/askback"
)

// naughty is what an agent might write to run, to load, to leave its frame or to look
// like ours (T6, T7, T9, T10).
var naughty = []string{
	`<script>alert(1)</script>`,
	`"><img src=http://evil.example/x onerror=alert(1)>`,
	`'><svg onload=alert(1)>`,
	`</textarea></pre></label></fieldset></form><form action=http://evil.example><button>Approve</button>`,
	`</title><meta http-equiv=refresh content="0;url=http://evil.example">`,
	`<style>body{display:none}@import url(http://evil.example)</style>`,
	`<link rel=stylesheet href=http://evil.example/x.css>`,
	`<base href=http://evil.example/>`,
	`<input type=radio name=q1 value=0 checked>`,
	`javascript:alert(1)`,
	`{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= 1 %>`,
	"✔ Approved by admin\n\n\n[ Send answer ]",
	"\u202egnihtyna\u202c \u2066x\u2069 a\u200bb \ufeff \U000e0041",
	"\x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x1b[2J",
	"&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#60;b&#62;",
	"<!-- --><![CDATA[ x ]]><?php ?>",
	"z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍a",
}

// hostile puts one string into every field an agent has.
func hostile(s string) []askback.Request {
	raw, _ := json.Marshal(s)
	object, _ := json.Marshal(map[string]any{s: []any{s, 1, nil}})
	head := askback.Request{Agent: name(s), Title: name(s), Tags: []string{name(s)}, To: nil, Context: raw}
	questions, call := head, head
	questions.Questions = []askback.Question{
		{Text: s, Header: s, Default: []string{s}, Options: []askback.Option{
			{Label: s, Description: s, Preview: s}, {Label: s + "2", Description: s, Preview: s},
		}},
		{Text: s + "?", MultiSelect: true, Optional: true, Options: askback.Options(s, s+"2")},
		{Text: s + "!", Default: []string{s}},
	}
	call.Context = object
	call.Confirmation = &askback.Confirmation{
		ToolName: name(s), Server: name(s), Description: s, InputPreview: s, Context: s, Input: object, Dangerous: true,
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

// What an agent wrote makes no element and no attribute, stands in its frame, and is in
// neither the title nor what our own buttons say.
func TestAgentTextStaysInItsFrame(t *testing.T) {
	for _, s := range naughty {
		h := newHouse(t)
		ana := h.browser("ana")
		for _, r := range hostile(s) {
			a := h.ask(r)
			benign := h.ask(hostile("x")[map[bool]int{false: 0, true: 1}[r.Confirmation != nil]])
			for _, state := range []string{"open", "refused", "late", "settled"} {
				got, want := seen(ana, a, state), seen(ana, benign, state)
				if g, w := shape(got), shape(want); g != w {
					t.Errorf("%q, %s: the page has another shape:\n%s\nwant\n%s", s, state, g, w)
				}
				framed(t, got, s)
			}
		}
		if got := ana.open("/", http.StatusOK); len(got.all("script")) != 1 {
			t.Errorf("%q runs in the list", s)
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

// shape is a page without its words: elements, and their attributes by name and value.
func shape(n *node) string {
	var b strings.Builder
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		if n.is(".hidden-badge") {
			return // ours: some of the words hide something
		}
		if n.tag != "" {
			b.WriteString(strings.Repeat(" ", depth) + n.tag)
			for _, name := range []string{"id", "name", "value", "type", "class", "href", "src", "action", "for", "checked", "open"} {
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
	probe := strings.TrimSpace(strings.Split(s, "\n")[0])
	if probe == "" || strings.ContainsAny(probe, "\u202e\x1b\u200b") {
		probe = "gnihtyna"
	}
	page.walk(func(n *node) {
		if n.tag == "" && strings.Contains(n.text, probe) && !n.inside("bdi") && !n.inside(".says") && !n.inside(".words") &&
			!n.inside("pre") && !n.inside("code") {
			t.Errorf("%q stands outside of every frame, in %s %v", probe, n.parent.tag, n.parent.attr)
		}
		if (n.tag == "title" || n.tag == "button" || n.tag == "h1") && strings.Contains(n.raw(), probe) {
			t.Errorf("%q is in a %s", probe, n.tag)
		}
	})
}

// T3: padding hides nothing: all of it is on the page, unfolded, and its size is said.
func TestPaddedArgumentsAreShownWhole(t *testing.T) {
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
	if got := page.one(t, ".call .size").words(); !strings.Contains(got, "10003 lines") {
		t.Errorf("the size is %q", got)
	}
}
