package askbacktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A recorder is a testing.TB that records errors.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	errors   []string
	cleanups []func()
}

func (p *recorder) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, fmt.Sprintf(format, args...))
}

func (p *recorder) Helper() {}

func (p *recorder) runCleanups() {
	for _, f := range slices.Backward(p.cleanups) {
		f()
	}
}

func (p *recorder) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// errorsOf runs a test with a new instance and returns the errors it reports.
func errorsOf(t *testing.T, run func(instance *askbacktest.Instance)) []string {
	t.Helper()
	p := &recorder{TB: t}
	run(askbacktest.New(p))
	p.runCleanups()
	return p.errors
}

// wantErrors requires one error for each element of want. The error must contain all strings of the element.
func wantErrors(t *testing.T, got []string, want ...[]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d errors, want %d: %q", len(got), len(want), got)
	}
	for i, words := range want {
		for _, w := range words {
			if !strings.Contains(got[i], w) {
				t.Errorf("got error %q, want %q in it", got[i], w)
			}
		}
	}
}

func question(text string, labels ...string) askback.Request {
	return askback.Request{Questions: []askback.Question{{Text: text, Options: askback.Options(labels...)}}}
}

func confirmation(tool string) askback.Request {
	return askback.Request{
		Confirmation: &askback.Confirmation{ToolName: tool, Input: json.RawMessage(`{"path":"/tmp"}`)},
	}
}

