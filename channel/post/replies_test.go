package post_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/post/posttest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/store/memstore"
)

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A phone is an engine with a receiver of ntfy, whose buttons publish to a reply topic.
type phone struct {
	t       *testing.T
	ntfy    *posttest.Ntfy
	engine  *engine.Engine
	channel *post.Channel
	log     syncBuffer

	mu      sync.Mutex
	failing error         // if not nil, the error that Person returns
	ahead   time.Duration // offset of the clock of the channel
	calls   int
	stop    func()
}

func newPhone(t *testing.T) *phone {
	t.Helper()
	p := &phone{t: t, ntfy: posttest.NewNtfy(t), engine: engine.New(memstore.New(), nil)}
	receiver := receiverAt(t, post.Ntfy, p.ntfy.URL)
	receiver.ReplyTopic, receiver.Person = "replies", "ana"
	other := receiver
	other.URL, other.Person = p.ntfy.Server+"/of-ben", "ben"
	var err error
	p.channel, err = post.New(post.Options{
		Receivers: map[string]post.Receiver{"phone": receiver, "other": other}, Pages: pageSigner, Replies: replySigner,
		Log: slog.New(slog.NewTextHandler(&p.log, nil)),
		Now: func() time.Time { return time.Now().Add(p.ahead) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.channel.Close)
	post.SetTimes(p.channel, time.Minute, 10*time.Millisecond)
	p.start()
	t.Cleanup(func() { p.stop() })
	return p
}

// start reads the reply topic until stop is called.
func (p *phone) start() {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); p.channel.Run(ctx, p) }()
	p.stop = func() { cancel(); <-done; p.stop = func() {} }
}

// Person implements [post.Engine]. The people are ana and ben.
func (p *phone) Person(_ context.Context, name string, via askback.Channel) (askback.PersonClient, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.failing != nil {
		return nil, p.failing
	}
	if name != "ana" && name != "ben" {
		return nil, askback.ErrForbidden
	}
	return p.engine.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: via}), nil
}

func (p *phone) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = err
}

func (p *phone) person(name string) askback.PersonClient {
	return p.engine.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelWeb})
}

