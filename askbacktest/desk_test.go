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

// pupil is a test that is watched: what it reports is kept.
type pupil struct {
	testing.TB
	mu       sync.Mutex
	reported []string
	cleanups []func()
}

func (p *pupil) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reported = append(p.reported, fmt.Sprintf(format, args...))
}

func (p *pupil) Helper() {}

func (p *pupil) end() {
	for _, f := range slices.Backward(p.cleanups) {
		f()
	}
}

func (p *pupil) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// watch runs a test and returns what it reported.
func watch(t *testing.T, run func(desk *askbacktest.Instance)) []string {
	t.Helper()
	p := &pupil{TB: t}
	run(askbacktest.New(p))
	p.end()
	return p.reported
}

// wantReports expects as many reports, each with all the words of its line.
func wantReports(t *testing.T, got []string, want ...[]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d reports, want %d: %q", len(got), len(want), got)
	}
	for i, words := range want {
		for _, w := range words {
			if !strings.Contains(got[i], w) {
				t.Errorf("got report %q, want %q in it", got[i], w)
			}
		}
	}
}

func question(text string, labels ...string) askback.Request {
	return askback.Request{Questions: []askback.Question{{Text: text, Options: askback.Options(labels...)}}}
}

func confirmation(tool string) askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{ToolName: tool, Input: json.RawMessage(`{"path":"/tmp"}`)}}
}

// put asks and waits, as a program would.
func put(t *testing.T, seat askback.Client, r askback.Request) (askback.Ask, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := seat.Ask(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return seat.Wait(ctx, a.ID)
}

// Rows F13, D4.
func TestPeopleAnswerByTheirScripts(t *testing.T) {
	got := watch(t, func(desk *askbacktest.Instance) {
		desk.Person("ana",
			askbacktest.Answer("database", "SQLite"),
			askbacktest.Answer("database", "PostgreSQL"),
			askbacktest.Approve("delete_files"),
			askbacktest.Deny("delete_files", "enough"),
			askbacktest.Decline("holiday", "none of your business"),
			askbacktest.Answer("name", "Ada").And("colours", "red", "blue"),
		)
		desk.Person("ben",
			askbacktest.Answer("database", "the third one").Always(),
			askbacktest.Give("port", askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "80", Notes: "or 81"}}, Comment: "bye"}),
		)
		bot := desk.Agent("bot")
		form := askback.Request{Questions: []askback.Question{
			{Text: "Which colours?", MultiSelect: true, Options: askback.Options("red", "green", "blue")}, {Text: "What name?"},
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
			a, err := put(t, bot, c.r)
			if got := say(a); err != nil || got != c.want {
				t.Errorf("ask %d: got %q and error %v, want %q", i, got, err, c.want)
			}
		}
		if asks := desk.Asks(); len(asks) != 9 || !asks[8].Settled() || asks[2].Questions[1].Text != "What name?" {
			t.Errorf("got asks %v, want the nine in their order", asks)
		}
	})
	wantReports(t, got)
}

