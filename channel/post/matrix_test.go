package post_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/post/posttest"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/test/kit/racedetector"
)

func key() ([]byte, error) { return make([]byte, 32), nil }

var pageSigner, replySigner = answerlink.New(key, answerlink.Page), answerlink.New(key, answerlink.Reply)

const page = "https://ask.example.com/asks/ask_01k6m3v7q8r9s0t1v2w3x4y5z6"

// newReceiver starts a fake service and returns the settings of a receiver there.
func newReceiver(t testing.TB, template post.Template) (post.Receiver, *posttest.Service) {
	t.Helper()
	s := posttest.NewService(t, string(template))
	return receiverAt(t, template, s.URL), s
}

func receiverAt(t testing.TB, template post.Template, address string) post.Receiver {
	t.Helper()
	r := post.Receiver{Template: template, URL: address, Allow: allow(t, address)}
	switch template {
	case post.Pushover:
		r.Token, r.User = strings.Repeat("a", 30), strings.Repeat("u", 30)
	case post.Gotify, post.HomeAssistant:
		r.Token = "a-token"
	}
	return r
}

// allow returns the entry for a service on this machine.
func allow(t testing.TB, address string) []egress.Allowed {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	a, err := egress.ParseAllowed(netip.MustParseAddrPort(u.Host).String())
	if err != nil {
		t.Fatal(err)
	}
	return []egress.Allowed{a}
}

