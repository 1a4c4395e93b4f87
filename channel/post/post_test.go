package post_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/post/posttest"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/test/kit/golden"
	"github.com/askback/askback/test/kit/racedetector"
)

func pendingDelivery() askback.Delivery {
	return askback.Delivery{ID: "dlv_1", Event: askback.EventQuestionPending}
}

func answered(a askback.Ask, by, label string) askback.Ask {
	a.Status = askback.Answered
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: by},
		Channel: askback.ChannelWeb,
		At:      a.CreatedAt.Add(time.Minute),
	}
	if a.Confirmation != nil {
		a.Outcome.Decision = askback.Decision(label)
	} else {
		a.Outcome.Answers = []askback.QuestionAnswer{
			{ID: "q1", Question: a.Questions[0].Text, Selected: []string{label}},
		}
	}
	return a
}

// buttonsOf returns a button for each choice.
func buttonsOf(_ string, a askback.Ask) (buttons []notice.Button) {
	for i, c := range notice.Choices(a, post.ButtonLimits) {
		buttons = append(buttons,
			notice.Button{Label: c.Label, URL: "https://ntfy.example.com/replies", Body: fmt.Sprint("token ", i)})
	}
	return buttons
}

// The requests have the forms that the services document.
func TestRequestsHaveTheDocumentedForm(t *testing.T) {
	var out strings.Builder
	a := matrix()["single"]
	for _, template := range post.Templates {
		r := post.Receiver{Template: template, Token: "TOKEN", URL: map[post.Template]string{
			post.Ntfy: "https://ntfy.sh/questions", post.Gotify: "https://gotify.example.com/",
			post.Discord:       "https://discord.com/api/webhooks/1/SECRET",
			post.Teams:         "https://prod.example.com/workflows/SECRET",
			post.Mattermost:    "https://chat.example.com/hooks/SECRET",
			post.HomeAssistant: "https://home.example.com:8123/api/services/notify/mobile_app_phone",
		}[template]}
		if template == post.Pushover {
			r.User = "USER"
		}
		for _, event := range []askback.EventType{askback.EventQuestionPending, askback.EventQuestionAnswered} {
			about := a
			if event.Settles() {
				about = answered(a, "ana", "Yes")
			}
			request, err := post.Render(r, event, about, buttonsOf("", a))
			if err != nil {
				t.Fatal(err)
			}
			var body any
			if err := json.Unmarshal(request.Body, &body); err != nil {
				t.Fatal(err)
			}
			indented, _ := json.MarshalIndent(body, "", "  ")
			fmt.Fprintf(&out, "== %s, %s\nPOST %s\n", template, event, request.URL)
			for _, name := range slices.Sorted(maps.Keys(request.Header)) {
				fmt.Fprintf(&out, "%s: %s\n", name, request.Header[name])
			}
			fmt.Fprintf(&out, "\n%s\n\n", indented)
		}
	}
	golden.Check(t, "testdata/requests.txt", out.String())
}

// Ntfy shows buttons for a whole ask with few choices. Dangerous calls, questions with several answers, and
// messages that do not fit have only the link (F3). With a reply topic, a button publishes to the topic.
// Without a reply topic, it sends its choice to the server.
func TestOnlyWholeAsksWithFewChoicesHaveButtons(t *testing.T) {
	for _, topic := range []string{"", "replies"} {
		receiver, service := newReceiver(t, post.Ntfy)
		receiver.ReplyTopic = topic
		channel := newChannel(t, receiver)
		for name, want := range map[string]string{
			"single": "Yes No Open", "other": "alpha beta Open", "approval": "Approve Deny Open",
			"right to left": "כן لا Open", "dangerous": "Open", "multi": "Open", "four questions": "Open",
			"50 options": "Open", "free text": "Open", "1 MB": "Open", "hostile": "Open",
			"quotes and newlines": "Open",
		} {
			before := len(service.Messages())
			d := pendingDelivery()
			d.Person = "ana"
			if err := send(t, channel, d, matrix()[name], "phone"); err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, b := range service.Messages()[before].Buttons {
				got = append(got, b.Label)
				checkButton(t, b, i+1, receiver)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: got buttons %q, want %q", name, got, want)
			}
		}
	}
}