// say puts an outcome into a few words.
func say(a askback.Ask) string {
	o := a.Outcome
	if o == nil {
		return string(a.Status)
	}
	var said []string
	for _, q := range o.Answers {
		text := q.String()
		if q.Notes != "" {
			text += " (" + q.Notes + ")"
		}
		said = append(said, text)
	}
	line := o.Actor.String() + " " + strings.Join(said, "; ")
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

func TestAnAskThatFitsNoScriptIsReportedAndNotWaitedFor(t *testing.T) {
	got := watch(t, func(desk *askbacktest.Instance) {
		desk.Person("ana", askbacktest.Answer("Which database?", "SQLite"), askbacktest.Approve("delete_files"))
		desk.Person("ben", askbacktest.Decline("", ""))
		bot := desk.Agent("bot")
		r := question("Which DB?", "SQLite", "PostgreSQL")
		r.To = []string{"ana"}
		a, err := put(t, bot, r)
		if !errors.Is(err, askbacktest.ErrUnscripted) || a.Status != askback.Pending {
			t.Errorf("got an ask that is %q and error %v, want pending and %v", a.Status, err, askbacktest.ErrUnscripted)
		}
		if _, err := bot.Wait(t.Context(), a.ID); !errors.Is(err, askbacktest.ErrUnscripted) {
			t.Errorf("got error %v the second time, want %v", err, askbacktest.ErrUnscripted)
		}
	})
	wantReports(t, got,
		[]string{
			`bot asks "Which DB?" "SQLite", "PostgreSQL"`, "ben is not asked: it is put to ana",
			`ana could say Answer("Which database?", "SQLite"), Approve("delete_files")`,
		},
		[]string{`ana was never asked what Answer("Which database?", "SQLite") answers`},
		[]string{`ana was never asked what Approve("delete_files") answers`},
		[]string{`ben was never asked`})
}

// A confirmation is approved, a question is answered, and a form as a whole.
func TestALineFitsItsKindOfAsk(t *testing.T) {
	got := watch(t, func(desk *askbacktest.Instance) {
		desk.Person("ana", askbacktest.Approve("deploy").Always(), askbacktest.Deny("drop", "").Always(),
			askbacktest.Answer("tool", "yes").Always(), askbacktest.Answer("Which", "this").And("Why", "because").Always())
		for _, r := range []askback.Request{
			question("Shall we deploy or drop it?"), confirmation("tool"), question("Which one?"), question("Why?"),
		} {
			if a, err := put(t, desk.Agent("bot"), r); !errors.Is(err, askbacktest.ErrUnscripted) {
				t.Errorf("got %q and error %v, want %v", say(a), err, askbacktest.ErrUnscripted)
			}
		}
	})
	wantReports(t, got, []string{"Shall we"}, []string{"run tool"}, []string{"Which one?"}, []string{"Why?"},
		[]string{"Approve"}, []string{"Deny"}, []string{"Answer"}, []string{"And"})
}

func TestALineIsUsedOnceUnlessItSaysOtherwise(t *testing.T) {
	got := watch(t, func(desk *askbacktest.Instance) {
		desk.Person("ana",
			askbacktest.Approve("once"), askbacktest.Approve("twice").Times(2), askbacktest.Approve("thrice").Times(3),
			askbacktest.Approve("ever").Always(), askbacktest.Approve("never").Always())
		for _, tool := range []string{"once", "twice", "twice", "thrice", "ever", "ever", "ever"} {
			if a, err := put(t, desk.Agent("bot"), confirmation(tool)); err != nil || !a.Outcome.Approved() {
				t.Errorf("%s: got %s and error %v, want approved", tool, say(a), err)
			}
		}
		if _, err := put(t, desk.Agent("bot"), confirmation("once")); !errors.Is(err, askbacktest.ErrUnscripted) {
			t.Errorf("got error %v, want %v", err, askbacktest.ErrUnscripted)
		}
	})
	wantReports(t, got, []string{`bot asks to run once with {"path":"/tmp"}`},
		[]string{`Approve("thrice").Times(3) answers 1 times, not 3`}, []string{`never asked what Approve("never").Always()`})
}

func TestAnAnswerThatIsRefusedIsReported(t *testing.T) {
	got := watch(t, func(desk *askbacktest.Instance) {
		desk.Person("ana", askbacktest.Answer("Which database?", "MySQL"))
		r := question("Which database?", "SQLite", "PostgreSQL")
		r.Questions[0].NoOther = true
		_, err := put(t, desk.Agent("bot"), r)
		if _, invalid := errors.AsType[askback.Invalid](err); !invalid {
			t.Errorf("got error %v, want what was wrong with the answer", err)
		}
	})
	wantReports(t, got, []string{`ana says Answer("Which database?", "MySQL")`, `"MySQL" is not an option`})
}

func TestAPersonMovedByHandIsWaitedFor(t *testing.T) {
	got := watch(t, func(desk *askbacktest.Instance) {
		desk.Person("ana", askbacktest.Answer("Which database?", "SQLite"))
		ben := desk.Person("ben")
		var group sync.WaitGroup
		group.Go(func() {
			if a, err := put(t, desk.Agent("bot"), question("Which port?")); say(a) != "ben 80" || err != nil {
				t.Errorf("got %q and error %v, want ben's answer", say(a), err)
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
		if a, err := put(t, desk.Agent("bot"), question("Which database?")); say(a) != "ana SQLite" || err != nil {
			t.Errorf("got %q and error %v, want ana's answer", say(a), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if a, err := ben.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got ask %q and error %v, want none: all are settled or seen", a.ID, err)
		}
	})
	wantReports(t, got)
}

func TestAPersonWhoComesLaterFindsWhatIsOpen(t *testing.T) {
	got := watch(t, func(desk *askbacktest.Instance) {
		desk.Person("ana", askbacktest.Ignore("port"))
		bot := desk.Agent("bot")
		a, err := put(t, bot, question("Which database?", "SQLite", "PostgreSQL"))
		if !errors.Is(err, askbacktest.ErrUnscripted) {
			t.Fatalf("got %q and error %v, want %v", say(a), err, askbacktest.ErrUnscripted)
		}
		desk.Person("ben", askbacktest.Answer("database", "SQLite"))
		for a.Status == askback.Pending {
			a, err = bot.Wait(t.Context(), a.ID)
		}
		if say(a) != "ben SQLite" || err != nil {
			t.Errorf("got %q and error %v, want ben's answer", say(a), err)
		}
		r := question("Which port?")
		r.Timeout = time.Hour
		a, err = bot.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		desk.Advance(time.Hour)
		if a, err = bot.Wait(t.Context(), a.ID); a.Status != askback.Expired || err != nil {
			t.Errorf("got %q and error %v, want expired", say(a), err)
		}
	})
	wantReports(t, got)
}

// People are quicker than the clock, and the desk is as quick as they are.
func TestTheDeskKeepsUpWithTheTest(t *testing.T) {
	wantReports(t, watch(t, func(desk *askbacktest.Instance) {
		desk.Person("ana", askbacktest.Approve("").Always())
		r := confirmation("deploy")
		r.Timeout = time.Minute
		for i := range 300 {
			a, err := desk.Agent("bot").Ask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				desk.Advance(time.Hour)
			}
			if a, err = desk.Agent("bot").Wait(t.Context(), a.ID); err != nil || !a.Outcome.Approved() {
				t.Fatalf("ask %d: got %q and error %v, want approved before the deadline", i, say(a), err)
			}
			if known := desk.Asks()[i]; !known.Settled() {
				t.Fatalf("ask %d: the desk has it %s, when it is approved", i, known.Status)
			}
		}
	}))
}

// A desk inside synctest, and one with a clock of its own.
func TestTheClockCanBeGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := askbacktest.New(t)
		desk.Person("ana", askbacktest.Ignore("database"))
		start := time.Now()
		r := question("Which database?", "SQLite", "PostgreSQL")
		r.Timeout = 3 * 24 * time.Hour
		a, err := desk.Agent("bot").Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = desk.Agent("bot").Wait(t.Context(), a.ID); err != nil || a.Status != askback.Expired {
			t.Errorf("got %q and error %v, want expired", say(a), err)
		}
		if waited := time.Since(start); waited != r.Timeout {
			t.Errorf("it took %v, want %v", waited, r.Timeout)
		}
	})
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	desk := askbacktest.On(t, memstore.New(), &engine.Options{Now: func() time.Time { return now }})
	r := question("Which database?", "SQLite", "PostgreSQL")
	r.Deadline = now.Add(time.Minute)
	a, err := desk.Agent("bot").Ask(t.Context(), r)
	if err != nil || !a.CreatedAt.Equal(now) {
		t.Fatalf("got an ask of %v and error %v, want one of %v", a.CreatedAt, err, now)
	}
	desk.Advance(2 * time.Minute)
	if a, err = desk.Agent("bot").Get(t.Context(), a.ID); err != nil || a.Outcome == nil || !a.Outcome.At.Equal(now.Add(2*time.Minute)) {
		t.Errorf("got %q and error %v, want expired two minutes later", say(a), err)
	}
	if !desk.Now().Equal(now.Add(2 * time.Minute)) {
		t.Errorf("got %v, want two minutes past %v", desk.Now(), now)
	}
}

func TestWhatIsAskedLastIsStillAnswered(t *testing.T) {
	for range 20 {
		wantReports(t, watch(t, func(desk *askbacktest.Instance) {
			desk.Person("ana", askbacktest.Approve("").Times(10))
			for range 10 {
				if _, err := desk.Agent("bot").Ask(t.Context(), confirmation("deploy")); err != nil {
					t.Error(err)
				}
			}
		}))
	}
}

func TestAScriptThatMakesNoSenseIsAProgrammersMistake(t *testing.T) {
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
