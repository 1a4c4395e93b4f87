package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slack-go/slack"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack/slacktest"
	"github.com/askback/askback/test/kit/racedetector"
)

func numbered(n int) (labels []string) {
	for i := range n {
		labels = append(labels, fmt.Sprint("choice ", i+1))
	}
	return labels
}

// The element depends on the number and the length of the options.
func TestElementDependsOnNumberAndLengthOfOptions(t *testing.T) {
	f := newFixture(t, nil)
	long := strings.Repeat("a long label ", 8)
	for _, c := range []struct {
		labels []string
		multi  bool
		want   string
	}{
		{numbered(2), false, "button button / button button"},
		{numbered(5), false, "button button button button button / button button"},
		{
			[]string{"short", "longer than a button should be, in cells"},
			false,
			"radio_buttons / button / button button",
		},
		{numbered(6), false, "radio_buttons / button / button button"},
		{numbered(10), false, "radio_buttons / button / button button"},
		{numbered(11), false, "static_select / button / button button"},
		{numbered(50), false, "static_select / button / button button"},
		{numbered(2), true, "checkboxes / button / button button"},
		{numbered(10), true, "checkboxes / button / button button"},
		{numbered(11), true, "multi_static_select / button / button button"},
		{[]string{long + "1", long + "2"}, false, "radio_buttons / button / button button"},
	} {
		r := choice(c.labels...)
		r.Questions[0].MultiSelect = c.multi
		var blocks []string
		m := f.live(f.ask(r))
		for _, b := range m.Blocks {
			if b.Type != "actions" {
				continue
			}
			var types []string
			for _, e := range b.Elements {
				types = append(types, e.Type)
			}
			blocks = append(blocks, strings.Join(types, " "))
		}
		if got := strings.Join(blocks, " / "); got != c.want {
			t.Errorf("%d options, multi %v: got %s, want %s", len(c.labels), c.multi, got, c.want)
		}
		for _, label := range c.labels {
			if !strings.Contains(m.Shown(), strings.TrimSpace(label)) {
				t.Errorf("the message lacks %q", label)
			}
		}
	}
}

// A label that is too long for Slack is truncated visibly, and begins with its number in the text. It selects
// the same option.
func TestTruncatedLabelSelectsItsOption(t *testing.T) {
	f := newFixture(t, nil)
	same := strings.Repeat("x", 199)
	a := f.ask(choice(same+"1", same+"2", "&&&&&&&&&&&&&&&&&&&&<>"))
	m := f.live(a)
	state := slacktest.State{}
	must(t, state.Choose(m.Blocks, blockID(a.ID, actPick), "2. xxx"))
	if !strings.Contains(m.Shown(), "2. "+same[:60]) || !strings.Contains(m.Shown(), "…") {
		t.Errorf("got:\n%s", m.Shown())
	}
	f.slack.Press(slacktest.Ana, m, "Send", state)
	if got := f.outcome(a).Answers[0].Selected; len(got) != 1 || got[0] != same+"2" {
		t.Errorf("got %q", got)
	}
}

// Values of buttons and options are short, and contain no answer and no argument.
func TestButtonValuesContainNoAnswer(t *testing.T) {
	f := newFixture(t, nil)
	seen := map[string]bool{}
	for _, r := range []askback.Request{
		choice("PostgreSQL", "SQLite"), choice(numbered(12)...), call(`{"target":"staging"}`),
	} {
		for _, b := range f.live(f.ask(r)).Blocks {
			for _, e := range b.Elements {
				values := []string{e.Value}
				for _, o := range e.Options {
					values = append(values, o.Value)
				}
				for _, v := range values {
					if v == "" && len(e.Options) > 0 {
						continue
					}
					if len(v) != 22 || seen[v] {
						t.Errorf("%s has the value %q", e.ActionID, v)
					}
					seen[v] = true
				}
			}
		}
	}
}

func call(input string) askback.Request {
	return askback.Request{
		Agent: "bot", Confirmation: &askback.Confirmation{ToolName: "deploy", Input: json.RawMessage(input)},
	}
}

