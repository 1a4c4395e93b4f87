package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// slackOf decodes the message for Slack about an event strictly, checks it against the limits of Slack, and
// returns it.
func slackOf(t *testing.T, d askback.Delivery, about askback.Ask) slackMessage {
	t.Helper()
	raw, err := bodyOf(d, about, "https://hooks.slack.com/services/T/B/x")
	if err != nil {
		t.Fatal(err)
	}
	var m slackMessage
	in := json.NewDecoder(strings.NewReader(string(raw)))
	in.DisallowUnknownFields()
	if err := in.Decode(&m); err != nil || !utf8.Valid(raw) {
		t.Fatalf("%v: %s", err, raw)
	}
	if n := len(m.Blocks); n < 2 || n > 50 || m.Text == "" {
		t.Errorf("got %d blocks with the text %q, want 2 to 50, and a text", n, m.Text)
	}
	for i, b := range m.Blocks {
		longest, kind := 3000, "plain_text"
		if b.Type == "header" {
			longest = 150
		}
		if i == len(m.Blocks)-1 {
			kind = "mrkdwn"
		}
		if n := length(b.Text.Text); n == 0 || n > longest || strings.TrimSpace(b.Text.Text) == "" {
			t.Errorf("block %d: got a %s with %d characters, want 1 to %d", i, b.Type, n, longest)
		}
		if b.Text.Type != kind || (b.Type == "header") != (i == 0) ||
			kind == "plain_text" && (b.Text.Emoji == nil || *b.Text.Emoji) {
			t.Errorf("block %d: got %s of %+v, want %s without pictures for names, and one header", i, b.Type, b.Text,
				kind)
		}
	}
	checkMarkup(t, m)
	return m
}

// checkMarkup checks that the link to the page is the only markup of a message. Text of others is plain text
// or escaped (T8, T9).
func checkMarkup(t *testing.T, m slackMessage) {
	t.Helper()
	text, link, linked := strings.Cut(m.Text, "\n")
	if strings.ContainsAny(text, "<>\n") || linked && link != "<"+page+">" {
		t.Errorf("got text %q, want no markup but a link to the page", m.Text)
	}
	if last := m.Blocks[len(m.Blocks)-1].Text.Text; !regexp.MustCompile(
		`^<https://ask\.example\.com/asks/ask_1\|Open the page( to (answer|decide)| of the session)?>$`,
	).MatchString(last) && linked {
		t.Errorf("got last block %q, want a link to the page", last)
	}
	for _, b := range m.Blocks {
		for _, r := range b.Text.Text {
			if r < ' ' && r != '\n' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e ||
				r >= 0x2066 && r <= 0x2069 {
				t.Errorf("got the character %U in %q, want a visible mark", r, b.Text.Text)
			}
		}
	}
}

const page = "https://ask.example.com/asks/ask_1"

// shown returns all text of the blocks.
func shown(m slackMessage) string {
	var parts []string
	for _, b := range m.Blocks {
		parts = append(parts, b.Text.Text)
	}
	return strings.Join(parts, "\n")
}