// checkButton checks that a button answers with a choice as ana, and that the link of a message opens only
// her page.
func checkButton(t *testing.T, b posttest.Button, choice int, r post.Receiver) {
	t.Helper()
	signer, token, isPage := pageSigner, strings.TrimPrefix(b.URL, "https://ask.example.com/a/"), true
	switch {
	case b.View:
		choice = 0
	case r.ReplyTopic != "":
		signer, token, isPage = replySigner, b.Body, false
		if b.URL != r.Origin()+"/"+r.ReplyTopic {
			t.Errorf("the button sends to %s", b.URL)
		}
	case b.Body != fmt.Sprint("choice=", choice):
		t.Errorf("the button sends %q", b.Body)
	}
	want := answerlink.Link{AskID: matrix()["single"].ID, Person: "ana", Channel: askback.ChannelPush, Choice: choice}
	if got, err := signer.Verify(token); err != nil || got != want {
		t.Errorf("%s, page %v: got %+v, %v, want %+v", b.Label, isPage, got, err, want)
	}
}

// A room of a chat gets no link that answers without a log-in. A receiver that several people read gets
// neither such a link nor buttons.
func TestOnlyPersonalMessagesHaveSignedLinks(t *testing.T) {
	for _, template := range post.Templates {
		for _, person := range []string{"ana", ""} {
			receiver, service := newReceiver(t, template)
			d := pendingDelivery()
			d.Person = person
			if err := send(t, newChannel(t, receiver), d, matrix()["single"], "phone"); err != nil {
				t.Fatal(err)
			}
			m := service.Messages()[0]
			isRoom := template == post.Discord || template == post.Teams || template == post.Mattermost
			want := person != "" && !isRoom
			if got := strings.Contains(m.Link+m.Text, "https://ask.example.com/a/"); got != want {
				t.Errorf("%s, %q: got a signed link: %v, want %v: %+v", template, person, got, want, m)
			}
			if !want && !strings.Contains(m.Link+m.Text, page) {
				t.Errorf("%s, %q: no link: %+v", template, person, m)
			}
		}
	}
}

// Options that look the same, long options, and calls that are hard to read have no buttons.
func TestChoicesAreReadableAndDistinct(t *testing.T) {
	duplicates := confirmation("deploy", `{"target":"a","Target":"b"}`)
	several := question("Go?", "Yes", "No")
	several.MultiSelect = true
	for name, a := range map[string]askback.Ask{
		"same label":           ask(question("Go?", "a b", "a\tb")),
		"four options":         ask(question("Go?", "a", "b", "c", "d")),
		"several selections":   ask(several),
		"invisible characters": ask(question("Go?", "yes", "no\u200b")),
		"long label":           ask(question("Go?", "yes", strings.Repeat("n", 25))),
		"warnings":             duplicates,
	} {
		if got := notice.Choices(a, post.ButtonLimits); got != nil {
			t.Errorf("%s: got %v, want none", name, got)
		}
	}
}

// After an ask was settled through another channel, ntfy and Home Assistant replace the message and remove
// the buttons. The other services get a quiet notice. The message names the person (E10).
func TestNoticeReplacesTheQuestion(t *testing.T) {
	for _, template := range post.Templates {
		receiver, service := newReceiver(t, template)
		channel := newChannel(t, receiver)
		a := matrix()["single"]
		if err := send(t, channel, pendingDelivery(), a, "phone"); err != nil {
			t.Fatal(err)
		}
		if err := send(t, channel, askback.Delivery{Event: askback.EventQuestionAnswered}, answered(a, "ana", "Yes"),
			"phone"); err != nil {
			t.Fatal(err)
		}
		shown := service.Shown()
		last := shown[len(shown)-1]
		if want := template == post.Ntfy || template == post.HomeAssistant; want != (len(shown) == 1) {
			t.Errorf("%s: %d messages are shown", template, len(shown))
		}
		if len(last.Buttons) > 0 || !strings.Contains(last.Text, "answered by ana") ||
			!strings.Contains(last.Text, "Answer: Yes") {
			t.Errorf("%s: got notice %+v", template, last)
		}
		// services that cannot replace messages
		if !last.Quiet && template != post.Teams && template != post.Mattermost && template != post.HomeAssistant {
			t.Errorf("%s: the notice makes a sound", template)
		}
	}
}