// The arguments of a call are exact. Approve and Deny are in separate blocks, and Slack asks again.
func TestApprovalShowsExactArguments(t *testing.T) {
	f := newFixture(t, nil)
	a := f.ask(call(`{"target":"<!channel> *bold* <https://evil.example|ok>","n":1.50}`))
	m := f.live(a)
	var exact string
	for _, b := range m.Blocks {
		for _, r := range b.Rich {
			if r.Type == "rich_text_preformatted" {
				exact += r.Elements[0].Text
			}
		}
	}
	if want := "target: “<!channel> *bold* <https://evil.example|ok>”\nn: 1.50"; exact != want {
		t.Errorf("got arguments %s, want %s", exact, want)
	}
	approve, first, _ := m.Button("Approve")
	deny, second, _ := m.Button("Deny")
	if approve.Confirm == nil || deny.Confirm == nil || first == second {
		t.Errorf("got %+v in %s and %+v in %s", approve, first, deny, second)
	}
	if len(m.Live) > 0 || m.Unfurl {
		t.Errorf("Slack acts on %q, fetches links: %v", m.Live, m.Unfurl)
	}
	f.slack.Press(slacktest.Ana, m, "Approve", nil)
	if o := f.outcome(a); o.Decision != askback.Approve || o.Digest == "" {
		t.Errorf("got %+v", o)
	}
}

// A dangerous call is approved only on its page. A valid code does not approve it.
func TestDangerousCallHasOnlyTheLink(t *testing.T) {
	f := newFixture(t, nil)
	r := call(`{"command":"rm -r build"}`)
	r.Confirmation.Dangerous = true
	a := f.ask(r)
	m := f.message(a, slacktest.Room, func(slacktest.Message) bool { return true })
	if m.HasElements() || !strings.Contains(m.Links(), a.ID) {
		t.Errorf("got:\n%s", m.Shown())
	}
	approve := slacktest.Element{
		Type: "button", ActionID: actApprove, Value: f.code(a.ID, actApprove), Text: &slacktest.Text{Text: "Approve"},
	}
	f.slack.Act(slacktest.Ana, m, blockID(a.ID, actApprove), approve, nil)
	if got := f.told(slacktest.Ana); !f.pending(a) || !strings.Contains(got, textForged) {
		t.Errorf("pending: %v; ana was told %q", f.pending(a), got)
	}
}

// The first message of a session begins a thread. Later messages reply in the thread and are also shown in
// the channel. If the first message is deleted, the next message begins a new thread.
func TestAsksOfASessionAreInOneThread(t *testing.T) {
	var f *fixture
	f = newFixture(t, func(o *Options) {
		o.Thread = func(ctx context.Context, n askback.Notification) string {
			return ThreadOf(ctx, f.engine.As(askback.Principal{Kind: askback.Admin, Name: "askback"}), n)
		}
	})
	next := func(session string) slacktest.Message {
		r := choice("PostgreSQL", "SQLite")
		r.SessionKey = session
		return f.live(f.ask(r))
	}
	check := func(name string, m slacktest.Message, thread string) {
		if m.Thread != thread || m.Broadcast != (thread != "") {
			t.Errorf("%s: it is in the thread %q, in the channel as well: %v; want the thread %q", name, m.Thread,
				m.Broadcast, thread)
		}
	}
	first := next("run-7")
	check("first", first, "")
	second := next("run-7")
	check("second", second, first.TS)
	for range threadAsks + 2 { // so many that the first message is not examined
		check("later", next("run-7"), first.TS)
	}
	check("another session", next("run-8"), "")
	check("no session", f.live(f.ask(choice("x", "y"))), "")
	f.slack.Press(slacktest.Stranger, second, "SQLite", nil)
	f.working.Wait()
	if got := f.slack.Ephemerals(); len(got) != 1 || got[0].Thread != first.TS {
		t.Errorf("a note is not in the thread: %+v", got)
	}
	f.slack.Press(slacktest.Ana, second, "SQLite", nil)
	f.slack.Wait("the outcome in the thread", func() bool {
		return slices.ContainsFunc(f.slack.Messages(), func(m slacktest.Message) bool {
			return m.TS == second.TS && strings.HasPrefix(m.Shown(), "Done: ")
		})
	})
	f.slack.Delete(first)
	begun := next("run-7")
	check("after the first one was deleted", begun, "")
	check("the one after that", next("run-7"), begun.TS)
}

// A reminder is a separate message in the thread of the question, and has no buttons. It is not posted twice
// if its receipt was stored.
func TestReminderIsInTheThread(t *testing.T) {
	f := newFixture(t, nil)
	a := f.ask(choice("PostgreSQL", "SQLite"))
	m := f.live(a)
	n := askback.Notification{
		Delivery: askback.Delivery{Event: askback.EventQuestionReminded}, Ask: a, Address: Room,
		Earlier: m.Channel + ":" + m.TS,
	}
	n.Record = func(_ context.Context, receipt string) error { n.Receipt = receipt; return nil }
	for range 2 {
		receipt, err := f.Send(t.Context(), n)
		must(t, err)
		all := f.slack.Messages()
		last := all[len(all)-1]
		if len(all) != 2 || last.Thread != m.TS || !last.Broadcast || last.HasElements() || !strings.HasPrefix(
			last.Shown(), "Reminder: “Which database?”",
		) || !strings.HasPrefix(receipt, last.Channel+":"+last.TS) {
			t.Errorf("got %d messages, the last %+v, and the receipt %q", len(all), last, receipt)
		}
	}
	f.slack.Press(slacktest.Ana, m, "SQLite", nil)
	f.done(a)
}

