package slack

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/slack/slacktest"
	"github.com/askback/askback/engine"
)

// Two people press different buttons of a message at the same time. One answer counts. The other person is
// told in private who was first and with which answer.
func TestOneOfTwoConcurrentAnswersWins(t *testing.T) {
	f := newFixture(t, nil)
	for range 30 {
		a := f.ask(choice("PostgreSQL", "SQLite"))
		m := f.live(a)
		before := len(f.slack.Ephemerals())
		pressed := map[string]slacktest.User{"PostgreSQL": slacktest.Ana, "SQLite": slacktest.Ben}
		var group sync.WaitGroup
		for label, u := range pressed {
			group.Go(func() {
				if ack := f.slack.Press(u, m, label, nil); !ack.OK {
					t.Errorf("%s saw a warning: %+v", u.Name, ack)
				}
			})
		}
		group.Wait()
		o := f.outcome(a)
		winner := o.Answers[0].Selected[0]
		if o.Actor.Name != pressed[winner].Name || o.Channel != askback.ChannelSlack {
			t.Errorf("got %+v by %+v", o.Answers, o.Actor)
		}
		f.working.Wait()
		told := f.slack.Ephemerals()[before:]
		if len(told) != 1 || told[0].User == pressed[winner].ID || !strings.Contains(told[0].Text, o.Actor.Name) ||
			!strings.Contains(told[0].Text, winner) {
			t.Errorf("got notes %+v, want one to the loser, with %s and %s", told, o.Actor.Name, winner)
		}
		if done := f.done(a); done.HasElements() {
			t.Errorf("the settled message has buttons:\n%s", done.Shown())
		}
	}
}

// A person declines questions with a form for the reason, which may be empty.
func TestQuestionsAreDeclined(t *testing.T) {
	f := newFixture(t, nil)
	several := choice("Yes", "No")
	several.Questions = append(several.Questions, askback.Question{Text: "Why?"})
	for reason, r := range map[string]askback.Request{"": choice("Yes", "No"), "ask Ben": several} {
		a := f.ask(r)
		if ack := f.slack.Press(slacktest.Ana, f.live(a), "Decline", nil); !ack.OK || !f.pending(a) {
			t.Fatalf("got %+v; pending: %v", ack, f.pending(a))
		}
		v, ok := f.slack.View(slacktest.Ana)
		if !ok || !strings.Contains(v.Shown(), "The agent gets no answer") {
			t.Fatalf("got the form %q", v.Shown())
		}
		state := slacktest.State{}
		if reason != "" {
			if err := state.Type(v.Blocks, partReason, reason); err != nil {
				t.Fatal(err)
			}
		}
		if ack := f.slack.Submit(slacktest.Ana, v, state); !ack.OK {
			t.Errorf("got %+v", ack)
		}
		if o := f.outcome(a); o.Status != askback.Declined || o.Reason != reason || o.Actor.Name != "ana" {
			t.Errorf("got %+v, want it declined with the reason %q", o, reason)
		}
		f.working.Wait()
	}
}

// The answer is committed before Slack gets the acknowledgement.
func TestAnswerIsCommittedBeforeItIsAcknowledged(t *testing.T) {
	f := newFixture(t, nil)
	for range 20 {
		a := f.ask(choice("PostgreSQL", "SQLite"))
		if ack := f.slack.Press(slacktest.Ana, f.live(a), "SQLite", nil); !ack.OK || f.pending(a) {
			t.Errorf("acknowledged: %v, pending: %v", ack.OK, f.pending(a))
		}
	}
}

// A stalledClient commits nothing until it is released, even if the context ends.
type stalledClient struct {
	askback.PersonClient
	release chan struct{}
}

func (c stalledClient) Answer(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	<-c.release
	return askback.Ask{}, ctx.Err()
}

type stalled struct {
	*engine.Engine
	release chan struct{}
}

func (s stalled) Person(ctx context.Context, name string, via askback.Channel) (askback.PersonClient, error) {
	c, err := s.Engine.Person(ctx, name, via)
	return stalledClient{c, s.release}, err
}

