package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
)

// draft returns the draft of ana for an ask.
func (f *inboxFixture) draft(id string) string {
	f.t.Helper()
	raw, err := f.ana.Draft(context.Background(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(raw)
}

func twoQuestions() askback.Request {
	return askback.Request{Questions: []askback.Question{
		{Text: "Which database?", Options: askback.Options("PostgreSQL", "SQLite")},
		{Text: "Which regions?", Options: askback.Options("eu", "us", "ap"), MultiSelect: true},
	}}
}

// Entries that were not sent are saved as the draft that the pages have, and appear in another inbox. They
// decide nothing (B6, F8).
func TestInboxSavesDrafts(t *testing.T) {
	for _, c := range []struct {
		name    string
		request askback.Request
		keys    string
		draft   string
		again   string // on the screen of another inbox
	}{
		{
			"free text", questionRequest("Why?"), "enter half an answer", `{"form":{"q1-other":["halfananswer"]}}`,
			`you │ halfananswer`,
		},
		{
			"own words", questionRequest("Which?", "x", "y"), "enter o mine", `{"form":{"q1-other":["mine"]}}`,
			`│ .*mine`,
		},
		{
			"note", questionRequest("Which?", "x", "y"), "enter ctrl+n why", `{"form":{"q1-notes":["why"]}}`,
			`note +│ why`,
		},
		{
			"comment", questionRequest("Which?", "x", "y"), "enter ctrl+r all", `{"form":{"comment":["all"]}}`,
			`remark │ all`,
		},
		{
			"reason", callRequest("mail", `{}`, false), "enter n because enter", `{"form":{"reason":["because"]}}`,
			`reason │ because`,
		},
		{"declining", questionRequest("Which?", "x", "y"), "enter D later", `{"form":{"reason":["later"]}}`, `Which`},
		{"marks", twoQuestions(), "enter 2 enter 1 3", `{"form":{"q1":["1"],"q2":["0","2"]}}`, `Which database`},
		{"the word", callRequest("rm", `{}`, true), "enter a appr", ``, `rm`},
		{"a cursor", questionRequest("Which?", "x", "y"), "enter down", ``, `Which`},
	} {
		for _, width := range inboxWidths {
			t.Run(c.name, func(t *testing.T) {
				f := newInboxFixture(t)
				id := f.ask("a", c.request)
				f.open(f.ana, width)
				f.press(strings.Fields(c.keys)...)
				f.pass(time.Second)
				if got := f.draft(id); got != c.draft {
					t.Errorf("the draft is %s, want %s:\n%s", got, c.draft, f.screen(width))
				}
				f.open(f.ana, width)
				f.press("enter")
				f.pass(time.Second)
				f.shows(width, c.again)
				if got := f.outcome(id); got != "open" {
					t.Errorf("the draft decided: %s", got)
				}
				f.pass(time.Minute)
				if got := f.draft(id); got != c.draft {
					t.Errorf("reading the draft changed it to %s, want %s", got, c.draft)
				}
			})
		}
	}
}

// A draft that was saved on the pages is restored. Each part of the draft is in its field and in the answer.
func TestInboxRestoresDraftsOfThePages(t *testing.T) {
	for _, c := range []struct {
		name    string
		request askback.Request
		draft   string
		keys    string
		want    string
	}{
		{"free text", questionRequest("Why?"), `{"form":{"q1-other":["so\r\nit is"]}}`, "enter enter", "so it is"},
		{"an option", questionRequest("Which?", "x", "y"), `{"form":{"q1":["1"]}}`, "enter enter", "y"},
		{
			"own words", questionRequest("Which?", "x", "y"), `{"form":{"q1":["own"],"q1-other":["mine"]}}`,
			"enter enter enter", "mine",
		},
		{
			"two questions", twoQuestions(), `{"form":{"q1":["1"],"q2":["0","2"],"comment":["hi"]}}`,
			"enter tab tab enter", "SQLite eu, ap",
		},
		{
			"an own option among several", twoQuestions(),
			`{"form":{"q1":["own"],"q1-other":["none"],"q2":["2","own"],"q2-other":["me"]}}`, "enter tab tab enter",
			"none ap, me",
		},
		{"a reason", callRequest("mail", `{}`, false), `{"form":{"reason":["not now"]}}`, "enter d", "denied not now"},
		{
			"arguments", callRequest("mail", `{"to":"kim"}`, false), `{"form":{"input":["{\"to\":\"pat\"}"]}}`,
			"enter a", `approved {"to":"pat"}`,
		},
		{
			"options that are not there", questionRequest("Which?", "x", "y"), `{"form":{"q1":["7","z"],"q9":["1"]}}`,
			"enter enter", "x",
		},
		{"two options of one", questionRequest("Which?", "x", "y"), `{"form":{"q1":["0","1"]}}`, "enter enter", "x"},
		{"another shape", questionRequest("Which?", "x", "y"), `{"answers":[1]}`, "enter enter", "x"},
		{
			"a decision", callRequest("mail", `{}`, false), `{"form":{"action":["approve"],"word":["approve"]}}`,
			"enter enter", "open",
		},
	} {
		for _, width := range inboxWidths {
			t.Run(c.name, func(t *testing.T) {
				f := newInboxFixture(t)
				id := f.ask("a", c.request)
				if err := f.ana.SaveDraft(t.Context(), id, json.RawMessage(c.draft)); err != nil {
					t.Fatal(err)
				}
				f.open(f.ana, width)
				f.pass(time.Second)
				f.press(strings.Fields(c.keys)...)
				if got := f.outcome(id); got != c.want {
					t.Errorf("got %q, want %q:\n%s", got, c.want, f.screen(width))
				}
			})
		}
	}
}

// Keys that answer are ignored for a moment after a draft has arrived, because the cursor may
// be on another option (C3).
func TestKeysAreIgnoredAfterADraftArrives(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", questionRequest("Which?", "x", "y"))
	if err := f.ana.SaveDraft(t.Context(), id, json.RawMessage(`{"form":{"q1":["1"]}}`)); err != nil {
		t.Fatal(err)
	}
	client := &draftClient{Client: f.ana, err: errors.New("busy")}
	f.open(client, 80)
	f.press("enter")
	client.err = nil
	f.pass(4 * time.Second)
	f.shows(80, "your earlier draft, which was not")
	f.Press("enter")
	if got := f.outcome(id); got != "open" {
		t.Errorf("sent %q immediately", got)
	}
	if f.press("enter"); f.outcome(id) != "y" {
		t.Errorf("got %q, want y", f.outcome(id))
	}
}

// Text that was typed before the draft arrived stays.
func TestDraftDoesNotReplaceTypedText(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", questionRequest("Why?"))
	if err := f.ana.SaveDraft(t.Context(), id,
		json.RawMessage(`{"form":{"q1-other":["old"],"comment":["kept"]}}`)); err != nil {
		t.Fatal(err)
	}
	client := &draftClient{Client: f.ana, err: errors.New("busy")}
	f.open(client, 80)
	f.press("enter", "new")
	client.err = nil
	f.pass(4 * time.Second)
	f.shows(80, `you │ new`)
	f.pass(4 * time.Second)
	if got, want := f.draft(id), `{"form":{"comment":["kept"],"q1-other":["new"]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A draftClient is a client whose methods for drafts return err, unless err is nil.
type draftClient struct {
	askback.Client
	err   error
	saves int
}

func (c *draftClient) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	if c.err != nil {
		return nil, c.err
	}
	return c.Client.Draft(ctx, id)
}

func (c *draftClient) SaveDraft(ctx context.Context, id string, draft json.RawMessage) error {
	if c.saves++; c.err != nil {
		return c.err
	}
	return c.Client.SaveDraft(ctx, id, draft)
}

// The key q leaves. Typed text is saved, even if it was typed a moment ago.
func TestInboxSavesDraftsWhenItIsLeft(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", questionRequest("Why?"))
	f.open(f.ana, 80)
	f.press("enter", "hello")
	f.Press("esc", "q")
	if !f.Left() {
		t.Error("q did not leave")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if got, want := f.draft(id), `{"form":{"q1-other":["hello"]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f.open(f.ana, 80)
	f.press("enter", "ctrl+u", "esc")
	f.pass(time.Second)
	if got := f.draft(id); got != `{}` {
		t.Errorf("after the text was deleted: %s", got)
	}
}

// If typed text cannot be saved, q must be pressed twice. The text is saved as soon as that is possible.
func TestInboxWarnsOfDraftsThatWereNotSaved(t *testing.T) {
	f := newInboxFixture(t)
	f.ask("a", questionRequest("Why?"))
	f.ask("b", questionRequest("Second?"))
	client := &draftClient{Client: f.ana}
	f.open(client, 80)
	f.pass(time.Second)
	client.err = errors.New("the disk is full")
	f.press("enter", "hello", "esc")
	f.pass(time.Second)
	f.press("q")
	f.shows(80, "cannot be saved: the disk is full. Press q again")
	f.press("j", "q")
	if f.Left() {
		t.Error("another key did not cancel the first q")
	}
	if f.press("q"); !f.Left() {
		t.Error("q did not leave")
	}
	if err := f.Close(); err != nil {
		t.Errorf("after the warning: %v", err)
	}
}

// A draft that could not be saved is saved when that is possible again, even if another ask is selected then.
func TestInboxSavesDraftsAfterAnError(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", questionRequest("Why?"))
	f.ask("b", questionRequest("Second?"))
	client := &draftClient{Client: f.ana}
	f.open(client, 80)
	f.pass(time.Second)
	client.err = errors.New("the disk is full")
	f.press("enter", "hello", "esc", "j")
	client.err = nil
	f.pass(5 * time.Second)
	if got, want := f.draft(id), `{"form":{"q1-other":["hello"]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Typing fast saves at most twice a second, and moving through the list saves nothing.
func TestInboxSavesDraftsAtMostTwiceASecond(t *testing.T) {
	f := newInboxFixture(t)
	for range 9 {
		f.ask("a", questionRequest("Why?"))
	}
	client := &draftClient{Client: f.ana}
	f.open(client, 80)
	f.press("j", "k", "j", "j", "home")
	if client.saves != 0 {
		t.Errorf("moving saved %d drafts", client.saves)
	}
	f.press("enter")
	for range 50 {
		f.pass(20 * time.Millisecond)
		f.Press("x")
	}
	f.pass(time.Second)
	if client.saves < 2 || client.saves > 3 {
		t.Errorf("a second of typing saved %d drafts, want 2 or 3", client.saves)
	}
}