// A person who is not asked any more gets no buttons, and is told who is asked.
func TestReassignedAskHasNoButtons(t *testing.T) {
	f := newFixture(t, nil)
	r := choice("PostgreSQL", "SQLite")
	r.To = []string{"ana"}
	a := f.ask(r)
	m := f.message(a, "D"+slacktest.Ana.ID[1:], slacktest.Message.HasElements)
	a.To = []string{"ben"}
	n := askback.Notification{
		Delivery: askback.Delivery{Event: "question_reassigned", Person: "ana"}, Ask: a, Address: slacktest.Ana.ID,
		Earlier: m.Channel + ":" + m.TS,
	}
	_, err := f.Send(t.Context(), n)
	must(t, err)
	if got := f.slack.Messages()[0]; got.HasElements() || !strings.Contains(got.Shown(), "This is now for ben.") {
		t.Errorf("got:\n%s", got.Shown())
	}
	n.Ask.To, n.Event = []string{"ana"}, askback.EventQuestionPending
	_, err = f.Send(t.Context(), n)
	must(t, err)
	if got := f.slack.Messages(); len(got) != 2 || !got[0].HasElements() || got[1].HasElements() ||
		got[1].Thread != got[0].TS {
		t.Errorf("after it came back: got %+v", got)
	}
}

// The question has no buttons until its receipt is stored.
func TestMessageHasNoButtonsBeforeItIsRecorded(t *testing.T) {
	f := newFixture(t, nil)
	a := f.ask(choice("PostgreSQL", "SQLite"))
	f.live(a)
	stored := errors.New("stored")
	n := askback.Notification{
		Delivery: askback.Delivery{Event: askback.EventQuestionPending}, Ask: a, Address: slacktest.Ana.ID,
	}
	n.Record = func(_ context.Context, receipt string) error {
		all := f.slack.Messages()
		last := all[len(all)-1]
		if receipt != last.Channel+":"+last.TS || last.HasElements() ||
			!strings.Contains(last.Shown(), "Which database?") {
			t.Errorf("recorded %q, the last message is %+v", receipt, last)
		}
		return stored
	}
	if _, err := f.Send(t.Context(), n); !errors.Is(err, stored) {
		t.Errorf("got %v", err)
	}
}

func TestErrorsOfSlackAreExplained(t *testing.T) {
	f := newFixture(t, nil)
	for code, want := range map[string]struct {
		text  string
		final bool
	}{
		"not_in_channel":    {"invite the app", false},
		"channel_not_found": {"channels.slack.channel", false},
		"token_revoked":     {"install the app again", false},
		"missing_scope":     {"slack-manifest.yaml", false},
		"is_archived":       {"archived", false},
		"user_not_found":    {"people[].slack", true},
		"internal_error":    {"internal_error", false},
		"<b>evil</b>":       {"an unknown error", false},
	} {
		f.slack.Fail(slacktest.Fault{Method: "chat.postMessage", Error: code})
		n := askback.Notification{
			Delivery: askback.Delivery{Event: askback.EventQuestionPending}, Ask: askback.Ask{Kind: askback.Questions},
			Address: Room,
		}
		_, err := f.Send(t.Context(), n)
		var sending *askback.SendError
		if !errors.As(err, &sending) || !strings.Contains(err.Error(), want.text) || sending.Final != want.final ||
			strings.Contains(err.Error(), "<") {
			t.Errorf("%s: got %v, %+v", code, err, sending)
		}
	}
}