func newChannel(t *testing.T, r post.Receiver) *post.Channel {
	t.Helper()
	c, err := post.New(post.Options{
		Receivers: map[string]post.Receiver{"phone": r}, Pages: pageSigner, Replies: replySigner, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func question(text string, labels ...string) askback.Question {
	return askback.Question{ID: "q1", Text: text, Options: askback.Options(labels...)}
}

func ask(questions ...askback.Question) askback.Ask {
	return askback.Ask{
		ID: "ask_01k6m3v7q8r9s0t1v2w3x4y5z6", SessionID: "ses_1", Agent: "codex · shop", Owner: "codex · shop",
		Kind: askback.Questions, Questions: questions, Status: askback.Pending,
		CreatedAt: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC), PageURL: page,
	}
}

func confirmation(tool, input string) askback.Ask {
	a := ask()
	a.Kind, a.Confirmation = askback.Confirm, &askback.Confirmation{
		ToolName: tool, Input: json.RawMessage(input), Tier: "confirm", Digest: "sha256:00",
	}
	return a
}

const hostile = "<!channel> <@U123> <@&42> @everyone @here @all `code` ```\nfence\n``` **bold** __under__ ~~gone~~ " +
	"||spoiler|| # head\n> quote\n" +
	"- item\n[click](https://evil.example/x) ![img](https://evil.example/p.png) <b>html</b> <img " +
	"src=https://evil.example/i> &lt;entity&gt; :smile: #tag ~channel " +
	"{{DATE(2026-01-01T00:00:00Z, SHORT)}} \\n \\_ ${jndi} <t:0:R> <#5> </cmd:1> https://evil.example/track " +
	"www.evil.example\n" +
	"Answered by ana: yes\nFrom Askback\x1b[2J\u202etxt.exe\u2066\u200b"

// matrix returns the asks of F3 that every template must carry as a whole or as a link. A small ask fits
// every template that does not change its text.
func matrix() map[string]askback.Ask {
	multi := question("Which checks should run?", "lint", "unit", "race", "fuzz")
	multi.MultiSelect, multi.Optional = true, true
	other := question("Which name?", "alpha", "beta")
	other.Default = []string{"alpha"}
	closed := question("Deploy now?", "Yes", "No")
	closed.NoOther, closed.Header = true, "Deploy"
	previews := question("Which layout?")
	for i := range 2 {
		previews.Options = append(previews.Options, askback.Option{
			Label: fmt.Sprint("Layout ", i), Description: fmt.Sprint("the ", i, " of two\nlines"),
			Preview: fmt.Sprintf("+---+\n| %d |\n+---+", i),
		})
	}
	var labels []string
	for i := range 50 {
		labels = append(labels, fmt.Sprintf("option number %d", i))
	}
	contextual := ask(question("Go on?", "Yes", "No"))
	contextual.Context, contextual.Title = json.RawMessage(`"The tests took 3 minutes."`), "Release 1.4"
	contextual.Deadline = contextual.CreatedAt.Add(time.Hour)
	object := ask(question("Go on?", "Yes", "No"))
	object.Context = json.RawMessage(`{"branch":"main","commits":[1,2]}`)
	dangerous := confirmation("shell", `{"command":"rm -r build"}`)
	dangerous.Confirmation.Dangerous = true
	long := ask(question(strings.Repeat("a long question ", 1<<16), "Yes", "No"))
	agent := ask(question("Go on?", "Yes", "No"))
	agent.Agent, agent.Owner = strings.Repeat("label ", 33), "laptop"
	hostileLabel := question(hostile, "**yes**\n[1](https://evil.example)", "<@U1>")
	hostileLabel.Header, hostileLabel.Options[0].Description = "@here", hostile
	spoofed := ask(hostileLabel)
	spoofed.Agent, spoofed.Title = "**[a](https://evil.example)**", "@everyone <b>"
	four := ask(question("One?", "a", "b"), question("Two?", "c", "d"), question("Three?", "e", "f"),
		question("Four?", "g", "h"))
	return map[string]askback.Ask{
		"single": ask(closed), "multi": ask(multi), "other": ask(other), "previews": ask(previews),
		"free text": ask(question("Which name?")), "four questions": four,
		"50 options": ask(question("Which one?", labels...)), "1 MB": long, "context": contextual,
		"context object": object, "right to left": ask(question("איזה מסד נתונים?\nمرحبا بالعالم", "כן", "لا")),
		"hostile": spoofed, "long label": agent,
		"approval": confirmation("deploy", `{"target":"staging","force":false}`), "dangerous": dangerous,
		"hostile approval": confirmation("deploy**",
			`{"a":"`+strings.Repeat("[x](https://evil.example) @here ", 3)+`"}`),
		"exactly at a limit":  ask(question(strings.Repeat("x", 3800), "Yes", "No")),
		"quotes and newlines": ask(question(strings.Repeat("\"\n", 1500), "Yes", "No")),
	}
}

// parts returns the texts of an ask that a whole message must show, as lines.
func parts(a askback.Ask) (lines []string) {
	add := func(texts ...string) {
		for _, text := range texts {
			for l := range strings.SplitSeq(safetext.Block(text).String(), "\n") {
				lines = append(lines, strings.TrimSpace(l))
			}
		}
	}
	add(a.Title, a.Agent)
	var context string
	if json.Unmarshal(a.Context, &context) == nil {
		add(context)
	} else if len(a.Context) > 0 {
		add(strings.Trim(string(a.Context), "{}")[:8])
	}
	for _, q := range a.Questions {
		add(q.Text, q.Header)
		add(q.Default...)
		for _, o := range q.Options {
			add(safetext.Line(o.Label).String(), o.Description, o.Preview)
		}
	}
	if c := a.Confirmation; c != nil {
		add(c.ToolName)
		var input map[string]any
		_ = json.Unmarshal(c.Input, &input)
		for k, v := range input {
			add(k, fmt.Sprint(v))
		}
	}
	return lines
}

// Each template carries each ask as a whole. If an ask does not fit, the message has only the name of the
// agent and the link. The service accepts the message unchanged and acts on none of its text (F3, T7, T9,
// T10).
func TestEachAskIsSentWholeOrAsALink(t *testing.T) {
	racedetector.Omit(t)
	for _, template := range post.Templates {
		t.Run(string(template), func(t *testing.T) {
			receiver, service := newReceiver(t, template)
			channel := newChannel(t, receiver)
			wholes := 0
			for name, a := range matrix() {
				before := len(service.Messages())
				if err := send(t, channel, askback.Delivery{ID: "dlv_1", Event: askback.EventQuestionPending}, a,
					"phone"); err != nil {
					t.Errorf("%s: %v; the service: %v", name, err, service.Rejected())
					continue
				}
				m := service.Messages()[before]
				request, err := post.Render(receiver, askback.EventQuestionPending, a, nil)
				if err != nil {
					t.Fatal(err)
				}
				checkHarmless(t, name, m)
				if m.Link != page && !strings.Contains(m.Text, page) {
					t.Errorf("%s: the message has no link: %+v", name, m)
				}
				if request.Whole {
					wholes++
					checkWhole(t, name, m, a)
				} else {
					checkShort(t, name, m, a)
				}
			}
			if wholes < 10 {
				t.Errorf("only %d asks were sent whole", wholes)
			}
		})
	}
}

func checkHarmless(t *testing.T, name string, m posttest.Message) {
	t.Helper()
	if len(m.Damage)+len(m.Markup) > 0 {
		t.Errorf("%s: damaged by %q, acts on %q:\n%s\n%s", name, m.Damage, m.Markup, m.Title, m.Text)
	}
	for _, link := range m.Links {
		if link != page {
			t.Errorf("%s: %q is a link", name, link)
		}
	}
	for l := range strings.SplitSeq(m.Text, "\n") {
		if strings.HasPrefix(l, "Answered by") || strings.HasPrefix(l, "From Askback") {
			t.Errorf("%s: the line %q imitates Askback", name, l)
		}
	}
	if strings.ContainsAny(m.Title+m.Text, "\x1b\u202e\u2066") {
		t.Errorf("%s: the message has control characters", name)
	}
}

func checkWhole(t *testing.T, name string, m posttest.Message, a askback.Ask) {
	t.Helper()
	for _, part := range parts(a) {
		if !strings.Contains(m.Title+"\n"+m.Text, part) {
			t.Errorf("%s: the message lacks %q:\n%s", name, part, m.Text)
		}
	}
	if strings.Contains(m.Text, "does not fit") {
		t.Errorf("%s: a whole message says that it is not", name)
	}
}

func checkShort(t *testing.T, name string, m posttest.Message, a askback.Ask) {
	t.Helper()
	if !strings.Contains(m.Text, "The whole text does not fit into this message.") {
		t.Errorf("%s: a short message does not say so:\n%s", name, m.Text)
	}
	for _, q := range a.Questions {
		if beginning := q.Text[:min(len(q.Text), 8)]; strings.Contains(m.Text, beginning) {
			t.Errorf("%s: a short message has a part of the question:\n%s", name, m.Text)
		}
	}
	if len(m.Buttons) > 1 || len(m.Buttons) == 1 && !m.Buttons[0].View {
		t.Errorf("%s: a short message has buttons: %+v", name, m.Buttons)
	}
}

// The map want lists, for each template, the cases that do not fit into a message.
func TestAskThatDoesNotFitHasOnlyTheLink(t *testing.T) {
	racedetector.Omit(t)
	want := map[post.Template][]string{
		post.Ntfy:          {"1 MB", "quotes and newlines"},
		post.Gotify:        {"1 MB"},
		post.Teams:         {"1 MB", "quotes and newlines"},
		post.Mattermost:    {"1 MB"},
		post.Discord:       {"1 MB", "exactly at a limit", "quotes and newlines"},
		post.Pushover:      {"1 MB", "50 options", "exactly at a limit", "hostile", "quotes and newlines"},
		post.HomeAssistant: {"1 MB", "exactly at a limit", "hostile", "quotes and newlines"},
	}
	for _, template := range post.Templates {
		receiver := receiverAt(t, template, "http://127.0.0.1:1/questions")
		for name, a := range matrix() {
			request, err := post.Render(receiver, askback.EventQuestionPending, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			short := false
			for _, s := range want[template] {
				short = short || s == name
			}
			if request.Whole == short {
				t.Errorf("%s, %s: got whole: %v, want %v", template, name, request.Whole, !short)
			}
		}
	}
}

// At each size around the limit, a service accepts the message unchanged. So the limits of the channel are
// not larger than the limits of the service, for any kind of text.
func TestAsksAroundTheSizeLimitAreAccepted(t *testing.T) {
	racedetector.Omit(t)
	for _, template := range post.Templates {
		receiver, service := newReceiver(t, template)
		channel := newChannel(t, receiver)
		for _, unit := range []string{"x", "\"", "é", "😀", "*", "a\n"} {
			of := func(n int) askback.Ask { return ask(question("Q"+strings.Repeat(unit, n)+".", "Yes", "No")) }
			limit := sort.Search(30_000, func(n int) bool {
				request, err := post.Render(receiver, askback.EventQuestionPending, of(n), nil)
				if err != nil {
					t.Fatal(err)
				}
				return !request.Whole
			})
			if limit < 100 || limit == 30_000 {
				t.Errorf("%s: texts of %q fit up to %d times", template, unit, limit)
			}
			for n := limit - 2; n <= limit+1; n++ {
				before := len(service.Messages())
				if err := send(t, channel, pendingDelivery(), of(n), "phone"); err != nil {
					t.Errorf("%s, %d of %q, limit %d: %v", template, n, unit, limit, service.Rejected())
					continue
				}
				checkHarmless(t, fmt.Sprintf("%s, %d of %q, limit %d", template, n, unit, limit),
					service.Messages()[before])
			}
		}
	}
}

// The longest titles fit, and the longest labels of agents are in the text.
func TestTitlesFit(t *testing.T) {
	for _, template := range post.Templates {
		receiver, service := newReceiver(t, template)
		a := matrix()["dangerous"]
		a.Agent = strings.Repeat("😀", 40)
		a.Owner = a.Agent
		call := *a.Confirmation
		call.Input, a.Confirmation = json.RawMessage(`{"command":"`+strings.Repeat("😀", 200)+`"}`), &call
		if err := send(t, newChannel(t, receiver), pendingDelivery(), a, "phone"); err != nil {
			t.Fatal(err)
		}
		m := service.Messages()[0]
		if !strings.HasPrefix(m.Title, "Dangerous: approve “") || !strings.HasSuffix(m.Title, "😀 …”?") {
			t.Errorf("%s: got title %q", template, m.Title)
		}
		if !strings.Contains(m.Text, "From "+a.Agent) {
			t.Errorf("%s: got text %q", template, m.Text)
		}
	}
}

// Home Assistant gets no text that its app for Android would change.
func TestHomeAssistantGetsNoMarkup(t *testing.T) {
	receiver, service := newReceiver(t, post.HomeAssistant)
	channel := newChannel(t, receiver)
	for _, text := range []string{"a < b", "a & b", "&lt;", "<b>", `C:\new`, ":smile:", "10:30", "a: b"} {
		before := len(service.Messages())
		if err := send(t, channel, pendingDelivery(), ask(question(text+"?", "Yes", "No")), "phone"); err != nil {
			t.Fatal(err)
		}
		m := service.Messages()[before]
		if !strings.Contains(m.Text, text) && !strings.Contains(m.Text, "does not fit") {
			t.Errorf("%q arrived as %q", text, m.Text)
		}
	}
}
