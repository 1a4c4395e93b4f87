package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// A desk is an engine with the API, and a program to which the engine sends webhooks.
type desk struct {
	t        *testing.T
	engine   *engine.Engine
	agent    askback.AgentClient
	receiver *askbacktest.Receiver
	api      http.Handler
	tokens   map[string]string
	got      int // messages of the receiver read so far
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, receiver: askbacktest.NewReceiver(t, nil), tokens: map[string]string{}}
	allowed, err := webhook.ParseAllowed(d.receiver.Address())
	if err != nil {
		t.Fatal(err)
	}
	c, err := webhook.New(webhook.Options{Secret: askbacktest.ReceiverSecret, Allow: []webhook.Allowed{allowed}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d.engine = engine.New(memstore.New(), &engine.Options{
		Channels: map[string]engine.Channel{"webhook": c}, Settings: engine.Settings{
			CallbackURL: d.receiver.URL(), People: []askback.Person{{Name: "ana"}, {Name: "ben"}},
		},
	})
	d.engine.Link(channeltest.Pages)
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = d.engine.Run(ctx) })
	t.Cleanup(func() { cancel(); group.Wait() })
	d.api = httpapi.NewHandler(d.engine, nil)
	d.agent = d.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	for _, person := range []string{"ana", "ben"} {
		secret, err := d.engine.NewSecret()
		if err == nil {
			err = d.engine.Adopt(t.Context(),
				askback.Principal{Kind: askback.Responder, Name: person, Channel: askback.ChannelAPI}, secret)
		}
		if err != nil {
			t.Fatal(err)
		}
		d.tokens[person] = secret
	}
	return d
}

// ask makes an ask, and returns the next message that the program gets.
func (d *desk) ask(r askback.Request) askbacktest.Message {
	d.t.Helper()
	if _, err := d.agent.Ask(d.t.Context(), r); err != nil {
		d.t.Fatal(err)
	}
	return d.next()
}

// next waits for the next message that the program gets, and returns the message.
func (d *desk) next() askbacktest.Message {
	d.t.Helper()
	d.got++
	return d.receiver.Wait(d.got)[d.got-1]
}