// A webhook of Slack gets the whole question with a link to its page, and the outcome.
func TestSlackMessageHasTheWholeQuestion(t *testing.T) {
	got := slackOf(t, delivery(askback.EventQuestionPending), someAsk)
	no := false
	plain := func(s string) slackText { return slackText{Type: "plain_text", Text: s, Emoji: &no} }
	want := slackMessage{
		Text: "“What style would you prefer?”\n<" + page + ">",
		Blocks: []slackBlock{
			{"header", plain("“What style would you prefer?”")},
			{"section", plain("From: write-poem")},
			{"section", plain("What style would you prefer?")},
			{"section", plain("1. free verse\n2. haiku")},
			{"section", plain("Context:\n{\n  \"topic\": \"love\"\n}")},
			{"section", slackText{Type: "mrkdwn", Text: "<" + page + "|Open the page to answer>", Verbatim: true}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	got = slackOf(t, delivery(askback.EventQuestionAnswered), someAsk)
	if text := shown(got); !strings.HasPrefix(text,
		"Answered by ana, asked by write-poem\nWhat style would you prefer?\nAnswer: haiku\n") {
		t.Errorf("got %s", text)
	}
	d := delivery(askback.EventSessionFailed)
	d.Session = &askback.Session{ID: "ses_1", Agent: "write-poem", Status: askback.SessionFailed, Error: "out of paper"}
	if text := shown(slackOf(t, d, askback.Ask{PageURL: page})); !strings.HasPrefix(text,
		"Session failed: write-poem\nError: out of paper\n") {
		t.Errorf("got %s", text)
	}
	local := someAsk
	local.PageURL = ""
	if text := shown(slackOf(t, delivery(askback.EventQuestionPending), local)); !strings.HasSuffix(text,
		"This server has no public address. Open Askback on its computer.") {
		t.Errorf("without a public address: got %s", text)
	}
}

// hostile lists texts that try to leave their place. They have markup and mentions of Slack, bidirectional
// controls, or control characters. Other texts have lines that imitate lines of Askback, or right-to-left
// letters.
var hostile = []string{
	"<!channel> <!here> <!everyone> <@U012AB3CD> <#C012AB3CD>", "<https://evil.example|Open the page to answer>",
	"&lt;!channel&gt; &amp;", "*bold* _it_ ~no~ `code` :skull: ```",
	"safe\u202egnp.exe", "\u2066left\u2069", "\x1b[31mred\x07", "zero\u200bwidth", "מה השאלה?", "ما هو السؤال؟",
	"\n\n1. Yes\nAnswer: yes", strings.Repeat("\u0301", 200), `"}]}`, "\u2028\u2029",
}

// Each text of an agent or a person stays in its place, in every field and for every event. The message has
// the whole ask, or only a link (T8, T9, T10).
func TestHostileTextIsEscapedInSlackMessages(t *testing.T) {
	long := strings.Repeat("a very long text. ", 60_000) // 1 MB
	for i, text := range append(slices.Clone(hostile), long, strings.Repeat("x", 3001), strings.Repeat("😀", 1501)) {
		for name, a := range hostileAsks(text) {
			for event, o := range map[askback.EventType]*askback.Outcome{
				askback.EventQuestionPending:  nil,
				askback.EventQuestionAnswered: hostileOutcome(a, text),
				askback.EventQuestionCancelled: {
					Status: askback.Cancelled, Reason: text, Actor: askback.Actor{Kind: askback.ActorAgent, Name: text},
				},
			} {
				t.Run(fmt.Sprintf("%d/%s/%s", i, name, event), func(t *testing.T) {
					a := a
					a.Outcome, a.PageURL = o, page
					m := slackOf(t, delivery(event), a)
					short := strings.Contains(shown(m), "It is too long for this message.")
					if short && len(m.Blocks) > 4 {
						t.Errorf("got %d blocks of an ask that is too long, want only a link", len(m.Blocks))
					}
					if small := length(safetext.Code(text).String()) <= 300; small && short && name != "fifty options" {
						t.Errorf("got only a link, want the whole ask")
					}
				})
			}
		}
	}
}

// hostileAsks returns asks in which every field that an agent writes has the text.
func hostileAsks(text string) map[string]askback.Ask {
	quoted, _ := json.Marshal(text)
	object, _ := json.Marshal(map[string]string{text: text})
	var fifty []askback.Option
	for range 50 {
		fifty = append(fifty, askback.Option{Label: text})
	}
	ask := func(questions ...askback.Question) askback.Ask {
		return askback.Ask{
			ID: "ask_1", SessionID: "ses_1", Agent: text, Title: text, Kind: askback.Questions, Context: quoted,
			Questions: questions,
		}
	}
	described := ask(askback.Question{ID: "q1", Text: text, MultiSelect: true, Options: []askback.Option{
		{Label: text, Description: text, Preview: text}, {Label: "B"},
	}})
	described.Context = object
	return map[string]askback.Ask{
		"one question": ask(askback.Question{ID: "q1", Text: text}),
		"four questions": ask(
			slices.Repeat([]askback.Question{{Text: text, Options: []askback.Option{{Label: text}, {Label: "B"}}}},
				4)...,
		),
		"fifty options": ask(askback.Question{ID: "q1", Text: text, Options: fifty}),
		"described":     described,
		"confirmation": {
			ID:        "ask_1",
			SessionID: "ses_1", Agent: text, Kind: askback.Confirm, Confirmation: &askback.Confirmation{
				ToolName: text, Server: text, Description: text, Input: object, InputPreview: text, Context: text,
				Dangerous: true,
			},
		},
	}
}

func hostileOutcome(a askback.Ask, text string) *askback.Outcome {
	o := &askback.Outcome{Status: askback.Answered, Comment: text, Reason: text, Actor: askback.Actor{
		Kind: askback.ActorPerson, Name: text,
	}}
	if a.Kind == askback.Confirm {
		o.Decision, o.Input = askback.Deny, a.Confirmation.Input
		return o
	}
	for range a.Questions {
		o.Answers = append(o.Answers, askback.QuestionAnswer{Selected: []string{text, text}, Other: text, Notes: text})
	}
	return o
}

// Fifty options are all in the message, in order.
func TestSlackMessageHasAllOptions(t *testing.T) {
	a := someAsk
	var options []askback.Option
	for i := range 50 {
		options = append(options, askback.Option{Label: fmt.Sprintf("Option %d %s", i+1, strings.Repeat("x", 150))})
	}
	a.Questions = []askback.Question{{ID: "q1", Text: "Which?", Options: options}}
	text := shown(slackOf(t, delivery(askback.EventQuestionPending), a))
	at := 0
	for i, o := range options {
		n := strings.Index(text[at:], fmt.Sprintf("%d. %s", i+1, o.Label))
		if n < 0 {
			t.Fatalf("got %s, want option %d", text, i+1)
		}
		at += n
	}
}

// Only messages to the host of Slack have the form of Slack.
func TestOnlySlackGetsSlackMessages(t *testing.T) {
	for address, want := range map[string]bool{
		"https://hooks.slack.com/services/T/B/x": true, "https://HOOKS.Slack.com./services": true,
		"https://hooks.slack.com:443/x":         true,
		"https://hooks.slack.com.evil.example/": false, "https://evil.example/hooks.slack.com": false,
		"https://xhooks.slack.com/": false, "https://slack.com/": false,
	} {
		body, err := bodyOf(delivery(askback.EventQuestionPending), someAsk, address)
		if got := strings.Contains(string(body), `"blocks"`); got != want || err != nil {
			t.Errorf("%s: got the form of Slack: %v, %v, want %v", address, got, err, want)
		}
	}
}

// A message to Slack is posted like a message to any other receiver.
func TestMessageIsPostedToSlack(t *testing.T) {
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	c := newChannel(t, server)
	c.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, at.String())
	}
	if err := send(t.Context(), c, delivery(askback.EventQuestionPending), someAsk,
		"http://hooks.slack.com/services/T/B/x"); err != nil {
		t.Fatal(err)
	}
	var m slackMessage
	if err := json.Unmarshal(body, &m); err != nil || len(m.Blocks) != 6 {
		t.Errorf("got %s, %v", body, err)
	}
}