// If the store stalls, Slack gets its acknowledgement in time, and the person is told that nothing was
// recorded.
func TestStalledStoreIsReportedInTime(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Budget = 100 * time.Millisecond })
	release := make(chan struct{})
	defer close(release)
	f.serve(stalled{f.engine, release})
	a := f.ask(choice("PostgreSQL", "SQLite"))
	m := f.live(a)
	if ack := f.slack.Press(slacktest.Ana, m, "SQLite", nil); !ack.OK {
		t.Errorf("got %+v", ack)
	}
	if got := f.told(slacktest.Ana); !strings.Contains(got, "did not record this") ||
		!strings.Contains(got, "try again") {
		t.Errorf("ana was told %q", got)
	}
	f.slack.Press(slacktest.Ana, m, "Other", nil)
	v, _ := f.slack.View(slacktest.Ana)
	state := slacktest.State{}
	must(t, state.Type(v.Blocks, part(0, partOther), "MySQL"))
	ack := f.slack.Submit(slacktest.Ana, v, state)
	if got := ack.Errors[part(0, partNotes)]; ack.Bad != nil || !strings.Contains(got, "did not record this") {
		t.Errorf("got %+v, want an error in the form, which stays open", ack)
	}
	if !f.pending(a) {
		t.Error("the ask is settled")
	}
}

// The answers come from a member who is not a person of the settings, and from a user of another workspace
// whose id belongs to a person.
func TestMembersWhoMayNotAnswerAreRefused(t *testing.T) {
	f := newFixture(t, func(o *Options) {
		o.Person = func(member string) (string, bool) { return "ana", member != slacktest.Stranger.ID }
	})
	a := f.ask(choice("PostgreSQL", "SQLite"))
	m := f.live(a)
	f.slack.Press(slacktest.Stranger, m, "SQLite", nil)
	if got := f.told(slacktest.Stranger); !strings.Contains(got, "slack: "+slacktest.Stranger.ID) ||
		!strings.Contains(got, "operator") {
		t.Errorf("the stranger was told %q", got)
	}
	for _, text := range []string{"SQLite", "Other"} {
		f.slack.Press(slacktest.Outsider, m, text, nil)
		if got := f.told(slacktest.Outsider); !strings.Contains(got, "Only members of the workspace") {
			t.Errorf("the account of another workspace was told %q", got)
		}
	}
	if _, open := f.slack.View(slacktest.Outsider); open || !f.pending(a) {
		t.Error("an account of another workspace got a form, or settled the ask")
	}
	if log := f.log.text(); !strings.Contains(log, slacktest.Stranger.ID) ||
		!strings.Contains(log, slacktest.Outsider.ID) {
		t.Errorf("the log has:\n%s", log)
	}
}

// A person who is not addressed cannot act in the message of another person.
func TestOnlyAddressedPeopleAnswer(t *testing.T) {
	f := newFixture(t, nil)
	r := choice("PostgreSQL", "SQLite")
	r.To = []string{"ana"}
	a := f.ask(r)
	direct := "D" + slacktest.Ana.ID[1:]
	m := f.message(a, direct, slacktest.Message.HasElements)
	f.slack.Press(slacktest.Ben, m, "SQLite", nil)
	if got := f.told(slacktest.Ben); !strings.Contains(got, "ben may not answer") {
		t.Errorf("ben was told %q", got)
	}
	for _, other := range f.slack.Messages() {
		if other.Channel != direct {
			t.Errorf("a question for ana is in %s", other.Channel)
		}
	}
	f.slack.Press(slacktest.Ana, m, "SQLite", nil)
	if o := f.outcome(a); o.Actor.Name != "ana" {
		t.Errorf("got %+v", o)
	}
}