// post sends an answer with a token to the address of a message.
func (d *desk) post(m askbacktest.Message, token, text string) (status int, reply string) {
	d.t.Helper()
	path, ok := strings.CutPrefix(m.AnswerURL, channeltest.Pages)
	if !ok {
		d.t.Fatalf("the message has the address %q for answers", m.AnswerURL)
	}
	body, err := json.Marshal(map[string]string{"question_id": m.Question.ID, "answer": text})
	if err != nil {
		d.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, path, strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// A handlerTransport calls a handler without a connection.
type handlerTransport struct{ http.Handler }

// RoundTrip implements [http.RoundTripper].
func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.ServeHTTP(w, r)
	return w.Result(), nil
}

// text returns the only option that an answer selects. If the answer has any other part, text returns "",
// because only the API accepts such an answer.
func text(a askback.Answer) string {
	if len(a.Answers) != 1 || a.Answers[0].Notes != "" || a.Answers[0].Other != "" || len(a.Answers[0].Selected) != 1 {
		return ""
	}
	return a.Answers[0].Selected[0]
}

// A called program answers with the token of a person. An answer of one option goes to the address of the
// message, and any other answer over the API. Each answer equals the same answer on the pages, and the
// program gets the outcome (E3).
func TestProgramCalledByWebhookAnswers(t *testing.T) {
	d := newDesk(t)
	short := 0
	for _, c := range channeltest.Cases() {
		for _, a := range c.Answers {
			m := d.ask(c.Request)
			var err error
			if answer := text(a.Answer); answer != "" {
				short++
				if status, reply := d.post(m, d.tokens["ana"], answer); status != http.StatusOK {
					err = fmt.Errorf("got %d %s", status, reply)
				}
			} else {
				_, err = httpapi.NewClient("http://localhost", d.tokens["ana"],
					&http.Client{Transport: handlerTransport{d.api}}).Answer(t.Context(), m.Question.ID, a.Answer)
			}
			if err != nil {
				t.Errorf("%s/%s: %v", c.Name, a.Name, err)
				d.engineAnswer(m, a.Answer)
			}
			end := d.next()
			other := d.ask(c.Request)
			d.engineAnswer(other, a.Answer)
			want := d.next()
			if end.Outcome == nil || want.Outcome == nil || end.Question.ID != m.Question.ID {
				t.Fatalf("%s/%s: the messages about the end are %+v and %+v", c.Name, a.Name, end, want)
			}
			if got := end.Outcome; got.Actor.Name != "ana" || !reflect.DeepEqual(given(got), given(want.Outcome)) {
				t.Errorf("%s/%s: got %+v, want %+v", c.Name, a.Name, got, want.Outcome)
			}
		}
	}
	if short < 10 {
		t.Errorf("%d answers went to the address of a message", short)
	}
}

// engineAnswer answers as ana on the pages.
func (d *desk) engineAnswer(m askbacktest.Message, a askback.Answer) {
	d.t.Helper()
	pages := d.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	if _, err := pages.Answer(d.t.Context(), m.Question.ID, a); err != nil {
		d.t.Fatal(err)
	}
}

// given returns the parts of an outcome that are equal for equal answers.
func given(o *askback.Outcome) askback.Outcome {
	return askback.Outcome{
		Status: o.Status, Answers: o.Answers, Comment: o.Comment, Decision: o.Decision, Input: o.Input,
		Digest: o.Digest, Reason: o.Reason,
	}
}

// If two programs answer at the same time, one answer is accepted. A late answer, a forged answer and an
// answer with another token change nothing (F6, T18).
func TestOneOfTwoConcurrentAnswersIsAccepted(t *testing.T) {
	d := newDesk(t)
	question := askback.Request{
		Questions: []askback.Question{{Text: "Go on?", Options: askback.Options("Yes", "No"), NoOther: true}},
	}
	labels := map[string]string{"ana": "Yes", "ben": "No"}
	for range 50 {
		m := d.ask(question)
		var mu sync.Mutex
		replies := map[string]string{}
		var group sync.WaitGroup
		for person, label := range labels {
			group.Go(func() {
				status, reply := d.post(m, d.tokens[person], label)
				mu.Lock()
				defer mu.Unlock()
				replies[person] = fmt.Sprint(status, " ", reply)
			})
		}
		group.Wait()
		o := d.next().Outcome
		if o == nil || o.Answers[0].Selected[0] != labels[o.Actor.Name] {
			t.Fatalf("got %+v", o)
		}
		for person, reply := range replies {
			if !strings.HasPrefix(reply, "200 ") ||
				strings.Contains(reply, "already_answered") != (person != o.Actor.Name) {
				t.Errorf("%s won, and %s got %s", o.Actor.Name, person, reply)
			}
		}
	}
	question.To = []string{"ana"}
	m := d.ask(question)
	for what, tt := range map[string]struct {
		token  string
		status int
	}{
		"forged": {"ab_" + strings.Repeat("0", 40), http.StatusUnauthorized},
		"of ben": {d.tokens["ben"], http.StatusNotFound}, "none": {"", http.StatusUnauthorized},
	} {
		if status, reply := d.post(m, tt.token, "No"); status != tt.status {
			t.Errorf("%s: got %d %s, want %d", what, status, reply, tt.status)
		}
	}
	if status, reply := d.post(m, d.tokens["ana"], "Yes"); status != http.StatusOK {
		t.Errorf("ana cannot answer any more: %d %s", status, reply)
	}
	if o := d.next().Outcome; o == nil || o.Actor.Name != "ana" {
		t.Errorf("got %+v, want the answer of ana", o)
	}
}