// A person whose question was reassigned gets only a notice, which replaces the question. The person gets
// neither the question again nor buttons.
func TestReassignedQuestionIsNotShownAgain(t *testing.T) {
	for _, template := range post.Templates {
		receiver, service := newReceiver(t, template)
		channel := newChannel(t, receiver)
		a := matrix()["single"]
		if err := send(t, channel, pendingDelivery(), a, "phone"); err != nil {
			t.Fatal(err)
		}
		a.To = []string{"someone else"}
		if err := send(t, channel, askback.Delivery{Event: askback.EventQuestionReassigned, Person: "ana"}, a,
			"phone"); err != nil {
			t.Fatal(err)
		}
		shown := service.Shown()
		last := shown[len(shown)-1]
		if len(last.Buttons) > 0 || !strings.Contains(last.Text, "passed on to other people") ||
			strings.Contains(last.Text, a.Questions[0].Text) {
			t.Errorf("%s: got %+v", template, last)
		}
	}
}

// Outcomes of every kind have a notice that fits, even with hostile text of people and agents.
func TestNoticesFit(t *testing.T) {
	racedetector.Omit(t)
	for _, template := range post.Templates {
		receiver, service := newReceiver(t, template)
		channel := newChannel(t, receiver)
		for name, a := range matrix() {
			if a.Confirmation != nil {
				a = answered(a, hostile[:100], string(askback.Deny))
			} else {
				a = answered(a, hostile[:100], hostile)
			}
			a.Outcome.Reason = hostile
			before := len(service.Messages())
			if err := send(t, channel, askback.Delivery{Event: askback.EventQuestionAnswered}, a, "phone"); err != nil {
				t.Errorf("%s, %s: %v, %v", template, name, err, service.Rejected())
				continue
			}
			checkHarmless(t, string(template)+", "+name, service.Messages()[before])
		}
	}
}

// Without a public address, messages mention the command askback inbox. No message has a loopback address.
func TestMessageWithoutAPublicAddressMentionsAskbackInbox(t *testing.T) {
	racedetector.Omit(t)
	for _, template := range post.Templates {
		receiver, service := newReceiver(t, template)
		channel := newChannel(t, receiver)
		for name, a := range matrix() {
			a.PageURL = []string{
				"", "http://127.0.0.1:7575/asks/ask_1", "http://localhost:7575/asks/ask_1",
			}[len(name)%3]
			before := len(service.Messages())
			if err := send(t, channel, pendingDelivery(), a, "phone"); err != nil {
				t.Fatalf("%s, %s: %v", template, name, err)
			}
			m := service.Messages()[before]
			if m.Link != "" || !strings.Contains(m.Text, "askback inbox") {
				t.Errorf("%s, %s: got %+v", template, name, m)
			}
		}
	}
}

// The status of a reply determines whether the message is sent again. A rejected message is not sent again.
// Errors contain no text of the service and no secret (T22).
func TestStatusOfTheReplyDeterminesTheRetry(t *testing.T) {
	receiver, service := newReceiver(t, post.Gotify)
	channel := newChannel(t, receiver)
	for status, want := range map[int]struct {
		final bool
		text  string
	}{
		400: {true, "the reply was 400 Bad Request"}, 413: {true, "413"}, 410: {true, "410"}, 422: {true, "422"},
		401: {false, "check the token"}, 403: {false, "check the token"}, 404: {false, "404"}, 429: {false, "429"},
		500: {false, "500"}, 503: {false, "503"},
	} {
		service.Fail(status)
		err := send(t, channel, pendingDelivery(), matrix()["single"], "phone")
		var sending *askback.SendError
		if !errors.As(err, &sending) || sending.Final != want.final || !strings.Contains(err.Error(), want.text) ||
			sending.RetryAfter != 7*time.Second {
			t.Errorf("%d: got %v (%+v), want final: %v, %q", status, err, sending, want.final, want.text)
		}
		if err != nil && (strings.Contains(err.Error(), "not well") || strings.Contains(err.Error(), receiver.Token)) {
			t.Errorf("%d: the error %q has text of the service or a secret", status, err)
		}
	}
	if len(service.Messages()) > 0 {
		t.Error("a message arrived")
	}
	if err := send(t, channel, pendingDelivery(), matrix()["single"], "other"); err == nil ||
		!strings.Contains(err.Error(), "channels.post") {
		t.Errorf("another receiver: got %v", err)
	}
}

// A receiver on a private address gets no message unless the settings allow the address (T16).
func TestPrivateReceiverNeedsAllow(t *testing.T) {
	receiver, service := newReceiver(t, post.Ntfy)
	receiver.Allow = nil
	if err := send(t, newChannel(t, receiver), pendingDelivery(), matrix()["single"],
		"phone"); !errors.Is(err, egress.ErrAddress) {
		t.Errorf("got %v, want ErrAddress", err)
	}
	if len(service.Messages()) > 0 {
		t.Error("a message arrived")
	}
}