// askAndWait asks and waits for the outcome.
func askAndWait(t *testing.T, c askback.Asker, r askback.Request) (askback.Ask, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := c.Ask(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return c.Wait(ctx, a.ID)
}

// Each kind of reply answers the asks that it matches, in the order of the script (F13,
// D4).
func TestScriptsAnswerAsks(t *testing.T) {
	got := errorsOf(t, func(instance *askbacktest.Instance) {
		instance.Person("ana",
			askbacktest.Answer("database", "SQLite"),
			askbacktest.Answer("database", "PostgreSQL"),
			askbacktest.Approve("delete_files"),
			askbacktest.Deny("delete_files", "enough"),
			askbacktest.Decline("holiday", "none of your business"),
			askbacktest.Answer("name", "Ada").And("colours", "red", "blue"),
		)
		instance.Person("ben",
			askbacktest.Answer("database", "the third one").Always(),
			askbacktest.Give("port", askback.Answer{
				Answers: []askback.QuestionAnswer{{ID: "q1", Other: "80", Notes: "or 81"}}, Comment: "bye",
			}),
		)
		bot := instance.Agent("bot")
		form := askback.Request{Questions: []askback.Question{
			{Text: "Which colours?", MultiSelect: true, Options: askback.Options("red", "green", "blue")},
			{Text: "What name?"},
		}}
		toBen := question("Which database?", "SQLite", "PostgreSQL")
		toBen.To = []string{"ben"}
		for i, c := range []struct {
			r    askback.Request
			want string
		}{
			{toBen, "ben the third one"},
			{question("Which database?", "SQLite", "PostgreSQL"), "ana SQLite"},
			{form, "ana red, blue; Ada"},
			{question("Which database?", "SQLite", "PostgreSQL"), "ana PostgreSQL"},
			{question("Which database?", "SQLite", "PostgreSQL"), "ben the third one"},
			{confirmation("files.delete_files"), "ana approved"},
			{confirmation("files.delete_files"), "ana denied: enough"},
			{question("When is your holiday?"), "ana declined: none of your business"},
			{question("Which port?"), "ben 80 (or 81), bye"},
		} {
			a, err := askAndWait(t, bot, c.r)
			if got := summary(a); err != nil || got != c.want {
				t.Errorf("ask %d: got %q and error %v, want %q", i, got, err, c.want)
			}
		}
		if asks := instance.Asks(); len(asks) != 9 || !asks[8].Settled() || asks[2].Questions[1].Text != "What name?" {
			t.Errorf("got asks %v, want the nine in their order", asks)
		}
	})
	wantErrors(t, got)
}

// summary returns an outcome in one line.
func summary(a askback.Ask) string {
	o := a.Outcome
	if o == nil {
		return string(a.Status)
	}
	var parts []string
	for _, q := range o.Answers {
		text := q.String()
		if q.Notes != "" {
			text += " (" + q.Notes + ")"
		}
		parts = append(parts, text)
	}
	line := o.Actor.String() + " " + strings.Join(parts, "; ")
	switch {
	case o.Comment != "":
		line += ", " + o.Comment
	case o.Status != askback.Answered:
		line += string(o.Status)
	case o.Decision != "":
		line += string(o.Decision)
	}
	if o.Reason != "" {
		line += ": " + o.Reason
	}
	return line
}

func TestUnmatchedAskIsReportedAndEndsWait(t *testing.T) {
	got := errorsOf(t, func(instance *askbacktest.Instance) {
		instance.Person("ana", askbacktest.Answer("Which database?", "SQLite"), askbacktest.Approve("delete_files"))
		instance.Person("ben", askbacktest.Decline("", ""))
		bot := instance.Agent("bot")
		r := question("Which DB?", "SQLite", "PostgreSQL")
		r.To = []string{"ana"}
		a, err := askAndWait(t, bot, r)
		if !errors.Is(err, askbacktest.ErrUnscripted) || a.Status != askback.Pending {
			t.Errorf("got an ask that is %q and error %v, want pending and %v", a.Status, err,
				askbacktest.ErrUnscripted)
		}
		if _, err := bot.Wait(t.Context(), a.ID); !errors.Is(err, askbacktest.ErrUnscripted) {
			t.Errorf("got error %v the second time, want %v", err, askbacktest.ErrUnscripted)
		}
	})
	wantErrors(t, got,
		[]string{
			`bot asks "Which DB?" "SQLite", "PostgreSQL"`, "ben may not answer: the ask is addressed to ana",
			`ana has these replies left: Answer("Which database?", "SQLite"), Approve("delete_files")`,
		},
		[]string{`Answer("Which database?", "SQLite") of ana was not used`},
		[]string{`Approve("delete_files") of ana was not used`},
		[]string{`Decline("", "") of ben was not used`})
}

// Approve and Deny match only confirmations, Answer matches only questions, and
// And requires all questions.
func TestReplyMatchesOneKindOfAsk(t *testing.T) {
	got := errorsOf(t, func(instance *askbacktest.Instance) {
		instance.Person("ana", askbacktest.Approve("deploy").Always(), askbacktest.Deny("drop", "").Always(),
			askbacktest.Answer("tool", "yes").Always(),
			askbacktest.Answer("Which", "this").And("Why", "because").Always())
		for _, r := range []askback.Request{
			question("Shall we deploy or drop it?"), confirmation("tool"), question("Which one?"), question("Why?"),
		} {
			if a, err := askAndWait(t, instance.Agent("bot"), r); !errors.Is(err, askbacktest.ErrUnscripted) {
				t.Errorf("got %q and error %v, want %v", summary(a), err, askbacktest.ErrUnscripted)
			}
		}
	})
	wantErrors(t, got, []string{"Shall we"}, []string{"run tool"}, []string{"Which one?"}, []string{"Why?"},
		[]string{"Approve"}, []string{"Deny"}, []string{"Answer"}, []string{"And"})
}

func TestReplyIsUsedOnceByDefault(t *testing.T) {
	got := errorsOf(t, func(instance *askbacktest.Instance) {
		instance.Person("ana",
			askbacktest.Approve("once"), askbacktest.Approve("twice").Times(2), askbacktest.Approve("thrice").Times(3),
			askbacktest.Approve("ever").Always(), askbacktest.Approve("never").Always())
		for _, tool := range []string{"once", "twice", "twice", "thrice", "ever", "ever", "ever"} {
			if a, err := askAndWait(t, instance.Agent("bot"), confirmation(tool)); err != nil || !a.Outcome.Approved() {
				t.Errorf("%s: got %s and error %v, want approved", tool, summary(a), err)
			}
		}
		if _, err := askAndWait(t, instance.Agent("bot"),
			confirmation("once")); !errors.Is(err, askbacktest.ErrUnscripted) {
			t.Errorf("got error %v, want %v", err, askbacktest.ErrUnscripted)
		}
	})
	wantErrors(t, got, []string{`bot asks to run once with {"path":"/tmp"}`},
		[]string{`Approve("thrice").Times(3) of ana was used 1 times, want 3`},
		[]string{`Approve("never").Always() of ana was not used`})
}

func TestRejectedAnswerIsReported(t *testing.T) {
	got := errorsOf(t, func(instance *askbacktest.Instance) {
		instance.Person("ana", askbacktest.Answer("Which database?", "MySQL"))
		r := question("Which database?", "SQLite", "PostgreSQL")
		r.Questions[0].NoOther = true
		_, err := askAndWait(t, instance.Agent("bot"), r)
		if _, invalid := errors.AsType[askback.Invalid](err); !invalid {
			t.Errorf("got error %v, want an Invalid error", err)
		}
	})
	wantErrors(t, got, []string{`Answer("Which database?", "MySQL") of ana`, `"MySQL" is not an option`})
}

func TestAskWaitsForPersonWithoutScript(t *testing.T) {
	got := errorsOf(t, func(instance *askbacktest.Instance) {
		instance.Person("ana", askbacktest.Answer("Which database?", "SQLite"))
		ben := instance.Person("ben")
		var group sync.WaitGroup
		group.Go(func() {
			if a, err := askAndWait(t, instance.Agent("bot"), question("Which port?")); summary(a) != "ben 80" ||
				err != nil {
				t.Errorf("got %q and error %v, want ben's answer", summary(a), err)
			}
		})
		a, err := ben.Next(t.Context())
		if err != nil || a.Questions[0].Text != "Which port?" {
			t.Fatalf("got ask %q and error %v", a.ID, err)
		}
		if _, err := ben.Answer(t.Context(), a.ID, askback.Choose("80")); err != nil {
			t.Error(err)
		}
		group.Wait()
		if a, err := askAndWait(t, instance.Agent("bot"), question("Which database?")); summary(a) != "ana SQLite" ||
			err != nil {
			t.Errorf("got %q and error %v, want ana's answer", summary(a), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if a, err := ben.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got ask %q and error %v, want no ask: all are settled or were returned before", a.ID, err)
		}
	})
	wantErrors(t, got)
}

func TestPersonAddedLaterAnswersOpenAsks(t *testing.T) {
	got := errorsOf(t, func(instance *askbacktest.Instance) {
		instance.Person("ana", askbacktest.Ignore("port"))
		bot := instance.Agent("bot")
		a, err := askAndWait(t, bot, question("Which database?", "SQLite", "PostgreSQL"))
		if !errors.Is(err, askbacktest.ErrUnscripted) {
			t.Fatalf("got %q and error %v, want %v", summary(a), err, askbacktest.ErrUnscripted)
		}
		instance.Person("ben", askbacktest.Answer("database", "SQLite"))
		for a.Status == askback.Pending {
			a, err = bot.Wait(t.Context(), a.ID)
		}
		if summary(a) != "ben SQLite" || err != nil {
			t.Errorf("got %q and error %v, want ben's answer", summary(a), err)
		}
		r := question("Which port?")
		r.Timeout = time.Hour
		a, err = bot.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		instance.Advance(time.Hour)
		if a, err = bot.Wait(t.Context(), a.ID); a.Status != askback.Expired || err != nil {
			t.Errorf("got %q and error %v, want expired", summary(a), err)
		}
	})
	wantErrors(t, got)
}

// Scripts answer before Advance moves the clock, and Asks returns every outcome
// that Wait has returned.
func TestScriptsAnswerBeforeAdvanceMovesTheClock(t *testing.T) {
	wantErrors(t, errorsOf(t, func(instance *askbacktest.Instance) {
		instance.Person("ana", askbacktest.Approve("").Always())
		r := confirmation("deploy")
		r.Timeout = time.Minute
		for i := range 300 {
			a, err := instance.Agent("bot").Ask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				instance.Advance(time.Hour)
			}
			if a, err = instance.Agent("bot").Wait(t.Context(), a.ID); err != nil || !a.Outcome.Approved() {
				t.Fatalf("ask %d: got %q and error %v, want approved before the deadline", i, summary(a), err)
			}
			if known := instance.Asks()[i]; !known.Settled() {
				t.Fatalf("ask %d: Asks returned it as %s after Wait returned the approval", i, known.Status)
			}
		}
	}))
}

func TestInstanceUsesClockOfSynctestOrOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		instance := askbacktest.New(t)
		instance.Person("ana", askbacktest.Ignore("database"))
		start := time.Now()
		r := question("Which database?", "SQLite", "PostgreSQL")
		r.Timeout = 3 * 24 * time.Hour
		a, err := instance.Agent("bot").Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = instance.Agent("bot").Wait(t.Context(), a.ID); err != nil || a.Status != askback.Expired {
			t.Errorf("got %q and error %v, want expired", summary(a), err)
		}
		if waited := time.Since(start); waited != r.Timeout {
			t.Errorf("it took %v, want %v", waited, r.Timeout)
		}
	})
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	instance := askbacktest.On(t, memstore.New(), &engine.Options{Now: func() time.Time { return now }})
	r := question("Which database?", "SQLite", "PostgreSQL")
	r.Deadline = now.Add(time.Minute)
	a, err := instance.Agent("bot").Ask(t.Context(), r)
	if err != nil || !a.CreatedAt.Equal(now) {
		t.Fatalf("got an ask of %v and error %v, want one of %v", a.CreatedAt, err, now)
	}
	instance.Advance(2 * time.Minute)
	if a, err = instance.Agent("bot").Get(t.Context(), a.ID); err != nil || a.Outcome == nil ||
		!a.Outcome.At.Equal(now.Add(2*time.Minute)) {
		t.Errorf("got %q and error %v, want expired two minutes later", summary(a), err)
	}
	if !instance.Now().Equal(now.Add(2 * time.Minute)) {
		t.Errorf("got %v, want two minutes past %v", instance.Now(), now)
	}
}

// The last asks of a test are answered before the instance is closed.
func TestAsksAreAnsweredBeforeClose(t *testing.T) {
	for range 20 {
		wantErrors(t, errorsOf(t, func(instance *askbacktest.Instance) {
			instance.Person("ana", askbacktest.Approve("").Times(10))
			for range 10 {
				if _, err := instance.Agent("bot").Ask(t.Context(), confirmation("deploy")); err != nil {
					t.Error(err)
				}
			}
		}))
	}
}

func TestInvalidScriptPanics(t *testing.T) {
	for name, write := range map[string]func(){
		"And":   func() { askbacktest.Approve("x").And("y", "z") },
		"Times": func() { askbacktest.Approve("x").Times(0) },
		"empty": func() { askbacktest.New(t).Person("ana", askbacktest.Reply{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: got no panic", name)
				}
			}()
			write()
		}()
	}
}