// ask makes an ask and sends it to the phone of a person. It returns the ask's message.
func (p *phone) ask(name string) (askback.Ask, posttest.Message) {
	p.t.Helper()
	a, err := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Ask(p.t.Context(), askback.Request{
		Questions: []askback.Question{{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return a, p.show(a, name)
}

// show sends an ask to the phone of a person. It returns the message.
func (p *phone) show(a askback.Ask, name string) posttest.Message {
	p.t.Helper()
	d := askback.Delivery{Event: askback.EventQuestionPending, Person: name}
	if err := send(p.t, p.channel, d, a, map[string]string{"ana": "phone", "ben": "other"}[name]); err != nil {
		p.t.Fatal(err)
	}
	all := p.ntfy.Messages()
	slices.Reverse(all)
	return all[slices.IndexFunc(all, func(m posttest.Message) bool { return m.Tag == a.ID })]
}

// press sends the request that the app of ntfy sends for a button.
func press(t *testing.T, b posttest.Button) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Post(b.URL, "", strings.NewReader(b.Body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if _, _ = io.Copy(io.Discard, r.Body); r.StatusCode != http.StatusOK {
		t.Fatalf("got %s", r.Status)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !holds(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("never: " + what)
		}
	}
}

func (p *phone) outcome(a askback.Ask) *askback.Outcome {
	p.t.Helper()
	now, err := p.person("ana").Get(p.t.Context(), a.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	return now.Outcome
}

func (p *phone) waitOutcome(a askback.Ask) askback.Outcome {
	p.t.Helper()
	eventually(p.t, "the ask is answered", func() bool { return p.outcome(a) != nil })
	return *p.outcome(a)
}

// barrier waits until the channel has read everything that was published before.
func (p *phone) barrier() {
	p.t.Helper()
	a, m := p.ask("ana")
	press(p.t, m.Buttons[0])
	p.waitOutcome(a)
}

// A button publishes to the reply topic, and answers as the person of the receiver. The server needs no
// public address (E3, F6).
func TestButtonAnswersThroughTheReplyTopic(t *testing.T) {
	p := newPhone(t)
	a, m := p.ask("ana")
	if m.Link != "" || len(m.Buttons) != 2 {
		t.Fatalf("got %+v", m)
	}
	press(t, m.Buttons[1])
	o := p.waitOutcome(a)
	if o.Actor.Name != "ana" || o.Channel != askback.ChannelPush ||
		!slices.Equal(o.Answers[0].Selected, []string{"SQLite"}) {
		t.Errorf("got %+v", o)
	}
}

// A call that needs two approvals also has buttons. The button of a person is one vote, even if the person
// presses the button again. After the vote, the message confirms the vote and has no buttons. One denial
// denies the call (F12).
func TestButtonCountsAsOneVotePerPerson(t *testing.T) {
	p := newPhone(t)
	call := func() askback.Ask {
		a, err := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Ask(t.Context(), askback.Request{
			Confirmation: &askback.Confirmation{ToolName: "deploy", Input: json.RawMessage(`{"target":"staging"}`)},
			To:           []string{"ana", "ben"}, Quorum: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, denied := call(), call()
	m, other := p.show(a, "ana"), p.show(a, "ben")
	if len(m.Buttons) != 2 || !strings.Contains(m.Text, "2 people must approve this call") {
		t.Fatalf("got %+v", m)
	}
	for range 3 {
		press(t, m.Buttons[0])
	}
	p.barrier()
	now, err := p.person("ana").Get(t.Context(), a.ID)
	if err != nil || now.Settled() || len(now.Votes) != 1 || now.Votes[0].Name != "ana" ||
		now.Votes[0].Channel != askback.ChannelPush {
		t.Fatalf("got %+v, %v; want one vote of ana", now, err)
	}
	var told []posttest.Message
	for _, m := range p.ntfy.Messages() {
		if m.Tag == a.ID && strings.Contains(m.Text, "It needs 2 approvals and has 1") {
			told = append(told, m)
		}
	}
	if len(told) != 1 || len(told[0].Buttons) != 0 {
		t.Errorf("ana was told %+v, want one message without buttons", told)
	}
	press(t, other.Buttons[0])
	if o := p.waitOutcome(a); !o.Approved() || o.Actor.Name != "ben" {
		t.Errorf("got %+v, want it approved by ben", o)
	}
	m, other = p.show(denied, "ana"), p.show(denied, "ben")
	press(t, m.Buttons[0])
	press(t, other.Buttons[1])
	if o := p.waitOutcome(denied); o.Decision != askback.Deny || o.Actor.Name != "ben" {
		t.Errorf("got %+v, want it denied by ben", o)
	}
}

// A person whose answer is late is told only once who was first, however often the person presses the button
// (E10).
func TestLatePersonLearnsWhoWasFirst(t *testing.T) {
	p := newPhone(t)
	a, m := p.ask("ana")
	if _, err := p.person("ben").Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	press(t, m.Buttons[0])
	eventually(t, "the phone shows the notice", func() bool { return len(p.ntfy.Messages()) == 2 })
	got := p.ntfy.Messages()[1]
	if got.Text != "ben answered first: SQLite" || got.Tag != a.ID || got.Topic != "questions" || len(got.Buttons) > 0 {
		t.Errorf("got %+v", got)
	}
	for range 5 {
		press(t, m.Buttons[0])
	}
	p.barrier()
	if n := len(p.ntfy.Messages()); n != 3 { // the message of the barrier is the third
		t.Errorf("got %d messages, want no second notice", n)
	}
	if o := p.outcome(a); o.Actor.Name != "ben" {
		t.Errorf("got %+v", o)
	}
}

// Replayed and forged tokens change nothing, nor do tokens for another purpose or person. The log reports
// such replies, but contains no token (T20, T22).
func TestForgedRepliesAreIgnored(t *testing.T) {
	p := newPhone(t)
	a, m := p.ask("ana")
	answered, m2 := p.ask("ana")
	press(t, m2.Buttons[0])
	p.waitOutcome(answered)
	sign := func(s *answerlink.Signer, l answerlink.Link) string {
		token, err := s.Sign(l)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	link := answerlink.Link{AskID: a.ID, Person: "ana", Channel: askback.ChannelPush, Choice: 1}
	of := func(change func(*answerlink.Link)) answerlink.Link {
		l := link
		change(&l)
		return l
	}
	stolen := answerlink.New(func() ([]byte, error) { return bytes.Repeat([]byte{1}, 32), nil }, answerlink.Reply)
	for _, text := range []string{
		"SQLite", "1", `{"choice":1}`, a.ID, m.Buttons[0].Body[1:], m.Buttons[0].Body + "x", strings.Repeat("x", 4000),
		sign(pageSigner, link), sign(stolen, link), // another purpose, another key
		// not a person of this topic
		sign(replySigner, of(func(l *answerlink.Link) { l.Person = "eva" })),
		sign(replySigner, of(func(l *answerlink.Link) { l.Channel = askback.ChannelTelegram })), // not a button
		sign(replySigner, of(func(l *answerlink.Link) { l.Choice = 0 })),                        // no choice
		sign(replySigner, of(func(l *answerlink.Link) { l.Choice = 3 })),
		m2.Buttons[0].Body, // replayed
	} {
		p.ntfy.Publish("replies", text)
	}
	p.barrier()
	if o := p.outcome(a); o != nil {
		t.Errorf("got %+v, want none", o)
	}
	if log := p.log.String(); !strings.Contains(log, "without a valid signature") ||
		strings.Count(log, "without a valid signature") > 10 || strings.Contains(log, m.Buttons[0].Body[:40]) {
		t.Errorf("got log %s", log)
	}
}

// A reply with a valid token does not decide a dangerous call.
func TestReplyDoesNotDecideDangerousCalls(t *testing.T) {
	p := newPhone(t)
	a, err := p.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Ask(t.Context(), askback.Request{
		Confirmation: &askback.Confirmation{
			ToolName: "shell", Input: json.RawMessage(`{"command":"rm -r build"}`), Dangerous: true,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for choice := 1; choice <= 2; choice++ {
		token, err := replySigner.Sign(answerlink.Link{
			AskID: a.ID, Person: "ana", Channel: askback.ChannelPush, Choice: choice,
		})
		if err != nil {
			t.Fatal(err)
		}
		p.ntfy.Publish("replies", token)
	}
	p.barrier()
	if o, log := p.outcome(a), p.log.String(); o != nil || strings.Count(log, "the ask has no such choice") != 2 {
		t.Errorf("got %+v, want none; the log:\n%s", o, log)
	}
}

// A press is read later if the server is down or the connection is lost. A server of ntfy that fails, or that
// lost its cache, changes nothing.
func TestRepliesAreReadAfterABreak(t *testing.T) {
	p := newPhone(t)
	p.barrier()
	p.stop()
	a, m := p.ask("ana")
	late, m2 := p.ask("ana")
	if _, err := p.person("ben").Answer(t.Context(), late.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	press(t, m.Buttons[1])
	press(t, m2.Buttons[0])
	before := len(p.ntfy.Messages())
	p.ahead = 2 * time.Second // the time of a message has whole seconds
	p.start()
	if o := p.waitOutcome(a); o.Actor.Name != "ana" {
		t.Errorf("got %+v", o)
	}
	p.barrier()
	if n := len(p.ntfy.Messages()); n != before+1 {
		t.Errorf("after the start, the phone got %d messages, want only the message of the barrier", n-before)
	}
	for _, breaks := range []func(){
		p.ntfy.Disconnect, func() { p.ntfy.Fail(503, 429, 500); p.ntfy.Disconnect() },
		func() { p.ntfy.Forget(); p.ntfy.Disconnect() },
	} {
		b, m := p.ask("ana")
		breaks()
		press(t, m.Buttons[1])
		if o := p.waitOutcome(b); o.Actor.Name != "ana" {
			t.Errorf("got %+v", o)
		}
	}
	if since := p.ntfy.Since(); since == "all" || since == "" {
		t.Errorf("read since %q, want a time before the last message", since)
	}
	if log := p.log.String(); !strings.Contains(log, "cannot be read") || !strings.Contains(log, "are read again") {
		t.Errorf("got log %s", log)
	}
}

// A reply that cannot be saved now is read again later.
func TestReplyIsReadAgainUntilItIsSaved(t *testing.T) {
	p := newPhone(t)
	a, m := p.ask("ana")
	p.fail(askback.ErrDiskFull)
	press(t, m.Buttons[0])
	eventually(t, "it was tried", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.calls > 1 })
	if p.outcome(a) != nil {
		t.Error("it was answered")
	}
	p.fail(nil)
	p.waitOutcome(a)
}

// A stream that has become silent is replaced.
func TestSilentStreamIsReplaced(t *testing.T) {
	p := newPhone(t)
	p.stop()
	post.SetTimes(p.channel, 50*time.Millisecond, time.Millisecond) // the server sends a line every second
	p.start()
	eventually(t, "the topic is read again", func() bool { _, total := p.ntfy.Streams(); return total >= 3 })
}

// A person who may no longer answer gets a notice. The author of a reply that can never succeed also gets a
// notice. Neither reply delays later replies.
func TestReplyOfAForbiddenPersonGetsANotice(t *testing.T) {
	for _, err := range []error{askback.ErrForbidden, askback.ErrSelfApproval, askback.ErrDamaged} {
		t.Run(err.Error(), func(t *testing.T) { testRefusedReply(t, err) })
	}
}

func testRefusedReply(t *testing.T, refusal error) {
	p := newPhone(t)
	a, m := p.ask("ana")
	p.fail(fmt.Errorf("person: %w", refusal))
	press(t, m.Buttons[0])
	eventually(t, "the phone shows the notice", func() bool { return len(p.ntfy.Messages()) == 2 })
	if got := p.ntfy.Messages()[1]; !strings.Contains(got.Text, "may no longer answer") {
		t.Errorf("got %+v", got)
	}
	if p.outcome(a) != nil {
		t.Error("it was answered")
	}
}

// TestReplies returns an error without secrets if the reply topic cannot be read.
func TestUnreadableReplyTopicIsReported(t *testing.T) {
	service := posttest.NewNtfy(t)
	receiver := receiverAt(t, post.Ntfy, service.URL)
	if err := newChannel(t, receiver).TestReplies(t.Context(), "phone"); err != nil {
		t.Errorf("without a reply topic: got %v", err)
	}
	receiver.ReplyTopic = "replies"
	service.Publish("replies", "old")
	if err := newChannel(t, receiver).TestReplies(t.Context(), "phone"); err != nil {
		t.Error(err)
	}
	service.Token = "tk_secret"
	receiver.ReplyToken = "tk_wrong"
	err := newChannel(t, receiver).TestReplies(t.Context(), "phone")
	if err == nil || !strings.Contains(err.Error(), "401") || !strings.Contains(err.Error(), "check the token") ||
		strings.Contains(err.Error(), "tk_") {
		t.Errorf("with a wrong token: got %v", err)
	}
}

// The topic is read with the reply token or, without a reply token, with the token of the receiver.
func TestReplyTopicIsReadWithItsToken(t *testing.T) {
	for _, own := range []bool{true, false} {
		service := posttest.NewNtfy(t)
		service.Token = "tk_secret"
		receiver := receiverAt(t, post.Ntfy, service.URL)
		receiver.ReplyTopic, receiver.Person, receiver.Token = "replies", "ana", "tk_secret"
		if own {
			receiver.Token, receiver.ReplyToken = "tk_other", "tk_secret"
		}
		var log syncBuffer
		channel, err := post.New(post.Options{
			Receivers: map[string]post.Receiver{"phone": receiver}, Replies: replySigner,
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer channel.Close()
		service.Publish("replies", "forged")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); channel.Run(ctx, nil) }()
		eventually(t, "the topic is read",
			func() bool { return strings.Contains(log.String(), "without a valid signature") })
		if strings.Contains(log.String(), "cannot be read") || strings.Contains(log.String(), "tk_") {
			t.Errorf("got log %s", log.String())
		}
		cancel()
		<-done
	}
}