// The test message reaches every service, with the token of the receiver.
func TestTestMessageReachesEveryService(t *testing.T) {
	for _, template := range post.Templates {
		receiver, service := newReceiver(t, template)
		if err := newChannel(t, receiver).SendTest(t.Context(), "phone"); err != nil {
			t.Fatal(err)
		}
		m := service.Messages()[0]
		if m.Title != "Test from Askback" || m.Password != receiver.Token {
			t.Errorf("%s: got %+v", template, m)
		}
	}
}

// Ntfy with access control gets the token of the receiver.
func TestNtfyReceivesTheToken(t *testing.T) {
	service := posttest.NewNtfy(t)
	service.Token = "tk_secret"
	receiver := receiverAt(t, post.Ntfy, service.URL)
	err := send(t, newChannel(t, receiver), pendingDelivery(), matrix()["single"], "phone")
	if err == nil || !strings.Contains(err.Error(), http.StatusText(http.StatusUnauthorized)) {
		t.Errorf("without a token: got %v", err)
	}
	receiver.Token = service.Token
	if err := send(t, newChannel(t, receiver), pendingDelivery(), matrix()["single"], "phone"); err != nil {
		t.Error(err)
	}
}

func TestInvalidReceiversAreRejected(t *testing.T) {
	for _, c := range []struct {
		in   post.Receiver
		want string // name of the wrong setting
	}{
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/a-topic"}, ""},
		{post.Receiver{Template: "ntfy", URL: "http://192.168.1.5:8080/a_topic/", Token: "tk_1"}, ""},
		{post.Receiver{Template: "pushover", Token: "t", User: "u"}, ""},
		{post.Receiver{Template: "home-assistant", URL: "https://h.example/api/webhook/x"}, ""},
		{post.Receiver{}, "template"},
		{post.Receiver{Template: "telegram", URL: "https://x.example"}, "template"},
		{post.Receiver{Template: "ntfy"}, "url"},
		{post.Receiver{Template: "ntfy", URL: "ntfy.sh/topic"}, "url"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh"}, "url"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/two/parts"}, "url"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/topic?auth=x"}, "url"},
		{post.Receiver{Template: "ntfy", URL: "https://u:p@ntfy.sh/topic"}, "url"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/t", User: "u"}, "user"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/t", Token: "a\nb"}, "token"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/t", ReplyTopic: "replies", ReplyToken: "tk_2"}, ""},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/t", ReplyTopic: "t"}, "reply_topic"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/t", ReplyTopic: "a/b"}, "reply_topic"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/t", ReplyToken: "tk_2"}, "reply_token"},
		{post.Receiver{Template: "ntfy", URL: "https://ntfy.sh/t", ReplyTopic: "r", ReplyToken: "a b"}, "reply_token"},
		{post.Receiver{Template: "gotify", URL: "https://g.example", Token: "t", ReplyTopic: "r"}, "reply_topic"},
		{post.Receiver{Template: "pushover", Token: "t"}, "user"},
		{post.Receiver{Template: "pushover", User: "u"}, "token"},
		{post.Receiver{Template: "gotify", URL: "https://g.example"}, "token"},
		{post.Receiver{Template: "discord", URL: "https://discord.com/channels/1"}, "url"},
		{post.Receiver{Template: "discord", URL: "https://discord.com/api/webhooks/1/x", Token: "t"}, "token"},
		{post.Receiver{Template: "mattermost", URL: "https://m.example/api"}, "url"},
		{post.Receiver{Template: "home-assistant", URL: "https://h.example/api/services/notify/phone"}, "token"},
		{post.Receiver{Template: "home-assistant", URL: "https://h.example/"}, "url"},
	} {
		if setting, problem := c.in.Check(); setting != c.want || (problem == "") != (c.want == "") {
			t.Errorf("%+v: got %q %q, want a problem of %q", c.in, setting, problem, c.want)
		}
	}
}

// send sends a delivery about an ask to the receiver with this name.
func send(t *testing.T, c *post.Channel, d askback.Delivery, about askback.Ask, name string) error {
	t.Helper()
	_, err := c.Send(t.Context(), askback.Notification{Delivery: d, Ask: about, Address: name})
	return err
}
