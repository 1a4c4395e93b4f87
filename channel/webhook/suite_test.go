package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/text/safetext"
)

// retryAfter is the delay that the programs request when they are busy.
const retryAfter = 11 * time.Second

// programs are two programs that receive webhooks, one for each person.
type programs struct {
	settings  channeltest.Settings
	receivers map[string]*askbacktest.Receiver
	servers   map[string]*httptest.Server
	failing   map[string]*channeltest.Failing
}

func newPrograms(t testing.TB, s channeltest.Settings) channeltest.Service {
	p := &programs{
		s, map[string]*askbacktest.Receiver{}, map[string]*httptest.Server{}, map[string]*channeltest.Failing{},
	}
	for _, person := range []string{"ana", "ben"} {
		r, failing := askbacktest.NewReceiver(t, &askbacktest.ReceiverOptions{Now: s.Now}), &channeltest.Failing{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
			switch how := failing.Next(); {
			case channeltest.Refuse(w, in, how, retryAfter):
			case how == channeltest.LostReply:
				r.ServeHTTP(httptest.NewRecorder(), in)
				panic(http.ErrAbortHandler)
			default:
				r.ServeHTTP(w, in)
			}
		}))
		t.Cleanup(server.Close)
		p.receivers[person], p.servers[person], p.failing[person] = r, server, failing
	}
	return p
}

// Open implements [channeltest.Service].
func (p *programs) Open(t testing.TB) channeltest.Channel {
	o := webhook.Options{Secret: askbacktest.ReceiverSecret, Now: p.settings.Now, Version: "test"}
	for _, server := range p.servers {
		allowed, err := webhook.ParseAllowed(strings.TrimPrefix(server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		o.Allow = append(o.Allow, allowed)
	}
	c, err := webhook.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return channeltest.Channel{Send: c}
}

// Join implements [channeltest.Service].
func (p *programs) Join(context.Context, *engine.Engine, string) error { return nil }

// Receivers implements [channeltest.Service].
func (p *programs) Receivers() (all []engine.Receiver) {
	for person := range p.servers {
		all = append(all, engine.Receiver{Channel: "program", Name: p.Address(person), Person: person})
	}
	return all
}

// Address implements [channeltest.Service].
func (p *programs) Address(person string) string { return p.servers[person].URL }

// Messages implements [channeltest.Service]. A program shows strings of an agent as text. It marks hidden
// characters and the beginning of each line.
func (p *programs) Messages(person string) (all []channeltest.Message) {
	for _, m := range p.receivers[person].Messages() {
		out := channeltest.Message{ID: m.ID, AskID: m.Question.ID, Link: m.PageURL, Settled: m.Outcome != nil}
		d := json.NewDecoder(bytes.NewReader(m.Body))
		d.UseNumber()
		var body any
		if err := d.Decode(&body); err != nil {
			out.Damage = []string{err.Error()}
		}
		var b strings.Builder
		show(&b, body)
		out.Text = b.String()
		all = append(all, out)
	}
	return all
}

// show writes the names and the values of JSON.
func show(b *strings.Builder, v any) {
	line := func(text string) {
		for part := range strings.SplitSeq(safetext.Block(text).String(), "\n") {
			b.WriteString("│ " + part + "\n")
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			line(name)
			show(b, value)
		}
	case []any:
		for _, value := range v {
			show(b, value)
		}
	case string:
		line(v)
	default:
		line(fmt.Sprint(v))
	}
}

// Answer implements [channeltest.Service].
func (p *programs) Answer(context.Context, string, channeltest.Message, askback.Answer) (string, error) {
	return "", errors.ErrUnsupported
}

// Attack implements [channeltest.Service].
func (p *programs) Attack(context.Context, channeltest.Attack, channeltest.Message, askback.Answer) error {
	return errors.ErrUnsupported
}

// Fail implements [channeltest.Service].
func (p *programs) Fail(how channeltest.Failure, skip, count int) func() int {
	ofAna, ofBen := p.failing["ana"].Fail(how, skip, count), p.failing["ben"].Fail(how, skip, count)
	return func() int { return ofAna() + ofBen() }
}

// Secrets implements [channeltest.Service].
func (p *programs) Secrets() []string {
	return slices.Collect(strings.SplitSeq(strings.TrimPrefix(askbacktest.ReceiverSecret, "whsec_"), "_"))
}

// Webhooks pass the suite of channels. Programs answer over the API, and not in a message (E3, F3). The
// channel has another name than webhook, because the engine sends webhooks to the callback of an ask, which
// is one program. Under another name, the channel sends to the programs of both people.
func TestWebhooksPassTheSuite(t *testing.T) {
	channeltest.Test(t,
		channeltest.Driver{
			Channel: "program", Start: newPrograms, RetryAfter: retryAfter, Appends: true, Programs: true,
		})
}