// The person who started the session gets the message in the room, and is told why another person must
// decide. This is not an error of the server.
func TestStarterLearnsThatAnotherPersonMustDecide(t *testing.T) {
	f := newFixture(t, nil)
	s := engine.Settings{
		People:    []askback.Person{{Name: "ana"}, {Name: "ben"}},
		Receivers: []engine.Receiver{{Channel: "slack", Name: Room}},
		Routes:    []askback.Route{{NoSelfApproval: true}},
	}
	f.engine.Set(s)
	r := choice("PostgreSQL", "SQLite")
	r.StartedBy = "ana"
	a := f.ask(r)
	m := f.live(a)
	f.slack.Press(slacktest.Ana, m, "SQLite", nil)
	if got := f.told(slacktest.Ana); !strings.Contains(got, "another person must decide") {
		t.Errorf("ana was told %q", got)
	}
	if log := f.log.text(); strings.Contains(log, "level=ERROR") || !f.pending(a) {
		t.Errorf("the ask is settled, or the log has an error:\n%s", log)
	}
	f.slack.Press(slacktest.Ben, m, "SQLite", nil)
	if o := f.outcome(a); o.Actor.Name != "ben" {
		t.Errorf("got %+v", o)
	}
}

// A person whose form cannot open, because the trigger has expired, is told the reason. In the test, the
// trigger expires while Slack holds the call.
func TestExpiredTriggerIsExplained(t *testing.T) {
	f := newFixture(t, nil)
	var offset atomic.Int64
	f.slack.Now = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	a := f.ask(choice("PostgreSQL", "SQLite"))
	m := f.live(a)
	hold := make(chan struct{})
	f.slack.Fail(slacktest.Fault{Method: "views.open", Hold: hold})
	done := make(chan slacktest.Ack)
	go func() {
		defer close(done) // also if the test fails because the button cannot be pressed
		done <- f.slack.Press(slacktest.Ana, m, "Other", nil)
	}()
	f.slack.Wait("views.open", func() bool {
		calls := f.slack.Calls()
		return len(calls) > 0 && calls[len(calls)-1] == "views.open"
	})
	offset.Store(int64(f.slack.TriggerTime + time.Second))
	close(hold)
	if ack := <-done; !ack.OK {
		t.Errorf("got %+v", ack)
	}
	if got := f.told(slacktest.Ana); !strings.Contains(got, "did not open the form in time") {
		t.Errorf("ana was told %q", got)
	}
	if _, open := f.slack.View(slacktest.Ana); open {
		t.Error("a form is open")
	}
}

// Each problem of an answer is shown at its field. The corrected form is accepted.
func TestFormShowsErrorsAtTheirFields(t *testing.T) {
	f := newFixture(t, nil)
	many := askback.Question{Text: "Which checks?", Options: askback.Options("lint", "unit"), MultiSelect: true}
	r := choice("PostgreSQL", "SQLite")
	r.Questions = append(r.Questions, many, askback.Question{Text: "And why?"})
	a := f.ask(r)
	f.slack.Press(slacktest.Ana, f.live(a), "Answer 3 questions", nil)
	v, ok := f.slack.View(slacktest.Ana)
	if !ok || strings.Contains(v.Metadata, "SQLite") || strings.Contains(v.Metadata, "ana") {
		t.Fatalf("got the form %+v", v)
	}
	state := slacktest.State{}
	must(t, state.Choose(v.Blocks, "1.options", "SQLite"), state.Type(v.Blocks, "1.other", "MySQL"),
		state.Type(v.Blocks, "3.other", "because"))
	ack := f.slack.Submit(slacktest.Ana, v, state)
	if len(ack.Errors) != 1 || !strings.Contains(ack.Errors["1.options"], "My own answer") {
		t.Errorf("an option and an answer: got %+v", ack)
	}
	must(t, state.Choose(v.Blocks, "1.options", "My own answer"))
	ack = f.slack.Submit(slacktest.Ana, v, state)
	if len(ack.Errors) != 1 || !strings.Contains(ack.Errors["2.options"], "not answered") {
		t.Errorf("a question without an answer: got %+v", ack)
	}
	must(t, state.Choose(v.Blocks, "2.options", "unit", "lint"))
	if ack := f.slack.Submit(slacktest.Ana, v, state); len(ack.Errors) > 0 || ack.Bad != nil {
		t.Errorf("got %+v", ack)
	}
	got := f.outcome(a).Answers
	if len(got) != 3 || got[0].Other != "MySQL" || fmt.Sprint(got[1].Selected) != "[lint unit]" ||
		got[2].Other != "because" {
		t.Errorf("got %+v", got)
	}
	if _, open := f.slack.View(slacktest.Ana); open {
		t.Error("the form is still open")
	}
}