// A message that was deleted in Slack needs no change. If Slack rejects the blocks of a message, the message
// gets the link instead.
func TestDeletedAndRejectedMessagesAreHandled(t *testing.T) {
	f := newFixture(t, nil)
	a := f.ask(choice("PostgreSQL", "SQLite"))
	m := f.live(a)
	f.slack.Delete(m)
	f.slack.Press(slacktest.Ana, m, "SQLite", nil)
	settled := f.ask(choice("x", "y"))
	f.live(settled) // when this message has buttons, the outcome of the first message has been tried
	got, err := f.engine.As(askback.Principal{Kind: askback.Operator, Name: "op"}).Deliveries(t.Context(),
		askback.DeliveryQuery{AskID: a.ID})
	must(t, err)
	for _, d := range got.Items {
		if d.Status == askback.DeliveryFailed {
			t.Errorf("got %+v", d)
		}
	}
	f.slack.Fail(slacktest.Fault{Method: "chat.postMessage", Error: "msg_blocks_too_long"})
	b := f.ask(choice("PostgreSQL", "SQLite"))
	if m := f.message(b, slacktest.Room, func(slacktest.Message) bool {
		return true
	}); !strings.Contains(m.Shown(), "does not fit") || m.HasElements() {
		t.Errorf("got:\n%s", m.Shown())
	}
}

// A clockedAPI accepts each request to Slack and records when it came.
type clockedAPI struct {
	mu    sync.Mutex
	begin time.Time
	came  []time.Duration
}

func (a *clockedAPI) Do(*http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.came = append(a.came, time.Since(a.begin))
	body := io.NopCloser(strings.NewReader(`{"ok": true, "channel": "C1", "ts": "1.1"}`))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, nil
}

// Slack allows one message per second and channel. Several concurrent asks respect this limit.
func TestConcurrentAsksRespectTheRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{BotToken: "xoxb-1", SigningSecret: "s", Channel: "C1", Team: "T1"})
		must(t, err)
		api := &clockedAPI{begin: time.Now()}
		c.api = slack.New("xoxb-1", slack.OptionHTTPClient(api))
		var asks sync.WaitGroup
		for range 3 {
			asks.Go(func() {
				if _, err := c.post(t.Context(), "C1", "", notePlain("Which database?")); err != nil {
					t.Error(err)
				}
			})
		}
		asks.Wait()
		if want := []time.Duration{0, time.Second, 2 * time.Second}; !slices.Equal(api.came, want) {
			t.Errorf("Slack got messages after %v, want %v", api.came, want)
		}
	})
}

func TestPostsToOneChannelArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer{pause: time.Second, now: time.Now}
		begin := time.Now()
		for range 5 {
			must(t, p.wait(t.Context(), "C1"), p.wait(t.Context(), "C2"))
		}
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("five posts to each of two channels took %v, want 4s", took)
		}
		p.next["C1"] = time.Now().Add(time.Minute)
		var sending *askback.SendError
		if err := p.wait(t.Context(), "C1"); !errors.As(err, &sending) || sending.RetryAfter != time.Minute {
			t.Errorf("got %v", err)
		}
	})
}

// Slack accepts every message and every form about asks of any size.
func TestAsksOfAnySizeAreAccepted(t *testing.T) {
	racedetector.Omit(t)
	f := newFixture(t, nil)
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("abc \n&<>\"*_~`|@#:é漢🙂ש\\ ")
	text := func(most int) string {
		n := 1 + r.IntN(most)
		if r.IntN(4) == 0 {
			n = most
		}
		out := make([]rune, n)
		for i := range out {
			out[i] = alphabet[r.IntN(len(alphabet))]
		}
		return "x" + string(out[:len(out)-1])
	}
	whole := 0
	for range 300 {
		var q askback.Request
		size := slices.Max([]int{20, r.IntN(3000)})
		for i := range 1 + r.IntN(4) {
			question := askback.Question{
				Text: fmt.Sprint(i, text(size)), MultiSelect: r.IntN(2) == 0, NoOther: r.IntN(2) == 0,
				Optional: r.IntN(2) == 0,
			}
			for j := range r.IntN(12) * r.IntN(5) {
				question.Options = append(question.Options,
					askback.Option{Label: fmt.Sprint(j, text(min(size, 190))), Preview: text(size)})
			}
			if len(question.Options) < 2 {
				question.Options, question.NoOther = nil, false
			}
			q.Questions = append(q.Questions, question)
		}
		q.Agent, q.Title = strings.ReplaceAll(text(190), "\n", ""), strings.ReplaceAll(text(190), "\n", "")
		a, err := f.agent.Ask(t.Context(), q)
		must(t, err)
		m := f.message(a, slacktest.Room, func(slacktest.Message) bool { return true })
		if len(m.Live) > 0 {
			t.Errorf("Slack acts on %q", m.Live)
		}
		if view, ok := f.form(a, "U1"); ok && len(f.controls(a)) > 0 {
			whole++
			if problem := slacktest.CheckView(view); problem != nil {
				t.Errorf("the form: %v", problem)
			}
		}
	}
	if whole < 30 {
		t.Errorf("only %d of 300 asks have a form, so the test says little", whole)
	}
}