// A form from another member or for another ask is rejected and logged.
func TestForgedFormIsRefused(t *testing.T) {
	f := newFixture(t, nil)
	a, b := f.ask(choice("PostgreSQL", "SQLite")), f.ask(choice("PostgreSQL", "SQLite"))
	f.slack.Press(slacktest.Ana, f.live(a), "Other", nil)
	v, _ := f.slack.View(slacktest.Ana)
	good := v
	for name, forge := range map[string]func(*slacktest.View){
		"another ask":    func(v *slacktest.View) { v.Metadata = strings.Replace(v.Metadata, a.ID, b.ID, 1) },
		"no code":        func(v *slacktest.View) { v.Metadata = b.ID },
		"another form":   func(v *slacktest.View) { v.Callback = callbackDeny },
		"another option": func(v *slacktest.View) {},
	} {
		v, state := good, slacktest.State{}
		must(t, state.Choose(v.Blocks, "1.options", "SQLite"))
		if name == "another option" {
			state["1.options"][actPick] = map[string]any{
				"type": "radio_buttons", "selected_option": map[string]any{"value": f.code(b.ID, "option", ".0", ".0")},
			}
		}
		forge(&v)
		logged := len(f.log.text())
		f.slack.Submit(slacktest.Ana, v, state)
		if !f.pending(a) || !f.pending(b) || !strings.Contains(f.log.text()[logged:], "forged") {
			t.Errorf("%s: an ask is settled, or the log does not mention it: %s", name, f.log.text()[logged:])
		}
	}
	state := slacktest.State{}
	must(t, state.Choose(good.Blocks, "1.options", "SQLite"))
	logged := len(f.log.text())
	f.slack.Submit(slacktest.Ben, good, state)
	if !f.pending(a) || !strings.Contains(f.log.text()[logged:], "forged") {
		t.Error("ben sent the form of ana")
	}
}

// A form that is sent after another person has answered shows who answered, and how.
func TestLateFormShowsWhoAnswered(t *testing.T) {
	f := newFixture(t, nil)
	a := f.ask(choice("PostgreSQL", "SQLite"))
	m := f.live(a)
	f.slack.Press(slacktest.Ana, m, "Other", nil)
	v, _ := f.slack.View(slacktest.Ana)
	f.slack.Press(slacktest.Ben, m, "SQLite", nil)
	state := slacktest.State{}
	must(t, state.Choose(v.Blocks, "1.options", "PostgreSQL"))
	if ack := f.slack.Submit(slacktest.Ana, v, state); !ack.OK || ack.Bad != nil {
		t.Errorf("got %+v", ack)
	}
	if now, _ := f.slack.View(slacktest.Ana); !strings.Contains(now.Shown(), "ben") ||
		!strings.Contains(now.Shown(), "SQLite") || now.Submit != "" {
		t.Errorf("the form shows:\n%s", now.Shown())
	}
	f.slack.Press(slacktest.Ana, m, "Other", nil)
	if got := f.told(slacktest.Ana); !strings.Contains(got, "ben") {
		t.Errorf("a late press of the form: ana was told %q", got)
	}
}

// A claim is recorded when a person opens the form.
func TestOpeningTheFormClaimsTheAsk(t *testing.T) {
	f := newFixture(t, nil)
	a := f.ask(choice("PostgreSQL", "SQLite"))
	f.slack.Press(slacktest.Ana, f.live(a), "Other", nil)
	f.working.Wait()
	got, err := f.agent.(askback.Inbox).Get(t.Context(), a.ID)
	must(t, err)
	if len(got.Claims) != 1 || got.Claims[0].Name != "ana" {
		t.Errorf("got claims %+v", got.Claims)
	}
}
